//! Linux: the kernel tells of ends of processes (pidfd).

use std::os::fd::OwnedFd;
use std::time::Duration;

use osm_identity::{Liveness, ProcessInstance, System};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, pidfd_open};

use crate::error::{Error, Result};
use crate::liveness::LivenessProbe;

/// The ends of some processes. That of a process which cannot be seen here is not told.
pub struct Ends {
    lives: Vec<OwnedFd>,
    /// One of them has ended already.
    is_over: bool,
}

impl Ends {
    /// Starts to watch.
    #[must_use]
    pub fn of(processes: &[&ProcessInstance], probe: &dyn LivenessProbe) -> Self {
        let mut ends = Self { lives: Vec::new(), is_over: false };
        for process in processes {
            let pid = process.pid_here(&System).and_then(|pid| i32::try_from(pid.0).ok());
            let pid = pid.and_then(Pid::from_raw);
            let life = pid.and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok());
            // The pid may have been reused: the handle counts only if the process was still there
            // after it was opened.
            match (probe.look(process), life) {
                (Liveness::Alive | Liveness::Suspended, Some(life)) => ends.lives.push(life),
                (Liveness::Dead(_), _) => ends.is_over = true,
                _ => {}
            }
        }
        ends
    }

    /// Waits until one of them ended; `false` if the time was over before, or a signal came.
    pub fn wait(&self, _probe: &dyn LivenessProbe, time: Duration) -> Result<bool> {
        if self.is_over {
            return Ok(true);
        }
        let mut wanted = self.wanted();
        match poll(&mut wanted, Some(&limit(time))) {
            Err(Errno::INTR) => Ok(false),
            Err(errno) => Err(Error::io("watch", errno.into())),
            Ok(_) => Ok(wanted.iter().any(|it| !it.revents().is_empty())),
        }
    }

    /// Whether one of them had ended when the watch started.
    pub(crate) fn is_over(&self) -> bool {
        self.is_over
    }

    /// What to wait for, beside other things.
    pub(crate) fn wanted(&self) -> Vec<PollFd<'_>> {
        self.lives.iter().map(|life| PollFd::new(life, PollFlags::IN)).collect()
    }
}

/// A time limit as the system takes it.
pub(crate) fn limit(time: Duration) -> Timespec {
    Timespec {
        tv_sec: i64::try_from(time.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: i64::from(time.subsec_nanos()),
    }
}
