//! The process that removes a server when the test process ends, however it ends.
//!
//! The guard reads its standard input, a pipe whose other end the test process alone has: it is at its end when that
//! process closes it or is gone.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use super::user;

/// Ends a server that still runs, removes the shared memory that a killed one left, and the folder.
const SCRIPT: &str = r#"
trap '' INT TERM HUP QUIT
cat >/dev/null
record="$1/data/postmaster.pid"
memory=$(sed -n '7s/.* //p' "$record" 2>/dev/null)
kill -QUIT "$(head -n 1 "$record" 2>/dev/null)" 2>/dev/null
for _ in $(seq 100); do [ -e "$record" ] && [ -d "/proc/$(head -n 1 "$record")" ] || break; sleep 0.05; done
if [ -e "$record" ]; then
  kill -KILL "$(head -n 1 "$record")" 2>/dev/null
  for _ in $(seq 100); do ipcrm -m "$memory" 2>/dev/null && break; [ -d "$1" ] || break; sleep 0.01; done
fi
for _ in $(seq 100); do rm -rf "$1" 2>/dev/null && break; sleep 0.05; done
"#;

/// A folder and the guard that removes it.
pub(super) struct Guard {
    folder: PathBuf,
    process: Child,
}

impl Guard {
    pub(super) fn new() -> io::Result<Self> {
        // Short: the path of a socket has at most 107 bytes.
        let folder = tempfile::Builder::new().prefix("pg").rand_bytes(6).tempdir_in("/tmp")?.keep();
        let mut guard = Command::new("sh");
        guard.args(["-c", SCRIPT, "guard"]).arg(&folder).stdin(Stdio::piped());
        guard.stdout(Stdio::null()).stderr(Stdio::null()).current_dir("/");
        // Not of our process group, which Ctrl-C ends.
        std::os::unix::process::CommandExt::process_group(&mut guard, 0);
        let guard = Self { process: guard.spawn()?, folder };
        if let Some((user, group)) = user() {
            std::os::unix::fs::chown(&guard.folder, Some(user), Some(group))?;
        }
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        fs::set_permissions(&guard.folder, mode)?;
        Ok(guard)
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    pub(super) fn data(&self) -> PathBuf {
        self.folder.join("data")
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        drop(self.process.stdin.take());
        drop(self.process.wait());
    }
}
