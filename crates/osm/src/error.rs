//! Errors as a user meets them, and the exit codes.
//!
//! An error says what happened, to which file, and what to do next. Operations return typed errors
//! that implement [`Failure`]; the renderer turns them into text or JSON last. The table below is
//! the one list of exit codes; a test checks the documentation against it.

use std::path::Path;
use std::process::ExitCode;

use osm_claims::Reason;
use serde_json::{Value, json};

use crate::interrupt;
use crate::ops::claim::words;
use crate::unwritable_home;

/// An error of an operation, as every front end needs it. `Display` is the message: one line, lower
/// case, with the file or the session that it is about.
pub trait Failure: std::error::Error + Send + Sync {
    /// The stable name of what went wrong, for programs.
    fn reason(&self) -> &'static str;

    /// How the run ends.
    fn exit(&self) -> Exit {
        Exit::Failure
    }

    /// What to do next: commands, mostly.
    fn hints(&self) -> Vec<String> {
        Vec::new()
    }

    /// The file or folder that the system does not let us write, if that is what went wrong.
    fn unwritable(&self) -> Option<&Path> {
        None
    }
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// It did what was asked.
    Success,
    /// It could not.
    Failure,
    /// The command line makes no sense.
    Usage,
    /// Somebody else has the session or the ledger.
    Busy,
    /// There is no such session, archive, key, goal or script.
    NotFound,
    /// It was not confirmed.
    Refused,
    /// Some of it could not be done.
    Partial,
    /// A claim was lost while a command ran.
    Lost,
    /// `osm doctor` found a problem.
    Problems,
    /// The rules of claims say no.
    Claim(Reason),
    /// A command that was run ended so.
    Command(u8),
    /// A signal ended it.
    Signal(u8),
}

impl Exit {
    /// Every code and its meaning, for the documentation.
    pub const TABLE: &[(Exit, &str)] = &[
        (Exit::Success, "success"),
        (Exit::Failure, "failure: the message says why"),
        (Exit::Usage, "invalid command line: the message shows the correct usage"),
        (Exit::Busy, "another process uses the session or the ledger: the message names it"),
        (Exit::NotFound, "no such session, archive, setting, goal or script"),
        (Exit::Refused, "not confirmed or not trusted: nothing was changed"),
        (Exit::Partial, "some items failed: the message names them"),
        (Exit::Lost, "the claim was lost while the command ran; osm stopped the command"),
        (Exit::Problems, "`osm doctor` found a problem that is not fixed"),
        (Exit::Signal(2), "interrupted by Ctrl-C (143: by SIGTERM, 129: by SIGHUP)"),
    ];

    /// The number.
    #[must_use]
    pub fn code(self) -> u8 {
        match self {
            Self::Success => 0,
            Self::Failure => 1,
            Self::Usage => 2,
            Self::Busy => 3,
            Self::NotFound => 4,
            Self::Refused => 5,
            Self::Partial => 6,
            Self::Lost => 7,
            Self::Problems => 8,
            Self::Claim(reason) => words::exit(reason),
            Self::Command(code) => code,
            Self::Signal(number) => 128_u8.saturating_add(number),
        }
    }

