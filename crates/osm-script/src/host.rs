//! The interface between scripts and the program.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;

use crate::limits::TimeLimit;

/// Everything that a script can reach outside the engine. The program implements it.
pub trait Host {
    /// Prints a result: one or more lines on standard output.
    fn print(&mut self, text: &str);

    /// Prints an error or a warning.
    fn print_error(&mut self, text: &str);

    /// Prints a message for the user, such as that something was done.
    fn tell(&mut self, text: &str) {
        self.print_error(text);
    }

    /// Writes to the log.
    fn log(&mut self, level: Level, message: &str, attributes: &Value);

    /// Reads a file.
    fn read(&mut self, path: &Path) -> io::Result<Vec<u8>>;

    /// Replaces a file.
    fn write(&mut self, path: &Path, bytes: &[u8]) -> io::Result<()>;

    /// Whether a file or a folder exists.
    fn exists(&mut self, path: &Path) -> bool;

    /// The names of what is in a folder, in any order.
    fn list(&mut self, folder: &Path) -> io::Result<Vec<String>>;

    /// The bytes of a module's file; `None` if it is not a file. They are read once: what is checked
    /// here is what runs. The error says why the file must not be loaded.
    fn module(&mut self, path: &Path) -> Result<Option<Vec<u8>>, String> {
        use io::ErrorKind::{IsADirectory, NotADirectory, NotFound};
        match self.read(path) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if matches!(error.kind(), NotFound | IsADirectory | NotADirectory) => {
                Ok(None)
            }
            Err(error) => Err(format!("cannot read {}: {error}", path.display())),
        }
    }

    /// An environment variable.
    fn variable(&mut self, name: &str) -> Option<String>;

    /// Runs a program to its end.
    fn run(&mut self, execution: &Execution) -> io::Result<Finished>;

    /// Opens a text in the user's editor; `hint` names it.
    fn edit(&mut self, hint: &str, text: &str) -> io::Result<String>;

    /// Puts a text on the clipboard.
    fn copy(&mut self, text: &str) -> io::Result<()>;

    /// The content of the clipboard.
    fn paste(&mut self) -> io::Result<String>;

    /// Waits. Returns early if `interrupted` says so.
    fn sleep(&mut self, time: Duration, interrupted: &dyn Fn() -> bool);

    /// A value of the state, if one is stored.
    fn state(&mut self, key: &StateKey) -> Result<Option<Value>, String>;

    /// Stores a value of the state; `None` removes it.
    fn set_state(&mut self, key: &StateKey, value: Option<Value>) -> Result<(), String>;

    /// Reserves `count` numbers above `floor` and above all that were reserved under this key, and
    /// returns the highest. A host whose state other processes change gives each number once.
    fn reserve(&mut self, key: &StateKey, floor: u64, count: u64) -> Result<u64, String> {
        let given = self.state(key)?.and_then(|value| value.as_u64()).unwrap_or(0);
        let highest = given.max(floor).saturating_add(count);
        self.set_state(key, Some(highest.into()))?;
        Ok(highest)
    }

    /// Stores the default of a value that is missing. Optional: scripts see the
    /// default in any case.
    fn set_default(&mut self, key: &StateKey, value: Value) -> Result<(), String> {
        self.set_state(key, Some(value))
    }

    /// Stores a value in place of one of another kind, which must stay in the history.
    fn replace_state(&mut self, key: &StateKey, value: Value) -> Result<(), String> {
        self.set_state(key, Some(value))
    }

    /// Calls a function of an [`Extension`].
    fn call(&mut self, module: &str, function: &str, arguments: &[Value]) -> Result<Value, String>;

    /// Takes the time limit of scripts, for work of the host that must count towards it.
    fn set_time_limit(&mut self, limit: TimeLimit) {
        drop(limit);
    }

    /// Reads a line from the user; `None` at the end of the input, or without a terminal.
    fn read_line(&mut self, prompt: &str) -> Option<String> {
        let _ = prompt;
        None
    }

    /// Writes a file with options; [`Host::write`] uses the defaults.
    fn write_as(&mut self, path: &Path, bytes: &[u8], how: &Writing) -> io::Result<()> {
        if *how == Writing::default() {
            return self.write(path, bytes);
        }
        Err(io::Error::new(io::ErrorKind::Unsupported, "this host only replaces whole files"))
    }
}

/// The key of a stored value. Shared values and values of a command are separate.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum StateKey {
    /// A value shared by all commands.
    Shared(String),
    /// A value of one command.
    Script {
        /// The name that was passed to `tui.createState`.
        command: String,
        /// The description of its symbol.
        name: String,
    },
}

/// A module that the program implements, in [`Host::call`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extension {
    /// The name for `require`.
    pub name: &'static str,
    /// The names of its functions.
    pub functions: &'static [&'static str],
}

/// How a file is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Writing {
    /// Appends instead of replacing.
    pub append: bool,
    /// The permissions of a new file, as for `chmod`.
    pub mode: Option<u32>,
    /// Creates missing parent folders.
    pub create_folders: bool,
}

/// The level of a log message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Details for debugging.
    Debug,
    /// Normal operation.
    Info,
    /// A problem that osm works around.
    Warn,
    /// A failure.
    Error,
}

impl Level {
    /// The level with a name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Some(match name {
            "debug" => Self::Debug,
            "info" => Self::Info,
            "warn" => Self::Warn,
            "error" => Self::Error,
            _ => return None,
        })
    }
}

/// A program to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Execution {
    /// The program and its arguments.
    pub command: Vec<String>,
    /// The working directory; the current one if `None`.
    pub folder: Option<PathBuf>,
    /// Additional environment variables.
    pub variables: Vec<(String, String)>,
}

/// The result of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finished {
    /// Its standard output.
    pub stdout: String,
    /// Its standard error.
    pub stderr: String,
    /// The exit code; 128 + N if signal N ended it.
    pub code: i32,
}
