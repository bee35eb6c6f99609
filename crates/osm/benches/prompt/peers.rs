//! Other programs that build prompts from files. A shell runs each of them with the folder in `$TREE`.
//! A program that counts tokens is named `NAME+tokens`, and compared with osm counting them.

use std::path::Path;
use std::process::Command;

pub(crate) use osm_testkit::bench::peers::{Peer, named};

const COUNTS: &str = "+tokens";

/// Its name, and whether it counts tokens.
pub(crate) fn about(peer: &Peer) -> (&str, bool) {
    match peer.name.strip_suffix(COUNTS) {
        Some(name) => (name, true),
        None => (&peer.name, false),
    }
}

pub(crate) fn command(peer: &Peer, tree: &Path) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", &format!("exec {}", peer.command)]).env("TREE", tree);
    for name in ["PATH", "HOME"] {
        command.env(name, std::env::var_os(name).unwrap_or_default());
    }
    command
}