    /// Ends the program: by its exit code, or by the signal that stopped it.
    #[must_use]
    pub fn end(self) -> ExitCode {
        if let Self::Signal(number) = self {
            interrupt::end_by(number);
        }
        self.into()
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

/// Why nothing that needs a table in memory can run.
pub(crate) const NO_RANDOM_NUMBERS: &str = "no_random_numbers";

/// A command that failed.
#[derive(Debug)]
pub(crate) enum CommandError {
    /// The reader of our output went away, which is its right.
    OutputClosed,
    /// The output could not be written.
    Output(std::io::Error),
    /// The argument parser has its own words, for help and version too.
    Arguments(Box<clap::Error>),
    /// The command has shown its result already, which says how the run ends.
    Told(Exit),
    /// An operation failed.
    Failure(Box<dyn Failure>),
    /// A failure of a command itself.
    Failed {
        /// The stable name of the failure, for programs.
        reason: &'static str,
        /// What happened, and to which file.
        message: String,
        /// What to do next.
        hints: Vec<String>,
        /// How the run ends.
        exit: Exit,
    },
}

impl CommandError {
    /// A failure with its stable name and its message.
    pub(crate) fn failed(reason: &'static str, message: impl Into<String>) -> Self {
        Self::Failed { reason, message: message.into(), hints: Vec::new(), exit: Exit::Failure }
    }

    /// The same with what to do next.
    pub(crate) fn with_hint(self, hint: impl Into<String>) -> Self {
        match self {
            Self::Failed { reason, message, mut hints, exit } => {
                hints.push(hint.into());
                Self::Failed { reason, message, hints, exit }
            }
            other => other,
        }
    }

    /// The same with another exit code.
    pub(crate) fn exiting(self, exit: Exit) -> Self {
        match self {
            Self::Failed { reason, message, hints, .. } => {
                Self::Failed { reason, message, hints, exit }
            }
            other => other,
        }
    }

    /// What happened; `None` if there is nothing left to say.
    pub(crate) fn message(&self) -> Option<String> {
        match self {
            Self::OutputClosed | Self::Told(_) => None,
            Self::Output(error) => Some(format!("cannot write the output: {error}")),
            Self::Arguments(error) => Some(error.to_string()),
            Self::Failure(failure) => Some(failure.to_string()),
            Self::Failed { message, .. } => Some(message.clone()),
        }
    }

    /// What to do next.
    pub(crate) fn hints(&self) -> Vec<String> {
        match self {
            Self::Failure(failure) => failure.hints(),
            Self::Failed { hints, .. } => hints.clone(),
            _ => Vec::new(),
        }
    }

    /// The stable name of what went wrong, for programs.
    pub(crate) fn reason(&self) -> &'static str {
        match self {
            Self::Failure(failure) => failure.reason(),
            Self::Arguments(_) => "usage",
            Self::Failed { reason, .. } => reason,
            // The last two have no message, so their reason is never shown.
            Self::Output(_) | Self::OutputClosed | Self::Told(_) => "output",
        }
    }

    /// The error as JSON; `None` if there is nothing left to say, and for `--help` and `--version`.
    pub(crate) fn report(&self) -> Option<Value> {
        if matches!(self, Self::Arguments(error) if !error.use_stderr()) {
            return None;
        }
        // An object of JSON is a table, too.
        if matches!(self, Self::Failed { reason: NO_RANDOM_NUMBERS, .. }) {
            return None;
        }
        let message = self.message()?;
        // The argument parser says more than one line; its first is the error.
        let message = message.lines().next().unwrap_or_default();
        let message = message.strip_prefix("error: ").unwrap_or(message);
        let mut report = json!({
            "reason": self.reason(),
            "exit": self.exit().code(),
            "message": message,
            "hints": self.hints(),
        });
        if let Self::Failure(failure) = self
            && failure.reason() == unwritable_home::REASON
        {
            report["folder"] = json!(failure.unwritable());
        }
        Some(report)
    }

    pub(crate) fn exit(&self) -> Exit {
        match self {
            Self::Failed { exit, .. } | Self::Told(exit) => *exit,
            Self::Failure(failure) => failure.exit(),
            Self::Output(_) => Exit::Failure,
            Self::Arguments(error) if error.use_stderr() => Exit::Usage,
            Self::OutputClosed | Self::Arguments(_) => Exit::Success,
        }
    }
}

impl<F: Failure + 'static> From<F> for CommandError {
    fn from(failure: F) -> Self {
        Self::Failure(Box::new(failure))
    }
}

impl From<std::io::Error> for CommandError {
    fn from(error: std::io::Error) -> Self {
        match error.kind() {
            std::io::ErrorKind::BrokenPipe => Self::OutputClosed,
            _ => Self::Output(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_exit_code_is_in_the_documentation() {
        let page = include_str!("../../../docs/exit-codes.md");
        for (exit, meaning) in Exit::TABLE {
            let row = format!("| {} | {meaning} |", exit.code());
            assert!(page.contains(&row), "docs/exit-codes.md lacks {row}");
        }
    }
}
