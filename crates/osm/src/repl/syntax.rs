//! How text that a user enters becomes commands.
//!
//! A command is a line of words, as in a shell: an unclosed quote, or a backslash at the end, continues it
//! on the next line. Some commands take a text, such as `note`. Quotes and backslashes mean nothing in it,
//! so that it is kept as it was typed.

use std::collections::VecDeque;

use osm_script::words::{Line, Open, text_after_first};

use super::complete::CommandSpec;

/// The commands that take the rest of their line as a text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Syntax {
    texts: Vec<String>,
}

/// How far a text goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reach {
    /// To the end of its line: each line was ended by Enter.
    Line,
    /// To the end of all lines: they were entered at once, such as pasted ones.
    Everything,
}

/// The commands of a text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Commands {
    pub(crate) whole: VecDeque<String>,
    /// The beginning of a command that continues.
    pub(crate) begun: Option<String>,
}

impl Syntax {
    pub(crate) fn of(commands: &[CommandSpec]) -> Self {
        let texts = commands.iter().filter(|command| command.takes_text);
        Self { texts: texts.map(|command| command.name.clone()).collect() }
    }

    /// Whether the command of a line takes a text.
    pub(crate) fn takes_text(&self, line: &str) -> bool {
        let words = Line::parse(line).words;
        words.first().is_some_and(|word| self.texts.contains(&word.text))
    }

    /// Why a command continues on the next line, if it does.
    pub(crate) fn open(&self, command: &str) -> Option<Open> {
        if self.takes_text(command) { None } else { Line::parse(command).open }
    }

    /// The line that ends the text of a command, if it has one: `note <<END`.
    pub(crate) fn end_of_text<'l>(&self, line: &'l str) -> Option<&'l str> {
        let end = text_after_first(line).trim().strip_prefix("<<")?;
        let is_word = |it: char| it.is_ascii_alphanumeric() || it == '_';
        let is_end = !end.is_empty() && end.chars().all(is_word) && self.takes_text(line);
        is_end.then_some(end)
    }

    /// Splits a text into commands. Comments are left out.
    pub(crate) fn split(&self, text: &str, reach: Reach) -> Commands {
        let mut commands = Commands::default();
        let mut lines = text.split('\n').map(|line| line.strip_suffix('\r').unwrap_or(line));
        while let Some(line) = lines.next() {
            let mut command = match commands.begun.take() {
                Some(begun) => format!("{begun}\n{line}"),
                None if line.trim_start().starts_with('#') => continue,
                None => line.to_owned(),
            };
            if reach == Reach::Everything && self.takes_text(&command) {
                for line in lines.by_ref() {
                    command.push('\n');
                    command.push_str(line);
                }
            }
            match self.open(&command) {
                Some(_) => commands.begun = Some(command),
                None => commands.whole.push_back(command),
            }
        }
        commands
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn syntax() -> Syntax {
        Syntax { texts: vec!["note".into()] }
    }

    fn split(text: &str, reach: Reach) -> (Vec<String>, Option<String>) {
        let Commands { whole, begun } = syntax().split(text, reach);
        (whole.into(), begun)
    }

    #[test]
    fn a_text_has_no_quotes() {
        for (line, open) in [
            ("note 'tis", None),
            ("note C:\\", None),
            ("note \"a", None),
            (" note 'a", None),
            ("add 'a", Some(Open::Quote('\''))),
            ("add a\\", Some(Open::Backslash)),
            ("notes 'a", Some(Open::Quote('\''))),
        ] {
            assert_eq!(syntax().open(line), open, "{line}");
        }
    }

    #[test]
    fn texts_that_are_entered_at_once() {
        for (text, reach, whole, begun) in [
            ("list\nlist", Reach::Everything, vec!["list", "list"], None),
            ("add 'a\nb'\r\nlist", Reach::Everything, vec!["add 'a\nb'", "list"], None),
            ("note a\n  'b\n# c", Reach::Everything, vec!["note a\n  'b\n# c"], None),
            ("add x\nnote a\nlist", Reach::Everything, vec!["add x", "note a\nlist"], None),
            ("note 'a\nlist", Reach::Line, vec!["note 'a", "list"], None),
            ("# it's 'no\nlist", Reach::Everything, vec!["list"], None),
            ("list\nadd 'a\nb", Reach::Line, vec!["list"], Some("add 'a\nb")),
            ("", Reach::Line, vec![""], None),
        ] {
            let whole: Vec<String> = whole.into_iter().map(str::to_owned).collect();
            assert_eq!(split(text, reach), (whole, begun.map(str::to_owned)), "{text:?}");
        }
    }

    #[test]
    fn the_end_of_a_text() {
        for (line, end) in [
            ("note <<END", Some("END")),
            ("note  <<end_2 ", Some("end_2")),
            ("note <<", None),
            ("note << END", None),
            ("note a <<END", None),
            ("add <<END", None),
        ] {
            assert_eq!(syntax().end_of_text(line), end, "{line}");
        }
    }
}
