//! What can go wrong with sessions at rest.
//!
//! Each error names the file or session that it concerns. Callers branch on the variants, or on
//! [`Error::kind`] where only the sort of trouble matters. Advice and exit codes are the program's:
//! this library gives reasons.

mod damage;

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use osm_identity::SessionId;

pub use damage::{Damage, Unsafe};

use crate::backend::{Holder, HolderState};
use crate::layout::LARGEST_DOCUMENT;

/// A result of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// An error of a backend that this crate does not know.
pub type Cause = Box<dyn std::error::Error + Send + Sync>;

/// What went wrong.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The system refused an operation on a file.
    #[error("cannot {action} {}: {source}", .path.display())]
    Io {
        /// The operation: `cannot {action} {path}`.
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The system's own words.
        source: io::Error,
    },
    /// The store cannot be reached, so nothing was changed.
    #[error("cannot reach the store: {0}")]
    Unreachable(Cause),
    /// A server refused, and nothing was changed.
    #[error("{0}")]
    Server(osm_postgres::Error),
    /// No folder is known in which the store could be.
    #[error("no folder for sessions: {0}")]
    NoFolder(&'static str),
    /// The reply was lost: the change may or may not have been carried out.
    #[error("no reply from the store, so the change may or may not be saved: {0}")]
    UnknownOutcome(Cause),
    /// A file or folder is not what it must be: a link, a FIFO, another user's.
    #[error("{}: {reason}", .path.display())]
    Unsafe {
        /// The file or folder.
        path: PathBuf,
        /// What is wrong with it.
        reason: Unsafe,
    },
    /// Other processes have the session open, or write to it, and did not release it in time.
    #[error("session {} is in use{}", .id.label(), By(.holders))]
    Busy {
        /// The session.
        id: SessionId,
        /// The processes that registered themselves as holders.
        holders: Vec<Holder>,
    },
    /// All holders of the session are dead, but a process that one of them started keeps the lock
    /// open.
    #[error("session {} is still locked: {}, but a process that it started keeps the lock open", .id.label(), Listed(.holders_seen))]
    Orphaned {
        /// The session.
        id: SessionId,
        /// The dead holders.
        holders_seen: Vec<HolderState>,
    },
    /// A lock was not broken, because its holder is not proven dead.
    #[error("the lock of session {} was not broken: {}", .id.label(), Evidence(.holders_seen))]
    Unproven {
        /// The session.
        id: SessionId,
        /// The holders that are not proven dead; empty if the lock does not name its holder.
        holders_seen: Vec<HolderState>,
        /// The lock file, if it is one.
        lock: Option<PathBuf>,
    },
    /// Our lease on the session ended, so the write was refused.
    #[error("the lease on session {} was lost, so the change was not saved", .0.label())]
    LostLease(SessionId),
    /// The session is no longer the version that was to be removed.
    #[error("session {} was changed meanwhile", .0.label())]
    Changed(SessionId),
    /// Another cleanup is running.
    #[error("another cleanup is running")]
    CleanupRunning,
    /// There is no such session.
    #[error("session {} not found", .0.label())]
    NotFound(SessionId),
    /// There is no such archived document.
    #[error("archive {} not found", .0.escape_debug())]
    ArchiveNotFound(String),
    /// The document was written by a newer version of osm; it is not touched.
    #[error("{place} has version {version}, which is newer than this osm")]
    Newer {
        /// Where it is.
        place: String,
        /// Its version.
        version: String,
    },
    /// The document cannot be read.
    #[error("{place} is damaged: {reason}")]
    Corrupt {
        /// Which document.
        what: Damaged,
        /// Where it is.
        place: String,
        /// What is wrong with it.
        reason: Damage,
    },
    /// The document is too large.
    #[error("{place}: {size} bytes exceed the limit of {LARGEST_DOCUMENT}")]
    TooLarge {
        /// Where it is, or was to be saved.
        place: String,
        /// Its size in bytes.
        size: u64,
    },
    /// The history has no state for a command, so it cannot be restored.
    #[error("the history has no state after `{command}`")]
    NoState {
        /// The command.
        command: String,
    },
    /// A setting of the retention policy has an invalid value.
    #[error("`{name}` must be {expected}, not {found:?}")]
    InvalidSetting {
        /// The setting.
        name: &'static str,
        /// The values that it can have.
        expected: &'static str,
        /// The value.
        found: String,
    },
    /// A text cannot be the beginning of an archive's name.
    #[error("invalid archive name {0:?}")]
    InvalidArchiveName(String),
    /// Every number for an archive's name is taken.
    #[error("no free name for archive {0}")]
    NoFreeName(String),
}

/// The sort of trouble, for callers that do not care about the details.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The store cannot be reached.
    Unreachable,
    /// The store does not let us in, or cannot be written.
    Denied,
    /// The store has no space left.
    Full,
    /// The store's own files or tables are not what they must be.
    Damaged,
    /// It is not known whether the change was carried out.
    UnknownOutcome,
    /// Another process has the session, or took it from us.
    Busy,
    /// There is no such session or archive.
    NotFound,
    /// One document cannot be read.
    Unreadable,
    /// The request itself is invalid.
    Invalid,
}

impl ErrorKind {
    /// Whether the store as a whole cannot be used, so that work can only go on elsewhere.
    #[must_use]
    pub fn is_unavailable(self) -> bool {
        matches!(self, Self::Unreachable | Self::Denied | Self::Full | Self::Damaged)
    }
}

