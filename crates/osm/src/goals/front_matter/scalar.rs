//! Values within a line: plain words, quoted texts, lists in brackets.

use std::fmt::Write as _;

use super::{Mistake, Value};

/// Characters that have a meaning in YAML at the beginning of plain words.
const RESERVED: &str = "&*!|>%@`{}[],#?\"'";

/// Reads the values of one line.
pub(super) struct Scalars<'a> {
    line: usize,
    rest: &'a str,
}

impl<'a> Scalars<'a> {
    pub(super) fn new(line: usize, said: &'a str) -> Self {
        Self { line, rest: said.trim() }
    }

    fn fail<T>(&self, reason: impl Into<String>) -> Result<T, Mistake> {
        Err(Mistake::new(self.line, reason))
    }

    /// A text, or a list in brackets.
    pub(super) fn value(mut self) -> Result<Value, Mistake> {
        match self.rest.strip_prefix('[') {
            Some(rest) => {
                self.rest = rest;
                let list = self.list()?;
                self.end()?;
                Ok(Value::List(list))
            }
            None => self.text().map(Value::Text),
        }
    }

    /// A text and nothing after it.
    pub(super) fn text(mut self) -> Result<String, Mistake> {
        let text = self.one(false)?;
        self.end()?;
        Ok(text)
    }

    fn end(&self) -> Result<(), Mistake> {
        match cut_comment(self.rest).trim() {
            "" => Ok(()),
            more => self.fail(format!("unexpected text: {}", shown(more))),
        }
    }

    fn list(&mut self) -> Result<Vec<String>, Mistake> {
        let mut list = Vec::new();
        loop {
            self.rest = self.rest.trim_start();
            if let Some(rest) = self.rest.strip_prefix(']') {
                self.rest = rest;
                return Ok(list);
            }
            if self.rest.is_empty() {
                return self.fail("expected `]` on the same line");
            }
            list.push(self.one(true)?);
            self.rest = self.rest.trim_start();
            match self.rest.chars().next() {
                Some(',') => self.rest = &self.rest[1..],
                Some(']') => {}
                _ => return self.fail("expected `,` or `]` in the list"),
            }
        }
    }

    /// One text: quoted, or plain up to a comment, or in a list up to `,` or `]`.
    fn one(&mut self, in_list: bool) -> Result<String, Mistake> {
        if let Some(rest) = self.rest.strip_prefix('"') {
            self.rest = rest;
            return self.double();
        }
        if let Some(rest) = self.rest.strip_prefix('\'') {
            self.rest = rest;
            return self.single();
        }
        let end = if in_list { self.rest.find([',', ']']) } else { None };
        let (plain, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
        let text = cut_comment(plain).trim_end();
        if in_list && text.len() < plain.trim_end().len() {
            return self.fail("expected `]` before the comment");
        }
        let starts = text.starts_with(|it| RESERVED.contains(it));
        let dashes = text == "-" || text.starts_with("- ");
        if text.is_empty() {
            return self.fail("expected a value");
        }
        if starts || dashes || text.contains(": ") || text.ends_with(':') {
            return self.fail(format!("this text needs quotes: {}", quote(text)));
        }
        if in_list && text.contains(['[', '{', '}']) {
            return self.fail("nested lists are not supported: put the text in quotes");
        }
        self.rest = rest;
        Ok(text.to_owned())
    }

    fn single(&mut self) -> Result<String, Mistake> {
        let mut text = String::new();
        loop {
            let Some((part, rest)) = self.rest.split_once('\'') else {
                return self.fail("expected `'` at the end of the quoted text");
            };
            text.push_str(part);
            self.rest = rest;
            let Some(rest) = rest.strip_prefix('\'') else { return Ok(text) };
            text.push('\'');
            self.rest = rest;
        }
    }

    fn double(&mut self) -> Result<String, Mistake> {
        let mut text = String::new();
        let mut characters = self.rest.chars();
        while let Some(character) = characters.next() {
            match character {
                '"' => {
                    self.rest = characters.as_str();
                    return Ok(text);
                }
                '\\' => match characters.next() {
                    Some(it @ ('"' | '\\' | '/')) => text.push(it),
                    Some('n') => text.push('\n'),
                    Some('t') => text.push('\t'),
                    Some('r') => text.push('\r'),
                    Some('u') => {
                        let digits: String = characters.by_ref().take(4).collect();
                        let code = u32::from_str_radix(&digits, 16).ok().and_then(char::from_u32);
                        match code {
                            Some(code) if digits.len() == 4 => text.push(code),
                            _ => return self.fail(
                                "expected the four hexadecimal digits of a character after `\\u`",
                            ),
                        }
                    }
                    _ => return self.fail("expected one of \" \\ / n t r u after `\\`"),
                },
                it => text.push(it),
            }
        }
        self.fail("expected `\"` at the end of the quoted text")
    }
}

/// A text in double quotes that is read as the same text.
pub(crate) fn quote(text: &str) -> String {
    let mut quoted = String::from("\"");
    for character in text.chars() {
        match character {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            '\r' => quoted.push_str("\\r"),
            it if it.is_control() => {
                write!(quoted, "\\u{:04x}", u32::from(it)).expect("writing to a string succeeds");
            }
            it => quoted.push(it),
        }
    }
    quoted.push('"');
    quoted
}

/// The line without its comment: `#` at the beginning or after a space, outside of quotes.
pub(super) fn cut_comment(line: &str) -> &str {
    let (mut quote, mut before, mut escaped) = (None, ' ', false);
    for (at, character) in line.char_indices() {
        match (quote, character) {
            _ if escaped => escaped = false,
            (Some('"'), '\\') => escaped = true,
            (Some(open), it) if it == open => quote = None,
            (None, '"' | '\'') if before.is_whitespace() || "[,".contains(before) => {
                quote = Some(character);
            }
            (None, '#') if before.is_whitespace() => return &line[..at],
            _ => {}
        }
        before = character;
    }
    line
}

/// The beginning of something that may be long.
fn shown(text: &str) -> String {
    text.chars().take(40).collect()
}
