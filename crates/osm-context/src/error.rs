//! What can go wrong with what the user asked for.
//!
//! Files that cannot be part of a prompt are no errors: they are left out, and it is said why.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::label::{shown, shown_lines};
use crate::reason;

/// A result of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// What went wrong.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The user does not want it any more.
    Interrupted,
    /// Nothing was named.
    NoName,
    /// There is nothing of that name.
    NotFound(PathBuf),
    /// It is neither a file nor a folder.
    Unusable {
        /// Which one.
        path: PathBuf,
        /// What it is instead.
        reason: String,
    },
    /// No file matches.
    NoMatch(String),
    /// The pattern itself is wrong.
    BadPattern {
        /// Which one.
        pattern: String,
        /// What is wrong with it.
        reason: String,
    },
    /// `~` was typed, and nobody knows where that is.
    NoHome,
    /// A program could not be started.
    Start {
        /// Which one.
        program: String,
        /// What the system said.
        source: io::Error,
    },
    /// A program did not come to its end in time.
    TimedOut {
        /// Which one.
        program: String,
        /// After how long it was stopped.
        after: Duration,
    },
    /// An argument for git that does more than to compare.
    Refused {
        /// Which one.
        argument: String,
        /// What it does.
        reason: &'static str,
    },
    /// The folder is in no repository.
    NoRepository(PathBuf),
    /// The repository has no commit to compare with.
    NoCommits(PathBuf),
    /// What git itself said.
    Git(String),
}

impl Error {
    /// What the user can do about it.
    #[must_use]
    pub fn hint(&self) -> Option<&'static str> {
        Some(match self {
            Self::NotFound(_) => "check the spelling, and in which folder you are",
            Self::NoMatch(_) => "name an ignored or hidden file itself, without a pattern",
            Self::NoHome => "write the path in full",
            Self::Start { source, .. } if source.kind() == io::ErrorKind::NotFound => {
                "install it, or check PATH"
            }
            Self::TimedOut { .. } => "ask for less, or allow more time",
            Self::Refused { .. } => "leave it out",
            Self::NoRepository(_) => "change to a folder that is in one, or run `git init`",
            Self::NoCommits(_) => "commit something, or ask for `--staged`",
            _ => return None,
        })
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Start { source, .. } => Some(source),
            _ => None,
        }
    }
}

/// Names come from anywhere, and this is read at a terminal, which obeys some of them.
impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Interrupted => f.write_str("interrupted"),
            Self::NoName => f.write_str("it has no name"),
            Self::NotFound(path) => write!(f, "there is no {}", seen(path)),
            Self::Unusable { path, reason } => write!(f, "{}: {}", seen(path), shown(reason)),
            Self::NoMatch(pattern) => {
                let pattern = shown(pattern);
                write!(f, "no file matches {pattern} (ignored and hidden ones do not count)")
            }
            Self::BadPattern { pattern, reason } => {
                write!(f, "{} is no pattern: {}", shown(pattern), shown(reason))
            }
            Self::NoHome => f.write_str("nobody knows where ~ is"),
            Self::Start { program, source } => {
                write!(f, "cannot start {}: {source}", shown(program))
            }
            Self::TimedOut { program, after } => {
                write!(f, "{} was stopped after {}", shown(program), reason::time(*after))
            }
            Self::Refused { argument, reason } => {
                write!(f, "{} is refused: {reason}", shown(argument))
            }
            Self::NoRepository(folder) => {
                write!(f, "{} is not in a Git repository", seen(folder))
            }
            Self::NoCommits(folder) => {
                write!(f, "the repository of {} has no commits yet", seen(folder))
            }
            Self::Git(complaint) => write!(f, "git: {}", shown_lines(complaint)),
        }
    }
}

fn seen(path: &Path) -> String {
    shown(&path.to_string_lossy()).into_owned()
}
