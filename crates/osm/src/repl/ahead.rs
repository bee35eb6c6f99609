//! What was typed before it was asked for.
//!
//! While a command runs, the terminal itself edits lines and ends them as files do. Reedline would
//! run the first of them and forget the rest: so whole lines are taken here, before it is asked. They
//! are taken one by one, for Ctrl-C makes the terminal forget those that wait. Keys that are no text
//! were meant for a line that was not there; they are left out.

/// The next line that waits at the terminal, with its end; nothing if none does.
#[cfg(unix)]
pub(super) fn read() -> String {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};

    let input = rustix::stdio::stdin();
    let mut wanted = [PollFd::new(&input, PollFlags::IN)];
    let waits = poll(&mut wanted, Some(&Timespec::default())).is_ok_and(|count| count > 0);
    // The longest line that a terminal edits.
    let mut buffer = [0; 4096];
    match waits.then(|| rustix::io::read(input, &mut buffer)) {
        Some(Ok(count)) => text(&buffer[..count]),
        _ => String::new(),
    }
}

/// The console keeps what it is given until it is asked.
#[cfg(not(unix))]
pub(super) fn read() -> String {
    String::new()
}

/// Where a key that is more than one byte has been read up to.
enum Place {
    Text,
    Escape,
    Sequence,
}

/// Bytes of a terminal without the keys that are no text. However a line ended, it ends as in a file.
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
