//! A remote login: its connection, and on a terminal the login shell too.
//!
//! The connection's variable names no owner, and one connection carries many logins: tabs over a
//! shared master connection, the terminals of a remote editor. On a terminal the anchor tells
//! them apart; without one, the connection is all there is, and commands of it belong together.

use std::ffi::{OsStr, OsString};

use super::anchor::{self, climb};
use super::{Found, Identity, Verdict, describe, show};
use crate::detection::{Confidence, Source};
use crate::digest::Key;
use crate::scene::{Boundary, Scene};

/// The variables, the fuller first.
const VARIABLES: [&str; 2] = ["SSH_CONNECTION", "SSH_CLIENT"];

pub(super) fn detect(scene: &mut Scene, _explicit: Option<&OsStr>) -> Verdict {
    let (at, boundary) = scene.boundary();
    let confidence = match boundary {
        Boundary::Remote => Confidence::Confirmed,
        Boundary::Top | Boundary::Sandbox => Confidence::Unconfirmed,
        _ => return Err(beyond(scene, at, boundary)),
    };
    let lookup = |name: &&'static str| {
        let value = match boundary {
            Boundary::Remote => scene.evidence(at, name),
            _ => scene.variable(name),
        };
        value.map(|value| (*name, value))
    };
    let (name, value) = VARIABLES
        .iter()
        .find_map(lookup)
        .ok_or_else(|| format!("neither {} nor {} is set", VARIABLES[0], VARIABLES[1]))?;

    let boot = scene.host.as_ref().ok().map(|host| host.boot.clone());
    let mut key = Key::new("ssh").with_some(boot).with_free(fields(&value));
    let mut reason = format!("{name}={}", show(&value));
    let top = climb(scene, at);
    let on_terminal = top.filter(|top| {
        scene.ancestry.known().get(*top).is_some_and(|process| process.terminal.is_some())
    });
    if let Some(top) = on_terminal
        && let Some(login) = anchor::key(scene, top)
    {
        key = key.with_free(login.digest());
        reason.push_str(", on the terminal of ");
        reason.push_str(&anchor::describe(scene, top));
    }
    Ok(Found {
        identity: Identity::Key { namespace: "ssh", label: String::new(), key },
        source: Source::Ssh,
        confidence,
        agent: None,
        context: None,
        anchor: top,
        reason,
    })
}

/// The four fields of a connection, however they are spaced.
fn fields(value: &OsStr) -> OsString {
    match value.to_str() {
        Some(text) => text.split_whitespace().collect::<Vec<_>>().join(":").into(),
        None => value.to_owned(),
    }
}

fn beyond(scene: &mut Scene, at: usize, boundary: Boundary) -> String {
    let set = VARIABLES.iter().find(|name| scene.variable(name).is_some()).copied();
    let boundary = describe(scene, at, boundary);
    match set {
        Some(name) => format!("{name} is ignored: it was set above {boundary}"),
        None => format!("no remote login between this process and {boundary}"),
    }
}
