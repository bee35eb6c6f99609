//! A coding agent: the conversation, if it names one that holds, and its process otherwise.
//!
//! A conversation's id is better than a process's: it survives a restart and tells two
//! conversations of one process apart. But it stands in a variable, and variables outlive their
//! owner: a multiplexer's server started from inside an agent hands that agent's id to every
//! later pane. So the id counts only below the agent that it belongs to, and only if that agent
//! did not itself inherit it.

use std::ffi::{OsStr, OsString};

use super::{Found, Identity, Verdict, describe, record, show};
use crate::catalogue::Agent;
use crate::detection::{AgentFound, Confidence, Source};
use crate::digest::Key;
use crate::process::Pid;
use crate::scene::{Boundary, Role, Scene};

/// Values that name no conversation in particular.
const NOT_IDS: &[&str] = &["default", "0", "1", "true"];

pub(super) fn detect(scene: &mut Scene, _explicit: Option<&OsStr>) -> Verdict {
    match scene.boundary() {
        (at, Boundary::Agent(agent)) => below(scene, at, agent),
        (at, boundary) => out_of_sight(scene, at, boundary),
    }
}

/// We run below an agent.
fn below(scene: &mut Scene, at: usize, agent: &Agent) -> Verdict {
    let mut top = at;
    while scene.is_agent(top + 1, agent) {
        top += 1;
    }
    let pid = scene.process(top).map(|process| process.pid);
    let context = agent.subagent.and_then(|name| scene.evidence(at, name));
    let doubt = match conversation(scene, at, top, agent) {
        Ok((evidence, value)) => {
            let reason =
                format!("{} is an ancestor process, and {evidence}{}", agent.name, show(&value));
            let mut found = conversation_found(scene, agent, &value, Confidence::Confirmed, reason);
            found.anchor = Some(top);
            found.context = context;
            if let Some(agent) = &mut found.agent {
                agent.pid = pid;
            }
            return Ok(found);
        }
        Err(doubt) => doubt,
    };
    let instance = scene.instance(top).ok_or("the agent's process cannot be identified")?;
    Ok(Found {
        identity: Identity::Key {
            namespace: "agent",
            label: format!("{}_{}", agent.name, instance.pid),
            key: Key::new("agent").with(agent.name).with_instance(&instance),
        },
        source: Source::AgentProcess,
        confidence: Confidence::Confirmed,
        agent: Some(AgentFound {
            name: agent.name,
            pid,
            conversation: None,
            concurrent: agent.concurrent,
        }),
        context,
        anchor: Some(top),
        reason: format!("{} (pid {}) is an ancestor process; {doubt}", agent.name, instance.pid),
    })
}

/// The conversation that the agent at `at..=top` names, in a variable or in its record, and what
/// tells it; or why none holds.
fn conversation(
    scene: &mut Scene,
    at: usize,
    top: usize,
    agent: &Agent,
) -> Result<(String, OsString), String> {
    let doubt = match published(scene, at, top, agent) {
        Ok((variable, value)) => return Ok((format!("{variable}="), value)),
        Err(doubt) => doubt,
    };
    match record::conversation(scene, at, top, agent) {
        Some(Ok((path, value))) => Ok((format!("{} names ", show(path.as_os_str())), value)),
        Some(Err(reason)) => Err(format!("{doubt}; {}", reason.escape_debug())),
        None => Err(doubt),
    }
}

/// The variable that names the conversation, and its value.
fn published(
    scene: &mut Scene,
    at: usize,
    top: usize,
    agent: &Agent,
) -> Result<(&'static str, OsString), String> {
    let named = |variable: &&'static str| {
        let value = scene.evidence(at, variable)?;
        let is_id = !NOT_IDS.iter().any(|word| value.as_os_str() == *word);
        is_id.then_some((*variable, value))
    };
    let Some((variable, value)) = agent.session.iter().find_map(named) else {
        return Err("it sets no variable with the id of a conversation".into());
    };
    if let Some(owner) = agent.owner
        && let Some(text) = scene.evidence(at, owner)
    {
        let run = &scene.ancestry.known()[at..=top];
        if !run.iter().any(|process| text.as_os_str() == process.pid.to_string().as_str()) {
            return Err(format!("{variable} belongs to process {}", show(&text)));
        }
    }
    if is_inherited(scene, top, agent, variable, &value) {
        return Err(format!("{variable} was set before it started"));
    }
    Ok((variable, value))
}

