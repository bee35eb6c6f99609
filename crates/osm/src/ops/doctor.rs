//! `osm doctor`: what is wrong with this setup, why that matters, and the command that fixes it.
//!
//! [`CHECKS`] is the list: each check looks at one subject and returns what it found. A look changes nothing.
//! Only faults whose repair loses nothing have a `Repair`, which [`fix`] makes; all others have a command for a
//! person to run.

mod home;
mod neighbours;
mod programs;
mod shell;
mod stored;

use std::path::PathBuf;

use serde::Serialize;

use crate::interaction::Interaction;
use crate::invocation::Invocation;
use crate::ops::agent::{self, AgentRequest, Chosen, Reach};
use crate::ops::identity;

/// One subject.
pub struct Check {
    /// Its stable name.
    pub name: &'static str,
    /// What is looked at.
    pub about: &'static str,
    look: fn(&Invocation) -> Vec<Finding>,
}

/// All checks, in the order in which they are made.
pub const CHECKS: &[Check] = &[
    Check { name: "identity", about: "what identifies this session", look: shell::identity },
    Check {
        name: "agent",
        about: "programs above osm that behave like agents",
        look: shell::unlisted,
    },
    Check { name: "tmux", about: "variables of the tmux server", look: shell::tmux },
    Check {
        name: "home",
        about: "the owner and the modes of osm's folder",
        look: home::owner_and_modes,
    },
    Check {
        name: "file-system",
        about: "space, locks, and network file systems",
        look: home::file_system,
    },
    Check { name: "clock", about: "the clock, against what was saved", look: home::clock },
    Check { name: "config", about: "the configuration", look: stored::config },
    Check { name: "sessions", about: "damaged sessions", look: stored::sessions },
    Check { name: "locks", about: "locks and files of dead processes", look: stored::locks },
    Check { name: "ledger", about: "the ledger of claims", look: stored::ledger },
    Check { name: "upstream", about: "sessions of the upstream tool", look: stored::upstream },
    Check { name: "path", about: "osm and git in PATH", look: programs::path },
    Check { name: "git-hooks", about: "the guard in this repository", look: programs::guard },
    Check { name: "agent-hooks", about: "osm's hooks in coding agents", look: programs::hooks },
    Check { name: "neighbours", about: "agents in this worktree", look: neighbours::look },
];

/// How much a finding matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Something does not work, or is not safe.
    Problem,
    /// Something could be better.
    Notice,
}

/// Something that a check found.
#[derive(Clone, Debug, Serialize)]
pub struct Finding {
    /// The name of the check.
    pub check: &'static str,
    /// How much it matters.
    pub severity: Severity,
    /// What is wrong, with which file.
    pub what: String,
    /// Why it matters.
    pub why: &'static str,
    /// The command that fixes it, or what to do.
    pub fix: String,
    /// Whether `osm doctor --fix` fixes it.
    pub is_safe: bool,
    /// Whether the repair succeeded; `None` if none was tried.
    pub fixed: Option<bool>,
    /// Why the repair failed.
    pub failure: Option<String>,
    #[serde(skip)]
    repair: Option<Repair>,
}

/// A repair that loses nothing.
#[derive(Clone, Debug)]
enum Repair {
    /// Takes a file or folder away from other users.
    #[cfg_attr(not(unix), expect(dead_code, reason = "a profile's folders are closed to others"))]
    Private(PathBuf),
    /// Removes files that crashed processes left in the store.
    StrayFiles,
    /// Writes the hooks of an agent again.
    Hooks(&'static str, Reach),
}

impl Finding {
    fn new(severity: Severity, what: impl Into<String>, why: &'static str) -> Self {
        Self {
            check: "",
            severity,
            what: what.into(),
            why,
            fix: String::new(),
            is_safe: false,
            fixed: None,
            failure: None,
            repair: None,
        }
    }

    fn problem(what: impl Into<String>, why: &'static str) -> Self {
        Self::new(Severity::Problem, what, why)
    }

    fn notice(what: impl Into<String>, why: &'static str) -> Self {
        Self::new(Severity::Notice, what, why)
    }

    /// With the command that fixes it.
    fn fix(self, command: impl Into<String>) -> Self {
        Self { fix: command.into(), ..self }
    }

    /// With a repair.
    fn safe(self, repair: Repair) -> Self {
        Self { is_safe: true, repair: Some(repair), ..self }
    }

    /// Whether it is still a problem.
    #[must_use]
    pub fn is_open_problem(&self) -> bool {
        self.severity == Severity::Problem && self.fixed != Some(true)
    }
}

/// The result of all checks.
#[derive(Clone, Debug, Serialize)]
pub struct Diagnosis {
    /// The handle of the session.
    pub handle: String,
    /// Its id.
    pub id: String,
    /// The detector that found it.
    pub source: &'static str,
    /// How sure that is.
    pub confidence: &'static str,
    /// How many checks were made.
    pub checks: usize,
    /// What they found, in the order of the checks.
    pub findings: Vec<Finding>,
}

/// Makes all checks.
pub fn diagnose(invocation: &Invocation, interaction: &mut dyn Interaction) -> Diagnosis {
    let progress = interaction.begin("checking");
    let mut findings = Vec::new();
    for (at, check) in CHECKS.iter().enumerate() {
        progress.count(check.about, at + 1, Some(CHECKS.len()));
        let found = (check.look)(invocation).into_iter();
        findings.extend(found.map(|it| Finding { check: check.name, ..it }));
    }
    let identity = identity::explain(invocation);
    Diagnosis {
        handle: identity.handle.to_string(),
        id: identity.detection.id.to_string(),
        source: identity.detection.source.name(),
        confidence: identity.detection.confidence.name(),
        checks: CHECKS.len(),
        findings,
    }
}

/// Makes the repairs that lose nothing, and notes how each went.
pub fn fix(diagnosis: &mut Diagnosis, invocation: &Invocation, interaction: &mut dyn Interaction) {
    for finding in &mut diagnosis.findings {
        if let Some(repair) = &finding.repair {
            finding.failure = repair.make(invocation, interaction).err();
            finding.fixed = Some(finding.failure.is_none());
        }
    }
}

impl Repair {
    fn make(
        &self,
        invocation: &Invocation,
        interaction: &mut dyn Interaction,
    ) -> Result<(), String> {
        match self {
            Self::Private(path) => home::make_private(path).map_err(|error| error.to_string()),
            Self::StrayFiles => stored::remove_stray_files(invocation),
            Self::Hooks(name, reach) => {
                let request = AgentRequest {
                    agents: Chosen::Named(vec![(*name).to_owned()]),
                    reach: *reach,
                    dry_run: false,
                    trust: false,
                    yes: false,
                };
                let installed = agent::install(invocation, &request, interaction);
                installed.map(drop).map_err(|error| error.to_string())
            }
        }
    }
}

/// A path as one word of a command line.
fn word(path: &std::path::Path) -> String {
    let text = path.display().to_string();
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+,:@".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) {
        return text;
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}
