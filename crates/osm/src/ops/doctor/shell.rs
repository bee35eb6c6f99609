//! What surrounds osm: the session, programs above it, and the tmux server.

use std::ffi::OsStr;
use std::path::Path;
use std::time::Duration;

use osm_context::{End, Limits, Ran, Setting, run};
use osm_identity::{Confidence, Source};

use super::Finding;
use crate::invocation::Invocation;

/// How long tmux may take.
const PATIENCE: Duration = Duration::from_secs(5);

/// Variables with which a user names a session.
const NAMES: [&str; 2] = ["OSM_SESSION", "OSM_SESSION_ID"];

pub(super) fn identity(invocation: &Invocation) -> Vec<Finding> {
    let found = invocation.detection();
    let mut findings = Vec::new();
    match found.confidence {
        Confidence::None => findings.push(
            Finding::problem(
                "nothing identifies this session: its id changes with every command",
                "no state is found again, and no claim can be made",
            )
            .fix("export OSM_SESSION=NAME"),
        ),
        Confidence::OneCommand => findings.push(
            Finding::notice(
                "osm sees only the one command of this sandbox, so its id changes with every command",
                "no state is found again by the next command",
            )
            .fix("export OSM_SESSION=NAME"),
        ),
        _ => {}
    }
    if let (Source::ExplicitVariable, Some(agent)) = (found.source, invocation.usage().agent) {
        findings.push(
            Finding::notice(
                format!("OSM_SESSION is set, and {agent} runs in it"),
                "all agents that have this variable are one session, so they do not exclude each other",
            )
            .fix("unset OSM_SESSION, and start the agent again"),
        );
    }
    findings
}

pub(super) fn unlisted(invocation: &Invocation) -> Vec<Finding> {
    let found = invocation.explain().unlisted.into_iter();
    let finding = |it: osm_identity::UnlistedAgent| {
        Finding::notice(
            format!(
                "{} (pid {}) behaves like a coding agent, and osm does not know it",
                it.program, it.pid
            ),
            "its conversations are not told apart, and its terminals may be sessions of their own",
        )
        .fix("add the entry that `osm session id --explain` prints to config.toml")
    };
    found.map(finding).collect()
}

/// Variables in the environment of the tmux server, which every new pane inherits.
pub(super) fn tmux(invocation: &Invocation) -> Vec<Finding> {
    if invocation.world.environment.get("TMUX").is_none_or(OsStr::is_empty) {
        return Vec::new();
    }
    let root = Path::new("/");
    let limits = Limits { time: PATIENCE, ..Limits::default() };
    let setting = Setting { limits, ..Setting::new(root) };
    let command = ["tmux", "show-environment", "-g"].map(str::to_owned);
    let listed = match run(&command, root, &setting) {
        Ok(ran) if ran.end == End::Exited(0) => ran.output,
        // It is not this user's, or is gone, or there is no tmux here to ask.
        Ok(Ran { end: End::Exited(_) | End::Killed, .. }) | Err(_) => return Vec::new(),
        Ok(Ran { end: End::TimedOut, .. }) => {
            return vec![
                Finding::problem(
                    "the tmux server does not answer",
                    "osm cannot tell which variables new panes get",
                )
                .fix("tmux show-environment -g"),
            ];
        }
    };
    let is_set = |name: &str| {
        listed.lines().any(|line| line.strip_prefix(name).is_some_and(|rest| rest.starts_with('=')))
    };
    let fix = |name: &str| format!("tmux set-environment -gu {name}");
    let mut findings = Vec::new();
    for name in NAMES.into_iter().filter(|name| is_set(name)) {
        findings.push(
            Finding::problem(
                format!("the tmux server gives {name} to every new pane"),
                "all new panes are one session, so their claims do not exclude each other",
            )
            .fix(fix(name)),
        );
    }
    let mut names: Vec<&str> = Vec::new();
    for agent in invocation.settings.catalogue.agents() {
        names.extend(agent.session.iter().chain(&agent.owner));
    }
    names.sort_unstable();
    names.dedup();
    for name in names.into_iter().filter(|name| is_set(name)) {
        findings.push(
            Finding::notice(
                format!("the tmux server gives {name} of an agent to every new pane"),
                "programs in new panes take themselves for commands of that agent",
            )
            .fix(fix(name)),
        );
    }
    findings
}
