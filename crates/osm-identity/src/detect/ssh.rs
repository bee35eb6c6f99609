//! A remote login: its connection, and on a terminal the login shell too.
//!
//! The connection's variable names no owner, and one connection carries many logins: tabs over a
//! shared master connection, the terminals of a remote editor. On a terminal the login shell tells
//! them apart, and it is enough: `su -` and `env -i` take the variable away, not the shell. Without
//! a terminal, the connection is all there is, and commands of it belong together.

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
    let connection = VARIABLES.iter().find_map(lookup);
    let top = climb(scene, at);
    let login = top.filter(|top| scene.terminal(*top).is_some());
    let boot = scene.host.as_ref().ok().map(|host| host.boot.clone());
    let key = Key::new("ssh").with_some(boot);
    let shell =
        login.and_then(|top| Some((anchor::key(scene, top)?, anchor::describe(scene, top))));
    let shown = |(name, value): &(&str, OsString)| format!("{name}={}", show(value));
    let (key, reason) = match (shell, &connection) {
        (Some((shell, login)), Some(connection)) => (
            key.with_free(shell.digest()),
            format!("{}, on the terminal of {login}", shown(connection)),
        ),
        (Some((shell, login)), None) if matches!(boundary, Boundary::Remote) => {
            (key.with_free(shell.digest()), format!("the login of {login}"))
        }
        (None, Some(connection)) => (key.with_free(fields(&connection.1)), shown(connection)),
        _ => return Err(format!("neither {} nor {} is set", VARIABLES[0], VARIABLES[1])),
    };
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
