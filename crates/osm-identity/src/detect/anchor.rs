//! The Deep Anchor: the process that stands for our terminal, or for our part of the tree.
//!
//! On a terminal everything belongs to it: `make`, `npm run`, hooks, editors, pipelines, jobs in
//! the background. So we climb while the parent is on the same terminal, and the topmost process
//! there, usually the login shell, is the anchor. Where the terminal changes or ends, we go on
//! only through what is part of the command itself: ourselves, wrappers (`sudo` with a pty of its
//! own), what a wrapper runs (`script -c make`) and shells of one command (some agents give every
//! command a pty). An interactive shell on a pty of its own *is* another terminal, even where a
//! shell of one command started it, and in a multiplexer's pane or a named tab as well. So is
//! whatever runs on a pty that came from a process without a terminal: that is what a terminal
//! emulator looks like, and all its windows are one process. Only one that calls itself an agent to
//! its commands gives single commands a pty.
//!
//! Off a terminal we climb through wrappers and shells of one command. If a process on a terminal
//! comes, the rule above goes on there; otherwise the first ordinary process is the anchor. But a
//! script that a daemon at the top of the tree runs is a service or a job of its own: that is what
//! a supervisor looks like that we do not know. Single commands (`sh -c`) of a daemon stay with it:
//! that is what an agent looks like. Only what never changes in the life of the script decides;
//! whether it has siblings does.
//!
//! Boundaries are never entered, and the anchor is never ourselves: an id that changes with every
//! call is worse than a random one that says so. In a container PID 1 counts as the last resort.
//!
//! The terminal that goes into the id is the anchor's, as the kernel tells it. What our own
//! streams are connected to changes nothing.

use std::ffi::OsStr;

use super::{Found, Identity, Verdict, describe as describe_boundary, show};
use crate::detection::{Confidence, Source};
use crate::digest::Key;
use crate::likeness;
use crate::process::{Pid, Process};
use crate::scene::{Boundary, Role, Scene};

pub(super) fn detect(scene: &mut Scene, _explicit: Option<&OsStr>) -> Verdict {
    let (limit, boundary) = scene.boundary();
    let Some(top) = climb(scene, limit) else {
        let boundary = describe_boundary(scene, limit, boundary);
        return Err(format!("no process except this one below {boundary}"));
    };
    let key = key(scene, top).ok_or("cannot read the boot id and the pid namespace")?;
    Ok(Found {
        identity: Identity::Key { namespace: "anchor", label: String::new(), key },
        source: Source::Anchor,
        confidence: if is_one_command(scene, top, limit, boundary) {
            Confidence::OneCommand
        } else {
            Confidence::Confirmed
        },
        agent: None,
        context: None,
        anchor: Some(top),
        reason: describe(scene, top),
    })
}

/// Whether a pid namespace shows nothing but the command that runs us: what it belongs to is out of
/// sight, and the next command is in another namespace. A sandbox may run us without a shell between.
fn is_one_command(scene: &mut Scene, top: usize, limit: usize, boundary: Boundary) -> bool {
    let contained = scene.host.as_ref().is_ok_and(|host| host.contained);
    let is_brought_in = |process: &Process| process.parent == Pid(0) && process.pid != Pid(1);
    contained
        && (top + 1 == limit || top == limit && matches!(boundary, Boundary::Sandbox))
        && !scene.ancestry.known().iter().any(is_brought_in)
        && (scene.base + 1..=top).all(|at| scene.is_transparent(at))
}

/// The place of the anchor below `limit`, where the boundary is.
pub(super) fn climb(scene: &mut Scene, limit: usize) -> Option<usize> {
    let base = scene.base;
    if !has_terminals()
        && let Some(shell) = (base + 1..limit).find(|at| scene.role(*at) == Role::Shell)
    {
        return Some(shell);
    }
    let mut at = base;
    let mut terminal_begins = base;
    while at + 1 < limit {
        let here = scene.process(at)?.terminal;
        let Some(above) = scene.process(at + 1).map(|parent| parent.terminal) else {
            break;
        };
        if here != above {
            if here.is_some() && !may_leave(scene, terminal_begins, at) {
                break;
            }
            terminal_begins = at + 1;
        }
        at += 1;
        // What is off a terminal and not part of the command is the end of it.
        if above.is_none() && !scene.is_transparent(at) {
            break;
        }
    }
    if at > base {
        return Some(service(scene, at, limit).unwrap_or(at));
    }
    let contained = scene.host.as_ref().is_ok_and(|host| host.contained);
    let first = scene.process(base + 1).is_some_and(|parent| parent.pid == Pid(1));
    (contained && first).then_some(base + 1)
}

