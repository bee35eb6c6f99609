//! All that a script may reach.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;

/// The world, as a script sees it. Whoever runs scripts decides what each of these does.
pub trait Host {
    /// Shows a text, which is a line or more.
    fn print(&mut self, text: &str);

    /// Shows a text that is no result: an error, a warning.
    fn complain(&mut self, text: &str);

    /// Says that something was done. It is no result, and no complaint either.
    fn tell(&mut self, text: &str) {
        self.complain(text);
    }

    /// Writes to the log.
    fn log(&mut self, level: Level, message: &str, attributes: &Value);

    /// Reads a file.
    fn read(&mut self, path: &Path) -> io::Result<Vec<u8>>;

    /// Replaces a file.
    fn write(&mut self, path: &Path, bytes: &[u8]) -> io::Result<()>;

    /// Whether there is such a file.
    fn exists(&mut self, path: &Path) -> bool;

    /// A variable of the environment.
    fn variable(&mut self, name: &str) -> Option<String>;

    /// Runs a program to its end.
    fn run(&mut self, execution: &Execution) -> io::Result<Finished>;

    /// Lets the user edit a text; `hint` says what it is.
    fn edit(&mut self, hint: &str, text: &str) -> io::Result<String>;

    /// Puts a text on the clipboard.
    fn copy(&mut self, text: &str) -> io::Result<()>;

    /// What is on the clipboard.
    fn paste(&mut self) -> io::Result<String>;

    /// Waits. Returns early if `interrupted` says so.
    fn sleep(&mut self, time: Duration, interrupted: &dyn Fn() -> bool);

    /// A value of the state, if one is stored.
    fn state(&mut self, key: &StateKey) -> Result<Option<Value>, String>;

    /// Stores a value of the state; `None` removes it.
    fn set_state(&mut self, key: &StateKey, value: Option<Value>) -> Result<(), String>;

    /// Takes note of the default of a value that is not stored, or not as it should be. Scripts see
    /// the default in any case, so it need not be stored.
    fn set_default(&mut self, key: &StateKey, value: Value) -> Result<(), String> {
        self.set_state(key, Some(value))
    }

    /// A function of an [`Extension`].
    fn call(&mut self, module: &str, function: &str, arguments: &[Value]) -> Result<Value, String>;

    /// A line that the user types after a prompt; `None` at the end, or where nobody can type.
    fn read_line(&mut self, prompt: &str) -> Option<String> {
        let _ = prompt;
        None
    }

    /// Writes a file in a way of its own; [`Host::write`] is the plain one.
    fn write_as(&mut self, path: &Path, bytes: &[u8], how: &Writing) -> io::Result<()> {
        if *how == Writing::default() {
            return self.write(path, bytes);
        }
        Err(io::Error::new(io::ErrorKind::Unsupported, "files are only replaced here, as a whole"))
    }
}

/// Where a value of the state lives. There is no way from one zone into another.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum StateKey {
    /// Shared by all commands, by its name.
    Shared(String),
    /// One command's own.
    Script {
        /// Whose: the name that was given to `tui.createState`.
        command: String,
        /// The description of its symbol.
        name: String,
    },
}

/// A module whose functions the host answers, in [`Host::call`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extension {
    /// Its name, as `require` takes it.
    pub name: &'static str,
    /// The names of its functions.
    pub functions: &'static [&'static str],
}

/// How a file is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Writing {
    /// At its end, instead of in its place.
    pub append: bool,
    /// Who may do what with it, as `chmod` takes it.
    pub mode: Option<u32>,
    /// The folders that lead to it are made.
    pub create_folders: bool,
}

/// How much a message in the log matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// For whoever looks for a fault.
    Debug,
    /// For whoever wants to know.
    Info,
    /// For whoever should know.
    Warn,
    /// For whoever must know.
    Error,
}

impl Level {
    /// The level of a name.
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

/// A program that is to be run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Execution {
    /// The program and its arguments.
    pub command: Vec<String>,
    /// Where; the working directory if nothing is said.
    pub folder: Option<PathBuf>,
    /// Variables beside those that we have.
    pub variables: Vec<(String, String)>,
}

/// A program that has run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finished {
    /// What it wrote.
    pub stdout: String,
    /// What it complained of.
    pub stderr: String,
    /// Its exit code; 128 and the signal if one ended it.
    pub code: i32,
}
