//! Where lines come from.
//!
//! The loop asks a [`Source`] and knows nothing of terminals. One is a person (`terminal.rs`), the
//! others are here: commands of the command line, and standard input, one command on each line.

use std::collections::VecDeque;
use std::io::{self, BufRead, Write};

use super::line::{Line, Open};
use super::prompt::Prompt;

/// What somebody wants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Input {
    /// A command is to be run.
    Line(String),
    /// A key was pressed that a script has bound.
    Key(String),
    /// What was typed is to be forgotten.
    Cancelled,
    /// There is nothing more.
    End,
    /// The terminal is gone, or we are asked to go.
    Gone,
    /// No more can be read, for this reason.
    Failed(String),
}

/// Gives lines.
pub(crate) trait Source {
    /// The next one.
    fn next(&mut self, prompt: &Prompt) -> Input;

    /// Where the last line came from, for messages; nothing where a person knows, or before the first
    /// line and after the last.
    fn place(&self) -> Option<String>;

    /// Whether somebody is there.
    fn is_person(&self) -> bool {
        false
    }

    /// Whether it shows a prompt.
    fn asks(&self) -> bool {
        self.is_person()
    }
}

/// Commands that were given with `-c`.
pub(crate) struct Commands {
    left: VecDeque<String>,
    number: usize,
}

impl Commands {
    pub(crate) fn new(commands: &[String]) -> Self {
        Self { left: commands.iter().cloned().collect(), number: 0 }
    }
}

impl Source for Commands {
    fn next(&mut self, _prompt: &Prompt) -> Input {
        let next = self.left.pop_front();
        self.number = if next.is_some() { self.number + 1 } else { 0 };
        next.map_or(Input::End, Input::Line)
    }

    fn place(&self) -> Option<String> {
        (self.number > 0).then(|| format!("command {}", self.number))
    }
}

/// Reads a line, with its end; nothing at the end of all.
type ReadLine = Box<dyn FnMut(&mut Vec<u8>) -> io::Result<usize>>;

/// Lines of a text: an open quote, or a backslash at the end, goes on with the next.
pub(crate) struct Lines {
    reader: ReadLine,
    /// Where the last command began.
    number: usize,
    /// The lines that were read.
    read: usize,
    /// Somebody types them, and is shown a prompt.
    typed: bool,
}

impl Lines {
    fn new(reader: ReadLine) -> Self {
        Self { reader, number: 0, read: 0, typed: false }
    }

    /// Standard input. It is held only while a line is read: a command may want to read too.
    pub(crate) fn of_stdin() -> Self {
        Self::new(Box::new(|line| io::stdin().lock().read_until(b'\n', line)))
    }

    /// The same, typed by somebody, as the terminal itself edits it.
    pub(crate) fn typed() -> Self {
        Self { typed: true, ..Self::of_stdin() }
    }

    /// Shows something to who types.
    fn show(&self, text: &str) {
        if self.typed {
            let mut stderr = io::stderr().lock();
            // Who cannot be shown it can type all the same.
            drop(stderr.write_all(text.as_bytes()).and_then(|()| stderr.flush()));
        }
    }

    /// One line, without its end.
    fn line(&mut self) -> Result<Option<String>, String> {
        let mut bytes = Vec::new();
        let length = (self.reader)(&mut bytes).map_err(|it| it.to_string())?;
        if length == 0 {
            return Ok(None);
        }
        self.read += 1;
        let text = String::from_utf8(bytes).map_err(|_| "it is not UTF-8".to_owned())?;
        let text = text.strip_suffix('\n').unwrap_or(&text);
        Ok(Some(text.strip_suffix('\r').unwrap_or(text).to_owned()))
    }

