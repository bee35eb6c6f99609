//! What the database says, in the words of a ledger.

use std::path::Path;

use rusqlite::{Error as SqlError, ErrorCode};

use crate::error::Error;

/// What an error of the database means.
pub(super) fn explain(path: &Path, error: SqlError) -> Error {
    let path = path.to_owned();
    let system = |what, kind: std::io::ErrorKind| Error::System {
        path: path.clone(),
        what,
        source: std::io::Error::new(kind, error.to_string()),
    };
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            Error::Busy { holder: writer(&path), path }
        }
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
            Error::Corrupt { path, what: error.to_string() }
        }
        Some(ErrorCode::ReadOnly) => system("write to", std::io::ErrorKind::ReadOnlyFilesystem),
        Some(ErrorCode::DiskFull) => system("write to", std::io::ErrorKind::StorageFull),
        Some(ErrorCode::CannotOpen) => system("open", std::io::ErrorKind::Other),
        Some(ErrorCode::SystemIoFailure) => system("read or write", std::io::ErrorKind::Other),
        Some(ErrorCode::PermissionDenied) => system("open", std::io::ErrorKind::PermissionDenied),
        _ => Error::Database { path, source: error },
    }
}

/// The process that has the write lock, which the kernel knows.
#[cfg(target_os = "linux")]
fn writer(path: &Path) -> Option<String> {
    use osm_identity::{ProcessSource, State, System};
    use rustix::process::{Flock, FlockOffsetType, FlockType, fcntl_getlk};

    /// Where SQLite locks the right to write, in the file that its processes share.
    const WRITE_LOCK: u64 = 120;

    let mut shared = path.as_os_str().to_owned();
    shared.push("-shm");
    let file = std::fs::OpenOptions::new().read(true).write(true).open(shared).ok()?;
    let mut lock = Flock::from(FlockType::WriteLock);
    lock.offset_type = FlockOffsetType::Set;
    lock.start = WRITE_LOCK;
    lock.length = 1;
    let pid = fcntl_getlk(&file, &lock).ok()??.pid?;
    let pid = osm_identity::Pid(pid.as_raw_nonzero().get().unsigned_abs());
    let process = System.process(pid).ok()?;
    let name: String = process.name.chars().flat_map(char::escape_debug).collect();
    let state = if process.state == State::Suspended { ", which is stopped" } else { "" };
    Some(format!("{name} (pid {pid}){state}"))
}

#[cfg(not(target_os = "linux"))]
fn writer(_path: &Path) -> Option<String> {
    None
}
