//! Linux: `CLOCK_BOOTTIME`, freed from the offset of a time namespace.

use std::sync::OnceLock;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

pub(super) fn uptime() -> Duration {
    let shown = clock_gettime(ClockId::Boottime);
    let nanoseconds =
        i128::from(shown.tv_sec) * 1_000_000_000 + i128::from(shown.tv_nsec) - offset();
    Duration::from_nanos(u64::try_from(nanoseconds).unwrap_or(0))
}

/// What the time namespace of this process adds, in nanoseconds. A process stays in its time
/// namespace, so it is read once.
fn offset() -> i128 {
    static OFFSET: OnceLock<i128> = OnceLock::new();
    *OFFSET.get_or_init(|| {
        std::fs::read_to_string("/proc/self/timens_offsets")
            .ok()
            .and_then(|text| osm_identity::parse::time_offsets::boot(&text))
            .unwrap_or(0)
    })
}
