//! The command line of a Windows process, taken apart.
//!
//! Windows hands a process one string and leaves it to the process to find its arguments there.
//! Nearly all do it by the rules that Microsoft documents for `CommandLineToArgvW` and the C
//! runtime, and so do we:
//!
//! - The first word is the program. A quote in front of it ends at the next quote; backslashes
//!   mean nothing.
//! - Other words end at a space or a tab outside quotes.
//! - Backslashes are themselves, except in front of a quote: there each pair is one backslash, and
//!   an odd one makes the quote an ordinary character.
//! - A quote begins or ends a quoted part, and two of them inside a quoted part are one quote.

use crate::process::ReadError;

const SPACE: u16 = b' ' as u16;
const TAB: u16 = b'\t' as u16;
const QUOTE: u16 = b'"' as u16;
const BACKSLASH: u16 = b'\\' as u16;

/// The text of a `UNICODE_STRING`: its length in bytes, and a pointer into the same buffer.
///
/// `base` is the address that the buffer had when the system wrote it.
pub fn counted(bytes: &[u8], base: usize) -> Result<Vec<u16>, ReadError> {
    const WORD: usize = size_of::<usize>();
    let length = bytes.first_chunk::<2>().map(|length| usize::from(u16::from_ne_bytes(*length)));
    let pointer = bytes.get(WORD..).and_then(|bytes| bytes.first_chunk::<WORD>());
    let text = length.zip(pointer).and_then(|(length, pointer)| {
        let from = usize::from_ne_bytes(*pointer).checked_sub(base)?;
        bytes.get(from..from.checked_add(length)?)
    });
    let text = text.ok_or(ReadError::Malformed("text outside its buffer"))?;
    Ok(text.chunks_exact(2).map(|pair| u16::from_ne_bytes([pair[0], pair[1]])).collect())
}

/// The arguments of a command line, the program first.
#[must_use]
pub fn split(line: &[u16]) -> Vec<Vec<u16>> {
    let line = line.split(|unit| *unit == 0).next().unwrap_or_default();
    if line.is_empty() {
        return Vec::new();
    }
    let (program, mut rest) = program(line);
    let mut words = vec![program];
    loop {
        let blank = rest.iter().take_while(|unit| matches!(**unit, SPACE | TAB)).count();
        rest = &rest[blank..];
        if rest.is_empty() {
            return words;
        }
        let (word, behind) = word(rest);
        words.push(word);
        rest = behind;
    }
}

/// The program's name and what follows it.
fn program(line: &[u16]) -> (Vec<u16>, &[u16]) {
    let mut quoted = false;
    let mut name = Vec::new();
    for (index, unit) in line.iter().enumerate() {
        match *unit {
            QUOTE => quoted = !quoted,
            SPACE | TAB if !quoted => return (name, &line[index..]),
            other => name.push(other),
        }
    }
    (name, &[])
}

