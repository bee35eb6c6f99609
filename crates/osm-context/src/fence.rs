//! How long a fence must be, so that what is inside cannot close it.

/// No fence is shorter.
const SHORTEST: usize = 3;

/// The number of backticks around a body: one more than it has in a row anywhere.
///
/// Anywhere, and not only at the beginning of a line: readers differ in what they take for a line.
pub(crate) fn length(body: &str) -> usize {
    let bytes = body.as_bytes();
    let mut longest = 0;
    let mut from = 0;
    while let Some(found) = memchr::memchr(b'`', &bytes[from..]) {
        let start = from + found;
        let run = bytes[start..].iter().take_while(|&&byte| byte == b'`').count();
        longest = longest.max(run);
        from = start + run;
    }
    SHORTEST.max(longest + 1)
}

#[cfg(test)]
mod tests {
    use super::length;

    #[test]
    fn one_longer_than_anything_inside() {
        for (body, expected) in
            [("", 3), ("``", 3), ("```", 4), ("a ```` b ` c", 5), ("`````", 6), ("` ` ` `", 3)]
        {
            assert_eq!(length(body), expected, "{body}");
        }
    }
}
