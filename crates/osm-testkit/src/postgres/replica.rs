//! A second server that follows the first and can take its place.

use std::io;

use super::{ROLE, Server, program, text, unprivileged};

impl Server {
    /// Starts a streaming replica of this server, with the same settings and a port of its own.
    pub fn replica(&self) -> io::Result<Self> {
        Self::with_cluster(self.settings.clone(), |data| {
            let mut copy = unprivileged(&[], &program("pg_basebackup"));
            copy.arg("-h").arg(self.folder()).args(["-p", &self.port().to_string(), "-U", ROLE]);
            copy.args(["--write-recovery-conf", "--checkpoint=fast", "--no-sync"]);
            copy.args(["--wal-method=stream", "-D"]).arg(data);
            text(&mut copy).map(drop)
        })
    }

    /// Makes a replica the server that can be written to.
    pub fn promote(&self) -> io::Result<()> {
        self.sql("postgres", "SELECT pg_promote(true, 60)").map(drop)
    }
}