/// One argument, which starts at the front, and what follows it.
fn word(line: &[u16]) -> (Vec<u16>, &[u16]) {
    let mut word = Vec::new();
    let mut quoted = false;
    let mut rest = line;
    loop {
        let backslashes = rest.iter().take_while(|unit| **unit == BACKSLASH).count();
        rest = &rest[backslashes..];
        let at_quote = rest.first() == Some(&QUOTE);
        let kept = if at_quote { backslashes / 2 } else { backslashes };
        word.extend(std::iter::repeat_n(BACKSLASH, kept));
        match rest {
            [] => return (word, rest),
            [QUOTE, behind @ ..] if backslashes % 2 == 1 => {
                word.push(QUOTE);
                rest = behind;
            }
            [QUOTE, QUOTE, behind @ ..] if quoted => {
                word.push(QUOTE);
                rest = behind;
            }
            [QUOTE, behind @ ..] => {
                quoted = !quoted;
                rest = behind;
            }
            [SPACE | TAB, ..] if !quoted => return (word, rest),
            [other, behind @ ..] => {
                word.push(*other);
                rest = behind;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn words(line: &str) -> Vec<String> {
        let line: Vec<u16> = line.encode_utf16().collect();
        split(&line).iter().map(|word| String::from_utf16_lossy(word)).collect()
    }

    #[test]
    fn the_program() {
        assert_eq!(
            words(r#""C:\Program Files\nodejs\node.exe" a"#),
            [r"C:\Program Files\nodejs\node.exe", "a"]
        );
        assert_eq!(words(r"C:\dir\ x"), [r"C:\dir\", "x"]);
        assert_eq!(words(r#""C:\dir\" x"#), [r"C:\dir\", "x"]);
        assert_eq!(words("cmd.exe"), ["cmd.exe"]);
        assert_eq!(words("\"unclosed name"), ["unclosed name"]);
        assert_eq!(words(" lead"), ["", "lead"]);
        assert!(words("").is_empty());
    }

    #[test]
    fn the_examples_of_the_documentation() {
        for (line, arguments) in [
            (r#"x "a b c" d e"#, vec!["a b c", "d", "e"]),
            (r#"x "ab\"c" "\\" d"#, vec![r#"ab"c"#, r"\", "d"]),
            (r#"x a\\\b d"e f"g h"#, vec![r"a\\\b", "de fg", "h"]),
            (r#"x a\\\"b c d"#, vec![r#"a\"b"#, "c", "d"]),
            (r#"x a\\\\"b c" d e"#, vec![r"a\\b c", "d", "e"]),
            (r#"x a"b"" c d"#, vec![r#"ab" c d"#]),
        ] {
            assert_eq!(words(line)[1..], arguments, "{line}");
        }
    }

    #[test]
    fn blanks_and_empty_words() {
        assert_eq!(words("x  \t a \"\"  "), ["x", "a", ""]);
        assert_eq!(words("x \"open to the end"), ["x", "open to the end"]);
        assert_eq!(words("x y\0z"), ["x", "y"]);
    }

    /// A `UNICODE_STRING` with its text behind it, as the system lays it out.
    fn unicode_string(text: &str, base: usize) -> Vec<u8> {
        let units: Vec<u8> = text.encode_utf16().flat_map(u16::to_ne_bytes).collect();
        let header = 2 * size_of::<usize>();
        let mut bytes = vec![0; size_of::<usize>()];
        bytes[..2].copy_from_slice(&u16::try_from(units.len()).unwrap().to_ne_bytes());
        bytes.extend((base + header).to_ne_bytes());
        [bytes, units].concat()
    }

    #[test]
    fn a_counted_string() {
        let bytes = unicode_string("node gemini", 0x1000);
        let units: Vec<u16> = "node gemini".encode_utf16().collect();
        assert_eq!(counted(&bytes, 0x1000), Ok(units));
        assert_eq!(counted(&unicode_string("", 0x1000), 0x1000), Ok(Vec::new()));
        // Cut short, pointing in front of the buffer, and behind it.
        for (bytes, base) in [(&bytes[..20], 0x1000), (&bytes, 0x2000), (&bytes, 0x800), (b"x", 0)]
        {
            assert!(counted(bytes, base).is_err());
        }
    }

    /// Quotes a word so that [`split`] gives it back.
    fn quoted(word: &str) -> String {
        let mut line = String::from("\"");
        let mut backslashes = 0;
        for letter in word.chars() {
            match letter {
                '\\' => backslashes += 1,
                '"' => {
                    line.push_str(&"\\".repeat(backslashes + 1));
                    backslashes = 0;
                }
                _ => backslashes = 0,
            }
            line.push(letter);
        }
        line.push_str(&"\\".repeat(backslashes));
        line.push('"');
        line
    }

    proptest! {
        #[test]
        fn no_line_panics(line in proptest::collection::vec(any::<u16>(), 0..200)) {
            drop(split(&line));
        }

        #[test]
        fn no_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..64), base in any::<usize>()) {
            drop(counted(&bytes, base));
        }

        #[test]
        fn quoting_round_trips(words_in in proptest::collection::vec("[a\\\\\" \t]{0,8}", 0..5)) {
            let line = words_in.iter().fold("x".to_owned(), |line, word| line + " " + &quoted(word));
            prop_assert_eq!(&words(&line)[1..], &words_in[..]);
        }
    }
}
