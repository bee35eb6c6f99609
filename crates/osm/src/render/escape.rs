//! The one escaper: makes text safe to print on a terminal.
//!
//! Control characters start escape sequences, which can retitle a window, write to the clipboard or
//! rewrite lines that were printed before. Bidirectional controls and invisible characters make a
//! name look like another one. All of them are shown as `\u{1b}`, so that a reader sees what is
//! there. Escaping a text twice is the same as escaping it once.

use std::borrow::Cow;
use std::fmt::Write as _;

/// Escapes a text of one or several lines. Line ends and tabs stay.
pub(crate) fn lines(text: &str) -> Cow<'_, str> {
    escape(text, |c| matches!(c, '\n' | '\t'))
}

/// Escapes a text that must stay on one line, such as a cell of a table.
pub(crate) fn one_line(text: &str) -> Cow<'_, str> {
    escape(text, |_| false)
}

/// Replaces each unsafe character by a visible one with as many bytes: for a line editor, which counts
/// them. Line ends and tabs stay.
pub(crate) fn same_length(text: &str) -> Cow<'_, str> {
    let is_hidden = |c: char| is_unsafe(c) && !matches!(c, '\n' | '\t');
    if !text.contains(is_hidden) {
        return Cow::Borrowed(text);
    }
    let visible = |c: char| match c.len_utf8() {
        _ if !is_hidden(c) => c,
        1 => '?',
        2 => '¿',
        3 => '\u{fffd}',
        _ => '\u{1fbc4}', // An inverse question mark.
    };
    Cow::Owned(text.chars().map(visible).collect())
}

/// Escapes the strings of a JSON text, which stays the same JSON.
pub(crate) fn json(text: &str) -> Cow<'_, str> {
    let is_hidden = |c: char| is_unsafe(c) && !matches!(c, '\n' | '\t');
    if !text.contains(is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut safe = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        if is_hidden(c) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                write!(safe, "\\u{unit:04x}").expect("writing to a string succeeds");
            }
        } else {
            safe.push(c);
        }
    }
    Cow::Owned(safe)
}

fn escape(text: &str, is_allowed: impl Fn(char) -> bool) -> Cow<'_, str> {
    // Nearly every text is printable ASCII, and a list has hundreds of thousands of them.
    if text.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
        return Cow::Borrowed(text);
    }
    let is_hidden = |c: char| is_unsafe(c) && !is_allowed(c);
    if !text.contains(is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut safe = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match c {
            c if !is_hidden(c) => safe.push(c),
            '\n' => safe.push_str(r"\n"),
            '\r' => safe.push_str(r"\r"),
            '\t' => safe.push_str(r"\t"),
            c => write!(safe, "\\u{{{:x}}}", u32::from(c)).expect("writing to a string succeeds"),
        }
    }
    Cow::Owned(safe)
}

/// Whether a character controls a terminal, reorders text, or is invisible.
pub(crate) fn is_unsafe(c: char) -> bool {
    c.is_control()
        || matches!(c,
            // What Unicode calls format characters and default ignorable ones, except those that change
            // how the character before them looks.
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{3164}' | '\u{feff}' | '\u{ffa0}'
            | '\u{115f}'..='\u{1160}'
            | '\u{17b4}'..='\u{17b5}'
            | '\u{180e}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{fff0}'..='\u{fffb}'
            | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn control_characters_are_shown_as_numbers() {
        for (text, safe) in [
            ("src/größe/日本.txt", "src/größe/日本.txt"),
            ("a\u{1b}]52;c;eA==\u{7}\u{9b}é", r"a\u{1b}]52;c;eA==\u{7}\u{9b}é"),
            ("abc\u{202e}txt.exe", r"abc\u{202e}txt.exe"),
            ("a\n\tb\r", "a\n\tb\\r"),
        ] {
            assert_eq!(lines(text), safe);
        }
        assert_eq!(one_line("a\n\tb"), r"a\n\tb");
    }

    proptest! {
        #[test]
        fn nothing_unsafe_is_left(text in r"(\PC|\pC|[\x1b\x07\x9b\n\t\r]){0,40}") {
            let safe = one_line(&text).into_owned();
            prop_assert!(!safe.contains(is_unsafe), "{safe:?}");
            prop_assert_eq!(one_line(&safe), safe.as_str());
            let quoted = serde_json::to_string(&text).unwrap();
            let json = super::json(&quoted);
            prop_assert!(!json.contains(is_unsafe), "{json:?}");
            prop_assert_eq!(serde_json::from_str::<String>(&json).unwrap(), text.as_str());
            let safe = lines(&text).into_owned();
            prop_assert!(!safe.contains(|c| is_unsafe(c) && !matches!(c, '\n' | '\t')));
        }
    }
}
