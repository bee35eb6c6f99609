//! Linux: the kernel tells of writes to the log (inotify) and of ends of processes (pidfd).

use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::inotify::{self, CreateFlags, WatchFlags};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, pidfd_open};

use super::super::SqliteLedger;
use crate::error::{Error, Result};
use crate::ledger::Watch;
use crate::liveness::Sight;
use osm_identity::{Liveness, ProcessInstance};

pub(in super::super) fn begin(ledger: &SqliteLedger) -> Result<Box<dyn Watch + '_>> {
    let path = ledger.path();
    match changes_below(path.parent().unwrap_or(path)) {
        Ok(changes) => Ok(Box::new(LinuxWatch { path, changes })),
        // Other programs of this user have all that the kernel gives.
        Err(Errno::MFILE | Errno::NFILE | Errno::NOSPC) => super::portable::begin(ledger),
        Err(errno) => Err(Error::system(path, "watch", errno.into())),
    }
}

fn changes_below(folder: &Path) -> rustix::io::Result<OwnedFd> {
    let changes = inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK)?;
    let flags = WatchFlags::MODIFY | WatchFlags::CREATE | WatchFlags::MOVED_TO;
    inotify::add_watch(&changes, folder, flags)?;
    Ok(changes)
}

struct LinuxWatch<'a> {
    path: &'a Path,
    changes: OwnedFd,
}

impl LinuxWatch<'_> {
    /// Takes what the kernel has to tell; whether any of it is about the ledger.
    fn drain(&self) -> bool {
        let name = self.path.file_name().unwrap_or_default().as_bytes();
        let mut buffer = [MaybeUninit::uninit(); 4096];
        let mut events = inotify::Reader::new(self.changes.as_fd(), &mut buffer);
        let mut ours = false;
        while let Ok(event) = events.next() {
            // A queue that ran over has no name, and may have lost ours.
            ours |= event.file_name().is_none_or(|it| it.to_bytes().starts_with(name));
        }
        ours
    }
}

impl Watch for LinuxWatch<'_> {
    fn wait(&mut self, processes: &[&ProcessInstance], sight: &dyn Sight, time: Duration) -> Result<()> {
        let mut lives = Vec::new();
        for process in processes {
            let pid = i32::try_from(process.pid.0).ok().and_then(Pid::from_raw);
            let life = pid.and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok());
            // The number may be somebody else's by now: what was opened counts only if the
            // process was still there afterwards.
            match (sight.look(process), life) {
                (Liveness::Alive | Liveness::Suspended, Some(life)) => lives.push(life),
                (Liveness::Dead(_), _) => return Ok(()),
                _ => {}
            }
        }
        let until = std::time::Instant::now() + time;
        loop {
            let left = until.saturating_duration_since(std::time::Instant::now());
            let mut wanted = vec![PollFd::new(&self.changes, PollFlags::IN)];
            wanted.extend(lives.iter().map(|life| PollFd::new(life, PollFlags::IN)));
            let limit = Timespec {
                tv_sec: i64::try_from(left.as_secs()).unwrap_or(i64::MAX),
                tv_nsec: i64::from(left.subsec_nanos()),
            };
            match poll(&mut wanted, Some(&limit)) {
                // The time is over; or a signal came, which may be what the caller waits for.
                Ok(0) | Err(Errno::INTR) => return Ok(()),
                Err(errno) => return Err(Error::system(self.path, "watch", errno.into())),
                Ok(_) => {}
            }
            let ended = wanted[1..].iter().any(|it| !it.revents().is_empty());
            if self.drain() || ended {
                return Ok(());
            }
        }
    }
}