/// Which document is damaged, which decides what can be done about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Damaged {
    /// A session's own.
    Session,
    /// An archived one.
    Archive,
    /// A file from elsewhere.
    File,
}

impl Error {
    /// The sort of trouble.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Io { source, .. } => match source.kind() {
                io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                    ErrorKind::Denied
                }
                io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => ErrorKind::Full,
                _ => ErrorKind::Unreachable,
            },
            Self::Unreachable(_) | Self::NoFolder(_) => ErrorKind::Unreachable,
            Self::Server(error) => kind_of_server(error.kind()),
            Self::UnknownOutcome(_) => ErrorKind::UnknownOutcome,
            Self::Unsafe { reason, .. } => match reason {
                Unsafe::OtherOwner { .. } | Unsafe::WorldWritable { .. } => ErrorKind::Denied,
                _ => ErrorKind::Damaged,
            },
            Self::Busy { .. }
            | Self::Orphaned { .. }
            | Self::Unproven { .. }
            | Self::LostLease(_)
            | Self::Changed(_)
            | Self::CleanupRunning => ErrorKind::Busy,
            Self::NotFound(_) | Self::ArchiveNotFound(_) => ErrorKind::NotFound,
            Self::Newer { .. } | Self::Corrupt { .. } | Self::TooLarge { .. } => {
                ErrorKind::Unreadable
            }
            Self::NoState { .. }
            | Self::InvalidSetting { .. }
            | Self::InvalidArchiveName(_)
            | Self::NoFreeName(_) => ErrorKind::Invalid,
        }
    }

    /// Whether it is not known if the change was carried out.
    pub(crate) fn is_unknown_outcome(&self) -> bool {
        matches!(self, Self::UnknownOutcome(_))
    }
}

fn kind_of_server(kind: osm_postgres::Kind) -> ErrorKind {
    use osm_postgres::Kind;
    match kind {
        Kind::Settings | Kind::Denied | Kind::Tls | Kind::ReadOnly => ErrorKind::Denied,
        Kind::DiskFull => ErrorKind::Full,
        Kind::MissingSchema | Kind::OlderSchema | Kind::NewerSchema | Kind::Constraint => {
            ErrorKind::Damaged
        }
        Kind::LockTimeout | Kind::Conflict => ErrorKind::Busy,
        Kind::OutcomeUnknown => ErrorKind::UnknownOutcome,
        _ => ErrorKind::Unreachable,
    }
}

impl From<osm_postgres::Error> for Error {
    fn from(error: osm_postgres::Error) -> Self {
        match error.kind() {
            osm_postgres::Kind::OutcomeUnknown => Self::UnknownOutcome(error.into()),
            _ => Self::Server(error),
        }
    }
}

impl osm_postgres::OfServer for Error {
    fn of_server(&self) -> Option<&osm_postgres::Error> {
        match self {
            Self::Server(error) => Some(error),
            _ => None,
        }
    }
}

/// ` by A, B`; nothing if no holder is registered.
pub(crate) struct By<'a>(pub(crate) &'a [Holder]);

impl fmt::Display for By<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, holder) in self.0.iter().enumerate() {
            write!(f, "{} {holder}", if at == 0 { " by" } else { "," })?;
        }
        Ok(())
    }
}

struct Listed<'a>(&'a [HolderState]);

impl fmt::Display for Listed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, seen) in self.0.iter().enumerate() {
            write!(f, "{}{seen}", if at == 0 { "" } else { "; " })?;
        }
        Ok(())
    }
}

struct Evidence<'a>(&'a [HolderState]);

impl fmt::Display for Evidence<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            [] => f.write_str("the lock does not name its holder"),
            seen => Listed(seen).fmt(f),
        }
    }
}

/// Puts the file and the action into an error of the system.
pub(crate) trait At<T> {
    fn at(self, action: &'static str, path: &Path) -> Result<T>;
}

impl<T> At<T> for io::Result<T> {
    fn at(self, action: &'static str, path: &Path) -> Result<T> {
        self.map_err(|source| Error::Io { action, path: path.to_owned(), source })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kind_says_whether_the_store_can_be_used() {
        let io = |kind: io::ErrorKind| Error::Io {
            action: "open",
            path: PathBuf::from("x"),
            source: kind.into(),
        };
        let id = SessionId::explicit("x".as_ref());
        for (error, kind, is_unavailable) in [
            (io(io::ErrorKind::PermissionDenied), ErrorKind::Denied, true),
            (io(io::ErrorKind::ReadOnlyFilesystem), ErrorKind::Denied, true),
            (io(io::ErrorKind::StorageFull), ErrorKind::Full, true),
            (io(io::ErrorKind::NotConnected), ErrorKind::Unreachable, true),
            (Error::Unreachable("refused".into()), ErrorKind::Unreachable, true),
            (Error::NoFolder("HOME is not set"), ErrorKind::Unreachable, true),
            (Error::UnknownOutcome("cut".into()), ErrorKind::UnknownOutcome, false),
            (Error::LostLease(id.clone()), ErrorKind::Busy, false),
            (Error::NotFound(id), ErrorKind::NotFound, false),
        ] {
            assert_eq!(error.kind(), kind, "{error}");
            assert_eq!(error.kind().is_unavailable(), is_unavailable, "{error}");
        }
    }
}
