//! `osm:argv`: a line as words, and words as a line.

use serde_json::{Value, json};

use super::{Arguments, Native};
use crate::host::Host;

pub(super) const FUNCTIONS: &[(&str, Native)] =
    &[("parseArgv", |_, arguments| Ok(json!(parse(arguments.text(0)?)))), ("formatArgv", format)];

fn format(_host: &mut dyn Host, arguments: &Arguments) -> Result<Value, String> {
    let words: Vec<String> = arguments.texts(0)?.iter().map(|word| quote(word)).collect();
    Ok(json!(words.join(" ")))
}

/// Splits a line into words, much as a shell does.
///
/// A quote counts at the start of a word only, so `it's` is one word. A quote that is not closed
/// runs to the end.
#[must_use]
pub fn parse(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut rest = line.chars().peekable();
    while let Some(character) = rest.next() {
        match character {
            ' ' | '\t' | '\n' => words.extend(word.take()),
            '\\' => match rest.next() {
                Some('\n') => {}
                Some(next) => word.get_or_insert_default().push(next),
                None => word.get_or_insert_default().push('\\'),
            },
            quote @ ('\'' | '"') if word.as_ref().is_none_or(String::is_empty) => {
                let text = word.get_or_insert_default();
                while let Some(inner) = rest.next() {
                    match inner {
                        end if end == quote => break,
                        '\\' if quote == '"' => match rest.peek() {
                            Some('$' | '`' | '"' | '\\') => text.extend(rest.next()),
                            Some('\n') => drop(rest.next()),
                            _ => text.push('\\'),
                        },
                        other => text.push(other),
                    }
                }
            }
            other => word.get_or_insert_default().push(other),
        }
    }
    words.extend(word);
    words
}

/// A word as it is written in a line.
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
        ] {
            assert_eq!(parse(line), words, "{line}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_words_are_read_again(words in proptest::collection::vec(".{0,12}", 0..8)) {
            let line: Vec<String> = words.iter().map(|word| quote(word)).collect();
            proptest::prop_assert_eq!(parse(&line.join(" ")), words);
        }
    }

    #[test]
    fn what_is_quoted_is_read_again() {
        for word in ["a", "", "a b", "it's", "$x `y` \"z\" \\", "'", "\n", "--x=1", "ü"] {
            assert_eq!(parse(&quote(word)), [word], "{}", quote(word));
        }
    }
}
