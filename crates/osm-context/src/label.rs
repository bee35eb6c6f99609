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
            ' ' if at == 0 || at == last => safe.push_str(r"\u{20}"),
            c if is_unseen(c) => spell(c, &mut safe),
            c => safe.push(c),
        }
    }
    Cow::Owned(safe)
}

/// A text as people see it, on one line: what is unseen is spelled out, and everything else is as it is.
/// It is not made to be had back, so a path of Windows stays readable, and twice is the same as once.
/// For scripts, `oneLine` in `prelude.js` does the same.
pub(crate) fn shown(text: &str) -> Cow<'_, str> {
    spelled(text, |_| false)
}

/// The same for a text of several lines, which stay lines: no terminal obeys it.
#[must_use]
pub fn shown_lines(text: &str) -> Cow<'_, str> {
    spelled(text, |c| matches!(c, '\n' | '\t'))
}

fn spelled(text: &str, is_fine: impl Fn(char) -> bool) -> Cow<'_, str> {
    let is_hidden = |c: char| is_unseen(c) && !is_fine(c);
    if !text.contains(is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut safe = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        if is_hidden(c) { spell(c, &mut safe) } else { safe.push(c) }
    }
    Cow::Owned(safe)
}

fn spell(c: char, to: &mut String) {
    match c {
        '\n' => to.push_str(r"\n"),
        '\r' => to.push_str(r"\r"),
        '\t' => to.push_str(r"\t"),
        c => write!(to, "\\u{{{:x}}}", u32::from(c)).expect("a string takes everything"),
    }
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
    fn people_see_what_there_is() {
        for (text, seen) in [
            (r"C:\a b ", r"C:\a b "),
            ("a\nb\u{1b}]52;c;eA==\u{7}\u{9b}é", r"a\nb\u{1b}]52;c;eA==\u{7}\u{9b}é"),
        ] {
            assert_eq!(shown(text), seen);
            assert_eq!(shown(seen), seen);
        }
        assert_eq!(shown_lines("a\n\tb\u{1b}\r"), "a\n\tb\\u{1b}\\r");
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
