//! Errors as a user meets them, and the exit codes.
//!
//! An error says what happened, to which file, and what to do next: the message and the hints are
//! data, and `ui.rs` renders them last. The table below is the one list of exit codes; the
//! documentation is checked against it.

use std::process::ExitCode;

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    /// It did what was asked.
    Success = 0,
    /// It could not.
    Failure = 1,
    /// The command line makes no sense.
    Usage = 2,
}

impl Exit {
    /// Every code and its meaning, for the documentation.
    pub const TABLE: &[(Exit, &str)] = &[
        (Exit::Success, "done"),
        (Exit::Failure, "failed: the message says why and what to do"),
        (Exit::Usage, "the command line is wrong: the message shows the right one"),
    ];
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

/// A command that failed.
#[derive(Debug)]
pub(crate) enum CommandError {
    /// The reader of our output went away, which is its right.
    OutputClosed,
    /// The output could not be written.
    Output(std::io::Error),
    /// The argument parser has its own words, for help and version too.
    Arguments(Box<clap::Error>),
}

impl CommandError {
    pub(crate) fn exit(&self) -> Exit {
        match self {
            Self::Output(_) => Exit::Failure,
            Self::Arguments(error) if error.use_stderr() => Exit::Usage,
            Self::OutputClosed | Self::Arguments(_) => Exit::Success,
        }
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
            let row = format!("| {} | {meaning} |", *exit as u8);
            assert!(page.contains(&row), "docs/exit-codes.md lacks {row}");
        }
    }
}
