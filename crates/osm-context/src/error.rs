//! Errors of what the user asked for.
//!
//! A file that cannot be part of a prompt is not an error: the prompt lists it with a
//! [`Reason`].

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::label::{shown, shown_lines};
use crate::reason::{self, Reason};

/// A result of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// What failed. Messages escape control characters: names come from anywhere, and messages are part of
/// prompts too.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The caller asked to stop.
    #[error("interrupted")]
    Interrupted,
    /// The path is the empty text.
    #[error("the path is empty")]
    EmptyPath,
    /// The path does not exist.
    #[error("{}: not found", seen(.0))]
    NotFound(PathBuf),
    /// The path exists and cannot be added.
    #[error("{}: {reason}", seen(path))]
    Unusable {
        /// Which one.
        path: PathBuf,
        /// Why not.
        reason: Reason,
    },
    /// No file matches the pattern.
    #[error("no file matches {} (ignored and hidden files are not searched)", shown(.0))]
    NoMatch(String),
    /// The pattern is invalid.
    #[error("invalid pattern {}: {}", shown(pattern), shown(&source.kind().to_string()))]
    InvalidPattern {
        /// Which one.
        pattern: String,
        /// What is wrong with it.
        source: globset::Error,
    },
    /// The path begins with `~`, and the home folder is not known.
    #[error("cannot expand ~: the home folder is unknown")]
    NoHome,
    /// A program did not start.
    #[error("cannot start {}: {source}", shown(program))]
    Start {
        /// Which one.
        program: String,
        /// The system's error.
        source: io::Error,
    },
    /// A program did not finish in time and was stopped.
    #[error("{} timed out after {}", shown(program), reason::time(*after))]
    TimedOut {
        /// Which one.
        program: String,
        /// The time limit.
        after: Duration,
    },
    /// An argument makes `git diff` do more than compare.
    #[error("argument {} is not allowed: {reason}", shown(argument))]
    Refused {
        /// Which one.
        argument: String,
        /// What it does.
        reason: &'static str,
    },
    /// The folder is not in a Git repository.
    #[error("not a Git repository: {}", seen(.0))]
    NoRepository(PathBuf),
    /// The repository has no commit to compare with.
    #[error("the Git repository of {} has no commits", seen(.0))]
    NoCommits(PathBuf),
    /// Git failed; this is its own message.
    #[error("git: {}", shown_lines(.0))]
    Git(String),
}

impl Error {
    /// A stable code for programs.
    #[must_use]
    pub fn reason(&self) -> &'static str {
        match self {
            Self::Interrupted => "interrupted",
            Self::EmptyPath => "empty_path",
            Self::NotFound(_) => "not_found",
            Self::Unusable { .. } => "unusable_path",
            Self::NoMatch(_) => "no_match",
            Self::InvalidPattern { .. } => "invalid_pattern",
            Self::NoHome => "no_home",
            Self::Start { .. } => "cannot_start",
            Self::TimedOut { .. } => "timed_out",
            Self::Refused { .. } => "argument_not_allowed",
            Self::NoRepository(_) => "no_repository",
            Self::NoCommits(_) => "no_commits",
            Self::Git(_) => "git_failed",
        }
    }

    /// What the user can do about it.
    #[must_use]
    pub fn hint(&self) -> Option<&'static str> {
        Some(match self {
            Self::NotFound(_) => "check the spelling and the current folder",
            Self::Unusable { reason: Reason::TooManyFiles { .. }, .. } => "name fewer folders",
            Self::NoMatch(_) => "to add an ignored or hidden file, name it without a pattern",
            Self::NoHome => "write the full path",
            Self::Start { source, .. } if source.kind() == io::ErrorKind::NotFound => {
                "install the program, or check PATH"
            }
            Self::Refused { .. } => "omit the argument",
            Self::NoRepository(_) => "change to a folder in a repository, or run `git init`",
            Self::NoCommits(_) => "commit something, or compare with `--staged`",
            _ => return None,
        })
    }
}

fn seen(path: &Path) -> String {
    shown(&path.to_string_lossy()).into_owned()
}
