//! Sources of command lines.
//!
//! The loop reads from a [`LineSource`] and knows nothing of terminals. The line editor is in
//! `terminal.rs`; here are the options `-c` and standard input, which has one command on each line.

use std::collections::VecDeque;
use std::io::{self, BufRead, Write};

use super::prompt::Prompt;
use super::syntax::Syntax;
use osm_script::words::Open;

/// What was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Input {
    /// A command to run.
    Line(String),
    /// A key that a script has bound.
    Key(String),
    /// The user cancelled the line (Ctrl-C).
    Cancelled,
    /// The end of the input.
    End,
    /// The terminal was closed, or a signal asks the program to end.
    Gone,
    /// Reading failed, for this reason.
    Failed(String),
}

/// A source of command lines.
pub(crate) trait LineSource {
    /// Reads the next line.
    fn next(&mut self, prompt: &Prompt) -> Input;

    /// Where the last line came from, for error messages; `None` at a terminal, before the first line
    /// and after the last.
    fn place(&self) -> Option<String>;

    /// Whether a user types the lines in the line editor.
    fn is_interactive(&self) -> bool {
        false
    }

    /// Whether a prompt is shown before each line.
    fn shows_prompt(&self) -> bool {
        self.is_interactive()
    }
}

/// The commands of the options `-c`.
pub(crate) struct Commands {
    left: VecDeque<String>,
    number: usize,
}

impl Commands {
    pub(crate) fn new(commands: &[String]) -> Self {
        Self { left: commands.iter().cloned().collect(), number: 0 }
    }
}

impl LineSource for Commands {
    fn next(&mut self, _prompt: &Prompt) -> Input {
        let next = self.left.pop_front();
        self.number = if next.is_some() { self.number + 1 } else { 0 };
        next.map_or(Input::End, Input::Line)
    }

    fn place(&self) -> Option<String> {
        (self.number > 0).then(|| format!("command {}", self.number))
    }
}

/// Reads a line with its newline; 0 bytes at the end.
type ReadLine = Box<dyn FnMut(&mut Vec<u8>) -> io::Result<usize>>;

/// Commands of a text, line by line. The text of a command can be on lines of its own: `note <<END`, the
/// text, and a line `END`.
pub(crate) struct Lines {
    reader: ReadLine,
    syntax: Syntax,
    /// The line on which the last command began.
    number: usize,
    /// The number of lines read so far.
    read: usize,
    /// A user types the lines and sees a prompt.
    typed: bool,
}

impl Lines {
    fn new(reader: ReadLine) -> Self {
        Self { reader, syntax: Syntax::default(), number: 0, read: 0, typed: false }
    }

    /// Standard input, locked only while a line is read: a command may read from it too.
    pub(crate) fn of_stdin() -> Self {
        Self::new(Box::new(|line| io::stdin().lock().read_until(b'\n', line)))
    }

    /// Lines that a user types, edited by the terminal itself.
    pub(crate) fn typed() -> Self {
        Self { typed: true, ..Self::of_stdin() }
    }

    /// Shows a text to the user who types.
    fn show(&self, text: &str) {
        if self.typed {
            let mut stderr = io::stderr().lock();
            // A user can type without a prompt, too.
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
        let text = String::from_utf8(bytes).map_err(|_| "not valid UTF-8".to_owned())?;
        let text = text.strip_suffix('\n').unwrap_or(&text);
        Ok(Some(text.strip_suffix('\r').unwrap_or(text).to_owned()))
    }

    fn command(&mut self) -> Result<Option<String>, String> {
        self.number = self.read + 1;
        let Some(mut command) = self.line()? else { return Ok(None) };
        if command.trim_start().starts_with('#') {
            return Ok(Some(String::new()));
        }
        if let Some(end) = self.syntax.end_of_text(&command).map(str::to_owned) {
            return self.text(&command, &end).map(Some);
        }
        while let Some(open) = self.syntax.open(&command) {
            match (self.line()?, open) {
                (Some(next), _) => {
                    command.push('\n');
                    command.push_str(&next);
                }
                (None, Open::Quote(quote)) => return Err(format!("unclosed quote: {quote}")),
                (None, Open::Backslash) => break,
            }
        }
        Ok(Some(command))
    }

    /// A command with the text up to the line that ends it.
    fn text(&mut self, command: &str, end: &str) -> Result<String, String> {
        let name = command.split("<<").next().unwrap_or_default().trim();
        let mut text = Vec::new();
        loop {
            match self.line()? {
                Some(line) if line == end => return Ok(format!("{name} {}", text.join("\n"))),
                Some(line) => text.push(line),
                None => return Err(format!("no line {end:?} ends the text")),
            }
        }
    }
}

impl LineSource for Lines {
    fn next(&mut self, prompt: &Prompt) -> Input {
        self.show(&prompt.text);
        self.syntax.clone_from(&prompt.syntax);
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

    fn shows_prompt(&self) -> bool {
        self.typed
    }
}

#[cfg(test)]
mod tests {
    use super::super::complete::CommandSpec;
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
        assert_eq!(all("note 'a\nb"), [Input::Failed("unclosed quote: '".into())]);
        assert_eq!(all(""), []);
    }

    #[test]
    fn texts_on_lines() {
        let spec = CommandSpec { name: "say".into(), takes_text: true, ..CommandSpec::default() };
        let prompt = Prompt { syntax: Syntax::of(&[spec]), ..Prompt::default() };
        let mut lines = lines_of(b"say 'tis C:\\\nsay <<END\n  a\n\n# b\nEND\nlist\nsay <<END\nx");
        let mut next = || lines.next(&prompt);
        assert_eq!(next(), Input::Line("say 'tis C:\\".into()));
        assert_eq!(next(), Input::Line("say   a\n\n# b".into()));
        assert_eq!(next(), Input::Line("list".into()));
        assert_eq!(next(), Input::Failed("no line \"END\" ends the text".into()));
    }

    #[test]
    fn places_are_those_of_commands() {
        let prompt = Prompt::default();
        let mut commands = Commands::new(&["a".into()]);
        let mut lines = lines_of(b"a\n");
        for (source, place) in
            [(&mut commands as &mut dyn LineSource, "command 1"), (&mut lines, "line 1")]
        {
            assert_eq!(source.place(), None);
            assert_eq!(source.next(&prompt), Input::Line("a".into()));
            assert_eq!(source.place().as_deref(), Some(place));
            assert_eq!(source.next(&prompt), Input::End);
            assert_eq!(source.place(), None, "the last save belongs to no command");
        }
    }

    #[test]
    fn invalid_utf8_is_refused() {
        let mut lines = lines_of(b"a\n\xff\n");
        assert_eq!(lines.next(&Prompt::default()), Input::Line("a".into()));
        assert_eq!(lines.next(&Prompt::default()), Input::Failed("not valid UTF-8".into()));
        assert_eq!(lines.place(), Some("line 2".into()));
    }
}
