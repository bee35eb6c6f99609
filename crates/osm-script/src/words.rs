//! Splits a command line into words, and quotes words for a command line.
//!
//! Scripts (`osm:argv`), the command loop, the completer and the highlighter use this one parser. A quote
//! counts at the start of a word only, so `it's` is one word. Each word carries its place in the line,
//! which completion and highlighting need.

use std::ops::Range;

/// A word of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    /// The text without quotes and backslashes.
    pub text: String,
    /// The place in the line, including quotes.
    pub range: Range<usize>,
    /// Whether the word starts with a quote.
    pub quoted: bool,
}

/// A parsed line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Line {
    /// The words in order.
    pub words: Vec<Word>,
    /// Why the line continues on the next one, if it does.
    pub open: Option<Open>,
}

/// Why a line continues on the next one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Open {
    /// A quote is not closed.
    Quote(char),
    /// The line ends in a backslash.
    Backslash,
}

impl Line {
    /// Parses a line. An unclosed quote ends at the end of the line.
    #[must_use]
    pub fn parse(line: &str) -> Self {
        let mut cursor = Cursor { line, at: 0 };
        let mut parsed = Self::default();
        let mut word: Option<Word> = None;
        loop {
            let start = cursor.at;
            let Some(character) = cursor.next() else { break };
            match character {
                ' ' | '\t' | '\n' => {
                    parsed.words.extend(word.take());
                    continue;
                }
                '\\' if cursor.peek() == Some('\n') => {
                    cursor.next();
                    continue;
                }
                _ => {}
            }
            let word = word.get_or_insert_with(|| Word {
                text: String::new(),
                range: start..start,
                quoted: matches!(character, '\'' | '"'),
            });
            match character {
                '\\' => {
                    let escaped = cursor.next();
                    parsed.open = escaped.is_none().then_some(Open::Backslash);
                    word.text.push(escaped.unwrap_or('\\'));
                }
                quote @ ('\'' | '"') if word.text.is_empty() => {
                    parsed.open = cursor.quoted(quote, &mut word.text);
                }
                other => word.text.push(other),
            }
            word.range.end = cursor.at;
        }
        parsed.words.extend(word);
        parsed
    }

    /// The texts of the words.
    #[must_use]
    pub fn into_texts(self) -> Vec<String> {
        self.words.into_iter().map(|word| word.text).collect()
    }
}

/// The texts of the words of a line.
#[must_use]
pub fn split(line: &str) -> Vec<String> {
    Line::parse(line).into_texts()
}

/// The part of a line after its first word, as it was written.
#[must_use]
pub fn after_first(line: &str) -> &str {
    let end = Line::parse(line).words.first().map_or(0, |word| word.range.end);
    line.get(end..).unwrap_or_default().trim()
}

/// The text after the first word, exactly as it was written, without the one blank that ends the word.
#[must_use]
pub fn text_after_first(line: &str) -> &str {
    let end = Line::parse(line).words.first().map_or(0, |word| word.range.end);
    let rest = line.get(end..).unwrap_or_default();
    rest.strip_prefix([' ', '\t', '\n']).unwrap_or(rest)
}

/// Quotes a word so that [`split`] gives it back.
#[must_use]
pub fn quote(word: &str) -> String {
    let is_safe = |it: char| it.is_ascii_alphanumeric() || "-._/:@%+,=".contains(it);
    if !word.is_empty() && word.chars().all(is_safe) {
        return word.to_owned();
    }
    if !word.contains('\'') {
        return format!("'{word}'");
    }
    let mut quoted = String::from("\"");
    for character in word.chars() {
        if "$`\"\\".contains(character) {
            quoted.push('\\');
        }
        quoted.push(character);
    }
    quoted.push('"');
    quoted
}

/// A position in a line.
struct Cursor<'a> {
    line: &'a str,
    at: usize,
}

