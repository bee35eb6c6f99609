//! A home, a repository, and the program on a pseudo terminal.
#![expect(clippy::unwrap_used, reason = "a harness that fails is a failed test")]

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use osm_testkit::terminal::Terminal;
use tempfile::TempDir;

use crate::hostile::Hostile;
use crate::reading::{Writer, read, visible};

const PROGRAM: &str = env!("CARGO_BIN_EXE_osm");

/// Machines that test are busy.
const PATIENCE: Duration = Duration::from_mins(1);

pub(crate) struct Site<'a> {
    pub(crate) hostile: &'a Hostile,
    folder: TempDir,
    variables: Vec<(OsString, OsString)>,
}

impl<'a> Site<'a> {
    pub(crate) fn new(hostile: &'a Hostile) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let variables = [
            ("PATH", "/usr/local/bin:/usr/bin:/bin".into()),
            ("HOME", folder.path().as_os_str().to_owned()),
            ("OSM_HOME", folder.path().join("home").into_os_string()),
            ("OSM_SESSION", "test".into()),
            ("TERM", "xterm-256color".into()),
            ("OSM_CLIPBOARD", "cat > /dev/null".into()),
            ("EDITOR", "true".into()),
        ];
        let variables = variables.map(|(name, value)| (name.into(), value)).into();
        let site = Self { hostile, folder, variables };
        fs::create_dir(site.home()).unwrap();
        fs::create_dir(site.tree()).unwrap();
        // Counting takes its time where nothing is optimised.
        fs::write(site.home().join("config.toml"), "prompt.tokens = false\n").unwrap();
        site
    }

    /// Sets a variable of the program.
    pub(crate) fn set(&mut self, name: &str, value: impl AsRef<OsStr>) {
        self.variables.retain(|(known, _)| known != name);
        self.variables.push((name.into(), value.as_ref().to_owned()));
    }

    pub(crate) fn unset(&mut self, name: &str) {
        self.variables.retain(|(known, _)| known != name);
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    pub(crate) fn tree(&self) -> PathBuf {
        self.folder.path().join("tree")
    }

    /// Writes a file of the home or the tree.
    pub(crate) fn write(&self, path: impl AsRef<Path>, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        path
    }

    pub(crate) fn git(&self, arguments: &[&str]) {
        let mut command = Command::new("git");
        command.current_dir(self.tree()).env("GIT_CONFIG_GLOBAL", "/dev/null");
        command.args(["-c", "user.name=n", "-c", "user.email=e@example.org"]);
        command.args(["-c", "init.defaultBranch=main"]).args(arguments);
        let output = command.output().unwrap();
        assert!(output.status.success(), "git {arguments:?}: {output:?}");
    }

    /// Runs the program in a pipe: its exact output.
    pub(crate) fn exact(&self, arguments: &[&str]) -> Vec<u8> {
        let mut command = Command::new(PROGRAM);
        command.args(arguments).current_dir(self.tree()).env_clear();
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        command.stdin(Stdio::null()).output().unwrap().stdout
    }

    /// Runs the program on a terminal, which shows all these words with something escaped after them.
    #[track_caller]
    pub(crate) fn shows<Word: AsRef<OsStr>>(&self, arguments: &[Word], words: &[&str]) {
        let arguments = arguments.iter().map(|it| it.as_ref().to_owned());
        let command: Vec<OsString> = std::iter::once(PROGRAM.into()).chain(arguments).collect();
        let terminal = self.start(&command);
        check(&terminal.finish().unwrap(), Writer::Command, words);
    }

    /// The same, where the argument parser shows what is typed: it removes sequences that it knows.
    #[track_caller]
    pub(crate) fn is_refused<Word: AsRef<OsStr>>(&self, arguments: &[Word]) {
        self.shows(arguments, &[]);
    }

    /// The same with a shell that knows the program as `$OSM` and these texts as `$1`, `$2`, ….
    #[track_caller]
    pub(crate) fn script_shows(&self, script: &str, texts: &[OsString], words: &[&str]) {
        let script = script.replace("$OSM", PROGRAM);
        let start = ["sh", "-c", &script, "sh"].map(OsString::from);
        let terminal = self.start(&[&start[..], texts].concat());
        check(&terminal.finish().unwrap(), Writer::Command, words);
    }

    /// Starts a mode, to type into it.
    pub(crate) fn mode(&self, arguments: &[&str]) -> Mode {
        let command: Vec<OsString> =
            std::iter::once(&PROGRAM).chain(arguments).map(OsString::from).collect();
        Mode(self.start(&command))
    }

    fn start(&self, command: &[OsString]) -> Terminal {
        Terminal::start(command, &self.variables, &self.tree()).unwrap()
    }
}

/// A mode at a terminal.
pub(crate) struct Mode(Terminal);

impl Mode {
    /// Waits for a text, then types keys.
    #[track_caller]
    pub(crate) fn types(&mut self, after: &str, keys: &str) -> &mut Self {
        let deadline = Instant::now() + PATIENCE;
        while !visible(&self.0.screen()).contains(after) {
            assert!(Instant::now() < deadline, "no {after:?}: {:?}", self.0.screen());
            std::thread::sleep(Duration::from_millis(5));
        }
        self.0.press(keys).unwrap();
        self
    }

    /// Leaves the mode.
    #[track_caller]
    pub(crate) fn shows(mut self, words: &[&str]) {
        self.0.press("exit\r").unwrap();
        let deadline = Instant::now() + PATIENCE;
        while !self.0.has_ended().unwrap() {
            assert!(Instant::now() < deadline, "does not end: {:?}", self.0.screen());
            std::thread::sleep(Duration::from_millis(5));
        }
        check(&self.0.finish().unwrap(), Writer::Editor, words);
    }
}

/// What stands for the first unsafe character: an escape, or a visible character of the same length.
const REPLACEMENTS: [char; 5] = ['\\', '?', '¿', '\u{fffd}', '\u{1fbc4}'];

#[track_caller]
fn check(bytes: &[u8], writer: Writer, words: &[&str]) {
    let seen = || String::from_utf8_lossy(bytes).escape_debug().to_string();
    let shown = match read(bytes, writer) {
        Ok(shown) => shown,
        Err(found) => panic!("{found} reached the terminal: {}", seen()),
    };
    for word in words {
        let is_escaped = |(at, _)| shown[at + word.len()..].starts_with(REPLACEMENTS);
        assert!(
            shown.match_indices(word).any(is_escaped),
            "{word:?} with an escape after it is missing: {}",
            seen()
        );
    }
}
