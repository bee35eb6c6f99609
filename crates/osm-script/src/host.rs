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
