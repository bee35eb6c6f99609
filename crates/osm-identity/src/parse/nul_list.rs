//! Lists of strings that end in NUL: `/proc/PID/cmdline` and `/proc/PID/environ`.

/// The items of a list, in order.
///
/// A program that overwrites its title leaves padding behind, so NULs at the end are dropped; an
/// empty argument in the middle stays.
pub fn items(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let end = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
    let list = &bytes[..end];
    list.split(|byte| *byte == 0).take(if list.is_empty() { 0 } else { usize::MAX })
}

/// The value of a variable in an environment block; the first one counts, as for `getenv`.
#[must_use]
pub fn variable<'a>(bytes: &'a [u8], name: &str) -> Option<&'a [u8]> {
    bytes
        .split(|byte| *byte == 0)
        .find_map(|entry| entry.strip_prefix(name.as_bytes())?.strip_prefix(b"="))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_keep_their_order_and_their_gaps() {
        assert_eq!(items(b"sh\0-c\0\0x y\0").collect::<Vec<_>>(), [&b"sh"[..], b"-c", b"", b"x y"]);
        assert_eq!(items(b"title\0\0\0\0\0").collect::<Vec<_>>(), [b"title"]);
        assert_eq!(items(b"unterminated").collect::<Vec<_>>(), [b"unterminated"]);
        assert_eq!(items(b"").count(), 0);
        assert_eq!(items(b"\0\0\0").count(), 0);
    }

    #[test]
    fn a_variable_is_found_by_its_whole_name() {
        let block = b"TMUX_PANE=%1\0TMUX=/tmp/a,1,0\0TMUX=second\0EMPTY=\0odd\0";
        assert_eq!(variable(block, "TMUX"), Some(&b"/tmp/a,1,0"[..]));
        assert_eq!(variable(block, "TMUX_PANE"), Some(&b"%1"[..]));
        assert_eq!(variable(block, "EMPTY"), Some(&b""[..]));
        assert_eq!(variable(block, "odd"), None);
        assert_eq!(variable(block, "MUX"), None);
    }
}
