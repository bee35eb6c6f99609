//! OSC 52: an escape sequence that makes the terminal set its clipboard, also over SSH.
//!
//! Terminals do not confirm it. A multiplexer in between needs more: tmux handles the sequence itself
//! (`set-clipboard on`) or passes it on in a wrapper (`allow-passthrough on`). Which of the two is set is
//! unknown, so tmux gets both and drops the other.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

/// The multiplexer between osm and the terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wrap {
    None,
    Tmux,
    Screen,
}

/// The longest payload that common terminals accept.
const MAX_ENCODED: usize = 100_000;

/// GNU screen accepts no longer string.
const SCREEN_CHUNK: usize = 512;

/// The bytes to write, or why it cannot be done.
pub(super) fn sequence(text: &str, wrap: Wrap) -> Result<Vec<u8>, String> {
    let encoded = STANDARD.encode(text);
    if encoded.len() > MAX_ENCODED {
        let (size, most) = (text.len() / 1000, MAX_ENCODED / 4 * 3 / 1000);
        return Err(format!("{size} kB exceed the terminal's limit of {most} kB"));
    }
    let plain = format!("\x1b]52;c;{encoded}\x07");
    Ok(match wrap {
        Wrap::None => plain,
        Wrap::Tmux => {
            let passed = plain.replace('\x1b', "\x1b\x1b");
            format!("{plain}\x1bPtmux;{passed}\x1b\\")
        }
        Wrap::Screen => {
            let mut wrapped = String::new();
            for chunk in chunks(&plain) {
                wrapped.push_str("\x1bP");
                wrapped.push_str(chunk);
                wrapped.push_str("\x1b\\");
            }
            wrapped
        }
    }
    .into_bytes())
}

/// Chunks of an ASCII text.
fn chunks(text: &str) -> impl Iterator<Item = &str> {
    (0..text.len())
        .step_by(SCREEN_CHUNK)
        .filter_map(|at| text.get(at..text.len().min(at + SCREEN_CHUNK)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str, wrap: Wrap) -> String {
        String::from_utf8(sequence(text, wrap).unwrap()).unwrap()
    }

    #[test]
    fn what_is_sent() {
        assert_eq!(shown("foo", Wrap::None), "\x1b]52;c;Zm9v\x07");
        assert_eq!(
            shown("foo", Wrap::Tmux),
            "\x1b]52;c;Zm9v\x07\x1bPtmux;\x1b\x1b]52;c;Zm9v\x07\x1b\\"
        );
        assert_eq!(shown("foo", Wrap::Screen), "\x1bP\x1b]52;c;Zm9v\x07\x1b\\");
        let long = shown(&"x".repeat(2000), Wrap::Screen);
        assert_eq!(
            long.replace("\x1b\\\x1bP", ""),
            format!("\x1bP\x1b]52;c;{}\x07\x1b\\", STANDARD.encode("x".repeat(2000)))
        );
    }

    #[test]
    fn what_is_too_long() {
        assert!(sequence(&"x".repeat(74_000), Wrap::None).is_ok());
        assert_eq!(
            sequence(&"x".repeat(80_000), Wrap::None).unwrap_err(),
            "80 kB exceed the terminal's limit of 75 kB"
        );
    }
}