/// The script that the daemon at `daemon` runs and that we are part of; with the wrapper around it,
/// if there is one.
fn service(scene: &mut Scene, daemon: usize, limit: usize) -> Option<usize> {
    let below = daemon.checked_sub(1).filter(|below| *below > scene.base)?;
    let parent = scene.process(below)?.parent;
    let is_daemon =
        scene.process(daemon).is_some_and(|it| it.terminal.is_none() && it.pid == parent)
            && daemon + 1 == limit
            && matches!(scene.boundary().1, Boundary::Top | Boundary::Supervisor)
            && scene.role(daemon) == Role::Ordinary;
    if !is_daemon {
        return None;
    }
    let mut down = (scene.base + 1..=below).rev();
    let inner = down.find(|at| scene.role(*at) != Role::Wrapper)?;
    scene.runs_script(inner).then_some(below)
}

/// The process at the top of a terminal inside the one that the boundary at `limit` opened: a
/// person's place of its own.
pub(super) fn inner(scene: &mut Scene, limit: usize) -> Option<usize> {
    let top = climb(scene, limit)?;
    let terminal = scene.process(top)?.terminal?;
    let outside = scene.process(top + 1).filter(|_| top + 1 < limit)?;
    (outside.terminal != Some(terminal)).then_some(top)
}

/// Whether the climb may go on outside the terminal on which `begin..=top` are.
fn may_leave(scene: &mut Scene, begin: usize, top: usize) -> bool {
    if top == scene.base {
        return true;
    }
    let is_brought_in = scene.process(top).is_some_and(|process| process.parent == Pid(0));
    let is_off = scene.process(top + 1).is_none_or(|process| process.terminal.is_none());
    let by_wrapper = scene.is_transparent(top + 1);
    if is_off && !by_wrapper && !is_brought_in && likeness::says_so(scene, top + 1).is_none() {
        return false;
    }
    match scene.role(top) {
        Role::Wrapper => true,
        Role::EphemeralShell => !is_attended(scene, begin, top),
        Role::Ordinary => by_wrapper && !is_attended(scene, begin, top),
        _ => false,
    }
}

/// Whether a person types into a shell among these processes.
fn is_attended(scene: &mut Scene, begin: usize, top: usize) -> bool {
    (begin..top).any(|at| scene.is_shell(at) && scene.role(at) == Role::Shell)
}

/// Windows has none that processes could be on; there, the nearest shell is a person's place.
fn has_terminals() -> bool {
    !cfg!(windows)
}

/// `boot:namespace:tty:pid:start` of the process at a place.
pub(super) fn key(scene: &mut Scene, at: usize) -> Option<Key> {
    let host = scene.host.as_ref().ok()?.clone();
    let terminal = scene.terminal(at).map(|terminal| terminal.0.to_string()).unwrap_or_default();
    let process = scene.process(at)?;
    Some(
        Key::new(&host.boot)
            .with(host.namespace)
            .with(terminal)
            .with(process.pid.to_string())
            .with(process.start.to_string()),
    )
}

/// The anchor, for people.
pub(super) fn describe(scene: &mut Scene, at: usize) -> String {
    if scene.is_silent {
        return String::new();
    }
    let terminal = scene.terminal(at);
    let Some(process) = scene.process(at) else { return "a process that has ended".into() };
    let (name, pid) = (show(process.name.as_ref()), process.pid);
    match terminal {
        Some(terminal) if process.terminal.is_none() => {
            format!("{name} (pid {pid}), whose terminal {terminal} was closed")
        }
        Some(terminal) => format!("{name} (pid {pid}), the topmost process on {terminal}"),
        None => format!("{name} (pid {pid}), without a terminal"),
    }
}
