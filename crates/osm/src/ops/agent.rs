//! What `osm agent` does: installs hooks into coding agents, takes them out, and answers them.
//!
//! | for | see |
//! |---|---|
//! | which files change, and how | `plan.rs` |
//! | where an agent's files are | `place.rs` |
//! | what osm wrote, so that it can be taken back | `record.rs` |
//! | reading and replacing a file of the user's | `file.rs` |
//! | what a hook decides | `hook.rs` |

mod check;
mod diff;
mod error;
mod file;
pub(crate) mod hook;
mod place;
mod plan;
mod record;
mod seen;

use std::path::PathBuf;

pub use check::{CheckStep, Checked, check};
pub use error::AgentError;
pub use place::Reach;

use self::place::Places;
use self::plan::Step;
use self::record::Record;
use crate::agent::Agent;
use crate::agent::table::AGENTS;
use crate::interaction::{Interaction, confirm};
use crate::invocation::Invocation;

/// The agent that runs only hooks that it trusts.
pub(crate) const CODEX: &str = "codex";

/// Which agents, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentRequest {
    /// The agents.
    pub agents: Chosen,
    /// For the user, or for the project.
    pub reach: Reach,
    /// Change nothing.
    pub dry_run: bool,
    /// Also make Codex trust the hooks.
    pub trust: bool,
    /// Do not ask before that.
    pub yes: bool,
}

/// Which agents are meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Chosen {
    /// Those that the user has settings of.
    Found,
    /// All that osm knows.
    All,
    /// These.
    Named(Vec<String>),
}

/// A file of an agent, and what was done to it.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct ChangedFile {
    /// The agent.
    pub agent: &'static str,
    /// The file.
    pub path: PathBuf,
    /// What was done to it.
    pub change: Change,
    /// The difference, if nothing was to be changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
}

/// What was done to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// It did not exist.
    Created,
    /// It has other text.
    Changed,
    /// It does not exist any more.
    Removed,
    /// Nothing.
    Unchanged,
}

/// An agent and its hooks.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct AgentStatus {
    /// What a user types.
    pub name: &'static str,
    /// What its vendor calls it.
    pub title: &'static str,
    /// Whether the user has a folder of its settings.
    pub found: bool,
    /// The state of the user's hooks.
    pub user: HookState,
    /// The state of the project's hooks; `None` outside a project.
    pub project: Option<HookState>,
    /// Whether the installed files tell the agent of the MCP server.
    pub mcp: bool,
    /// Whether osm's hooks were tried with the real agent.
    pub tried: bool,
    /// What its hooks cannot do.
    pub limits: Vec<&'static str>,
}

/// The state of an agent's hooks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum HookState {
    /// All files are as osm would write them.
    Installed,
    /// Some file is missing, or is not as osm would write it.
    Outdated,
    /// There are no hooks.
    Absent,
    /// A file cannot be read, or is not JSON.
    Unreadable,
}

/// Installs hooks.
pub fn install(
    invocation: &Invocation,
    request: &AgentRequest,
    interaction: &mut dyn Interaction,
) -> Result<Vec<ChangedFile>, AgentError> {
    let places = Places::new(invocation, request.reach)?;
    let agents = chosen(request, &places)?;
    let mut record = Record::open(invocation)?;
    // If one file cannot be changed, none is.
    let mut steps = Vec::new();
    for agent in agents {
        steps.extend(plan::install(agent, &places, &record, request.trust)?);
    }
    let trusts = |step: &Step| step.is_trust() && step.change() != Change::Unchanged;
    if steps.iter().any(trusts) && !request.dry_run {
        let question = "Let Codex run the hooks of osm without asking you in /hooks?";
        confirm(request.yes, question, interaction)?;
    }
    carry_out(steps, request.dry_run, &mut record)
}

/// Takes hooks out again.
pub fn remove(
    invocation: &Invocation,
    request: &AgentRequest,
) -> Result<Vec<ChangedFile>, AgentError> {
    let places = Places::new(invocation, request.reach)?;
    let mut record = Record::open(invocation)?;
    // What is installed is known by the record, whether the agent is still there or not.
    let named = match request.agents {
        Chosen::Named(_) => Some(chosen(request, &places)?),
        Chosen::Found | Chosen::All => None,
    };
    let is_meant =
        |name: &str| named.as_ref().is_none_or(|named| named.iter().any(|it| it.name == name));
    let steps = plan::remove(&places, &record, is_meant)?;
    carry_out(steps, request.dry_run, &mut record)
}

/// Says which agents have hooks.
pub fn status(invocation: &Invocation) -> Result<Vec<AgentStatus>, AgentError> {
    let record = Record::read(invocation)?;
    let user = Places::new(invocation, Reach::User)?;
    let project = Places::new(invocation, Reach::Project).ok();
    let row = |agent: &'static Agent| {
        let of_user = plan::state(agent, &user, &record);
        let of_project = project.as_ref().map(|project| plan::state(agent, project, &record));
        let is_installed = [Some(of_user), of_project].contains(&Some(HookState::Installed));
        AgentStatus {
            name: agent.name,
            title: agent.title,
            found: user.has(agent),
            user: of_user,
            project: of_project,
            mcp: is_installed && agent.server.is_some(),
            tried: agent.tried,
            limits: agent.limits.to_vec(),
        }
    };
    Ok(AGENTS.iter().map(row).collect())
}

/// The agents of a request.
fn chosen(request: &AgentRequest, places: &Places) -> Result<Vec<&'static Agent>, AgentError> {
    match &request.agents {
        Chosen::All => Ok(AGENTS.iter().collect()),
        Chosen::Found => {
            let found: Vec<&Agent> = AGENTS.iter().filter(|agent| places.has(agent)).collect();
            if found.is_empty() { Err(AgentError::NoneFound) } else { Ok(found) }
        }
        Chosen::Named(names) => {
            let find = |name: &String| Agent::named(name).ok_or_else(|| AgentError::unknown(name));
            names.iter().map(find).collect()
        }
    }
}

fn carry_out(
    steps: Vec<Step>,
    dry_run: bool,
    record: &mut Record,
) -> Result<Vec<ChangedFile>, AgentError> {
    let mut changed = Vec::new();
    for step in steps {
        let change = step.change();
        let diff = dry_run.then(|| step.diff()).filter(|diff| !diff.is_empty());
        let row = ChangedFile { agent: step.agent, path: step.path.clone(), change, diff };
        if !dry_run {
            step.make(record)?;
        }
        changed.push(row);
    }
    Ok(changed)
}
