//! The lock by which SQLite lets one process write, as the kernel shows it to others.
//!
//! The kernel answers through a descriptor of the file that is locked, and drops *all* locks that
//! this process has on a file when *any* of its descriptors is closed: also those of SQLite, which
//! would not notice. So a descriptor that was opened to ask stays open until the process ends.

use std::path::Path;

use crate::error::Writer;

/// The process that has the lock.
#[cfg(target_os = "linux")]
pub(super) fn writer(path: &Path) -> Option<Writer> {
    use osm_identity::{ProcessSource, State, System};

    let Ok(WriteLock::Held(Some(pid))) = state(path) else { return None };
    let process = System.process(pid).ok()?;
    let is_suspended = process.state == State::Suspended;
    Some(Writer { pid: pid.0, name: process.name, is_suspended })
}

#[cfg(not(target_os = "linux"))]
pub(super) fn writer(_path: &Path) -> Option<Writer> {
    None
}

#[cfg(target_os = "linux")]
pub(super) use linux::{WriteLock, state};

#[cfg(target_os = "linux")]
mod linux {
    use std::collections::HashMap;
    use std::fs::{File, OpenOptions};
    use std::io;
    use std::os::fd::{AsFd, BorrowedFd};
    use std::os::unix::fs::MetadataExt;
    use std::path::Path;
    use std::sync::{Mutex, PoisonError};

    use osm_identity::Pid;
    use rustix::process::{Flock, FlockOffsetType, FlockType, fcntl_getlk};

    /// The byte that SQLite locks in the file that its processes share.
    const WRITE_LOCK: u64 = 120;

    /// What other processes do with the lock. Locks of this process are not seen.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(in super::super) enum WriteLock {
        /// No other process has it.
        Free,
        /// Another process has it; one outside of our pid namespace has no pid here.
        Held(Option<Pid>),
    }

    /// Asks for the lock of a ledger.
    pub(in super::super) fn state(ledger: &Path) -> io::Result<WriteLock> {
        let shared = ledger.with_extension("db-shm");
        let metadata = match shared.symlink_metadata() {
            // SQLite creates it before it locks anything.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(WriteLock::Free),
            metadata => metadata?,
        };
        kept_open((metadata.dev(), metadata.ino()), &shared, |file| {
            let mut lock = Flock::from(FlockType::WriteLock);
            lock.offset_type = FlockOffsetType::Set;
            lock.start = WRITE_LOCK;
            lock.length = 1;
            Ok(fcntl_getlk(file, &lock)?.map_or(WriteLock::Free, |lock| {
                let pid = lock.pid.map(|pid| pid.as_raw_nonzero().get().unsigned_abs());
                WriteLock::Held(pid.map(Pid))
            }))
        })
    }

    /// Asks through the one descriptor of a file, which is opened once.
    fn kept_open<T>(
        id: (u64, u64),
        path: &Path,
        ask: impl FnOnce(BorrowedFd<'_>) -> io::Result<T>,
    ) -> io::Result<T> {
        /// By device and inode; a ledger that is repaired gets another file, which is rare.
        static FILES: Mutex<Option<HashMap<(u64, u64), File>>> = Mutex::new(None);

        let mut files = FILES.lock().unwrap_or_else(PoisonError::into_inner);
        let files = files.get_or_insert_default();
        let file = match files.entry(id) {
            std::collections::hash_map::Entry::Occupied(file) => file.into_mut(),
            std::collections::hash_map::Entry::Vacant(place) => {
                place.insert(OpenOptions::new().read(true).write(true).open(path)?)
            }
        };
        ask(file.as_fd())
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    /// The locks that this process has on a file, as the kernel lists them.
    #[expect(clippy::unwrap_used, reason = "a helper of tests")]
    fn locks(file: &Path) -> Vec<String> {
        use std::os::unix::fs::MetadataExt;

        let inode = format!(":{}", file.metadata().unwrap().ino());
        let pid = std::process::id().to_string();
        let text = std::fs::read_to_string("/proc/locks").unwrap();
        let words = text.lines().map(|line| line.split_whitespace().skip(1).collect::<Vec<_>>());
        words
            .filter(|words| words.get(3) == Some(&&*pid) && words[4].ends_with(&inode))
            .map(|words| words.join(" "))
            .collect()
    }

    #[test]
    fn asking_loses_no_lock_of_this_process() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("claims.db");
        let connection = rusqlite::Connection::open(&path).unwrap();
        connection.execute_batch("PRAGMA journal_mode = wal; CREATE TABLE t (x)").unwrap();
        connection.execute_batch("BEGIN IMMEDIATE").unwrap();
        let shared = path.with_extension("db-shm");
        let (before, file_before) = (locks(&shared), locks(&path));
        assert!(before.iter().any(|lock| lock.ends_with(" 120 120")), "it writes: {before:?}");
        assert!(!file_before.is_empty());
        for _ in 0..3 {
            assert_eq!(state(&path).unwrap(), WriteLock::Free, "ours are not seen");
        }
        assert_eq!((locks(&shared), locks(&path)), (before, file_before));
    }
}
