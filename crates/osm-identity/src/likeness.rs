//! Programs that behave like coding agents and are not in the catalogue.
//!
//! Behaviour proves little: a daemon that runs single commands looks the same. So an agent that osm
//! does not know is shown with what would make it one ([`find`]), and changes an id in one case
//! only: where it calls itself an agent to its commands, a pty that it gives to a single command is
//! no terminal of a person ([`says_so`]).

use std::ffi::OsString;

use crate::catalogue::base_name;
use crate::process::Pid;
use crate::scene::{Boundary, Role, Scene};
use crate::script;

/// The variables in which agents say that they are one (`AI_AGENT=crush`, `AGENT=1`).
const CONVENTIONS: [&str; 2] = ["AI_AGENT", "AGENT"];

/// How variables end that name a conversation.
const CONVERSATIONS: [&str; 4] = ["_SESSION_ID", "_CONVERSATION_ID", "_THREAD_ID", "_TASK_ID"];

/// A program above us that behaves like an agent, and how to describe it as one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnlistedAgent {
    /// Its process.
    pub pid: Pid,
    /// The name that would make it known: of its process, or of its script.
    pub program: String,
    /// Variables that it gives to its commands and that may name the conversation.
    pub session: Vec<String>,
    /// The variable in which it tells its commands its pid.
    pub owner: Option<String>,
    /// What it does that agents do, for people.
    pub behaviour: Vec<String>,
}

/// The nearest program above us that behaves like an agent, unless a known one is nearer.
pub(crate) fn find(scene: &mut Scene) -> Option<UnlistedAgent> {
    let (limit, boundary) = scene.boundary();
    if matches!(boundary, Boundary::Agent(_)) {
        return None;
    }
    (scene.base + 1..limit).find_map(|at| {
        let behaviour = behaviour(scene, at);
        if behaviour.is_empty() {
            return None;
        }
        let pid = scene.process(at)?.pid;
        let set = |name: &&str| is_set_by(scene, at, name).is_some();
        let names: Vec<&str> = scene.environment.names().filter(set).collect();
        let is_pid = |name: &&&str| {
            let value = scene.environment.get(name);
            name.ends_with("_PID") && value.is_some_and(|value| *value == *pid.to_string())
        };
        let owner = names.iter().find(is_pid).map(|name| (*name).to_owned());
        let is_conversation = |name: &&str| CONVERSATIONS.iter().any(|end| name.ends_with(end));
        let session = names.iter().copied().filter(is_conversation).map(str::to_owned).collect();
        Some(UnlistedAgent { pid, program: program(scene, at)?, session, owner, behaviour })
    })
}

/// What the process at a place does that agents do; nothing if it lacks what all of them do: run
/// single commands in shells.
fn behaviour(scene: &mut Scene, at: usize) -> Vec<String> {
    let mut down = (scene.base + 1..at).rev();
    let Some(shell) = down.find(|below| scene.role(*below) != Role::Wrapper) else {
        return Vec::new();
    };
    let runs_command = scene.role(shell) == Role::EphemeralShell && !scene.runs_script(shell);
    let (true, Role::Ordinary) = (runs_command, scene.role(at)) else { return Vec::new() };
    let (process, first) = (&scene.ancestry.known()[at], &scene.ancestry.known()[at - 1]);
    let mut seen = Vec::new();
    if process.terminal.is_none() {
        seen.push("has no terminal".to_owned());
    }
    if first.session == Some(first.pid) {
        let place = if first.terminal.is_some() { "a terminal" } else { "a session" };
        seen.push(format!("gives each command {place} of its own"));
    }
    if let Some((name, value)) = says_so(scene, at) {
        seen.push(format!("sets {name}={}", crate::detect::show(&value)));
    }
    if !seen.is_empty() {
        seen.insert(0, "runs single commands in shells".to_owned());
    }
    seen
}

/// Whether the process at a place calls itself an agent to what it runs.
pub(crate) fn says_so(scene: &Scene, at: usize) -> Option<(&'static str, OsString)> {
    CONVENTIONS.iter().find_map(|name| Some((*name, is_set_by(scene, at, name)?)))
}

/// The value that the process at a place gave a variable for the one below it. One that it was
/// started with says nothing about it.
fn is_set_by(scene: &Scene, at: usize, name: &str) -> Option<OsString> {
    let below = at.checked_sub(1)?;
    let value = if below == scene.base {
        scene.variable(name)?
    } else {
        scene.initial(scene.ancestry.known().get(below)?.pid, name)?
    };
    let pid = scene.ancestry.known().get(at)?.pid;
    let before = scene.source.variable(pid, name).ok()?;
    (before.as_ref() != Some(&value)).then_some(value)
}

/// What the process at a place is called in a catalogue: by its name, or by its script.
fn program(scene: &mut Scene, at: usize) -> Option<String> {
    let process = scene.process(at)?;
    let (pid, name) = (process.pid, process.name.clone());
    if !scene.is_interpreter(at) {
        return Some(name);
    }
    let arguments = scene.arguments(pid);
    script::of(&arguments).map(|path| base_name(path).to_owned()).filter(|name| !name.is_empty())
}
