//! A pane of a multiplexer: its name within the server, and the server's incarnation.

use std::ffi::{OsStr, OsString};

use super::{Found, Identity, Verdict, describe, show};
use crate::catalogue::{MULTIPLEXERS, Multiplexer};
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
    let own = |name: &str| scene.variable(name);
    let below = |name: &str| scene.below(at, name);
    let pane = match (pane(row, server, own), pane(row, server, below)) {
        (Ok(pane), _) | (Err(_), Ok(pane)) => pane,
        (Err(doubt), Err(_)) => return Err(doubt),
    };
    // A pane lives as long as its first process, even where the id outlives that: a pane that is
    // respawned is the same one. What has no name but the user's is a new one every time.
    let first = if at - 1 > scene.base { at - 1 } else { at };
    let named_after = if row.named_by_user { first } else { at };
    let instance =
        scene.instance(named_after).ok_or("the server's process cannot be identified")?;
    let key = Key::new(row.name).with_instance(&instance);
    Ok(Found {
        identity: Identity::Key {
            namespace: row.name,
            label: label(row, &pane, server),
            key: pane.iter().fold(key, Key::with_free),
        },
        source: Source::Multiplexer,
        confidence: Confidence::Confirmed,
        agent: None,
        context: None,
        anchor: Some(first),
        reason: format!(
            "{} of the {} server (pid {server}), an ancestor process",
            named(row, &pane),
            row.name
        ),
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
    let parts = parts.collect::<Vec<_>>().join(" ");
    if parts.is_empty() { "the session".into() } else { parts }
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
