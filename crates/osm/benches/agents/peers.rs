//! Other programs that answer before an edit: each is run by a shell in the worktree, with the payload of the first agent
//! on its standard input, for a file that the session has claimed already.

use std::path::Path;
use std::process::Command;

use osm_testkit::bench::peers::Peer;

pub(crate) fn command(peer: &Peer, folder: &Path) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", &format!("exec {}", peer.command)]).current_dir(folder);
    command
}
