//! What an error of SQLite means for a ledger.

use std::io::{Error as IoError, ErrorKind};
use std::path::Path;

use rusqlite::{Error as SqlError, ErrorCode};

use super::lock;
use crate::error::{Corruption, Error};

/// What an error means before anything was committed.
pub(super) fn explain(path: &Path, error: SqlError) -> Error {
    let io = |action, kind: ErrorKind| Error::io(action, IoError::new(kind, error.to_string()));
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            Error::Busy { writer: lock::writer(path) }
        }
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
            Corruption::Database(error.to_string()).into()
        }
        Some(ErrorCode::ReadOnly) => io("write to", ErrorKind::ReadOnlyFilesystem),
        Some(ErrorCode::DiskFull) => io("write to", ErrorKind::StorageFull),
        Some(ErrorCode::CannotOpen) => io("open", ErrorKind::Other),
        Some(ErrorCode::SystemIoFailure) => io("read or write", ErrorKind::Other),
        Some(ErrorCode::PermissionDenied) => io("open", ErrorKind::PermissionDenied),
        _ => Error::Database(Box::new(error)),
    }
}

/// What an error of a commit means.
///
/// When a write or sync of the log fails, SQLite takes the change for not made; but what reached the
/// disk by then would count after a crash.
pub(super) fn explain_commit(path: &Path, error: SqlError) -> Error {
    match error.sqlite_error_code() {
        Some(ErrorCode::SystemIoFailure) => Error::CommitUnknown(Box::new(error)),
        _ => explain(path, error),
    }
}
