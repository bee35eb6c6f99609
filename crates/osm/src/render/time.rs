//! Times and spans of time, as people read them: relative, in their largest unit.

use std::time::Duration;

use jiff::Timestamp;

/// How long ago something was: `3 min`.
pub(crate) fn age(then: Timestamp, now: Timestamp) -> String {
    span_of(now.as_second() - then.as_second())
}

/// When something was: `3 min ago`. A clock that was set back makes it lie ahead: `in 3 min`.
pub(crate) fn ago(then: Timestamp, now: Timestamp) -> String {
    match now.as_second() - then.as_second() {
        seconds @ ..0 => format!("in {}", span_of(-seconds)),
        seconds => format!("{} ago", span_of(seconds)),
    }
}

/// A length of time.
pub(crate) fn span(time: Duration) -> String {
    span_of(i64::try_from(time.as_secs()).unwrap_or(i64::MAX))
}

fn span_of(seconds: i64) -> String {
    match seconds {
        ..0 => format!("-{}", span_of(seconds.saturating_neg())),
        0..120 => format!("{seconds} s"),
        120..7200 => format!("{} min", seconds / 60),
        7200..172_800 => format!("{} h", seconds / 3600),
        _ => format!("{} d", seconds / 86_400),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_unit_that_says_enough() {
        let then: Timestamp = "2026-01-01T00:00:00Z".parse().unwrap();
        let after = |seconds: i64| Timestamp::from_second(then.as_second() + seconds).unwrap();
        let shown = [5, 119, 120, 7199, 7200, 200_000].map(|it| age(then, after(it)));
        assert_eq!(shown, ["5 s", "119 s", "2 min", "119 min", "2 h", "2 d"]);
        assert_eq!(ago(then, after(180)), "3 min ago");
        assert_eq!(ago(then, after(-180)), "in 3 min");
        assert_eq!(span(Duration::from_hours(5)), "5 h");
    }
}
