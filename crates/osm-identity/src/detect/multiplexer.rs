//! A pane of a multiplexer: its name within the server, and the server's incarnation.

use std::ffi::{OsStr, OsString};

use super::{Found, Identity, Verdict, anchor, describe, show};
use crate::catalogue::{KnownBy, MULTIPLEXERS, Multiplexer};
use crate::detection::{Confidence, Source};
use crate::digest::Key;
use crate::process::Pid;
use crate::scene::{Boundary, Scene};

pub(super) fn detect(scene: &mut Scene, _explicit: Option<&OsStr>) -> Verdict {
    match scene.boundary() {
        (at, Boundary::Multiplexer(row)) => inside(scene, at, row),
        (_, Boundary::Top) if scene.ancestry.is_blind() => by_variables(scene),
        (at, boundary) => Err(doubts(scene, at, boundary)),
    }
}

/// We run below a server.
fn inside(scene: &mut Scene, at: usize, row: &Multiplexer) -> Verdict {
    let server = scene.process(at).map(|process| process.pid).ok_or("the server has ended")?;
    if let Some(inner) = anchor::inner(scene, at) {
        let inner = anchor::describe(scene, inner);
        return Err(format!("{inner}, is inside the {} server (pid {server})", row.name));
    }
    let place = place(scene, at, server, row)?;
    // A pane lives as long as its first process, even where the id outlives that: a pane that is
    // respawned is the same one.
    let first = if at - 1 > scene.base && place != Place::Job { at - 1 } else { at };
    let named_after = if place == Place::FirstProcess { first } else { at };
    let instance =
        scene.instance(named_after).ok_or("the server's process cannot be identified")?;
    let key = Key::new(row.name).with_instance(&instance);
    let (label, key, what) = match &place {
        Place::Named(pane) => {
            (label(row, pane, server), pane.iter().fold(key, Key::with_free), named(row, pane))
        }
        Place::FirstProcess => {
            let window = format!("the window of {}", anchor::describe(scene, first));
            (window_label(scene, first, row, server), key, window)
        }
        Place::Only => (String::new(), key, "the session".into()),
        Place::Job => (job_label(row, server), key.with_free("jobs"), "a job".into()),
    };
    Ok(Found {
        identity: Identity::Key { namespace: row.name, label, key },
        source: Source::Multiplexer,
        confidence: Confidence::Confirmed,
        agent: None,
        context: None,
        anchor: Some(first),
        reason: format!("{what} of the {} server (pid {server}), an ancestor process", row.name),
    })
}

/// Where in a server we are.
#[derive(PartialEq, Eq)]
enum Place {
    /// In a pane that variables name.
    Named(Vec<OsString>),
    /// In the window of the first process below the server, known by that process alone: windows
    /// have no lasting names there, or that process wiped its variables (`exec env -i bash`), or
    /// it is another user's, whose variables cannot be read (`su - user`).
    FirstProcess,
    /// In the only pane of the server.
    Only,
    /// In none: the server itself runs us, for its status line or a hook (`run-shell`, `#()`).
    Job,
}

fn place(scene: &mut Scene, at: usize, server: Pid, row: &Multiplexer) -> Result<Place, String> {
    let is_job = scene.terminal(at - 1).is_none();
    match row.known_by {
        KnownBy::Server => Ok(Place::Only),
        KnownBy::FirstProcess if is_job => Ok(Place::Job),
        KnownBy::FirstProcess if at - 1 > scene.base => Ok(Place::FirstProcess),
        // A window that runs nothing but us has only its name.
        KnownBy::FirstProcess | KnownBy::Variables => {
            let own = pane(row, server, |name| scene.variable(name));
            let named = own.or_else(|doubt| {
                pane(row, server, |name| scene.below(at, name)).map_err(|_| doubt)
            });
            match named {
                // A server that was started in a pane of another has that one's name in store.
                Ok(pane) if is_job && is_inherited(scene, server, row, &pane) => Ok(Place::Job),
                Err(_) if is_job => Ok(Place::Job),
                // The name is lost, but the pty on which that process is belongs to the server.
                Err(_) if at - 1 > scene.base => Ok(Place::FirstProcess),
                named => named.map(Place::Named),
            }
        }
    }
}

/// Whether the server itself was started with the name of this pane.
fn is_inherited(scene: &Scene, server: Pid, row: &Multiplexer, pane: &[OsString]) -> bool {
    let mut named = row.pane.iter().zip(pane);
    named.all(|(name, value)| scene.initial(server, name).as_ref() == Some(value))
}

/// tmux ids tell their server.
fn job_label(row: &Multiplexer, server: Pid) -> String {
    if row.name == "tmux" { format!("server_{server}") } else { String::new() }
}

/// A pane of tmux whose name is lost is called after its pty.
fn window_label(scene: &mut Scene, first: usize, row: &Multiplexer, server: Pid) -> String {
    let terminal = scene.terminal(first).filter(|_| row.name == "tmux");
    terminal.map_or_else(String::new, |terminal| {
        let name: String =
            terminal.to_string().chars().filter(char::is_ascii_alphanumeric).collect();
        format!("{name}_{server}")
    })
}

