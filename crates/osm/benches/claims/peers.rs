//! Other programs that claim, as far as somebody names them.
//!
//! `OSM_BENCH_PEERS='name=command:name=command'`: each is run by a shell, with the number of the
//! round in `$ROUND`, which must be something new to claim.

use std::process::Command;

use osm_testkit::bench::Result;

pub(crate) struct Peer {
    pub(crate) name: String,
    line: String,
}

impl Peer {
    pub(crate) fn command(&self, round: u32) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", &format!("exec {}", self.line)]).env("ROUND", round.to_string());
        command
    }
}

pub(crate) fn named() -> Result<Vec<Peer>> {
    let Ok(list) = std::env::var("OSM_BENCH_PEERS") else { return Ok(Vec::new()) };
    list.split(':')
        .filter(|entry| !entry.is_empty())
        .map(|entry| {
            let (name, line) = entry
                .split_once('=')
                .ok_or_else(|| format!("OSM_BENCH_PEERS: no name= in {entry}"))?;
            Ok(Peer { name: name.to_owned(), line: line.to_owned() })
        })
        .collect()
}
