//! A tmux server of its own.

use std::io;
use std::path::PathBuf;

use crate::lab::{Lab, Typist};

/// A server; it ends when dropped.
pub struct Tmux<'a> {
    lab: &'a Lab,
    socket: PathBuf,
}

/// A pane of a server.
pub struct Pane<'a> {
    tmux: &'a Tmux<'a>,
    /// Its name: `%0`.
    pub name: String,
}

impl<'a> Tmux<'a> {
    /// Starts a server with one pane; it has these variables besides the lab's.
    pub fn start(lab: &'a Lab, variables: &[(&str, &str)]) -> io::Result<(Self, String)> {
        let socket = lab.path().join(format!("tmux-{}", next()));
        let tmux = Self { lab, socket };
        let mut command = tmux.command();
        command.envs(variables.iter().copied());
        command.args(["-f", "/dev/null", "new-session", "-d", "-x", "300", "-y", "50", "-P", "-F"]);
        let pane = text(command.args(["#{pane_id}", SHELL]))?;
        Ok((tmux, pane))
    }

    fn command(&self) -> std::process::Command {
        let mut command = self.lab.command("tmux");
        command.arg("-S").arg(&self.socket);
        command
    }

    /// Runs a tmux command and returns what it prints.
    pub fn run(&self, arguments: &[&str]) -> io::Result<String> {
        text(self.command().args(arguments))
    }

    /// Opens another pane.
    pub fn split(&'a self) -> io::Result<Pane<'a>> {
        let name = self.run(&["new-window", "-P", "-F", "#{pane_id}", SHELL])?;
        Ok(self.pane(name))
    }

    /// A pane by its name.
    #[must_use]
    pub fn pane(&'a self, name: String) -> Pane<'a> {
        Pane { tmux: self, name }
    }

    /// The server's socket, for `tmux -S`.
    #[must_use]
    pub fn socket(&self) -> String {
        self.socket.display().to_string()
    }
}

impl Typist for Pane<'_> {
    fn type_line(&mut self, line: &str) -> io::Result<()> {
        self.tmux.run(&["send-keys", "-t", &self.name, "-l", line])?;
        self.tmux.run(&["send-keys", "-t", &self.name, "Enter"]).map(drop)
    }
}

impl Drop for Tmux<'_> {
    fn drop(&mut self) {
        drop(self.run(&["kill-server"]));
    }
}

const SHELL: &str = "bash --norc --noprofile -i";

fn next() -> usize {
    use std::sync::atomic::{AtomicUsize, Ordering};
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    COUNT.fetch_add(1, Ordering::Relaxed)
}

/// Runs a command to its end and returns what it prints.
pub(crate) fn text(command: &mut std::process::Command) -> io::Result<String> {
    let output = command.output()?;
    if !output.status.success() {
        let errors = String::from_utf8_lossy(&output.stderr);
        return Err(io::Error::other(format!("{command:?}: {}: {errors}", output.status)));
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
