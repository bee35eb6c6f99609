//! A pooler (pgbouncer) before a server, in transaction mode: each transaction can be carried out by another process.

use std::fs;
use std::io;
use std::net::{TcpListener, TcpStream};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use super::{LOOK_EVERY, PATIENCE, ROLE, Server, unprivileged};
use crate::tools::{self, Skipped};

/// The shell ends the pooler when its own standard input ends: with the test process at the latest.
const SCRIPT: &str = r#"trap '' INT TERM HUP QUIT; "$@" & cat >/dev/null; kill -KILL $!"#;

/// A pooler. It ends when it is dropped, or with the test process.
pub struct Pooler {
    process: Child,
    port: u16,
}

impl Pooler {
    /// Starts a pooler with so many connections to each database of the server.
    pub fn start(server: &Server, connections: usize) -> Result<Self, Skipped> {
        let program = tools::program("pgbouncer")?;
        let broken = |error: io::Error| Skipped(format!("no pooler can be started: {error}"));
        Self::run(server, connections, &program).map_err(broken)
    }

    fn run(server: &Server, connections: usize, program: &Path) -> io::Result<Self> {
        let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let folder = server.folder();
        let users = folder.join(format!("pooler{port}.users"));
        fs::write(&users, format!("\"{ROLE}\" \"\"\n"))?;
        let settings = folder.join(format!("pooler{port}.ini"));
        let content = format!(
            "[databases]\n* = host={} port={}\n[pgbouncer]\nlisten_addr = 127.0.0.1\n\
             listen_port = {port}\nunix_socket_dir =\nauth_type = trust\nauth_file = {}\n\
             pool_mode = transaction\ndefault_pool_size = {connections}\nmax_client_conn = 500\n\
             logfile = {}\n",
            folder.display(),
            server.port(),
            users.display(),
            folder.join(format!("pooler{port}.log")).display(),
        );
        fs::write(&settings, content)?;
        let pooler = unprivileged(&[], program);
        let mut shell = Command::new("sh");
        shell.args(["-c", SCRIPT, "pooler"]).arg(pooler.get_program()).args(pooler.get_args());
        shell.arg("-q").arg(&settings).stdin(Stdio::piped());
        shell.stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
        let pooler = Self { process: shell.spawn()?, port };
        let deadline = Instant::now() + PATIENCE;
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            if Instant::now() > deadline {
                return Err(io::Error::other("pgbouncer does not listen"));
            }
            std::thread::sleep(LOOK_EVERY);
        }
        Ok(pooler)
    }

    /// The address of a database through the pooler.
    #[must_use]
    pub fn url(&self, database: &str) -> String {
        format!("postgres://{ROLE}@127.0.0.1:{}/{database}?sslmode=disable", self.port)
    }
}

impl Drop for Pooler {
    fn drop(&mut self) {
        drop(self.process.stdin.take());
        drop(self.process.wait());
    }
}
