//! Names on one line: whatever a file is called, a heading stays a heading.
//!
//! A file's name can hold line ends, escape sequences of terminals, and characters that are not seen
//! or turn the direction of writing. They are spelled out, `\n` or `\u{202e}`, and so is the backslash
//! itself, so that every name can be had back.

use std::borrow::Cow;
use std::fmt::Write;

/// A label as it stands on a line.
pub(crate) fn escape(label: &str) -> Cow<'_, str> {
    let plain = |byte: &u8| matches!(byte, b' '..=b'~') && *byte != b'\\';
    let edge = label.starts_with(' ') || label.ends_with(' ');
    if label.as_bytes().iter().all(plain) && !edge {
        return Cow::Borrowed(label);
    }
    let last = label.len().saturating_sub(1);
    let mut safe = String::with_capacity(label.len() + 8);
    for (at, c) in label.char_indices() {
        match c {
            '\\' => safe.push_str(r"\\"),
            '\n' => safe.push_str(r"\n"),
            '\r' => safe.push_str(r"\r"),
            '\t' => safe.push_str(r"\t"),
            ' ' if at == 0 || at == last => safe.push_str(r"\u{20}"),
            c if is_unseen(c) => {
                write!(safe, "\\u{{{:x}}}", u32::from(c)).expect("a string takes everything");
            }
            c => safe.push(c),
        }
    }
    Cow::Owned(safe)
}

/// The label that is spelled so; `None` if it is spelled wrongly.
pub(crate) fn unescape(safe: &str) -> Option<String> {
    let mut label = String::with_capacity(safe.len());
    let mut rest = safe;
    while let Some((before, after)) = rest.split_once('\\') {
        label.push_str(before);
        let mut chars = after.chars();
        let c = match chars.next()? {
            '\\' => '\\',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'u' => {
                let (digits, after) = chars.as_str().strip_prefix('{')?.split_once('}')?;
                chars = after.chars();
                char::from_u32(u32::from_str_radix(digits, 16).ok()?)?
            }
            _ => return None,
        };
        label.push(c);
        rest = chars.as_str();
    }
    label.push_str(rest);
    Some(label)
}

/// Whether a character ends a line somewhere, or cannot be seen, or hides others.
fn is_unseen(c: char) -> bool {
    let unseen = matches!(c,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{feff}'
        | '\u{200b}'..='\u{200f}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{fff9}'..='\u{fffb}'
        | '\u{e0000}'..='\u{e0fff}');
    unseen || c.is_control()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_is_plain_is_as_it_is() {
        for label in ["", "src/a b.rs", "größe/日本.txt", "`x` ### File: y"] {
            assert_eq!(escape(label), label);
        }
        assert_eq!(escape(" a\\b\n\u{1b}\u{202e}é "), r"\u{20}a\\b\n\u{1b}\u{202e}é\u{20}");
    }

    #[test]
    fn what_is_spelled_wrongly_is_refused() {
        for wrong in [r"\", r"\x", r"\u", r"\u{", r"\u{}", r"\u{110000}", r"\u{zz}"] {
            assert_eq!(unescape(wrong), None, "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn every_label_is_one_line_and_comes_back(label in r"(\PC|\pC|[ \\n]){0,12}") {
            let safe = escape(&label);
            prop_assert!(!safe.contains(is_unseen), "{safe:?}");
            prop_assert_eq!(unescape(&safe), Some(label));
        }
    }
}
