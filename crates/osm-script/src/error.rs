//! The error of a script, with its place and the source line.

use std::fmt;

/// A script that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptError {
    /// What kind of failure it is.
    pub kind: Kind,
    /// The name of the exception, such as `TypeError`.
    pub name: String,
    /// The message.
    pub message: String,
    /// Where it happened, if in a script of the user.
    pub place: Option<Box<Place>>,
}

/// A place in a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The file, as the script knows it.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// The column, from 1.
    pub column: usize,
    /// The text of that line.
    pub excerpt: Option<String>,
    /// The calls that led there, innermost first.
    pub stack: Vec<String>,
}

/// How a script failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// It threw an exception, or could not be parsed.
    Thrown,
    /// It was stopped from outside.
    Interrupted,
    /// It exceeded its time limit.
    TimedOut,
    /// It exceeded its memory limit.
    OutOfMemory,
    /// An earlier script cannot be stopped; a new runtime is needed.
    Unusable,
}

impl ScriptError {
    pub(crate) fn new(kind: Kind, name: &str, message: impl Into<String>) -> Self {
        Self { kind, name: name.to_owned(), message: message.into(), place: None }
    }

    /// Adds the innermost place of the stack.
    ///
    /// `source` returns the text of a file. `prefix` is the length of the wrapper before the first line,
    /// which columns must not count.
    pub(crate) fn placed(
        mut self,
        stack: &str,
        source: impl Fn(&str) -> Option<String>,
        prefix: usize,
    ) -> Self {
        let frames = stack.lines().filter_map(Frame::parse);
        // Frames in built-in scripts mean nothing to the author.
        let frames: Vec<Frame> = frames.filter(|frame| !frame.file.starts_with("osm:")).collect();
        let stack = frames.iter().map(|frame| frame.shown(prefix)).collect();
        self.place = frames.into_iter().next().map(|mut frame| {
            let text = source(&frame.file);
            frame.keep_inside(text.as_deref());
            Box::new(Place {
                line: frame.line,
                column: frame.own_column(prefix),
                excerpt: text.and_then(|text| text.lines().nth(frame.line - 1).map(cut)),
                file: frame.file,
                stack,
            })
        });
        self
    }
}

/// The longest excerpt shown.
const MAX_EXCERPT: usize = 200;

fn cut(line: &str) -> String {
    line.chars().take(MAX_EXCERPT).collect()
}

/// One line of a stack: `at name (file:line:column)` or `at file:line:column`.
#[derive(Debug, PartialEq, Eq)]
struct Frame {
    name: Option<String>,
    file: String,
    line: usize,
    column: usize,
}

impl Frame {
    fn parse(text: &str) -> Option<Self> {
        let text = text.trim().strip_prefix("at ")?;
        let (name, place) = match text.strip_suffix(')').and_then(|text| text.rsplit_once(" (")) {
            Some((name, place)) => (Some(name).filter(|it| *it != "<anonymous>"), place),
            None => (None, text),
        };
        let (rest, column) = place.rsplit_once(':')?;
        let (file, line) = rest.rsplit_once(':')?;
        Some(Self {
            name: name.map(str::to_owned),
            file: file.to_owned(),
            line: line.parse().ok().filter(|line| *line > 0)?,
            column: column.parse().ok()?,
        })
    }

    /// An unexpected end is reported after the last line; moves it to the end of that line.
    fn keep_inside(&mut self, text: Option<&str>) {
        let Some((count, last)) = text.and_then(|text| text.lines().enumerate().last()) else {
            return;
        };
        if self.line > count + 1 {
            (self.line, self.column) = (count + 1, last.chars().count() + 1);
        }
    }

    fn own_column(&self, prefix: usize) -> usize {
        let before = if self.line == 1 { prefix } else { 0 };
        self.column.saturating_sub(before).max(1)
    }

    fn shown(&self, prefix: usize) -> String {
        let place = format!("{}:{}:{}", self.file, self.line, self.own_column(prefix));
        match &self.name {
            Some(name) => format!("{name} ({place})"),
            None => place,
        }
    }
}

impl std::error::Error for ScriptError {}

impl fmt::Display for ScriptError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(Place { file, line, column, .. }) = self.place.as_deref() {
            write!(f, "{file}:{line}:{column}: ")?;
        }
        write!(f, "{}: {}", self.name, self.message)?;
        if let Some(Place { excerpt: Some(excerpt), column, .. }) = self.place.as_deref() {
            let indent = excerpt.chars().take(column - 1).map(blank).collect::<String>();
            write!(f, "\n  {excerpt}\n  {indent}^")?;
        }
        Ok(())
    }
}

/// The blank to print under a character of the excerpt.
fn blank(character: char) -> char {
    if character == '\t' { '\t' } else { ' ' }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames() {
        let frame = Frame::parse("    at add (/s/a b.js:2:22)").unwrap();
        assert_eq!(frame.shown(0), "add (/s/a b.js:2:22)");
        let frame = Frame::parse("    at <anonymous> (/s/(x).js:1:70)").unwrap();
        assert_eq!((frame.name, frame.file.as_str(), frame.column), (None, "/s/(x).js", 70));
        assert_eq!(Frame::parse("    at /s/x.js:3:1").unwrap().line, 3);
        for text in ["", "at native", "    at call (native)", "x.js:1:1"] {
            assert_eq!(Frame::parse(text), None, "{text}");
        }
    }

    #[test]
    fn an_error_shows_the_line_of_its_author() {
        let error = ScriptError::new(Kind::Thrown, "TypeError", "not a function").placed(
            "    at <anonymous> (osm:timers:3:1)\n    at go (/s/x.js:2:4)\n    at /s/x.js:1:65\n",
            |_| Some("one\n\t\tfoo()\n".into()),
            60,
        );
        assert_eq!(
            error.to_string(),
            "/s/x.js:2:4: TypeError: not a function\n  \t\tfoo()\n  \t\t ^"
        );
        assert_eq!(error.place.unwrap().stack, ["go (/s/x.js:2:4)", "/s/x.js:1:5"]);
    }
}
