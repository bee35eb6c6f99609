//! Errors of operations on sessions as a user meets them: exit codes, reasons for programs, and what
//! to do next.

use std::io;
use std::path::{Path, PathBuf};

use osm_identity::SessionId;
use osm_store::fallback::Rescued;
use osm_store::{Damaged, Error, ErrorKind, Unsafe};

use crate::config::InvalidLimits;
use crate::error::{Exit, Failure};
use crate::interaction::{Interrupted, Unconfirmed};
use crate::invocation::InvocationError;
use crate::ops::identity::name::NameError;
use crate::ops::server;

/// Why an operation on sessions failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SessionError {
    /// The store refused or failed.
    #[error(transparent)]
    Store(#[from] Error),
    /// No store can be chosen.
    #[error(transparent)]
    Invocation(#[from] InvocationError),
    /// The user did not confirm.
    #[error(transparent)]
    Unconfirmed(#[from] Unconfirmed),
    /// The user stopped it.
    #[error(transparent)]
    Interrupted(#[from] Interrupted),
    /// The name does not mean one session.
    #[error(transparent)]
    Name(#[from] NameError),
    /// A session that other processes have open was not reset, because there is no way to ask.
    #[error(transparent)]
    OpenElsewhere(Box<Error>),
    /// The chosen store has no files.
    #[error("sessions of this store are not files")]
    NoFiles,
    /// The history has no command of this number.
    #[error("session {} has no command number {number}", .id.label())]
    NoSuchCommand {
        /// The session.
        id: SessionId,
        /// The number, as it was given.
        number: String,
    },
    /// The limits are not what the user meant, so nothing is removed.
    #[error(transparent)]
    Limits(#[from] InvalidLimits),
    /// Several files cannot be imported as one session.
    #[error("--as names one session, but several files were given")]
    SeveralFiles,
    /// The upstream tool keeps no sessions where it usually does.
    #[error("no sessions of the upstream tool were found")]
    NoUpstreamSessions,
    /// A file cannot be read.
    #[error("cannot read {}: {source}", .path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The system's own words.
        source: io::Error,
    },
    /// A file cannot be written.
    #[error("cannot write {}: {source}", .path.display())]
    Unwritable {
        /// The file.
        path: PathBuf,
        /// The system's own words.
        source: io::Error,
    },
}

impl Failure for SessionError {
    fn reason(&self) -> &'static str {
        match self {
            Self::Store(error) => error.reason(),
            Self::Invocation(error) => error.reason(),
            Self::Unconfirmed(error) => error.reason(),
            Self::Interrupted(error) => error.reason(),
            Self::Name(error) => error.reason(),
            Self::OpenElsewhere(error) => error.reason(),
            Self::NoFiles => "no_files",
            Self::NoSuchCommand { .. } => "command_not_found",
            Self::Limits(error) => error.reason(),
            Self::SeveralFiles => "usage",
            Self::NoUpstreamSessions => "not_found",
            Self::Unreadable { .. } => "unreadable_file",
            Self::Unwritable { .. } => "unwritable_file",
        }
    }

    fn exit(&self) -> Exit {
        match self {
            Self::Store(error) => error.exit(),
            Self::Invocation(error) => error.exit(),
            Self::Unconfirmed(error) => error.exit(),
            Self::Interrupted(error) => error.exit(),
            Self::Name(error) => error.exit(),
            Self::OpenElsewhere(error) => error.exit(),
            Self::NoSuchCommand { .. } | Self::NoUpstreamSessions => Exit::NotFound,
            Self::SeveralFiles => Exit::Usage,
            _ => Exit::Failure,
        }
    }

    fn hints(&self) -> Vec<String> {
        let hint = match self {
            Self::Store(error) => return error.hints(),
            Self::Invocation(error) => return error.hints(),
            Self::Unconfirmed(error) => return error.hints(),
            Self::Interrupted(error) => return error.hints(),
            Self::Name(error) => return error.hints(),
            Self::OpenElsewhere(_) => {
                "wait, or add -y to reset it all the same: the other process is told".to_owned()
            }
            Self::NoFiles => "use --store fs".to_owned(),
            Self::NoSuchCommand { id, .. } => format!("see `osm session history {id}`"),
            Self::Limits(error) => return error.hints(),
            Self::SeveralFiles => "import the files one by one".to_owned(),
            Self::NoUpstreamSessions => "name the files: osm session import FILE...".to_owned(),
            Self::Unreadable { .. } => "name a session's file or an export".to_owned(),
            Self::Unwritable { .. } => {
                "name a file that does not exist yet, in a folder that you can write to".to_owned()
            }
        };
        vec![hint]
    }

    fn unwritable(&self) -> Option<&Path> {
        match self {
            Self::Store(error) => error.unwritable(),
            _ => None,
        }
    }
}

impl Failure for Error {
    fn reason(&self) -> &'static str {
        match self {
            Self::Io { .. } => match self.kind() {
                ErrorKind::Denied => "store_denied",
                ErrorKind::Full => "store_full",
                _ => "store_io",
            },
            Self::Unreachable(_) => "store_unreachable",
            Self::Server(error) => server::reason(error.kind()),
            Self::NoFolder(_) => "no_home",
            Self::UnknownOutcome(_) => "unknown_outcome",
            Self::Unsafe { .. } => "unsafe_file",
            Self::Busy { .. } => "session_busy",
            Self::Orphaned { .. } => "session_orphaned",
            Self::Unproven { .. } => "holder_not_dead",
            Self::LostLease(_) => "lease_lost",
            Self::Changed(_) => "session_changed",
            Self::CleanupRunning => "cleanup_running",
            Self::NotFound(_) => "session_not_found",
            Self::ArchiveNotFound(_) => "archive_not_found",
            Self::Newer { .. } => "newer_version",
            Self::Corrupt { .. } => "damaged",
            Self::TooLarge { .. } => "too_large",
            Self::NoState { .. } => "no_state",
            Self::InvalidSetting { .. } => "invalid_setting",
            _ => "store",
        }
    }

    fn exit(&self) -> Exit {
        match self.kind() {
            ErrorKind::Busy => Exit::Busy,
            ErrorKind::NotFound => Exit::NotFound,
            _ => Exit::Failure,
        }
    }

    fn hints(&self) -> Vec<String> {
        hint(self).into_iter().collect()
    }

    fn unwritable(&self) -> Option<&Path> {
        match self {
            Self::Io { action: "read" | "look at", .. } => None,
            Self::Io { path, .. } if self.kind() == ErrorKind::Denied => Some(path),
            _ => None,
        }
    }
}

fn hint(error: &Error) -> Option<String> {
    let text = match error {
        Error::Io { .. } if error.kind() == ErrorKind::Full => {
            "free some space; earlier saves are intact"
        }
        Error::Io { .. } if error.kind() == ErrorKind::Denied => {
            "check the owner and permissions of the folder, or set OSM_HOME to another one"
        }
        Error::Server(error) => server::hint(error.kind())?,
        Error::NoFolder(_) => "set HOME, or OSM_HOME to a folder",
        Error::Unsafe { reason: Unsafe::NoLocks, .. } => {
            "set OSM_HOME to a folder on a file system with locks"
        }
        Error::Unsafe { .. } => "move it away, or set OSM_HOME to another folder",
        Error::Busy { .. } => "wait, use another session with --session, or see `osm session list`",
        Error::Orphaned { .. } => {
            "end that process, or break the lock of the dead holder with --force"
        }
        Error::Unproven { holders_seen, lock: Some(lock), .. } if holders_seen.is_empty() => {
            return Some(format!(
                "--force breaks locks of dead holders only; `fuser {}` shows the process",
                quoted(lock)
            ));
        }
        Error::Unproven { .. } => {
            "--force breaks locks of dead holders only; end that process, or wait"
        }
        Error::LostLease(_) => {
            "another process took over the session; open it again and repeat the change"
        }
        Error::UnknownOutcome(_) => "see `osm session history` for what was saved",
        Error::CleanupRunning => "wait until it has ended",
        Error::NotFound(_) => "see `osm session list`",
        Error::ArchiveNotFound(_) => "see `osm session archives`",
        Error::Newer { .. } => "use a newer osm; this one does not change the file",
        Error::Corrupt { what: Damaged::Session, .. } => {
            "`osm session reset` quarantines it and starts an empty session; \
             `osm session restore` restores an archive"
        }
        Error::Corrupt { what: Damaged::Archive, .. } => {
            "the file is not changed; `osm session archives` lists the others"
        }
        Error::Corrupt { what: Damaged::File, .. } => {
            "name a session's file or an export; nothing was changed"
        }
        Error::TooLarge { .. } => "move the file away, or reset the session",
        _ => return None,
    };
    Some(text.to_owned())
}

/// The command that restores a session which could only be kept in memory.
pub(crate) fn restore_command(rescued: &Rescued) -> String {
    match rescued {
        Rescued::Archive(name) => format!("osm session restore {name}"),
        Rescued::File(path) => format!("osm session import {}", quoted(path)),
    }
}

/// A path as a shell takes it.
fn quoted(path: &Path) -> String {
    let text = path.display().to_string();
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-".contains(c);
    if cfg!(windows) || text.chars().all(plain) {
        return text;
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_can_be_pasted_into_a_shell() {
        let archive = Rescued::Archive("ex--a--recovered--000.session.json".into());
        assert_eq!(
            restore_command(&archive),
            "osm session restore ex--a--recovered--000.session.json"
        );
        if !cfg!(windows) {
            let file = Rescued::File("/tmp/a b'c".into());
            assert_eq!(restore_command(&file), r"osm session import '/tmp/a b'\''c'");
        }
    }

    #[test]
    fn busy_and_missing_sessions_have_their_own_exit_codes() {
        let id = osm_identity::SessionId::explicit("x".as_ref());
        let busy = Error::Busy { id: id.clone(), holders: Vec::new() };
        assert_eq!((busy.exit(), busy.reason()), (Exit::Busy, "session_busy"));
        assert_eq!(Error::LostLease(id.clone()).exit(), Exit::Busy);
        assert_eq!(Error::NotFound(id).exit(), Exit::NotFound);
        assert_eq!(Error::ArchiveNotFound("x".into()).hints(), ["see `osm session archives`"]);
    }
}
