//! A home, a working tree and a program that is typed into.
#![expect(clippy::unwrap_used, reason = "a harness that fails is a failed test")]

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

/// Where a test works.
pub(crate) struct Env {
    _folder: TempDir,
    root: PathBuf,
}

impl Env {
    /// A home, and a working tree that is no repository.
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = std::fs::canonicalize(folder.path()).unwrap();
        std::fs::create_dir(root.join("tree")).unwrap();
        std::fs::create_dir(root.join("home")).unwrap();
        // Counting takes its time where nothing is optimised, and is tested elsewhere.
        std::fs::write(root.join("home/config.toml"), "prompt.tokens = false\n").unwrap();
        Self { _folder: folder, root }
    }

    pub(crate) fn tree(&self) -> PathBuf {
        self.root.join("tree")
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.root.join("home")
    }

    /// Writes a file of the working tree.
    pub(crate) fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.tree().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path
    }

    /// What was copied last.
    pub(crate) fn clipboard(&self) -> String {
        std::fs::read_to_string(self.root.join("clipboard")).unwrap()
    }

    /// Types lines into a mode: everything that was seen.
    pub(crate) fn types(&self, arguments: &[&str], lines: &str) -> String {
        self.run(arguments, lines, &[])
    }

    /// The same with an editor, which writes this text.
    pub(crate) fn edits(&self, arguments: &[&str], lines: &str, text: &str) -> String {
        let editor = self.root.join("editor");
        std::fs::write(&editor, format!("#!/bin/sh\nprintf '%s' '{text}' > \"$1\"\n")).unwrap();
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            std::fs::set_permissions(&editor, std::fs::Permissions::from_mode(0o700)).unwrap();
        }
        self.run(arguments, lines, &[("EDITOR", editor.to_str().unwrap())])
    }

    fn run(&self, arguments: &[&str], lines: &str, variables: &[(&str, &str)]) -> String {
        let mut command = Command::new(env!("CARGO_BIN_EXE_osm"));
        command
            .args(arguments)
            .current_dir(self.tree())
            .env_clear()
            .env("OSM_HOME", self.home())
            .env("OSM_SESSION", "test")
            .env("OSM_CLIPBOARD", format!("cat > {}", self.root.join("clipboard").display()))
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .envs(variables.iter().copied())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut input = child.stdin.take().unwrap();
        // A program that refused is not interested in more.
        drop(input.write_all(lines.as_bytes()));
        drop(input);
        let output = child.wait_with_output().unwrap();
        let plain = |bytes: Vec<u8>| self.plain(&String::from_utf8(bytes).unwrap());
        let mut seen = plain(output.stdout);
        // How large a prompt is, is said beside it; that is tested with the loop.
        let talk = plain(output.stderr);
        let talk = talk.split_inclusive('\n').filter(|line| !line.starts_with("│ "));
        let talk: String = talk.collect();
        if !talk.is_empty() {
            write!(seen, "--- stderr\n{talk}").unwrap();
        }
        if output.status.code() != Some(0) {
            writeln!(seen, "--- exit {:?}", output.status.code()).unwrap();
        }
        seen
    }

    /// A text without what differs from run to run.
    pub(crate) fn plain(&self, text: &str) -> String {
        text.replace(&self.root.display().to_string(), "$ROOT")
    }

    /// Runs git in the working tree.
    pub(crate) fn git(&self, arguments: &[&str]) {
        git(&self.tree(), arguments);
    }
}

/// Runs git somewhere.
pub(crate) fn git(folder: &Path, arguments: &[&str]) {
    let run = Command::new("git")
        .args(["-c", "user.name=n", "-c", "user.email=e@example.com"])
        .args(["-c", "init.defaultBranch=main", "-c", "commit.gpgsign=false"])
        .args(arguments)
        .current_dir(folder)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .output()
        .unwrap();
    assert!(run.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&run.stderr));
}
