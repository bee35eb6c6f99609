//! Locks that the system releases when their holder dies.
//!
//! # Which
//!
//! | lock | mode | holder |
//! |---|---|---|
//! | `<id>.session.lock` | shared, while a session is open | each process that has it open |
//! | | alone, for a moment | a process that removes the session, or looks whether it is open |
//! | `<id>.session.write.lock` | alone, during a save | the process that changes the document |
//! | `cleanup.lock` | alone, while it runs | a cleanup |
//! | `metadata.lock` | alone, during a change | the process that changes the shared record |
//!
//! A process that takes two takes them in this order: cleanup, presence, write, metadata. They are
//! advisory locks on whole files (`flock`, `LockFileEx`): they belong to an open file, not to a
//! process, so two sessions within one process exclude each other as well, and they end with the
//! process, however it ends. Nothing has to time out after a crash, and nothing to be broken, unless
//! the dead process left a child that has the file open (`eviction.rs`).
//!
//! # Rules
//!
//! - *A lock file outlives its lock.* Unlinking it on release is the classic fault: one process has
//!   the old file open, another makes a new one, both are granted. Only a process that holds a lock
//!   alone may unlink its file, and a process that was granted a lock then looks whether the path
//!   still leads to the file that was locked, and starts again if it does not.
//! - *No process waits in the kernel.* A blocked call cannot be bounded, and on some network file
//!   systems not even interrupted. We try, sleep a little longer each time, and give up at the
//!   deadline.
//! - *A moment is always granted.* A look whether a session is open, and the removal of its lock,
//!   take it alone for microseconds. Were an opener refused because of that, listing would disturb
//!   work; so no process is refused before [`GRACE`] has passed, however short its wait is.
//! - *No lock, no work.* On a file system without locks we refuse, instead of working without one.
//! - *The record comes after the lock, the look at the path after the record.* The file is opened
//!   without truncating it, for it may hold the record of another holder (`holder_list.rs`). A
//!   process that was granted the lock writes its own record and only then looks whether the path
//!   still leads there: so an eviction, which replaces the file and then reads the records, and a
//!   newcomer cannot both miss each other.
//!
//! # Limits
//!
//! - Sleeping is not a queue: the order of waiting processes is not kept, and a process that takes a
//!   lock again and again can keep the others from it. Those that save wait in `queue.rs`; all other
//!   locks are taken once.
//! - Where machines share a folder, `flock` reaches across only if the file system passes it on
//!   (NFS 4 does, several FUSE ones do not). No system call tells; it shows as recent records of
//!   another machine in a lock that is free here ([`Files::foreign_holders`]).
//! - A forked child that has not yet executed its program shares our locks. They are released by name
//!   (`LOCK_UN`), not merely by closing, so it cannot keep them.
//!
//! # Platform specific behavior
//!
//! On Windows a file that is open without the right to delete cannot be removed, so path and handle
//! cannot part; the file is removed after it was closed, and stays if another process has it open.
//!
//! [`Files::foreign_holders`]: crate::backend::Files::foreign_holders

use std::fs::{File, TryLockError};
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::folder::{Access, Facts, Folder, is_unsupported};
use crate::backend::Guard;
use crate::error::{Error, Result, Unsafe};

/// What everybody is granted: looks and removals take a lock for a moment.
pub(crate) const GRACE: Duration = Duration::from_millis(250);

const FIRST_PAUSE: Duration = Duration::from_millis(1);
/// A save takes a few milliseconds. Sleeping longer than that would let newcomers, who sleep
/// shortest, overtake for ever.
const LONGEST_PAUSE: Duration = Duration::from_millis(10);

/// Each restart is a removal, or an eviction, that came just before us. So many in a row there are only on a file
/// system that gives one file two identities.
const MOST_RESTARTS: u32 = 1000;

/// With whom a lock is shared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// With others that share it.
    Shared,
    /// With no other process.
    Alone,
}

/// What to do if there is no lock file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum IfMissing {
    Create,
    GiveUp,
}

/// How an attempt ended.
#[derive(Debug)]
pub(crate) enum Attempt {
    Held(FileLock),
    /// Others held it for as long as we were willing to wait.
    Contended,
    /// There is no lock file.
    Missing,
}