/// Whether an agent found the variable in its environment, left there by one like it or frozen
/// into a server that outlived its owner.
fn is_inherited(
    scene: &mut Scene,
    top: usize,
    agent: &Agent,
    variable: &str,
    value: &OsStr,
) -> bool {
    let Some(starter) = scene.process(top + 1).map(|process| process.pid) else {
        return false;
    };
    if scene.initial(starter, variable).as_deref() != Some(value) {
        return false;
    }
    let base = std::mem::replace(&mut scene.base, top);
    let (_, outer) = scene.boundary();
    scene.base = base;
    match outer {
        Boundary::Agent(outer) => outer.name == agent.name,
        Boundary::Multiplexer(_) | Boundary::Terminal(_) => true,
        _ => false,
    }
}

/// No agent is the first thing above us, but variables may name one.
fn out_of_sight(scene: &mut Scene, at: usize, boundary: Boundary) -> Verdict {
    let mut doubts = Vec::new();
    let agents: Vec<&Agent> = scene.catalogue.agents().collect();
    for agent in agents {
        let named = agent.session.iter().find_map(|name| Some((*name, scene.variable(name)?)));
        let Some((variable, value)) = named else {
            continue;
        };
        match vouch(scene, at, boundary, agent) {
            Ok((confidence, because)) => {
                let reason = format!("{variable}={}, and {because}", show(&value));
                let mut found = conversation_found(scene, agent, &value, confidence, reason);
                found.context = agent.subagent.and_then(|name| scene.variable(name));
                return Ok(found);
            }
            Err(doubt) => doubts.push(format!("{variable} is stale: {doubt}")),
        }
    }
    if doubts.is_empty() {
        let boundary = describe(scene, at, boundary);
        return Err(format!("no agent between this process and {boundary}"));
    }
    Err(doubts.join("; "))
}

/// Whether something else than an agent right above us makes its variable believable.
fn vouch(
    scene: &mut Scene,
    at: usize,
    boundary: Boundary,
    agent: &Agent,
) -> Result<(Confidence, String), String> {
    match boundary {
        Boundary::Terminal(row) if row.programs.iter().any(|name| agent.hosts.contains(name)) => {
            let host = describe(scene, at, boundary);
            return Ok((Confidence::Confirmed, format!("{host} runs {}", agent.name)));
        }
        Boundary::Sandbox => {
            return Ok((Confidence::Unconfirmed, "a sandbox hides the ancestor processes".into()));
        }
        Boundary::Top if scene.ancestry.is_blind() => {
            return Ok((Confidence::Unconfirmed, "the ancestor processes cannot be read".into()));
        }
        _ => {}
    }
    if let Some(pid) = orphaned_by(scene, at, boundary, agent) {
        let because =
            format!("this process was orphaned, and {} (pid {pid}) started before it", agent.name);
        return Ok((Confidence::Unconfirmed, because));
    }
    let boundary = describe(scene, at, boundary);
    Err(format!("{} is not between this process and {boundary}", agent.name))
}

/// The live agent that may have started us, for a job whose parents are gone.
///
/// The agent publishes its pid, is what it says, and is older than everything of us that is left:
/// only then can the missing link have been its child. Where the leader of our session is left,
/// the agent is in that session.
fn orphaned_by(scene: &mut Scene, at: usize, boundary: Boundary, agent: &Agent) -> Option<Pid> {
    let gap = scene.ancestry.gap().filter(|gap| (scene.base + 1..=at).contains(gap));
    let missing = match (gap, boundary) {
        (Some(gap), _) => gap,
        (None, Boundary::Top) => at,
        _ => return None,
    };
    let text = scene.variable(agent.owner?)?;
    let pid = Pid(text.to_str()?.trim().parse().ok()?);
    let oldest = scene.process(missing.checked_sub(1)?)?;
    let (start, session) = (oldest.start, oldest.session);
    let process = scene.source.process(pid).ok()?;
    let is_near = gap.is_none() || process.session == session;
    let name = scene.role_of(&process);
    (is_near && process.start < start && name == Role::Agent(agent.name)).then_some(pid)
}

fn conversation_found(
    scene: &Scene,
    agent: &Agent,
    value: &OsStr,
    confidence: Confidence,
    reason: String,
) -> Found {
    let boot = scene.host.as_ref().ok().filter(|_| agent.local_ids).map(|host| &host.boot);
    Found {
        identity: Identity::Key {
            namespace: "agent",
            label: agent.name.to_owned(),
            key: Key::new("agent").with(agent.name).with_some(boot).with_free(value),
        },
        source: Source::AgentConversation,
        confidence,
        agent: Some(AgentFound {
            name: agent.name,
            pid: None,
            conversation: Some(value.to_string_lossy().into_owned()),
            concurrent: agent.concurrent,
        }),
        context: None,
        anchor: None,
        reason,
    }
}
