//! The clock that start times are counted by.
//!
//! A time namespace adds its offset to every start time that its processes read. It is taken off
//! again here, so that a process has one start time, from wherever it is looked at.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use crate::parse::time_offsets;

/// The first time namespace of every Linux machine (`PROC_TIME_INIT_INO`): it has no offset.
const FIRST: &str = "time:[4026531834]";

/// The nanoseconds of a tick, in which the kernel shows start times.
const TICK: i128 = 10_000_000;

/// Names our time namespace.
pub(super) fn name() -> Option<String> {
    ours().and_then(Path::to_str).map(str::to_owned)
}

/// Our time namespace: a process stays in the one that it was started in.
fn ours() -> Option<&'static Path> {
    static OURS: OnceLock<Option<PathBuf>> = OnceLock::new();
    OURS.get_or_init(|| std::fs::read_link("/proc/self/ns/time").ok()).as_deref()
}

/// What our time namespace adds to the time since boot, in nanoseconds.
pub(super) fn offset() -> i128 {
    static OFFSET: OnceLock<i128> = OnceLock::new();
    *OFFSET.get_or_init(|| read_offset().unwrap_or(0))
}

/// A start time as the machine's own clock counts it.
pub(super) fn unshifted(ticks: u64) -> u64 {
    match offset() {
        0 => ticks,
        offset => u64::try_from(i128::from(ticks) - offset.div_euclid(TICK)).unwrap_or(ticks),
    }
}

fn read_offset() -> Option<i128> {
    let ours = ours()?;
    if ours.as_os_str() == FIRST {
        return Some(0);
    }
    // The file shows the offsets of our children, who can be in another namespace.
    let children = std::fs::read_link("/proc/self/ns/time_for_children").ok()?;
    if ours != children {
        return None;
    }
    time_offsets::boot(&std::fs::read_to_string("/proc/self/timens_offsets").ok()?)
}
