//! The sections of a text that was rendered: the exact inverse.
//!
//! What a reader of prompts takes for a section is what was made as one; the tests hold both ways
//! against each other, with content that tries to look like a section.

use std::borrow::Cow;

use crate::label;
use crate::render::{HEADING, LEFT_OUT, NO_EOL};
use crate::section::{Block, Outcome, Section, Skipped, Subject};

/// A text that no prompt is written as.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: expected {expected}")]
pub struct Malformed {
    /// The line, from 1.
    pub line: usize,
    /// What should stand there.
    pub expected: &'static str,
}

/// The sections of a prompt without text before or after them.
pub fn parse(text: &str) -> Result<Vec<Section>, Malformed> {
    let mut reader = Reader { rest: text, line: 1 };
    let mut sections = Vec::new();
    while !reader.rest.is_empty() {
        if !sections.is_empty() {
            reader.blank()?;
        }
        sections.push(reader.section()?);
    }
    Ok(sections)
}

struct Reader<'a> {
    rest: &'a str,
    line: usize,
}

impl<'a> Reader<'a> {
    fn section(&mut self) -> Result<Section, Malformed> {
        let expected = "a heading";
        let heading = self.next(expected)?;
        let title = heading.strip_prefix(HEADING).ok_or_else(|| self.malformed(expected))?;
        if title == LEFT_OUT {
            self.blank()?;
            return self.left_out();
        }
        let (subject, outcome, label) = title_of(title).ok_or_else(|| self.malformed(expected))?;
        self.blank()?;
        let (language, body) = self.fenced()?;
        let mut block = Block::new(subject, label, body);
        (block.outcome, block.language) = (outcome, language);
        Ok(Section::Block(block))
    }

    fn left_out(&mut self) -> Result<Section, Malformed> {
        let mut skipped = Vec::new();
        while self.rest.starts_with("- ") {
            let expected = "a path and a reason";
            let line = self.next(expected)?;
            let parts = line["- ".len()..].split_once(": ");
            let parts = parts.and_then(|(path, reason)| {
                Some((label::unescape(path)?, label::unescape(reason)?))
            });
            let (path, reason) = parts.ok_or_else(|| self.malformed(expected))?;
            skipped.push(Skipped { path, reason });
        }
        Ok(Section::LeftOut(skipped))
    }

    /// The language and the body of what stands in a fence.
    fn fenced(&mut self) -> Result<(Cow<'static, str>, &'a str), Malformed> {
        let expected = "a fence with a language";
        let opening = self.next(expected)?;
        let language = opening.trim_start_matches('`');
        let fence = &opening[..opening.len() - language.len()];
        let (language, ended) = match language.split_once(' ') {
            None => (language, true),
            Some((language, NO_EOL)) => (language, false),
            Some(_) => return Err(self.malformed(expected)),
        };
        if fence.len() < 3 || language.is_empty() {
            return Err(self.malformed(expected));
        }
        let start = self.rest;
        let mut length = 0;
        loop {
            let line = self.next("the end of the fence")?;
            if line == fence {
                break;
            }
            length += line.len() + 1;
        }
        let body = &start[..length];
        let body = if ended { body } else { body.strip_suffix('\n').unwrap_or(body) };
        Ok((Cow::Owned(language.to_owned()), body))
    }

    fn blank(&mut self) -> Result<(), Malformed> {
        let expected = "a blank line";
        self.next(expected)?.is_empty().then_some(()).ok_or_else(|| self.malformed(expected))
    }

    /// The next line, without its end.
    fn next(&mut self, expected: &'static str) -> Result<&'a str, Malformed> {
        let Some(end) = memchr::memchr(b'\n', self.rest.as_bytes()) else {
            return Err(Malformed { line: self.line, expected });
        };
        let (line, rest) = (&self.rest[..end], &self.rest[end + 1..]);
        self.rest = rest;
        self.line += 1;
        Ok(line)
    }

    /// That the line that was read last is not what it should be.
    fn malformed(&self, expected: &'static str) -> Malformed {
        Malformed { line: self.line - 1, expected }
    }
}

fn title_of(title: &str) -> Option<(Subject, Outcome, String)> {
    let (subject, rest) = Subject::WORDS
        .iter()
        .find_map(|(subject, word)| Some((*subject, title.strip_prefix(word)?)))?;
    let (outcome, label) = if let Some(label) = rest.strip_prefix(": ") {
        (Outcome::Fine, label)
    } else if let Some(label) = rest.strip_prefix(" (failed): ") {
        (Outcome::Failed, label)
    } else {
        let (code, label) = rest.strip_prefix(" (exit code ")?.split_once("): ")?;
        (Outcome::ExitCode(code.parse().ok()?), label)
    };
    Some((subject, outcome, label::unescape(label)?))
}

#[cfg(test)]
mod tests;
