//! Linux: the kernel tells of writes to the log (inotify) and of ends of processes (pidfd).
//!
//! A write to the log is told before its commit can be read, and the commit itself, which happens in
//! shared memory, is not told at all. So after a write the counter of commits is read at short
//! intervals, until it moved or the writer has given up its lock.

use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::{Duration, Instant};

use osm_identity::ProcessInstance;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::inotify::{self, CreateFlags, WatchFlags};
use rustix::io::Errno;

use super::super::SqliteLedger;
use super::super::lock::{self, WriteLock};
use super::commits;
use crate::error::{Error, Result};
use crate::ledger::Watch;
use crate::liveness::ends::linux::limit;
use crate::liveness::{Ends, LivenessProbe};

/// The first pause after a write; each one is twice as long, up to the last.
const FIRST_PAUSE: Duration = Duration::from_micros(250);
const LAST_PAUSE: Duration = Duration::from_millis(8);

/// A writer of this process has no lock that this process sees; it gets so long to commit.
const LONGEST_COMMIT: Duration = Duration::from_secs(1);

pub(in super::super) fn begin(ledger: &SqliteLedger) -> Result<Box<dyn Watch + '_>> {
    let path = ledger.path();
    match changes_below(path.parent().unwrap_or(path)) {
        Ok(changes) => Ok(Box::new(LinuxWatch { seen: commits(ledger)?, ledger, changes })),
        // Other programs of this user have all that the kernel gives.
        Err(Errno::MFILE | Errno::NFILE | Errno::NOSPC) => super::portable::begin(ledger),
        Err(errno) => Err(Error::io("watch", errno.into())),
    }
}

fn changes_below(folder: &Path) -> rustix::io::Result<OwnedFd> {
    let changes = inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK)?;
    let flags = WatchFlags::MODIFY | WatchFlags::CREATE | WatchFlags::MOVED_TO;
    inotify::add_watch(&changes, folder, flags)?;
    Ok(changes)
}

struct LinuxWatch<'a> {
    ledger: &'a SqliteLedger,
    changes: OwnedFd,
    /// The counter of commits when the watch last returned.
    seen: i64,
}

/// A write that is not known to be committed.
struct Pending {
    since: Instant,
    pause: Duration,
}

impl LinuxWatch<'_> {
    /// Takes what the kernel has to tell; whether any of it is about the ledger.
    fn drain(&self) -> bool {
        let name = self.ledger.path().file_name().unwrap_or_default().as_bytes();
        let mut buffer = [MaybeUninit::uninit(); 4096];
        let mut events = inotify::Reader::new(self.changes.as_fd(), &mut buffer);
        let mut ours = false;
        while let Ok(event) = events.next() {
            // A queue that ran over has no name, and may have lost ours.
            ours |= event.file_name().is_none_or(|it| it.to_bytes().starts_with(name));
        }
        ours
    }

    /// Whether no other process can be about to commit. Where the system does not answer, one can.
    fn is_unlocked(&self) -> bool {
        lock::state(self.ledger.path()).is_ok_and(|it| it == WriteLock::Free)
    }

    /// Whether a commit can be read that could not be before.
    fn has_moved(&mut self) -> Result<bool> {
        let now = commits(self.ledger)?;
        Ok(std::mem::replace(&mut self.seen, now) != now)
    }
}

impl Watch for LinuxWatch<'_> {
    fn wait(
        &mut self,
        processes: &[&ProcessInstance],
        probe: &dyn LivenessProbe,
        time: Duration,
    ) -> Result<()> {
        let ends = Ends::of(processes, probe);
        if ends.is_over() {
            return Ok(());
        }
        let until = Instant::now() + time;
        let mut pending: Option<Pending> = None;
        loop {
            // The lock is looked at before the counter: a commit comes before the end of the lock.
            let is_over = pending.as_ref().is_some_and(|write| {
                write.since.elapsed() > LONGEST_COMMIT && self.is_unlocked()
            });
            let left = until.saturating_duration_since(Instant::now());
            if self.has_moved()? || left.is_zero() {
                return Ok(());
            }
            pending = pending.filter(|_| !is_over);
            let pause = pending.as_mut().map_or(left, |write| {
                write.pause = LAST_PAUSE.min(write.pause * 2);
                left.min(write.pause)
            });
            let mut wanted = vec![PollFd::new(&self.changes, PollFlags::IN)];
            wanted.extend(ends.wanted());
            match poll(&mut wanted, Some(&limit(pause))) {
                // A signal came, which may be what the caller waits for.
                Err(Errno::INTR) => return Ok(()),
                Err(errno) => return Err(Error::io("watch", errno.into())),
                Ok(_) => {}
            }
            if wanted[1..].iter().any(|it| !it.revents().is_empty()) {
                return Ok(());
            }
            if self.drain() {
                pending = Some(Pending { since: Instant::now(), pause: FIRST_PAUSE });
            }
        }
    }
}
