//! Other programs that make prompts of files, as far as somebody names them.
//!
//! `OSM_BENCH_PEERS='name=command:name+tokens=command'`: each is run by a shell, with the folder in
//! `$TREE` and nothing but the prompt expected of it. Whoever counts tokens is compared with us
//! counting them.

use std::path::Path;
use std::process::Command;

use osm_testkit::bench::Result;

pub(crate) struct Peer {
    pub(crate) name: String,
    pub(crate) counts: bool,
    line: String,
}

impl Peer {
    pub(crate) fn command(&self, tree: &Path) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", &format!("exec {}", self.line)]).env("TREE", tree);
        for name in ["PATH", "HOME"] {
            command.env(name, std::env::var_os(name).unwrap_or_default());
        }
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
            let bare = name.strip_suffix("+tokens");
            Ok(Peer {
                name: bare.unwrap_or(name).to_owned(),
                counts: bare.is_some(),
                line: line.to_owned(),
            })
        })
        .collect()
}
