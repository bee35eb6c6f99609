//! Other Unix systems: their monotonic clock counts from boot, through sleep.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

pub(super) fn uptime() -> Duration {
    let now = clock_gettime(ClockId::Monotonic);
    let seconds = u64::try_from(now.tv_sec).unwrap_or(0);
    Duration::new(seconds, u32::try_from(now.tv_nsec).unwrap_or(0))
}
