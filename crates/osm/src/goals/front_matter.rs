//! The lines between `---` and `---` at the beginning of a `.prompt.md`.
//!
//! A small, strict subset of YAML. A text that is accepted here means the same to every YAML parser;
//! any other text is an error with its line and the expected syntax.
//!
//! ```text
//! key: plain words            # a comment
//! key: "quoted: \"as\" needed\n"
//! key: 'it''s quoted too'
//! key: [one, two, "three, four"]
//! key:
//!   - one
//!   - two
//! key: |
//!   verbatim
//!   lines
//! key:
//!   name: value, list or lines, as above
//! ```

mod scalar;

use std::fmt;

use scalar::{Scalars, cut_comment};

pub(crate) use scalar::quote;

/// A mistake, and its line in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mistake {
    pub(crate) line: usize,
    pub(crate) reason: String,
}

impl Mistake {
    pub(crate) fn new(line: usize, reason: impl Into<String>) -> Self {
        Self { line, reason: reason.into() }
    }
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.reason)
    }
}

/// The value of a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Value {
    Text(String),
    List(Vec<String>),
    Map(Vec<Field>),
}

/// A key with its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Field {
    pub(crate) line: usize,
    pub(crate) key: String,
    pub(crate) value: Value,
}

/// A file in its two parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Parted<'a> {
    pub(crate) fields: Vec<Field>,
    pub(crate) body: &'a str,
    /// The line on which the body begins.
    pub(crate) body_line: usize,
}

/// Parts a file. One that does not begin with `---` is all body.
pub(crate) fn part(text: &str) -> Result<Parted<'_>, Mistake> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut rest = text;
    let mut lines = Vec::new();
    for number in 1.. {
        let (line, after) = match rest.split_once('\n') {
            Some((line, after)) => (line, Some(after)),
            None => (rest, None),
        };
        let line = line.strip_suffix('\r').unwrap_or(line);
        let is_fence = line.trim_end() == "---";
        match (number, is_fence) {
            (1, false) => return Ok(Parted { fields: Vec::new(), body: text, body_line: 1 }),
            (1, true) => {}
            (_, true) => {
                let fields = Lines { lines: &lines, at: 0 }.fields(0)?;
                let body = after.unwrap_or_default();
                return Ok(Parted { fields, body, body_line: number + 1 });
            }
            (_, false) => lines.push((number, line)),
        }
        match after {
            Some(after) => rest = after,
            None => break,
        }
    }
    Err(Mistake::new(1, "the front matter has no closing `---`"))
}

/// The lines of a front matter with their numbers.
struct Lines<'a> {
    lines: &'a [(usize, &'a str)],
    at: usize,
}

impl<'a> Lines<'a> {
    /// The next line that is not blank or a comment.
    fn peek(&mut self) -> Option<(usize, &'a str)> {
        while let Some((_, line)) = self.lines.get(self.at) {
            if !cut_comment(line).trim().is_empty() {
                break;
            }
            self.at += 1;
        }
        self.lines.get(self.at).copied()
    }

    /// The fields with an indentation of `indent` columns.
    fn fields(&mut self, indent: usize) -> Result<Vec<Field>, Mistake> {
        let mut fields: Vec<Field> = Vec::new();
        while let Some((number, line)) = self.peek() {
            let found = indentation(number, line)?;
            if found < indent {
                break;
            }
            if found > indent {
                let reason = format!("expected {indent} spaces of indentation, found {found}");
                return Err(Mistake::new(number, reason));
            }
            let field = self.field(indent)?;
            if let Some(first) = fields.iter().find(|it| it.key == field.key) {
                let reason = format!("duplicate key `{}`, also on line {}", field.key, first.line);
                return Err(Mistake::new(number, reason));
            }
            fields.push(field);
        }
        Ok(fields)
    }