/// Writes down who holds a lock, as soon as it is held.
pub(crate) trait Sign {
    fn sign(&mut self, lock: &FileLock) -> io::Result<()>;

    /// Takes that back: the file was removed or replaced meanwhile, and may return (`eviction.rs`).
    fn withdraw(&mut self, _lock: &FileLock) {}
}

impl<F: FnMut(&FileLock) -> io::Result<()>> Sign for F {
    fn sign(&mut self, lock: &FileLock) -> io::Result<()> {
        self(lock)
    }
}

/// A lock that is held; released when dropped.
#[derive(Debug)]
#[must_use = "a lock is released when it is dropped"]
pub(crate) struct FileLock {
    file: File,
    #[cfg_attr(windows, expect(dead_code, reason = "records are in another file there"))]
    size: u64,
    /// Which file was locked; `None` for one that has no proper name yet.
    facts: Option<Facts>,
    folder: Arc<Folder>,
    name: String,
}

/// What stands at the path of a lock that is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    /// The locked file.
    Same,
    /// Another file: the lock was taken from us.
    Replaced,
    /// No file: the store was removed or moved.
    Missing,
}

impl FileLock {
    /// Takes a lock, or says why not.
    pub(crate) fn acquire(
        folder: &Arc<Folder>,
        name: &str,
        mode: Mode,
        missing: IfMissing,
        patience: Duration,
    ) -> Result<Attempt> {
        let unsigned = &mut |_: &Self| Ok(());
        Self::acquire_signed(folder, name, mode, missing, patience, unsigned)
    }

