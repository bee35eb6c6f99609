//! Other programs that claim: each is run by a shell, with the number of the round in `$ROUND`, which
//! must be something new to claim.

use std::process::Command;

pub(crate) use osm_testkit::bench::peers::{Peer, named};

pub(crate) fn command(peer: &Peer, round: u32) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", &format!("exec {}", peer.command)]).env("ROUND", round.to_string());
    command
}
