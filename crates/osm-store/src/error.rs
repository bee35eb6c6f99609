//! What can go wrong with sessions at rest.
//!
//! Every error says to which file or session it happened. Callers branch on the variants; people
//! read the text, and [`Error::hint`] tells them what to do next.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use osm_identity::SessionId;

use crate::backend::{Holder, Witness};
use crate::layout::LARGEST_DOCUMENT;

/// A result of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// What went wrong.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The system refused to do something with a file.
    Io {
        /// What was tried: `cannot {action} {path}`.
        action: &'static str,
        /// With which file or folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A file or folder is not what it must be: a link, a FIFO, somebody else's.
    Unsafe {
        /// Which one.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// Others have the session open, or write to it, and did not let go in time.
    Busy {
        /// Which session.
        id: SessionId,
        /// Who they are, as far as they said.
        holders: Vec<Holder>,
    },
    /// The session is held by nobody but the dead: a process that they started has their lock open.
    Orphaned {
        /// Which session.
        id: SessionId,
        /// Who they were.
        witnesses: Vec<Witness>,
    },
    /// A lock was not taken by force, for its holder is not proven dead.
    Unproven {
        /// Which session.
        id: SessionId,
        /// Who said that they hold it, as far as they did.
        witnesses: Vec<Witness>,
        /// The lock, for people.
        lock: String,
    },
    /// Another cleanup is running.
    CleanupRunning,
    /// There is no such session.
    NotFound(SessionId),
    /// There is no such file in a shelf.
    NotShelved(String),
    /// The document was written by a newer osm; it is left as it is.
    Newer {
        /// Where it is.
        place: String,
        /// Its version.
        version: String,
    },
    /// The document cannot be understood.
    Corrupt {
        /// Whose it is.
        what: Damaged,
        /// Where it is.
        place: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The document is larger than any that is kept.
    TooLarge {
        /// Where it is, or should go.
        place: String,
        /// How large it is.
        size: u64,
    },
    /// A value that cannot be part of a session's state.
    Invalid(String),
}

/// Whose document is damaged, which decides what can be done about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Damaged {
    /// A session's own.
    Session,
    /// One that was set aside.
    Shelved,
    /// A file from elsewhere.
    File,
}

impl Error {
    /// What the user can do about it.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Io { source, .. } if source.kind() == io::ErrorKind::StorageFull => {
                Some("free some space; what was saved before is intact".into())
            }
            Self::Io { source, .. } if source.kind() == io::ErrorKind::PermissionDenied => {
                Some("check who owns the folder, or set OSM_HOME to another one".into())
            }
            Self::Unsafe { .. } => Some("move it away, or set OSM_HOME to another folder".into()),
            Self::Busy { .. } => {
                Some("wait, use another session with --session, or see `osm session list`".into())
            }
            Self::Orphaned { .. } => Some(
                "end the process that it left behind, or take the lock from the dead with --force"
                    .into(),
            ),
            Self::Unproven { witnesses, lock, .. } if witnesses.is_empty() => Some(format!(
                "--force takes a lock from the dead only; `fuser {lock}` tells who has it open"
            )),
            Self::Unproven { .. } => Some(
                "--force takes a lock from the dead only; end that process where it runs, or wait"
                    .into(),
            ),
            Self::CleanupRunning => Some("wait until it is done".into()),
            Self::NotFound(_) => Some("see `osm session list`".into()),
            Self::NotShelved(_) => Some("see `osm session archives`".into()),
            Self::Newer { .. } => Some("use a newer osm; this one leaves the file alone".into()),
            Self::Corrupt { what: Damaged::Session, .. } => Some(
                "`osm session reset` sets it aside and begins anew; \
                 `osm session restore` can bring back an archive"
                    .into(),
            ),
            Self::Corrupt { what: Damaged::Shelved, .. } => {
                Some("it is left as it is; `osm session archives` shows what else there is".into())
            }
            Self::Corrupt { what: Damaged::File, .. } => {
                Some("name a session's file or an export of one; nothing was changed".into())
            }
            Self::TooLarge { .. } => Some("move it away, or begin anew with less in it".into()),
            _ => None,
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io { source, .. } => Some(source),
            _ => None,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io { action, path, source } => {
                write!(f, "cannot {action} {}: {source}", path.display())
            }
            Self::Unsafe { path, reason } => write!(f, "{}: {reason}", path.display()),
            Self::Busy { id, holders } => {
                write!(f, "session {id} is in use")?;
                for (at, holder) in holders.iter().enumerate() {
                    write!(f, "{} {holder}", if at == 0 { " by" } else { "," })?;
                }
                Ok(())
            }
            Self::Orphaned { id, witnesses } => {
                write!(f, "session {id} is still locked: ")?;
                list(f, witnesses)?;
                f.write_str(", but something that it started has the lock open")
            }
            Self::Unproven { id, witnesses, .. } => {
                write!(f, "the lock of session {id} is not broken: ")?;
                if witnesses.is_empty() {
                    return f.write_str("nothing tells who holds it");
                }
                list(f, witnesses)
            }
            Self::CleanupRunning => f.write_str("another cleanup is running"),
            Self::NotFound(id) => write!(f, "there is no session {id}"),
            Self::NotShelved(name) => write!(f, "there is no {name}"),
            Self::Newer { place, version } => {
                write!(f, "{place} has version {version}, which is newer than this osm")
            }
            Self::Corrupt { place, reason, .. } => write!(f, "{place} is damaged: {reason}"),
            Self::TooLarge { place, size } => {
                write!(f, "{place}: {size} bytes are too many; at most {LARGEST_DOCUMENT} are kept")
            }
            Self::Invalid(reason) => f.write_str(reason),
        }
    }
}

fn list(f: &mut fmt::Formatter<'_>, witnesses: &[Witness]) -> fmt::Result {
    for (at, witness) in witnesses.iter().enumerate() {
        write!(f, "{}{witness}", if at == 0 { "" } else { "; " })?;
    }
    Ok(())
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
