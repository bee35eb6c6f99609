//! What can go wrong, each with its file and what to do next.

use std::fmt;
use std::path::{Path, PathBuf};

use crate::refusal::{Reason, Refused};

/// An operation that did not do what was asked.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The rules say no.
    Refused(Box<Refused>),
    /// Somebody else writes to the ledger and does not end.
    Busy {
        /// The ledger.
        path: PathBuf,
        /// Who, as far as the system tells.
        holder: Option<String>,
    },
    /// The file is no ledger, or a broken one.
    Corrupt {
        /// The ledger.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// A later version made it.
    Newer {
        /// The ledger.
        path: PathBuf,
        /// Its version.
        version: i64,
    },
    /// The file is not what a ledger must be: a link, a folder, somebody else's.
    Unsafe {
        /// The ledger.
        path: PathBuf,
        /// What it is.
        what: &'static str,
    },
    /// Another file is in the place of the ledger that was opened, or none.
    Replaced {
        /// The ledger.
        path: PathBuf,
    },
    /// The system said no.
    System {
        /// The ledger.
        path: PathBuf,
        /// What was tried.
        what: &'static str,
        /// What the system said.
        source: std::io::Error,
    },
    /// The database said no.
    Database {
        /// The ledger.
        path: PathBuf,
        /// What it said.
        source: rusqlite::Error,
    },
    /// The process table cannot be read, so that nobody can be known.
    Blind(osm_identity::ReadError),
}

/// What operations return.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// What to do about it.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Refused(refused) => Some(refused.remedy()),
            Self::Busy { .. } => Some("continue or end that process, and try again".into()),
            Self::Corrupt { path, .. } => Some(format!(
                "set it aside with its -wal and -shm files ({}), which forgets all claims, or \
                 restore a backup",
                path.display()
            )),
            Self::Newer { .. } => {
                Some("use the version of osm that made it, or a later one".into())
            }
            Self::Unsafe { path, .. } => Some(format!(
                "look what is at {}, or set OSM_HOME to a folder of this machine and user",
                path.display()
            )),
            Self::Replaced { .. } => Some("nothing was changed; try again".into()),
            Self::System { .. } | Self::Database { .. } => Some(
                "nothing was changed; see whether the disk has room and the folder can be written to"
                    .into(),
            ),
            Self::Blind(_) => None,
        }
    }

    /// Why it was refused, if it was.
    #[must_use]
    pub fn refusal(&self) -> Option<&Refused> {
        match self {
            Self::Refused(refused) => Some(refused),
            _ => None,
        }
    }

    pub(crate) fn system(path: &Path, what: &'static str, source: std::io::Error) -> Self {
        Self::System { path: path.to_owned(), what, source }
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

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::System { source, .. } => Some(source),
            Self::Database { source, .. } => Some(source),
            _ => None,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(refused) => refused.fmt(f),
            Self::Busy { path, holder } => {
                write!(f, "the ledger {} is being written to", path.display())?;
                match holder {
                    Some(holder) => write!(f, " by {holder}"),
                    None => Ok(()),
                }
            }
            Self::Corrupt { path, what } => {
                write!(f, "the ledger {} cannot be read: {what}", path.display())
            }
            Self::Newer { path, version } => write!(
                f,
                "the ledger {} has version {version}, which this osm does not know",
                path.display()
            ),
            Self::Unsafe { path, what } => {
                write!(f, "the ledger {} is not used: it is {what}", path.display())
            }
            Self::Replaced { path } => write!(
                f,
                "the ledger {} was removed or replaced while it was in use",
                path.display()
            ),
            Self::System { path, what, source } => {
                write!(f, "cannot {what} the ledger {}: {source}", path.display())
            }
            Self::Database { path, source } => {
                write!(f, "the ledger {}: {source}", path.display())
            }
            Self::Blind(error) => write!(f, "the process table cannot be read: {error}"),
        }
    }
}