impl Cursor<'_> {
    fn peek(&self) -> Option<char> {
        self.line.get(self.at..)?.chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let next = self.peek()?;
        self.at += next.len_utf8();
        Some(next)
    }

    /// Reads up to the closing quote; returns the quote if it is missing.
    fn quoted(&mut self, quote: char, text: &mut String) -> Option<Open> {
        while let Some(character) = self.next() {
            match character {
                end if end == quote => return None,
                '\\' if quote == '"' => match self.peek() {
                    Some('$' | '`' | '"' | '\\') => text.extend(self.next()),
                    Some('\n') => drop(self.next()),
                    _ => text.push('\\'),
                },
                other => text.push(other),
            }
        }
        Some(Open::Quote(quote))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words() {
        for (line, words) in [
            ("", vec![]),
            ("  a  b ", vec!["a", "b"]),
            ("it's a \"b c\" 'd \"e'", vec!["it's", "a", "b c", "d \"e"]),
            ("a\\ b \\\"", vec!["a b", "\""]),
            ("\"a\\$b\\n\"", vec!["a$b\\n"]),
            ("'' \"\"", vec!["", ""]),
            ("'open end", vec!["open end"]),
            ("a\"b c\"", vec!["a\"b", "c\""]),
            ("one\\\ntwo", vec!["onetwo"]),
            ("\\\n a", vec!["a"]),
            ("ends in \\", vec!["ends", "in", "\\"]),
            ("\"ends in \\", vec!["ends in \\"]),
            ("''\"x\" ü 'ö ä'", vec!["x", "ü", "ö ä"]),
        ] {
            assert_eq!(split(line), words, "{line}");
        }
    }

    #[test]
    fn places() {
        let line = "add 'a b'c \"d";
        let places: Vec<&str> =
            Line::parse(line).words.into_iter().map(|it| &line[it.range]).collect();
        assert_eq!(places, ["add", "'a b'c", "\"d"]);
        assert_eq!(after_first("js  1 + 'x y' "), "1 + 'x y'");
        assert_eq!(after_first("js"), "");
        assert_eq!(text_after_first("note  a \\n 'b\n  c "), " a \\n 'b\n  c ");
        assert_eq!(text_after_first("note\n  a"), "  a");
        assert_eq!(text_after_first(" note"), "");
    }

    #[test]
    fn continued_lines() {
        for (line, open) in [
            ("note x", None),
            ("note it's", None),
            ("note 'a", Some(Open::Quote('\''))),
            ("note \"a\\\"", Some(Open::Quote('"'))),
            ("note 'a'", None),
            ("note a \\", Some(Open::Backslash)),
            ("note a \\\\", None),
            ("note a \\\nb", None),
        ] {
            assert_eq!(Line::parse(line).open, open, "{line}");
        }
    }

    proptest::proptest! {
        /// Quoted words are parsed back to the same words, and each place holds exactly its word.
        #[test]
        fn quoted_words_are_parsed_back(words in proptest::collection::vec(".{0,12}|[ab '\"\\\\\n$ü]{0,12}", 0..8)) {
            let line = words.iter().map(|word| quote(word)).collect::<Vec<_>>().join(" ");
            let parsed = Line::parse(&line);
            proptest::prop_assert_eq!(parsed.open, None);
            for (word, original) in parsed.words.iter().zip(&words) {
                proptest::prop_assert_eq!(&line[word.range.clone()], quote(original));
            }
            proptest::prop_assert_eq!(parsed.into_texts(), words);
        }

        /// On any line, the places are in order, do not overlap, and parse to the same words.
        #[test]
        fn places_hold_the_words(line in "[ab '\"\\\\\n$ü]{0,24}") {
            let mut end = 0;
            for word in Line::parse(&line).words {
                proptest::prop_assert!(word.range.start >= end, "{word:?}");
                end = word.range.end;
                let alone = line.get(word.range.clone()).map(split);
                proptest::prop_assert_eq!(alone, Some(vec![word.text]));
            }
        }
    }
}
