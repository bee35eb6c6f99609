//! What can go wrong with a ledger.
//!
//! An error is a reason for programs: it names no file and no database, because a ledger may be
//! either or neither. The program that shows it adds where the ledger is and what to do.

use std::fmt;

use osm_postgres::{Kind, OfServer};

use crate::refusal::{Reason, Refused};

/// What a library of the ledger's storage said.
pub type Cause = Box<dyn std::error::Error + Send + Sync>;

/// An operation that did not do what was asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The rules refuse it.
    #[error(transparent)]
    Refused(Box<Refused>),
    /// The caller gave up waiting. Nothing was changed.
    #[error("interrupted")]
    Interrupted,
    /// Another process has been writing for longer than a writer may take.
    #[error("another process is writing to the ledger")]
    Busy {
        /// That process, where the system tells.
        writer: Option<Writer>,
    },
    /// The storage holds no ledger, or a damaged one.
    #[error("the ledger is damaged: {0}")]
    Corrupt(Corruption),
    /// A later version of this program made the ledger.
    #[error("the ledger has version {version}, and this program knows older ones only")]
    Newer {
        /// The ledger's version.
        version: i64,
    },
    /// The ledger's file could be read or changed by others.
    #[error("the ledger is not safe to use: it is {0}")]
    Unsafe(Hazard),
    /// Another file, or none, is in the place of the ledger that was opened.
    #[error("the ledger was removed or replaced while it was in use")]
    Replaced,
    /// The system refused to read or write. Nothing was changed.
    #[error("cannot {action} the ledger: {source}")]
    Io {
        /// What was tried, as a verb.
        action: &'static str,
        /// What the system said.
        source: std::io::Error,
    },
    /// The database refused. Nothing was changed.
    #[error("the ledger's database failed: {0}")]
    Database(Cause),
    /// The connection or the disk failed while the change was committed: it may have been made or
    /// not. The same request with the same request id gives the answer, and changes nothing twice.
    #[error("it is not known whether the change was committed: {0}")]
    CommitUnknown(Cause),
    /// The server of the ledger cannot be used. Nothing was changed, and nothing is known of its claims.
    #[error(transparent)]
    Server(osm_postgres::Error),
    /// The system's clock is set to a year of more than four digits. Nothing was changed.
    #[error("the system clock is not between the years 1 and 9999")]
    Clock,
    /// The process table cannot be read, so that no session can be recognised.
    #[error("cannot read the process table: {0}")]
    Processes(osm_identity::ReadError),
}

/// The process that keeps others from writing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Writer {
    /// Its pid.
    pub pid: u32,
    /// Its name.
    pub name: String,
    /// It is stopped, by a signal or a debugger.
    pub is_suspended: bool,
}

/// What is wrong with a damaged ledger.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Corruption {
    /// Another program made the file.
    #[error("it is not a ledger of osm")]
    Foreign,
    /// No version of this program writes that version.
    #[error("its version is unknown")]
    UnknownVersion,
    /// The ledger's file has no content.
    #[error("its file is empty")]
    Empty,
    /// A repair replaces the ledger's files, or was interrupted when it did.
    #[error("its repair was interrupted, or is under way")]
    Interrupted,
    /// The ledger is gone, and its write-ahead log is not.
    #[error("the ledger is missing but its write-ahead log is there")]
    LogWithoutLedger,
    /// The ledger is gone, and its high-water mark is not.
    #[error("the ledger is missing, but {recorded} changes of it are recorded")]
    Missing {
        /// The number of the last change that was recorded.
        recorded: u64,
    },
    /// The ledger has fewer changes than were made.
    #[error(
        "it has {found} changes, but {recorded} are recorded: an older copy was restored, or a part is lost"
    )]
    WentBack {
        /// The number of the last change that was recorded.
        recorded: u64,
        /// The number of its last change.
        found: u64,
    },
    /// Its claims are not those that were recorded.
    #[error("its open claims are not those that were recorded")]
    Altered,
    /// The database found it damaged.
    #[error("{0}")]
    Database(String),
    /// A value in it cannot be understood.
    #[error("{0}")]
    Value(&'static str),
}

/// Why a ledger's file is not safe to use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Hazard {
    /// A symbolic link.
    SymbolicLink,
    /// A folder, a device, a pipe.
    NotAFile,
    /// It belongs to another user.
    AnotherUser,
    /// It has a second name.
    HardLink,
    /// Other machines can write to it, whose locks this one does not see.
    NetworkFileSystem,
}

impl fmt::Display for Hazard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::SymbolicLink => "a symbolic link",
            Self::NotAFile => "not a regular file",
            Self::AnotherUser => "owned by another user",
            Self::HardLink => "hard-linked to another place",
            Self::NetworkFileSystem => "on a network or FUSE file system",
        })
    }
}

/// What operations return.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// The refusal, if the rules refused it.
    #[must_use]
    pub fn refusal(&self) -> Option<&Refused> {
        match self {
            Self::Refused(refused) => Some(refused),
            _ => None,
        }
    }

    pub(crate) fn io(action: &'static str, source: std::io::Error) -> Self {
        Self::Io { action, source }
    }
}

impl From<osm_postgres::Error> for Error {
    fn from(error: osm_postgres::Error) -> Self {
        match error.kind() {
            Kind::OutcomeUnknown => Self::CommitUnknown(Box::new(error)),
            Kind::LockTimeout => Self::Busy { writer: None },
            _ => Self::Server(error),
        }
    }
}

impl OfServer for Error {
    fn of_server(&self) -> Option<&osm_postgres::Error> {
        match self {
            Self::Server(error) => Some(error),
            _ => None,
        }
    }
}

impl From<Refused> for Error {
    fn from(refused: Refused) -> Self {
        Self::Refused(Box::new(refused))
    }
}

impl From<Reason> for Error {
    fn from(reason: Reason) -> Self {
        Refused::because(reason).into()
    }
}

impl From<Corruption> for Error {
    fn from(corruption: Corruption) -> Self {
        Self::Corrupt(corruption)
    }
}
