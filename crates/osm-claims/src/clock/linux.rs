//! Linux: `CLOCK_BOOTTIME`, freed from the offset of a time namespace.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

pub(super) fn uptime() -> Duration {
    let shown = clock_gettime(ClockId::Boottime);
    let offset = std::fs::read_to_string("/proc/self/timens_offsets")
        .ok()
        .and_then(|text| osm_identity::parse::time_offsets::boot(&text))
        .unwrap_or(0);
    let nanoseconds =
        i128::from(shown.tv_sec) * 1_000_000_000 + i128::from(shown.tv_nsec) - offset;
    Duration::from_nanos(u64::try_from(nanoseconds).unwrap_or(0))
}