    fn command(&mut self) -> Result<Option<String>, String> {
        self.number = self.read + 1;
        let Some(mut command) = self.line()? else { return Ok(None) };
        if command.trim_start().starts_with('#') {
            return Ok(Some(String::new()));
        }
        while let Some(open) = Line::parse(&command).open {
            match (self.line()?, open) {
                (Some(next), _) => {
                    command.push('\n');
                    command.push_str(&next);
                }
                (None, Open::Quote(quote)) => return Err(format!("{quote} is never closed")),
                (None, Open::Backslash) => break,
            }
        }
        Ok(Some(command))
    }
}

/// The commands of a text that came at once, such as from a clipboard.
pub(super) fn commands_of(text: &str) -> VecDeque<String> {
    let mut rest = io::Cursor::new(text.to_owned().into_bytes());
    let mut lines = Lines::new(Box::new(move |line| rest.read_until(b'\n', line)));
    // It was typed, so it is text, and whole.
    std::iter::from_fn(|| lines.command().ok().flatten()).collect()
}

impl Source for Lines {
    fn next(&mut self, prompt: &Prompt) -> Input {
        self.show(&prompt.text);
        match self.command() {
            Ok(Some(command)) => Input::Line(command),
            Ok(None) => {
                self.number = 0;
                self.show("\n");
                Input::End
            }
            Err(reason) => Input::Failed(reason),
        }
    }

    fn place(&self) -> Option<String> {
        (self.number > 0 && !self.typed).then(|| format!("line {}", self.number))
    }

    fn asks(&self) -> bool {
        self.typed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines_of(bytes: &'static [u8]) -> Lines {
        let mut rest = bytes;
        Lines::new(Box::new(move |line| rest.read_until(b'\n', line)))
    }

    fn all(text: &'static str) -> Vec<Input> {
        let mut lines = lines_of(text.as_bytes());
        let mut all = Vec::new();
        loop {
            match lines.next(&Prompt::default()) {
                Input::End => return all,
                Input::Line(line) if line.trim().is_empty() => {}
                input @ Input::Failed(_) => {
                    all.push(input);
                    return all;
                }
                input => all.push(input),
            }
        }
    }

    fn lines(expected: &[&str]) -> Vec<Input> {
        expected.iter().map(|line| Input::Line((*line).to_owned())).collect()
    }

    #[test]
    fn commands_on_lines() {
        assert_eq!(all("add a\r\n\n# no\n  # nor\nshow"), lines(&["add a", "show"]));
        assert_eq!(all("note 'a\nb' c\nlist"), lines(&["note 'a\nb' c", "list"]));
        assert_eq!(all("note a\\\nb\nlist\\"), lines(&["note a\\\nb", "list\\"]));
        assert_eq!(all("note 'a\nb"), [Input::Failed("' is never closed".into())]);
        assert_eq!(all(""), []);
    }

    #[test]
    fn commands_that_come_at_once() {
        assert_eq!(commands_of("note a\nlist"), ["note a", "list"]);
        assert_eq!(commands_of("note 'a\nb'"), ["note 'a\nb'"]);
        assert_eq!(commands_of("list"), ["list"]);
        assert!(commands_of("").is_empty());
    }

    #[test]
    fn places_are_those_of_commands() {
        let prompt = Prompt::default();
        let mut commands = Commands::new(&["a".into()]);
        let mut lines = lines_of(b"a\n");
        for (source, place) in
            [(&mut commands as &mut dyn Source, "command 1"), (&mut lines, "line 1")]
        {
            assert_eq!(source.place(), None);
            assert_eq!(source.next(&prompt), Input::Line("a".into()));
            assert_eq!(source.place().as_deref(), Some(place));
            assert_eq!(source.next(&prompt), Input::End);
            assert_eq!(source.place(), None, "the last save is of no command");
        }
    }

    #[test]
    fn what_is_no_text_is_refused() {
        let mut lines = lines_of(b"a\n\xff\n");
        assert_eq!(lines.next(&Prompt::default()), Input::Line("a".into()));
        assert_eq!(lines.next(&Prompt::default()), Input::Failed("it is not UTF-8".into()));
        assert_eq!(lines.place(), Some("line 2".into()));
    }
}
