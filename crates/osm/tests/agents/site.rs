//! A home, a repository in it, and the program.
#![expect(clippy::unwrap_used, reason = "a harness that fails is a failed test")]

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use osm_testkit::agents::Home;
use osm_testkit::{tools, trials};

/// A home with a repository in `work`.
pub(crate) struct Site {
    pub(crate) home: Home,
}

/// How a run ended.
#[must_use = "look at the output or at the exit code"]
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Site {
    pub(crate) fn new() -> Self {
        let site = Self { home: Home::new().unwrap() };
        let work = site.work();
        fs::create_dir_all(&work).unwrap();
        let git = trials::need(tools::program("git"));
        let made = Command::new(git).args(["init", "-q"]).current_dir(&work).env_clear().status();
        assert!(made.unwrap().success());
        // Where hooks find `osm`.
        fs::create_dir(site.path("bin")).unwrap();
        std::os::unix::fs::symlink(program(), site.path("bin/osm")).unwrap();
        site
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.home.join(name)
    }

    pub(crate) fn work(&self) -> PathBuf {
        self.path("work")
    }

    /// `PATH`, with `osm` in it.
    pub(crate) fn search_path(&self) -> String {
        format!("{}:/usr/local/bin:/usr/bin:/bin", self.path("bin").display())
    }

    pub(crate) fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command
            .current_dir(self.work())
            .env_clear()
            .env("HOME", &*self.home)
            .env("PATH", self.search_path())
            .stdin(Stdio::null());
        command
    }

    /// Runs osm.
    pub(crate) fn osm(&self, arguments: &[&str]) -> Ran {
        finish(self.command(&program()).args(arguments).output().unwrap())
    }

    /// Runs osm, which must succeed.
    pub(crate) fn ok(&self, arguments: &[&str]) -> String {
        let ran = self.osm(arguments);
        assert_eq!(ran.code, Some(0), "{arguments:?}: {}{}", ran.stdout, ran.stderr);
        ran.stdout
    }

    /// Writes a file of the home.
    pub(crate) fn write(&self, name: &str, content: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    /// Deletes a file of the home, if there is one.
    #[expect(clippy::disallowed_methods, reason = "a file of the test")]
    pub(crate) fn delete(&self, name: &str) {
        drop(fs::remove_file(self.path(name)));
    }

    /// Every file, folder and link of the home but osm's own, with content and mode.
    pub(crate) fn snapshot(&self) -> BTreeMap<PathBuf, (u32, Vec<u8>)> {
        let mut found = BTreeMap::new();
        walk(&self.home, &mut found);
        let own = self.path(".config/one-shot-man");
        found.retain(|path, _| !path.starts_with(&own) && *path != self.path(".config"));
        found
    }
}

fn walk(folder: &Path, found: &mut BTreeMap<PathBuf, (u32, Vec<u8>)>) {
    use std::os::unix::fs::PermissionsExt;
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let about = path.symlink_metadata().unwrap();
        let content = if about.is_symlink() {
            fs::read_link(&path).unwrap().into_os_string().into_encoded_bytes()
        } else if about.is_dir() {
            walk(&path, found);
            Vec::new()
        } else {
            fs::read(&path).unwrap()
        };
        found.insert(path, (about.permissions().mode(), content));
    }
}

/// The program under test.
#[expect(clippy::disallowed_methods, reason = "tests are set up through variables")]
pub(crate) fn program() -> PathBuf {
    std::env::var_os("OSM_BIN").map_or_else(|| env!("CARGO_BIN_EXE_osm").into(), PathBuf::from)
}

/// Runs a command with this on its standard input.
pub(crate) fn with_input(mut command: Command, input: &[u8]) -> Ran {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_owned();
    // A program that reads only a part closes the pipe.
    let writer = std::thread::spawn(move || drop(stdin.write_all(&input)));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    finish(output)
}

pub(crate) fn finish(output: Output) -> Ran {
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Ran { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
}