    fn field(&mut self, indent: usize) -> Result<Field, Mistake> {
        let (number, line) = self.peek().expect("the caller saw a line");
        self.at += 1;
        let (key, said) = key(number, line.trim_start())?;
        let value = match cut_comment(said).trim() {
            "" => self.block(number, key, indent)?,
            "|" => Value::Text(self.literal(indent)),
            _ => Scalars::new(number, said).value()?,
        };
        Ok(Field { line: number, key: key.to_owned(), value })
    }

    /// The list or map below a key.
    fn block(&mut self, key_line: usize, key: &str, indent: usize) -> Result<Value, Mistake> {
        let nothing = || {
            let reason = format!("`{key}` has no value: expected a text, a list or a map");
            Err(Mistake::new(key_line, reason))
        };
        let Some((number, line)) = self.peek() else { return nothing() };
        let found = indentation(number, line)?;
        let is_item = is_item(line);
        if found < indent || (found == indent && !is_item) {
            return nothing();
        }
        if is_item {
            return self.items(found).map(Value::List);
        }
        if indent > 0 {
            return Err(Mistake::new(number, "nested maps are not supported"));
        }
        self.fields(found).map(Value::Map)
    }

    fn items(&mut self, indent: usize) -> Result<Vec<String>, Mistake> {
        let mut items = Vec::new();
        while let Some((number, line)) = self.peek() {
            let found = indentation(number, line)?;
            if found < indent || (found == indent && !is_item(line)) {
                break;
            }
            if found > indent {
                return Err(Mistake::new(
                    number,
                    "expected `- ` with the indentation of the line above",
                ));
            }
            let said = line.trim_start().strip_prefix('-').unwrap_or_default();
            if cut_comment(said).trim().is_empty() {
                return Err(Mistake::new(number, "expected a value after `- `"));
            }
            items.push(Scalars::new(number, said).text()?);
            self.at += 1;
        }
        Ok(items)
    }

    /// The verbatim lines that are indented further.
    fn literal(&mut self, indent: usize) -> String {
        let mut taken: Vec<&str> = Vec::new();
        while let Some((_, line)) = self.lines.get(self.at) {
            let spaces = line.len() - line.trim_start_matches(' ').len();
            if !line.trim().is_empty() && spaces <= indent {
                break;
            }
            taken.push(line);
            self.at += 1;
        }
        let said = |line: &&&str| !line.trim().is_empty();
        let first = taken.iter().find(said).copied().unwrap_or_default();
        let margin = first.len() - first.trim_start_matches(' ').len();
        while taken.last().is_some_and(|line| line.trim().is_empty()) {
            taken.pop();
        }
        let cut = |line: &&str| {
            let spaces = line.len() - line.trim_start_matches(' ').len();
            line.get(spaces.min(margin)..).unwrap_or_default().to_owned()
        };
        let lines: Vec<String> = taken.iter().map(cut).collect();
        if lines.is_empty() { String::new() } else { lines.join("\n") + "\n" }
    }
}

fn is_item(line: &str) -> bool {
    let line = line.trim_start();
    line == "-" || line.starts_with("- ")
}

fn indentation(number: usize, line: &str) -> Result<usize, Mistake> {
    let spaces = line.len() - line.trim_start_matches(' ').len();
    if line.get(spaces..).is_some_and(|rest| rest.starts_with(char::is_whitespace)) {
        return Err(Mistake::new(number, "indent with spaces, not with tabs"));
    }
    Ok(spaces)
}

/// The key of a line, and what comes after its colon.
fn key(number: usize, line: &str) -> Result<(&str, &str), Mistake> {
    let end = line.find(|it: char| !(it.is_ascii_alphanumeric() || "-_.".contains(it)));
    let (key, rest) = line.split_at(end.unwrap_or(line.len()));
    match rest.strip_prefix(':') {
        Some(said) if !key.is_empty() && (said.is_empty() || said.starts_with([' ', '\t'])) => {
            Ok((key, said))
        }
        Some(_) if !key.is_empty() => {
            Err(Mistake::new(number, format!("expected a space after `{key}:`")))
        }
        _ => Err(Mistake::new(number, "expected `key: value`")),
    }
}

#[cfg(test)]
mod tests;
