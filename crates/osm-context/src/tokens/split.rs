//! Splits a text into the pieces that o200k encodes one by one.
//!
//! The vocabulary defines the pieces by a regular expression, whose alternatives are tried in order:
//!
//! ```text
//! [^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?
//! [^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?
//! \p{N}{1,3}
//!  ?[^\s\p{L}\p{N}]+[\r\n/]*
//! \s*[\r\n]+
//! \s+(?!\S)
//! \s+
//! ```
//!
//! This module finds the same pieces by hand, in one pass and several times faster than a regular
//! expression does. Every character that is looked at and not taken is taken by one of the next two
//! pieces, so the time is linear in the length of the text.

use super::class::{BLOCK, BLOCKS, LINE_END, LOWER, NUMBER, PREFIX, SPACE, SYMBOL, UPPER};

static INDEX: &[u8; BLOCKS] = include_bytes!(concat!(env!("OUT_DIR"), "/class_index.bin"));
static CLASSES: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/class_blocks.bin"));

/// The classes of ASCII characters.
static ASCII: [u8; 128] = {
    let mut ascii = [0; 128];
    let mut at = 0;
    while at < ascii.len() {
        ascii[at] = CLASSES[INDEX[0] as usize * BLOCK + at];
        at += 1;
    }
    ascii
};

/// A number has at most so many characters.
const LONGEST_NUMBER: usize = 3;

/// The letters of a word, without what stands before it.
enum Letters {
    /// They end with a letter that can be lower case: the first alternative.
    Lower(usize),
    /// They are all upper case: the second alternative.
    Upper(usize),
    None,
}

/// Where the piece ends that begins at `start`, which must be inside the text.
#[inline]
pub(super) fn end_of_piece(text: &str, start: usize) -> usize {
    let bytes = text.as_bytes();
    let (class, width) = class_at(bytes, start);
    let after = start + width;
    if class & PREFIX != 0 {
        let letters = letters(bytes, after);
        match letters {
            Letters::Lower(end) => return contraction(bytes, end),
            // A mark can stand before a word and in it. The expression prefers the first alternative
            // without a prefix to the second alternative with one.
            _ if class & LOWER != 0 => {}
            Letters::Upper(end) => return contraction(bytes, end),
            Letters::None => {}
        }
    }
    if class & (UPPER | LOWER) != 0 {
        return match letters(bytes, start) {
            Letters::Lower(end) | Letters::Upper(end) => contraction(bytes, end),
            Letters::None => after,
        };
    }
    if class & NUMBER != 0 {
        return number(bytes, after);
    }
    if class & SYMBOL != 0 {
        return symbols(bytes, after);
    }
    if bytes[start] == b' ' && bytes.get(after).is_some() && class_at(bytes, after).0 & SYMBOL != 0
    {
        return symbols(bytes, after);
    }
    spaces(bytes, start)
}

/// The class of the character at a place, and how many bytes it has.
#[inline(always)]
#[expect(clippy::inline_always, reason = "a call for each character costs a tenth of the time")]
fn class_at(bytes: &[u8], at: usize) -> (u8, usize) {
    match bytes.get(at) {
        Some(&byte) if byte < 0x80 => (ASCII[usize::from(byte)], 1),
        Some(_) => wide_class_at(bytes, at),
        None => (0, 0),
    }
}

/// The same for a character of more than one byte.
fn wide_class_at(bytes: &[u8], at: usize) -> (u8, usize) {
    let low = |offset: usize| usize::from(bytes.get(at + offset).copied().unwrap_or(0) & 0x3f);
    let first = usize::from(bytes[at]);
    let (character, width) = match first {
        ..0xe0 => ((first & 0x1f) << 6 | low(1), 2),
        0xe0..0xf0 => ((first & 0xf) << 12 | low(1) << 6 | low(2), 3),
        _ => ((first & 0x7) << 18 | low(1) << 12 | low(2) << 6 | low(3), 4),
    };
    let block = usize::from(INDEX[character / BLOCK]);
    (CLASSES[block * BLOCK + character % BLOCK], width)
}

/// The first place from `at` on whose character is in none of the classes.
#[inline]
fn skip(bytes: &[u8], mut at: usize, classes: u8) -> usize {
    loop {
        let (class, width) = class_at(bytes, at);
        if class & classes == 0 {
            return at;
        }
        at += width;
    }
}

/// `[UPPER]*[LOWER]+`, or else `[UPPER]+`, from a place on.
#[inline]
fn letters(bytes: &[u8], start: usize) -> Letters {
    let mut at = start;
    // Where the last character ends that is in both classes: the expression gives back what follows
    // it, so that the second class has a character.
    let mut both = None;
    loop {
        let (class, width) = class_at(bytes, at);
        if class & UPPER == 0 {
            if class & LOWER != 0 {
                return Letters::Lower(skip(bytes, at + width, LOWER));
            }
            return match both {
                Some(end) => Letters::Lower(end),
                None if at > start => Letters::Upper(at),
                None => Letters::None,
            };
        }
        at += width;
        if class & LOWER != 0 {
            both = Some(at);
        }
    }
}

