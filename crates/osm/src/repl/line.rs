//! A line as words, each with its place.
//!
//! The rules are those of `osm:argv`: a quote counts at the start of a word only. What runs a command
//! takes the words; completion and highlighting also need to know where they are, and whether the
//! line goes on.

use std::ops::Range;

/// A word of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Word {
    /// What it says, without quotes.
    pub(crate) text: String,
    /// Where it is, quotes and all.
    pub(crate) range: Range<usize>,
    /// Whether it begins with a quote.
    pub(crate) quoted: bool,
}

/// A line, taken apart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Line {
    pub(crate) words: Vec<Word>,
    /// What keeps the line from being at its end.
    pub(crate) open: Option<Open>,
}

/// Why a line goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Open {
    /// A quote is not closed.
    Quote(char),
    /// It ends in a backslash.
    Backslash,
}

impl Line {
    /// Takes a line apart.
    pub(crate) fn parse(line: &str) -> Self {
        let mut parsed = Self::default();
        let mut word: Option<Word> = None;
        let mut rest = line.char_indices().peekable();
        while let Some((at, character)) = rest.next() {
            let begin = |word: &mut Option<Word>, quoted| {
                let fresh = || Word { text: String::new(), range: at..at, quoted };
                word.get_or_insert_with(fresh).range.end = at + character.len_utf8();
            };
            match character {
                ' ' | '\t' | '\n' => parsed.words.extend(word.take()),
                '\\' => match rest.next() {
                    Some((_, '\n')) => {}
                    next => {
                        begin(&mut word, false);
                        parsed.open = next.is_none().then_some(Open::Backslash);
                        let (at, escaped) = next.unwrap_or((at, '\\'));
                        if let Some(word) = &mut word {
                            word.text.push(escaped);
                            word.range.end = at + escaped.len_utf8();
                        }
                    }
                },
                quote @ ('\'' | '"') if word.as_ref().is_none_or(|it| it.text.is_empty()) => {
                    begin(&mut word, true);
                    let word = word.get_or_insert_with(|| unreachable!("a word has begun"));
                    parsed.open = Some(Open::Quote(quote));
                    while let Some((at, inner)) = rest.next() {
                        word.range.end = at + inner.len_utf8();
                        match inner {
                            end if end == quote => {
                                parsed.open = None;
                                break;
                            }
                            '\\' if quote == '"' => match rest.peek() {
                                Some(&(at, escaped @ ('$' | '`' | '"' | '\\'))) => {
                                    word.text.push(escaped);
                                    word.range.end = at + escaped.len_utf8();
                                    rest.next();
                                }
                                Some((_, '\n')) => drop(rest.next()),
                                _ => word.text.push('\\'),
                            },
                            other => word.text.push(other),
                        }
                    }
                }
                other => {
                    begin(&mut word, false);
                    if let Some(word) = &mut word {
                        word.text.push(other);
                    }
                }
            }
        }
        parsed.words.extend(word);
        parsed
    }

    /// What the words say.
    pub(crate) fn texts(self) -> Vec<String> {
        self.words.into_iter().map(|word| word.text).collect()
    }
}

/// What stands after the first word, as it was written.
pub(crate) fn after_first_word(line: &str) -> &str {
    let end = Line::parse(line).words.first().map_or(0, |word| word.range.end);
    line.get(end..).unwrap_or_default().trim()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(line: &str) -> Vec<String> {
        Line::parse(line).texts()
    }

    #[test]
    fn the_words_are_those_that_scripts_see() {
        for line in [
            "",
            "  a  b ",
            "it's a \"b c\" 'd \"e'",
            "a\\ b \\\"",
            "\"a\\$b\\n\"",
            "'' \"\"",
            "'open end",
            "a\"b c\"",
            "one\\\ntwo",
            "\\\n a",
            "ends in \\",
            "\"ends in \\",
            "''\"x\" ü 'ö ä'",
        ] {
            assert_eq!(texts(line), osm_script::words(line), "{line}");
        }
    }

    proptest::proptest! {
        #[test]
        fn on_any_line(line in "[ab '\"\\\\\n$ü]{0,24}") {
            let parsed = Line::parse(&line);
            for word in &parsed.words {
                proptest::prop_assert!(line.get(word.range.clone()).is_some(), "{word:?}");
            }
            proptest::prop_assert_eq!(parsed.texts(), osm_script::words(&line));
        }
    }

    #[test]
    fn places() {
        let line = "add 'a b'c \"d";
        let places: Vec<&str> =
            Line::parse(line).words.into_iter().map(|it| &line[it.range]).collect();
        assert_eq!(places, ["add", "'a b'c", "\"d"]);
        assert_eq!(after_first_word("js  1 + 'x y' "), "1 + 'x y'");
        assert_eq!(after_first_word("js"), "");
    }

    #[test]
    fn what_goes_on() {
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
}