    /// The same, signed.
    pub(crate) fn acquire_signed(
        folder: &Arc<Folder>,
        name: &str,
        mode: Mode,
        missing: IfMissing,
        patience: Duration,
        signer: &mut dyn Sign,
    ) -> Result<Attempt> {
        // Only sleeping counts as waiting: who comes after many removals has not been refused yet.
        let mut waited = Duration::ZERO;
        let mut pause = FIRST_PAUSE;
        let mut restarts = 0;
        loop {
            let Some((file, facts)) = open(folder, name, missing)? else {
                return Ok(Attempt::Missing);
            };
            if try_lock(&file, mode).map_err(|error| refusal(folder, name, error))? {
                let lock = Self {
                    file,
                    size: facts.size,
                    facts: Some(facts),
                    folder: Arc::clone(folder),
                    name: name.to_owned(),
                };
                signer.sign(&lock).map_err(|error| folder.error("sign", name, error))?;
                if folder.is_still(name, &facts)? {
                    return Ok(Attempt::Held(lock));
                }
                // It was removed or replaced while we came.
                signer.withdraw(&lock);
                restarts += 1;
                if restarts < MOST_RESTARTS {
                    continue;
                }
                let (path, reason) = (folder.path().to_owned(), Unsafe::UnstableIdentity);
                return Err(Error::Unsafe { path, reason });
            }
            drop(file);
            let left = patience.saturating_sub(waited);
            if left.is_zero() {
                return Ok(Attempt::Contended);
            }
            let began = Instant::now();
            std::thread::sleep(pause.min(left));
            waited += began.elapsed();
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    /// Whether a lock is held; `None` if that cannot be determined.
    ///
    /// It disturbs no other process: a lock is held for a moment at most, which is granted to all.
    pub(crate) fn is_held(folder: &Arc<Folder>, name: &str) -> Option<bool> {
        match Self::acquire(folder, name, Mode::Alone, IfMissing::GiveUp, Duration::ZERO) {
            Ok(Attempt::Held(_) | Attempt::Missing) => Some(false),
            Ok(Attempt::Contended) => Some(true),
            Err(_) => None,
        }
    }

    /// Makes a lock file that is held alone before anybody can see it under its proper name.
    pub(crate) fn create(folder: &Arc<Folder>, name: &str) -> io::Result<Self> {
        let file = folder.create_new(name)?;
        let (folder, name) = (Arc::clone(folder), name.to_owned());
        let lock = Self { file, size: 0, facts: None, folder, name };
        if try_lock(&lock.file, Mode::Alone)? {
            Ok(lock)
        } else {
            Err(io::ErrorKind::WouldBlock.into())
        }
    }

    /// What stands at the lock's path now, in the folder that the store uses now.
    pub(crate) fn standing(&self, folder: &Folder) -> Result<Standing> {
        let (found, locked) = (folder.facts(&self.name)?, self.facts.as_ref());
        Ok(match found {
            None => Standing::Missing,
            Some(found) if locked.is_some_and(|it| it.identity == found.identity) => Standing::Same,
            Some(_) => Standing::Replaced,
        })
    }

    /// The lock file, for the records in it.
    #[cfg(unix)]
    pub(crate) fn file(&self) -> &File {
        &self.file
    }

    /// The bytes in the lock file when it was opened.
    #[cfg(unix)]
    pub(crate) fn size(&self) -> u64 {
        self.size
    }

    /// Where the lock file is.
    #[cfg(windows)]
    pub(crate) fn folder(&self) -> &Arc<Folder> {
        &self.folder
    }

    /// What the lock file is called.
    #[cfg(windows)]
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Removes the lock file of a lock that is held alone, and with it the lock.
    ///
    /// `false` if another process has it open.
    pub(crate) fn remove_file(self) -> Result<bool> {
        super::holder_list::remove_beside(&self)?;
        if cfg!(windows) {
            let (folder, name) = (Arc::clone(&self.folder), self.name.clone());
            drop(self);
            return match folder.remove(&name) {
                Err(Error::Io { .. }) => Ok(false),
                removed => removed,
            };
        }
        self.folder.remove(&self.name)
    }
}

impl Guard for FileLock {}

impl Drop for FileLock {
    fn drop(&mut self) {
        // Closing releases it too, unless a child that has not executed yet shares it.
        let _released = self.file.unlock();
    }
}

fn open(folder: &Folder, name: &str, missing: IfMissing) -> Result<Option<(File, Facts)>> {
    if missing == IfMissing::Create {
        return folder.open_file(name, Access::Create);
    }
    // For a lock that is to be held alone some network file systems ask for a file that is open to
    // be written. But what is only looked at may lie on a disk that is not: that can be listed, too.
    match folder.open_file(name, Access::Write) {
        Err(Error::Io { source, .. })
            if matches!(
                source.kind(),
                io::ErrorKind::ReadOnlyFilesystem | io::ErrorKind::PermissionDenied
            ) =>
        {
            folder.open_file(name, Access::Read)
        }
        opened => opened,
    }
}

fn try_lock(file: &File, mode: Mode) -> io::Result<bool> {
    loop {
        let attempt = match mode {
            Mode::Shared => file.try_lock_shared(),
            Mode::Alone => file.try_lock(),
        };
        return match attempt {
            Ok(()) => Ok(true),
            Err(TryLockError::WouldBlock) => Ok(false),
            Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Interrupted => {
                continue;
            }
            Err(TryLockError::Error(error)) => Err(error),
        };
    }
}

fn refusal(folder: &Folder, name: &str, error: io::Error) -> Error {
    if is_unsupported(&error) {
        return Error::Unsafe { path: folder.path().to_owned(), reason: Unsafe::NoLocks };
    }
    folder.error("lock", name, error)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    /// Takes a lock whose file is removed just after it was granted, so many times.
    fn after_removals(removals: u32) -> Result<Attempt> {
        let root = tempfile::tempdir().expect("a folder");
        let folder = Arc::new(Folder::open_root(root.path())?.expect("it is there"));
        let mut granted = 0;
        let mut sign = |_: &FileLock| {
            granted += 1;
            if granted <= removals {
                folder.remove("lock").map_err(io::Error::other)?;
            }
            Ok(())
        };
        let (mode, missing) = (Mode::Alone, IfMissing::Create);
        FileLock::acquire_signed(&folder, "lock", mode, missing, Duration::ZERO, &mut sign)
    }

    #[test]
    fn restarts_are_bounded_and_no_waiting() {
        for removals in [0, 1, MOST_RESTARTS - 1] {
            assert!(matches!(after_removals(removals), Ok(Attempt::Held(_))), "{removals}");
        }
        assert!(matches!(after_removals(MOST_RESTARTS), Err(Error::Unsafe { .. })));
    }
}
