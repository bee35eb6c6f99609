//! Runs the program with nothing of the machine's environment.
#![expect(clippy::unwrap_used, reason = "a harness that fails is a failed test")]

use std::fmt::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

/// A folder and an environment of its own.
pub(crate) struct Env {
    pub(crate) folder: TempDir,
    variables: Vec<(String, String)>,
}

/// How a run went.
#[must_use = "snapshot the output or assert the exit code"]
pub(crate) struct Run {
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) code: Option<i32>,
}

impl Env {
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap(), variables: Vec::new() }
    }

    /// Sets a variable.
    pub(crate) fn with(mut self, name: &str, value: &str) -> Self {
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    /// The program, ready to be started.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_osm"));
        command
            .args(arguments)
            .env_clear()
            .env("OSM_HOME", self.folder.path())
            .envs(self.variables.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null());
        command
    }

    /// Runs the program to its end.
    pub(crate) fn run(&self, arguments: &[&str]) -> Run {
        self.finish(self.command(arguments).output().unwrap())
    }

    fn finish(&self, output: Output) -> Run {
        let folder = self.folder.path().display().to_string();
        let text = |bytes| String::from_utf8(bytes).unwrap().replace(&folder, "$OSM_HOME");
        Run { stdout: text(output.stdout), stderr: text(output.stderr), code: output.status.code() }
    }

    /// Writes the configuration file.
    pub(crate) fn config(&self, text: &str) {
        std::fs::write(self.path().join("config.toml"), text).unwrap();
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }
}

impl Run {
    /// Everything that was seen, for a snapshot.
    pub(crate) fn transcript(&self) -> String {
        let mut text = self.stdout.clone();
        if !self.stderr.is_empty() {
            text.push_str("--- stderr\n");
            text.push_str(&self.stderr);
        }
        if self.code != Some(0) {
            writeln!(text, "--- exit {:?}", self.code).unwrap();
        }
        text
    }
}
