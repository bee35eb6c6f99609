//! Sizes and times, as people read them.

use jiff::Timestamp;

/// A size in at most three digits and a unit.
pub(super) fn size(bytes: u64) -> String {
    const UNITS: [&str; 5] = ["B", "kB", "MB", "GB", "TB"];
    let mut unit = 0;
    let mut whole = bytes;
    while whole >= 1000 && unit + 1 < UNITS.len() {
        whole /= 1000;
        unit += 1;
    }
    format!("{whole} {}", UNITS[unit])
}

/// How long ago something was, in its largest unit.
pub(in crate::commands) fn age(then: Timestamp, now: Timestamp) -> String {
    let seconds = now.as_second() - then.as_second();
    match seconds {
        ..0 => "in the future".into(),
        0..60 => format!("{seconds} s"),
        60..3600 => format!("{} min", seconds / 60),
        3600..86_400 => format!("{} h", seconds / 3600),
        _ => format!("{} d", seconds / 86_400),
    }
}

/// A text on one line, cut to a width.
pub(crate) fn brief(text: &str, width: usize) -> String {
    let flat: String = text
        .chars()
        .map(|c| match c {
            '\n' => '↵',
            c if c.is_control() => '·',
            c => c,
        })
        .collect();
    if flat.chars().count() <= width {
        return flat;
    }
    flat.chars().take(width.saturating_sub(1)).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_ages() {
        let shown: Vec<String> = [0, 999, 1000, 1_500_000, 20_000_000_000].map(size).into();
        assert_eq!(shown, ["0 B", "999 B", "1 kB", "1 MB", "20 GB"]);
        let then: Timestamp = "2026-01-01T00:00:00Z".parse().unwrap();
        let after =
            |seconds: i64| age(then, Timestamp::from_second(then.as_second() + seconds).unwrap());
        assert_eq!(
            [-1, 5, 120, 7200, 200_000].map(after),
            ["in the future", "5 s", "2 min", "2 h", "2 d"]
        );
        assert_eq!(brief("a\nb\x1b[1m and more", 8), "a↵b·[1m…");
    }
}
