//! Reads bytes as a terminal does, and finds those that osm does not emit.

/// What writes to the terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Writer {
    /// A command: text, styles, and a line about long work that is erased.
    Command,
    /// A command and the line editor, which moves the cursor.
    Editor,
}

/// Erases a line, after the cursor went to its beginning.
const ERASE: &str = "\x1b[K";

/// The styles of tables, messages and help.
const STYLES: &[&str] = &["", "0", "1", "2", "4", "31", "32", "33", "36"];

/// The text that the terminal shows, or the first bytes that nothing of osm's emits.
pub(crate) fn read(bytes: &[u8], writer: Writer) -> Result<String, String> {
    let text = std::str::from_utf8(bytes)
        .map_err(|error| format!("not UTF-8 at byte {}", error.valid_up_to()))?;
    let mut shown = String::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let after = &rest[c.len_utf8()..];
        let found = || {
            let place: String = rest.chars().take(12).collect();
            Err(format!("{place:?} after {:?}", shown.lines().next_back().unwrap_or_default()))
        };
        rest = match c {
            '\r' if after.starts_with(ERASE) && writer == Writer::Command => {
                shown.truncate(shown.rfind('\n').map_or(0, |at| at + 1));
                &after[ERASE.len()..]
            }
            '\x1b' => match sequence(after) {
                Some((name, rest)) if is_ours(name, writer) => rest,
                _ => return found(),
            },
            // The terminal itself puts it before a line end.
            '\r' if writer == Writer::Editor || after.starts_with(['\n', '\r']) => after,
            '\n' | '\t' => {
                shown.push(c);
                after
            }
            c if is_hostile(c) => return found(),
            c => {
                shown.push(c);
                after
            }
        };
    }
    Ok(shown)
}

/// The text without sequences, of whatever kind: what a person reads while more is written.
pub(crate) fn visible(text: &str) -> String {
    let mut parts = text.split('\x1b');
    let first = parts.next().unwrap_or_default().to_owned();
    first + &parts.filter_map(|part| Some(sequence(part)?.1)).collect::<String>()
}

/// Control characters, those that reorder text, and those that cannot be seen.
fn is_hostile(c: char) -> bool {
    matches!(u32::from(c),
        0..=0x1f | 0x7f..=0x9f | 0xad | 0x34f | 0x61c | 0x115f..=0x1160 | 0x180e | 0x200b..=0x200f
        | 0x2028..=0x202e | 0x2060..=0x206f | 0x3164 | 0xfeff | 0xffa0 | 0xfff0..=0xfffb
        | 0xe0000..=0xe0fff)
}

/// A sequence after its escape character, and what follows it.
fn sequence(text: &str) -> Option<(&str, &str)> {
    let length = match text.strip_prefix('[') {
        Some(parameters) => 2 + parameters.find(|c| matches!(c, '@'..='~'))?,
        None => text.chars().next()?.len_utf8(),
    };
    text.split_at_checked(length)
}

fn is_ours(sequence: &str, writer: Writer) -> bool {
    let Some(csi) = sequence.strip_prefix('[') else {
        // Saves and restores the cursor.
        return writer == Writer::Editor && matches!(sequence, "7" | "8");
    };
    let (parameters, last) = csi.split_at(csi.len() - 1);
    let are_numbers = parameters.chars().all(|c| c.is_ascii_digit() || c == ';');
    match (last, writer) {
        ("m", Writer::Command) => STYLES.contains(&parameters),
        // Colours by number, too; nothing is concealed.
        ("m", Writer::Editor) => are_numbers && parameters != "8",
        (_, Writer::Command) => false,
        ("A" | "B" | "C" | "D" | "E" | "F" | "G" | "H", _) => are_numbers,
        // To the end of the line or the screen, never all of it.
        ("J" | "K", _) => matches!(parameters, "" | "0"),
        ("n", _) => parameters == "6",
        // Bracketed paste, the cursor, and updates at once.
        ("h" | "l", _) => matches!(parameters, "?2004" | "?25" | "?2026"),
        _ => false,
    }
}

#[test]
fn what_osm_does_not_emit_is_found() {
    use Writer::{Command, Editor};
    for (text, writer, shown) in [
        ("a\r\n\tb é 日本", Command, Some("a\n\tb é 日本")),
        ("\x1b[1ma\x1b[0m", Command, Some("a")),
        ("\x1b[38;5;14ma\x1b[6n\r\x1b[2;7Hb\x1b[J\x1b7\x1b8\x1b[?25l", Editor, Some("ab")),
        ("\x1b[38;5;14m", Command, None),
        ("\x1b[8m", Editor, None),
        ("\x1b[2J", Editor, None),
        ("\x1b]0;x\x07", Editor, None),
        ("a\rb", Command, None),
        ("a\r\nbusy\r\x1b[Kbusier\r\x1b[Kb", Command, Some("a\nb")),
        ("a\x1b[K", Command, None),
        ("a\u{202e}", Editor, None),
        ("\u{9b}2J", Editor, None),
        ("\x1b", Editor, None),
    ] {
        assert_eq!(read(text.as_bytes(), writer).ok().as_deref(), shown, "{text:?}");
    }
    assert!(read(b"\x9b2J", Command).is_err());
}
