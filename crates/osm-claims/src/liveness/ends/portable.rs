//! Elsewhere: the processes are looked at several times in a tenth of a second.

use std::time::{Duration, Instant};

use osm_identity::{Liveness, ProcessInstance};

use crate::error::Result;
use crate::liveness::LivenessProbe;

const LOOK_EVERY: Duration = Duration::from_millis(25);

/// The ends of some processes. That of a process which cannot be seen here is not told.
pub struct Ends {
    processes: Vec<ProcessInstance>,
}

impl Ends {
    /// Starts to watch.
    #[must_use]
    pub fn of(processes: &[&ProcessInstance], _probe: &dyn LivenessProbe) -> Self {
        Self { processes: processes.iter().map(|it| (*it).clone()).collect() }
    }

    /// Waits until one of them ended; `false` if the time was over before.
    pub fn wait(&self, probe: &dyn LivenessProbe, time: Duration) -> Result<bool> {
        let until = Instant::now() + time;
        loop {
            if self.processes.iter().any(|it| matches!(probe.look(it), Liveness::Dead(_))) {
                return Ok(true);
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(false);
            }
            std::thread::sleep(left.min(LOOK_EVERY));
        }
    }
}
