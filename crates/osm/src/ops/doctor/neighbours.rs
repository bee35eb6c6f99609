//! Other agents in this worktree.
//!
//! Two agents that change one worktree without claims overwrite each other. The process table tells which
//! agents run here, whether they ever called osm or not (Linux only: elsewhere the folder of a process is
//! not known).

use osm_identity::catalogue::{self, Kind};
use osm_identity::{Pid, Process, ProcessSource, Repository};

use super::Finding;
use crate::agent::Agent;
use crate::invocation::Invocation;
use crate::ops::agent::{self, AgentStatus, HookState};
use crate::ops::claim;

/// An agent's process.
struct Running {
    process: Process,
    agent: &'static str,
}

pub(super) fn look(invocation: &Invocation) -> Vec<Finding> {
    let Some(repository) = invocation.repository() else { return Vec::new() };
    let running = running(invocation, repository);
    let exposed: Vec<&Running> = running.iter().filter(|it| !is_covered(it, invocation)).collect();
    if running.len() < 2 || exposed.is_empty() {
        return Vec::new();
    }
    let name = |it: &Running| format!("{} (pid {})", it.agent, it.process.pid);
    let all: Vec<String> = running.iter().map(name).collect();
    let exposed: Vec<String> = exposed.into_iter().map(name).collect();
    vec![
        Finding::problem(
            format!(
                "{} agents work in {}: {}; without claims of paths or hooks: {}",
                running.len(),
                repository.worktree.display(),
                all.join(", "),
                exposed.join(", ")
            ),
            "they can overwrite each other's work",
        )
        .fix("osm agent install; or give each a worktree: git worktree add"),
    ]
}

/// The agents whose folder is in a worktree: of a process and its children, the first.
fn running(invocation: &Invocation, repository: &Repository) -> Vec<Running> {
    let source = invocation.world.processes;
    let Ok(census) = source.census() else { return Vec::new() };
    let known = |pid: Pid| {
        let process = source.process(pid).ok()?;
        let agent = agent_of(&process, source, invocation)?;
        is_in(pid, repository).then_some(Running { process, agent })
    };
    let found: Vec<Running> = census.pids.into_iter().filter_map(known).collect();
    let pids: Vec<Pid> = found.iter().map(|it| it.process.pid).collect();
    found.into_iter().filter(|it| !pids.contains(&it.process.parent)).collect()
}

/// The agent that a process is, by its name or by the script that it runs.
fn agent_of(
    process: &Process,
    source: &dyn ProcessSource,
    invocation: &Invocation,
) -> Option<&'static str> {
    let known = &invocation.settings.catalogue;
    let is_plain = |agent: &&catalogue::Agent| agent.marker.is_none() && !agent.is_script;
    match known.look_up(&process.name) {
        Some(Kind::Agent(agent)) if is_plain(&agent) => Some(agent.name),
        Some(Kind::Interpreter) => {
            let arguments = source.arguments(process.pid).ok()?;
            let script =
                arguments.iter().skip(1).find(|it| !it.to_string_lossy().starts_with('-'))?;
            let script = script.to_string_lossy();
            let by_name = match known.look_up(catalogue::base_name(&script)) {
                Some(Kind::Agent(agent)) => Some(agent),
                _ => None,
            };
            by_name.or_else(|| known.agent_by_path(&script)).map(|agent| agent.name)
        }
        _ => None,
    }
}

#[cfg(target_os = "linux")]
fn is_in(pid: Pid, repository: &Repository) -> bool {
    let folder = std::fs::read_link(format!("/proc/{pid}/cwd"));
    // A repository in a folder of this one is another one.
    let around = |folder: &std::path::Path| Repository::around(folder).map(|it| it.worktree);
    folder.is_ok_and(|it| around(&it).as_ref() == Some(&repository.worktree))
}

#[cfg(not(target_os = "linux"))]
fn is_in(_pid: Pid, _repository: &Repository) -> bool {
    false
}

/// Whether the edits of an agent are seen by the others: it has hooks, or holds paths.
fn is_covered(running: &Running, invocation: &Invocation) -> bool {
    let hooks = Agent::of_catalogue(running.agent);
    let has_hooks = |it: &AgentStatus| {
        let is_its = hooks.is_some_and(|hooks| hooks.name == it.name);
        is_its && [Some(it.user), it.project].contains(&Some(HookState::Installed))
    };
    if agent::status(invocation).is_ok_and(|agents| agents.iter().any(has_hooks)) {
        return true;
    }
    let pids = claim::path_holders(invocation).unwrap_or_default();
    pids.contains(&running.process.pid)
}
