//! Runs the program with nothing of the machine's environment, and reads what it says.
#![expect(clippy::unwrap_used, reason = "a harness that fails is a failed test")]

use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Output, Stdio};

use tempfile::TempDir;

pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_osm");

/// The mode that most is tested with.
pub(crate) fn probe() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/modes/probe.js")
}

/// A home and a folder to work in.
pub(crate) struct Env {
    folder: TempDir,
    variables: Vec<(String, String)>,
}

/// How a run went.
#[must_use = "look at what it said"]
pub(crate) struct Run {
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) code: Option<i32>,
}

impl Env {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        for name in ["home", "tree", "temporary"] {
            std::fs::create_dir(folder.path().join(name)).unwrap();
        }
        Self { folder, variables: Vec::new() }
    }

    /// Sets a variable.
    pub(crate) fn with(mut self, name: &str, value: &str) -> Self {
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    pub(crate) fn work(&self) -> PathBuf {
        self.folder.path().join("tree")
    }

    pub(crate) fn temporary(&self) -> PathBuf {
        self.folder.path().join("temporary")
    }

    pub(crate) fn config(&self, text: &str) {
        std::fs::write(self.home().join("config.toml"), text).unwrap();
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(PROGRAM);
        self.prepare(command.args(arguments));
        command
    }

    /// The same for a test of signals: whoever started the tests may ignore some of them.
    pub(crate) fn command_that_hears(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new("env");
        self.prepare(command.args(["--default-signal", PROGRAM]).args(arguments));
        command
    }

    fn prepare(&self, command: &mut Command) {
        command
            .current_dir(self.work())
            .env_clear()
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .env("HOME", self.folder.path())
            .env("OSM_HOME", self.home())
            .env("OSM_SESSION", "test")
            .env("TMPDIR", self.temporary())
            .envs(self.variables.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Run {
        self.finish(self.command(arguments).output().unwrap())
    }

    /// The commands of the probe, one after the other.
    pub(crate) fn probe(&self, commands: &[&str]) -> Run {
        let probe = probe();
        let mut arguments = vec!["script", "-i"];
        for command in commands {
            arguments.extend(["-c", command]);
        }
        arguments.push(probe.to_str().unwrap());
        self.run(&arguments)
    }

    /// The probe with this on its standard input.
    pub(crate) fn probe_reading(&self, input: &str, options: &[&str]) -> Run {
        let probe = probe();
        let arguments = [&["script", "-i"], options, &[probe.to_str().unwrap()]].concat();
        let mut child = self.command(&arguments).stdin(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        self.finish(child.wait_with_output().unwrap())
    }

    /// The probe, to talk with.
    pub(crate) fn talk(&self) -> Talk {
        let probe = probe();
        let mut command = self.command(&["script", "-i", probe.to_str().unwrap()]);
        let mut child = command.stdin(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let (stdin, stdout) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        Talk { child, stdin, stdout: BufReader::new(stdout) }
    }

    pub(crate) fn finish(&self, output: Output) -> Run {
        let folder = self.folder.path().display().to_string();
        let text = |bytes| {
            let text = String::from_utf8(bytes).unwrap();
            without_times(&text.replace(&folder, "LAB").replace(probe().to_str().unwrap(), "PROBE"))
        };
        Run { stdout: text(output.stdout), stderr: text(output.stderr), code: output.status.code() }
    }
}

/// Times are different every time.
pub(crate) fn without_times(text: &str) -> String {
    let mut masked = String::new();
    for word in text.split_inclusive([' ', '\n', '/']) {
        let digits = word.chars().filter(char::is_ascii_digit).count();
        let is_date = digits == 8 && word.matches('-').count() == 2 && word.starts_with("20");
        let is_time = digits == 6 && word.matches(':').count() == 2;
        let end = word.chars().next_back().filter(|it| " \n/".contains(*it));
        match (is_date, is_time) {
            (true, _) => masked.push_str("DATE"),
            (_, true) => masked.push_str("TIME"),
            _ => {
                masked.push_str(word);
                continue;
            }
        }
        masked.extend(end);
    }
    masked
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

    /// That it went well; what it said.
    #[track_caller]
    pub(crate) fn good(self) -> String {
        assert_eq!(self.code, Some(0), "{}", self.transcript());
        self.stdout
    }

    /// That it ended so, and said all of these.
    #[track_caller]
    pub(crate) fn said(&self, code: i32, words: &[&str]) {
        let transcript = self.transcript();
        assert_eq!(self.code, Some(code), "{transcript}");
        for word in words {
            assert!(transcript.contains(word), "{word:?} is missing:\n{transcript}");
        }
    }
}

/// A conversation.
pub(crate) struct Talk {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
}

impl Talk {
    /// Says a line and hears one.
    pub(crate) fn say(&mut self, line: &str) -> String {
        writeln!(self.stdin, "{line}").unwrap();
        self.stdin.flush().unwrap();
        self.hears()
    }

    /// Hears another line.
    pub(crate) fn hears(&mut self) -> String {
        let mut answer = String::new();
        self.stdout.read_line(&mut answer).unwrap();
        answer.trim_end().to_owned()
    }

    /// Ends it without warning.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}