/// The values that name a pane, if all are set and belong to this server.
fn pane(
    row: &Multiplexer,
    server: Pid,
    variable: impl Fn(&str) -> Option<OsString>,
) -> Result<Vec<OsString>, String> {
    if let Some(owner) = row.owner {
        let name = owner.variable;
        let value = variable(name).ok_or_else(|| format!("{name} is not set"))?;
        match pid_in(row, &value) {
            Some(pid) if pid == server => {}
            Some(pid) => {
                return Err(format!(
                    "{name} names server {pid}, but the ancestor process is server {server}"
                ));
            }
            None => return Err(format!("{name}={} is malformed", show(&value))),
        }
    }
    let value = |name: &&str| variable(name).ok_or_else(|| format!("{name} is not set"));
    let values: Vec<OsString> = row.pane.iter().map(value).collect::<Result<_, _>>()?;
    if row.name == "tmux" && tmux_pane(&values).is_none() {
        return Err(format!("TMUX_PANE={} is malformed", show(&values[0])));
    }
    Ok(values)
}

/// The server's pid in the value of the variable that publishes it.
fn pid_in(row: &Multiplexer, value: &OsStr) -> Option<Pid> {
    let owner = row.owner?;
    let text = value.to_str()?;
    // A socket's path may hold the separator; tmux's other fields do not.
    let field = match owner.separator {
        ',' => text.rsplit(',').nth(1)?,
        separator => text.split(separator).nth(owner.field)?,
    };
    field.parse().ok().map(Pid)
}

/// The number in `%N`.
fn tmux_pane(values: &[OsString]) -> Option<&str> {
    let digits = values.first()?.to_str()?.strip_prefix('%')?;
    let is_number = (1..=9).contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_digit());
    is_number.then_some(digits)
}

fn label(row: &Multiplexer, pane: &[OsString], server: Pid) -> String {
    match tmux_pane(pane) {
        Some(number) if row.name == "tmux" => format!("{number}_{server}"),
        _ => String::new(),
    }
}

fn named(row: &Multiplexer, pane: &[OsString]) -> String {
    let parts = row.pane.iter().zip(pane).map(|(name, value)| format!("{name}={}", show(value)));
    parts.collect::<Vec<_>>().join(" ")
}

/// Our ancestors cannot be read: variables alone, as they come.
fn by_variables(scene: &mut Scene) -> Verdict {
    for row in MULTIPLEXERS.iter().filter(|row| !row.pane.is_empty()) {
        let owner = row.owner.and_then(|owner| scene.variable(owner.variable));
        let server = owner.as_ref().and_then(|value| pid_in(row, value));
        if row.owner.is_some() && server.is_none() {
            continue;
        }
        let server = server.unwrap_or(Pid(0));
        let Ok(pane) = pane(row, server, |name| scene.variable(name)) else {
            continue;
        };
        return Ok(Found {
            reason: format!(
                "{}, unconfirmed: the ancestor processes cannot be read",
                named(row, &pane)
            ),
            identity: Identity::Key {
                namespace: row.name,
                label: label(row, &pane, server),
                key: owner.iter().chain(&pane).fold(Key::new(row.name), Key::with_free),
            },
            source: Source::Multiplexer,
            confidence: Confidence::Unconfirmed,
            agent: None,
            context: None,
            anchor: None,
        });
    }
    Err("no variable of a multiplexer is set".into())
}

/// Why variables of multiplexers that are set do not count here.
fn doubts(scene: &mut Scene, at: usize, boundary: Boundary) -> String {
    let mut doubts = Vec::new();
    for row in MULTIPLEXERS {
        let name = row.owner.map_or_else(|| row.pane.first().copied(), |it| Some(it.variable));
        let Some((name, value)) = name.and_then(|name| Some((name, scene.variable(name)?))) else {
            continue;
        };
        if !matches!(boundary, Boundary::Top) {
            let nearer = describe(scene, at, boundary);
            let server = format!("{} server", row.name);
            doubts
                .push(format!("{name} is ignored: no {server} between this process and {nearer}"));
            continue;
        }
        doubts.push(match (row.owner, pid_in(row, &value)) {
            (Some(_), None) => format!("{name}={} is malformed", show(&value)),
            (Some(_), Some(pid)) => match scene.source.exists(pid) {
                Some(false) => format!("{name} is stale: its server (pid {pid}) has ended"),
                _ => format!("{name} is stale: its server (pid {pid}) is not an ancestor process"),
            },
            (None, _) => format!("{name} is stale: no ancestor process is a {} server", row.name),
        });
    }
    if doubts.is_empty() {
        let boundary = describe(scene, at, boundary);
        return format!("no multiplexer between this process and {boundary}");
    }
    doubts.join("; ")
}
