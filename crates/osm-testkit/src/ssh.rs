//! An SSH server on loopback, and how to log in to it.

use std::fs;
use std::io;
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use crate::lab::Lab;
use crate::tmux::text;
use crate::tools::{Skipped, program};

/// A server; it ends when dropped.
pub struct SshServer {
    server: Child,
    /// The client's command line, up to what is to be run there.
    pub client: String,
}

impl SshServer {
    /// Starts a server that lets the current user in by a key made for the occasion.
    pub fn start(lab: &Lab) -> io::Result<Self> {
        let folder = lab.path().join("ssh");
        fs::create_dir_all(&folder)?;
        // sshd insists on this folder for its unprivileged part.
        fs::create_dir_all("/run/sshd")?;
        for key in ["host", "user"] {
            let path = folder.join(key);
            text(
                lab.command("ssh-keygen").args(["-q", "-t", "ed25519", "-N", "", "-f"]).arg(path),
            )?;
        }
        fs::copy(folder.join("user.pub"), folder.join("authorized"))?;
        let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let daemon = program("sshd").map_err(|Skipped(reason)| io::Error::other(reason))?;
        let server = lab
            .command(&daemon.display().to_string())
            .args(["-D", "-e", "-f", "/dev/null", "-p", &port.to_string()])
            .args(["-o", "ListenAddress=127.0.0.1", "-o", "UsePAM=no", "-o", "StrictModes=no"])
            .args(["-o", "PermitRootLogin=yes", "-o", "PidFile=none", "-o", "MaxStartups=100"])
            .args(["-o", "PrintMotd=no", "-o", "PrintLastLog=no"])
            .arg("-o")
            .arg(format!("AuthorizedKeysFile={}", folder.join("authorized").display()))
            .arg("-h")
            .arg(folder.join("host"))
            .stdout(Stdio::null())
            .stderr(fs::File::create(folder.join("log"))?)
            .spawn()?;
        let client = format!(
            "ssh -F /dev/null -p {port} -i {key} -o StrictHostKeyChecking=no \
             -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR -o IdentitiesOnly=yes",
            key = folder.join("user").display(),
        );
        let deadline = Instant::now() + Duration::from_secs(30);
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            if Instant::now() > deadline {
                return Err(io::Error::other(fs::read_to_string(folder.join("log"))?));
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(Self { server, client })
    }
}

impl Drop for SshServer {
    fn drop(&mut self) {
        drop(self.server.kill());
        drop(self.server.wait());
    }
}
