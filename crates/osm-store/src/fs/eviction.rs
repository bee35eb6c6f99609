//! Breaking the lock of dead processes.
//!
//! A lock ends with its holder, unless the holder started a process that still has the file open: the
//! lock belongs to the open file. No process uses the session then, and none can. An eviction puts a
//! new lock file in the place of the old one, if and only if every process in the old one's list is
//! proven dead, and the list is complete.
//!
//! # Why no running process loses its lock
//!
//! Between reading the list and replacing the file the orphan may end and another process be granted
//! the lock. So:
//!
//! 1. The new file is made under another name and locked: no process is granted it before we are done.
//! 2. It replaces the old one. From here on, a process that is granted the old lock notices that the
//!    path leads elsewhere, for it looks after it has written its record (`lock.rs`).
//! 3. The old list is read again. A process that looked before step 2 has written its record before,
//!    and is in it: then the old file is put back, and nothing has happened. The new one was granted
//!    to no process, and those that wait for it notice likewise.
//!
//! A process that was proven dead by mistake notices at its next write: its lock file is no longer at
//! the path (`backend/fs/attended.rs`).
//!
//! Known hole: a process that is killed between steps 2 and 3 cannot put the old file back.
//!
//! # Platform specific behavior
//!
//! A file that is open cannot be replaced on Windows: the eviction fails there, and nothing changes.

use std::io;
use std::sync::Arc;

use super::folder::Folder;
use super::holder_list::HolderList;
use super::lock::{Attempt, FileLock, GRACE, IfMissing, Mode};
use super::pid_space::PidSpace;
use crate::backend::HolderState;
use crate::error::Result;

/// How an eviction ended.
pub(crate) enum Eviction {
    /// No process holds the lock.
    NotNeeded,
    /// Those who held the lock are dead, and it is free.
    Done,
    /// A holder of the lock may be alive; nothing was changed.
    Refused(HolderList),
}

/// Takes a lock from its holders, if all of them are proven dead. `agree` is told who they are, just
/// before it is done.
pub(crate) fn evict(
    folder: &Arc<Folder>,
    pid_space: &PidSpace,
    name: &str,
    agree: &mut dyn FnMut(&[HolderState]) -> Result<()>,
) -> Result<Eviction> {
    let attempt = FileLock::acquire(folder, name, Mode::Alone, IfMissing::GiveUp, GRACE)?;
    if !matches!(attempt, Attempt::Contended) {
        return Ok(Eviction::NotNeeded);
    }
    let Some((old, facts)) = HolderList::open(folder, name)? else {
        return Ok(Eviction::NotNeeded);
    };
    let failed = |error| folder.error("replace", name, error);
    let holder_list = HolderList::read(&old).map_err(failed)?;
    if !holder_list.proves_death() {
        return Ok(Eviction::Refused(holder_list));
    }
    agree(&holder_list.holders_seen)?;

    let (fresh, aside) = (pid_space.temporary(), pid_space.temporary());
    let exchanged = (|| -> io::Result<Eviction> {
        let _new = FileLock::create(folder, &fresh)?;
        folder.link(name, &aside)?;
        if !folder.is_still(&aside, &facts).is_ok_and(|same| same) {
            return Ok(Eviction::NotNeeded); // Another process replaced it meanwhile.
        }
        folder.rename(&fresh, name)?;
        match HolderList::read(&old) {
            Ok(holder_list) if holder_list.proves_death() => Ok(Eviction::Done),
            read => {
                folder.rename(&aside, name)?;
                Ok(Eviction::Refused(read?))
            }
        }
    })();
    // Whichever of them is left has done its duty; what cannot be removed is stray_files.
    let _removed = [&fresh, &aside].map(|name| folder.remove(name));
    exchanged.map_err(failed)
}
