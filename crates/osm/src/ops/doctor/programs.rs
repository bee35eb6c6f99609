//! Programs that must find each other: osm and git in PATH, hooks of Git, hooks of agents.

use std::path::{Path, PathBuf};

use super::{Finding, Repair, word};
use crate::invocation::Invocation;
use crate::ops::agent::{self, AgentStatus, HookState, Reach};
use crate::ops::claim::guard;

/// Where programs look that were not started by a shell, such as a Git client with windows.
#[cfg(unix)]
const USUAL: [&str; 4] = ["/usr/local/bin", "/usr/bin", "/bin", "/opt/homebrew/bin"];

pub(super) fn path(invocation: &Invocation) -> Vec<Finding> {
    let world = invocation.world;
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let own = world.program().map(PathBuf::from);
    let folder = own.as_deref().and_then(Path::parent).map(word);
    let fix = format!("export PATH=\"$PATH\":{}", folder.unwrap_or_else(|| "FOLDER".into()));
    let mut findings = Vec::new();
    match (world.program_on_path(), &own) {
        (None, _) => findings.push(
            Finding::problem(
                "osm is not in PATH",
                "hooks of agents and scripts do not find it, and then do nothing",
            )
            .fix(fix),
        ),
        (Some(found), Some(own)) if real(&found) != real(own) => findings.push(
            Finding::notice(
                format!("PATH has another osm: {}; this is {}", found.display(), own.display()),
                "hooks and scripts run that one, which may be of another version",
            )
            .fix(fix),
        ),
        _ => {}
    }
    if world.find_on_path("git").is_none() {
        findings.push(
            Finding::problem(
                "git is not in PATH",
                "prompts have no diffs, and osm does not see what a dead session did not commit",
            )
            .fix("install git"),
        );
    }
    findings
}

/// A guard that cannot run refuses every commit.
pub(super) fn guard(invocation: &Invocation) -> Vec<Finding> {
    if invocation.repository().is_none() || invocation.world.find_on_path("git").is_none() {
        return Vec::new();
    }
    let is_missing = |program: &Option<PathBuf>| program.as_deref().is_none_or(|it| !it.is_file());
    let guarded = guard::guarded(invocation).unwrap_or_default().into_iter();
    let mut lost = guarded.filter(|it| is_missing(&it.program) && !is_in_usual_folder());
    let finding = |it: guard::Guarded| {
        let program = it.program.map_or_else(|| "osm".into(), |it| it.display().to_string());
        Finding::problem(
            format!("the hook {} runs {program}, which does not exist", it.hook.display()),
            "a Git client that no shell started refuses every commit",
        )
        .fix("osm claim guard install")
    };
    // They were all installed by one command, which writes them all again.
    lost.next().map(finding).into_iter().collect()
}

#[cfg(unix)]
fn is_in_usual_folder() -> bool {
    USUAL.iter().any(|folder| Path::new(folder).join("osm").is_file())
}

/// There, programs with windows have the user's PATH.
#[cfg(not(unix))]
fn is_in_usual_folder() -> bool {
    true
}

pub(super) fn hooks(invocation: &Invocation) -> Vec<Finding> {
    let Ok(agents) = agent::status(invocation) else { return Vec::new() };
    let mut findings: Vec<Finding> = agents.iter().flat_map(broken).collect();
    let is_bare = |it: &&AgentStatus| {
        it.found
            && it.user == HookState::Absent
            && it.project.is_none_or(|it| it == HookState::Absent)
    };
    let bare: Vec<&str> = agents.iter().filter(is_bare).map(|it| it.name).collect();
    if !bare.is_empty() {
        findings.push(
            Finding::notice(
                format!("no hooks of osm in {}", bare.join(", ")),
                "their edits claim no files, so they can overwrite the work of others",
            )
            .fix(format!("osm agent install {}", bare.join(" "))),
        );
    }
    findings
}

/// What is wrong with the hooks of an agent.
fn broken(agent: &AgentStatus) -> Vec<Finding> {
    let places =
        [(Some(agent.user), Reach::User, ""), (agent.project, Reach::Project, " --project")];
    let finding = |(state, reach, option): (Option<HookState>, Reach, &str)| {
        let install = format!("osm agent install {}{option}", agent.name);
        let where_ = if reach == Reach::User { "your" } else { "this project's" };
        Some(match state? {
            HookState::Outdated => Finding::problem(
                format!("osm's hooks in {where_} settings of {} are not current", agent.title),
                "some of its edits are not checked",
            )
            .fix(install)
            .safe(Repair::Hooks(agent.name, reach)),
            HookState::Unreadable => Finding::problem(
                format!("{where_} settings of {} cannot be read", agent.title),
                "osm can neither add its hooks nor tell whether they are there",
            )
            .fix(format!("{install} --dry-run, which names the file and the place")),
            HookState::Installed | HookState::Absent => return None,
        })
    };
    places.into_iter().filter_map(finding).collect()
}
