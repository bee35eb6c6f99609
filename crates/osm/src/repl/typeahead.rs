//! Type-ahead: lines that the user types while a command runs.
//!
//! The terminal edits these lines itself. Reedline would run the first one and drop the rest, so whole
//! lines are read here before reedline starts. They are read one at a time, because Ctrl-C makes the
//! terminal discard the ones not read yet. Escape sequences (arrow keys, function keys) are dropped: the
//! user pressed them for a line editor that was not running.

/// The next waiting line with its newline; empty if no line waits.
#[cfg(unix)]
pub(super) fn read() -> String {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};

    let input = rustix::stdio::stdin();
    let mut wanted = [PollFd::new(&input, PollFlags::IN)];
    let waits = poll(&mut wanted, Some(&Timespec::default())).is_ok_and(|count| count > 0);
    // The longest line that a terminal in line mode accepts.
    let mut buffer = [0; 4096];
    match waits.then(|| rustix::io::read(input, &mut buffer)) {
        Some(Ok(count)) => text(&buffer[..count]),
        _ => String::new(),
    }
}

/// The console keeps typed lines until they are read.
#[cfg(not(unix))]
pub(super) fn read() -> String {
    String::new()
}

/// How far an escape sequence has been read.
enum Place {
    Text,
    Escape,
    Sequence,
}

/// Bytes of a terminal without escape sequences; every line ends in a newline.
#[cfg_attr(not(unix), allow(dead_code, reason = "nothing is read there"))]
fn text(bytes: &[u8]) -> String {
    let mut place = Place::Text;
    let mut kept = Vec::with_capacity(bytes.len());
    for byte in bytes {
        place = match (place, byte) {
            (_, 0x1b) => Place::Escape,
            (Place::Escape, b'[' | b'O') | (Place::Sequence, 0x20..0x40) => Place::Sequence,
            (Place::Text, b'\r' | b'\n') => {
                kept.push(b'\n');
                Place::Text
            }
            (Place::Text, 0x20..=0x7e | 0x80..) => {
                kept.push(*byte);
                Place::Text
            }
            _ => Place::Text,
        };
    }
    String::from_utf8_lossy(&kept).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_text_is_left() {
        for (typed, expected) in [
            ("add a.rs\nlist\n", "add a.rs\nlist\n"),
            ("add a.rs\rsho", "add a.rs\nsho"),
            ("\x1b[A\x1b[1;5Cx\x1bOHy\x1bfz", "xyz"),
            ("a\tb\x7f\x03c\0", "abc"),
            ("é\x1b", "é"),
            ("\x1b[\x1b[Bé", "é"),
        ] {
            assert_eq!(text(typed.as_bytes()), expected, "{typed:?}");
        }
        assert_eq!(text(b"a\xffb"), "a\u{fffd}b");
    }
}
