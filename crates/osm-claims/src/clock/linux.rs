//! Linux: `CLOCK_BOOTTIME`, freed from the offset of a time namespace.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

pub(super) fn uptime() -> Duration {
    let shown = clock_gettime(ClockId::Boottime);
    let offset = std::fs::read_to_string("/proc/self/timens_offsets")
        .ok()
        .and_then(|text| boot_offset(&text))
        .unwrap_or(0);
    let nanoseconds =
        i128::from(shown.tv_sec) * 1_000_000_000 + i128::from(shown.tv_nsec) - offset;
    Duration::from_nanos(u64::try_from(nanoseconds).unwrap_or(0))
}

/// What the namespace adds to the time since boot, in nanoseconds.
fn boot_offset(text: &str) -> Option<i128> {
    let line = text.lines().find(|line| line.starts_with("boottime"))?;
    let mut numbers = line.split_whitespace().skip(1).map(str::parse::<i128>);
    let (seconds, nanoseconds) = (numbers.next()?.ok()?, numbers.next()?.ok()?);
    Some(seconds * 1_000_000_000 + nanoseconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets() {
        let text = "monotonic           0         0\nboottime       100000       250\n";
        assert_eq!(boot_offset(text), Some(100_000_000_000_250));
        assert_eq!(boot_offset("boottime -5 0\n"), Some(-5_000_000_000));
        assert_eq!(boot_offset(""), None);
    }
}
