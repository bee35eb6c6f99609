//! `/proc/PID/timens_offsets`: what a time namespace adds to the clocks of the machine.

/// What is added to the time since boot, in nanoseconds; `None` if the text does not say.
#[must_use]
pub fn boot(text: &str) -> Option<i128> {
    let line = text.lines().find(|line| line.starts_with("boottime"))?;
    let mut numbers = line.split_whitespace().skip(1).map(str::parse::<i64>);
    let (seconds, nanoseconds) = (numbers.next()?.ok()?, numbers.next()?.ok()?);
    Some(i128::from(seconds) * 1_000_000_000 + i128::from(nanoseconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets() {
        let text = "monotonic           0         0\nboottime       100000       250\n";
        assert_eq!(boot(text), Some(100_000_000_000_250));
        assert_eq!(boot("boottime -5 0\n"), Some(-5_000_000_000));
        for text in
            ["", "boottime", "boottime 1", "boottime x 0", "boottime 99999999999999999999 0"]
        {
            assert_eq!(boot(text), None, "{text}");
        }
    }
}
