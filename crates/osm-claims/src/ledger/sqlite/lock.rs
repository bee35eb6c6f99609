//! The lock by which SQLite lets one process write, as the kernel shows it to others.

use std::path::Path;

use crate::error::Writer;

/// The process that has the lock.
#[cfg(target_os = "linux")]
pub(super) fn writer(path: &Path) -> Option<Writer> {
    use osm_identity::{ProcessSource, State, System};

    let pid = osm_identity::Pid(holder(path)?);
    let process = System.process(pid).ok()?;
    let is_suspended = process.state == State::Suspended;
    Some(Writer { pid: pid.0, name: process.name, is_suspended })
}

#[cfg(not(target_os = "linux"))]
pub(super) fn writer(_path: &Path) -> Option<Writer> {
    None
}

/// The pid of another process that has the lock. Locks of this process are not seen.
#[cfg(target_os = "linux")]
pub(super) fn holder(path: &Path) -> Option<u32> {
    use rustix::process::{Flock, FlockOffsetType, FlockType, fcntl_getlk};

    /// The byte that SQLite locks in the file that its processes share.
    const WRITE_LOCK: u64 = 120;

    let mut shared = path.as_os_str().to_owned();
    shared.push("-shm");
    let file = std::fs::OpenOptions::new().read(true).write(true).open(shared).ok()?;
    let mut lock = Flock::from(FlockType::WriteLock);
    lock.offset_type = FlockOffsetType::Set;
    lock.start = WRITE_LOCK;
    lock.length = 1;
    let pid = fcntl_getlk(&file, &lock).ok()??.pid?;
    Some(pid.as_raw_nonzero().get().unsigned_abs())
}
