//! Other programs that claim: each is run by a shell, with the number of the round in `$ROUND`, which
//! must be something new to claim.
//!
//! A program is measured if a package registry has it by its name and its licence lets everyone run it.

use std::process::Command;

pub(crate) use osm_testkit::bench::peers::{Peer, named};

/// Programs that agents claim work with, and why no registry has them.
const UNAVAILABLE: &[(&str, &str)] = &[
    (
        "`bd`",
        "the npm package `@beads/bd` 1.3.0 (MIT) is a script that downloads the program from elsewhere; the Go module \
         proxy does not serve its module; `bd` in npm, PyPI and crates.io is another program",
    ),
    (
        "`td`",
        "the Go module proxy does not serve its module; `td` in npm, PyPI and crates.io is another program",
    ),
    (
        "`pact`",
        "`pact` in npm, PyPI and crates.io is another program; this one is built from its source only",
    ),
    ("lockpick", "npm has no such package; `lockpick` in PyPI and crates.io is another program"),
];

/// The same as a table.
pub(crate) fn unavailable() -> String {
    let rows = UNAVAILABLE.iter().map(|(name, why)| format!("| {name} | {why} |\n"));
    format!("| program | why it is not measured |\n|---|---|\n{}", rows.collect::<String>())
}

pub(crate) fn command(peer: &Peer, round: u32) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", &format!("exec {}", peer.command)]).env("ROUND", round.to_string());
    command
}