/// `(?i:'s|'t|'re|'ve|'m|'ll|'d)?`: where a word ends that reaches at least to `at`.
#[inline]
fn contraction(bytes: &[u8], at: usize) -> usize {
    if bytes.get(at) != Some(&b'\'') {
        return at;
    }
    let letter = |offset: usize| bytes.get(at + offset).map_or(0, u8::to_ascii_lowercase);
    match (letter(1), letter(2)) {
        (b's' | b't' | b'm' | b'd', _) => at + 2,
        // The last one is ſ, which is an s to a pattern that ignores case.
        (b'r' | b'v', b'e') | (b'l', b'l') | (0xc5, 0xbf) => at + 3,
        _ => at,
    }
}

/// `\p{N}{1,3}`, after the first digit.
fn number(bytes: &[u8], mut at: usize) -> usize {
    for _ in 1..LONGEST_NUMBER {
        let (class, width) = class_at(bytes, at);
        if class & NUMBER == 0 {
            break;
        }
        at += width;
    }
    at
}

/// `[^\s\p{L}\p{N}]+[\r\n/]*`, after the first character or before it.
fn symbols(bytes: &[u8], at: usize) -> usize {
    let mut at = skip(bytes, at, SYMBOL);
    while matches!(bytes.get(at), Some(b'\r' | b'\n' | b'/')) {
        at += 1;
    }
    at
}

/// `\s*[\r\n]+|\s+(?!\S)|\s+`.
fn spaces(bytes: &[u8], start: usize) -> usize {
    let (mut at, mut last) = (start, start);
    let mut line_end = None;
    loop {
        let (class, width) = class_at(bytes, at);
        if class & SPACE == 0 {
            break;
        }
        last = at;
        at += width;
        if class & LINE_END != 0 {
            line_end = Some(at);
        }
    }
    match line_end {
        Some(end) => end,
        // The last space belongs to what follows, if there are others.
        None if at < bytes.len() && last > start => last,
        None => at,
    }
}

#[cfg(test)]
mod tests {
    use super::end_of_piece;
    use proptest::prelude::*;

    fn pieces(text: &str) -> Vec<&str> {
        let mut at = 0;
        std::iter::from_fn(|| {
            let start = at;
            (start < text.len()).then(|| {
                at = end_of_piece(text, start);
                &text[start..at]
            })
        })
        .collect()
    }

    fn by_expression(text: &str) -> Vec<&str> {
        bpe_openai::o200k_base().split(text).collect()
    }

    #[test]
    fn pieces_of_typical_text() {
        assert_eq!(
            pieces("fn parseHTTPHeader(x: &str) -> u32 {\n    1234 // it's\n\n\tDON'T  "),
            [
                "fn",
                " parse",
                "HTTPHeader",
                "(x",
                ":",
                " &",
                "str",
                ")",
                " ->",
                " u",
                "32",
                " {\n",
                "   ",
                " ",
                "123",
                "4",
                " //",
                " it's",
                "\n\n",
                "\tDON'T",
                "  ",
            ]
        );
    }

    #[test]
    fn every_character_between_characters_of_every_class() {
        for character in '\0'..=char::MAX {
            for text in [
                format!("{character}"),
                format!("A{character}b"),
                format!("{character}{character}A1"),
                format!(" {character}A's/\n"),
                format!("a'{character}"),
            ] {
                assert_eq!(pieces(&text), by_expression(&text), "{text:?}");
            }
        }
    }

    /// Characters of every class, and those that the pattern names.
    fn hostile() -> impl Strategy<Value = String> {
        let parts = prop_oneof![
            Just(" "),
            Just("  "),
            Just("\t"),
            Just("\n"),
            Just("\r"),
            Just("\r\n"),
            Just("/"),
            Just("'"),
            Just("'s"),
            Just("'RE"),
            Just("'lL"),
            Just("'ſ"),
            Just("'d"),
            Just("ſ"),
            Just("a"),
            Just("Z"),
            Just("ǅ"),
            Just("ʰ"),
            Just("日"),
            Just("é"),
            Just("E\u{301}"),
            Just("\u{301}"),
            Just("\u{20dd}"),
            Just("7"),
            Just("１"),
            Just("Ⅷ"),
            Just("½"),
            Just("."),
            Just("_"),
            Just("€"),
            Just("😀"),
            Just("\u{a0}"),
            Just("\u{3000}"),
            Just("\u{85}"),
            Just("\u{2028}"),
            Just("\u{200b}"),
            Just("\0"),
            Just("\u{10ffff}"),
        ];
        prop::collection::vec(parts, 0..24).prop_map(|parts| parts.concat())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(3_000))]

        #[test]
        fn pieces_are_those_of_the_expression(text in hostile()) {
            prop_assert_eq!(pieces(&text), by_expression(&text));
        }

        #[test]
        fn pieces_of_any_text_are_those_of_the_expression(text in r"(\PC|\pC|\pM|\pZ|\pN|\pL){0,24}") {
            prop_assert_eq!(pieces(&text), by_expression(&text));
        }
    }
}
