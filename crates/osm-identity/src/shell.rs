//! Whether a shell is interactive, or runs one command and ends.
//!
//! `sh -c …`, `bash build.sh` and `cmd /c …` are part of the command that they run: the walk
//! continues with their parent. A shell with neither a command nor a script reads commands from its
//! standard input: a person types into it, or an agent that types like one, if that is a terminal.

use crate::catalogue::{Grammar, Options, Style};

/// Where a shell gets what it runs from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reads {
    /// A command: it ends with it.
    OneCommand,
    /// A script file: it ends with it.
    Script,
    /// Its standard input, whatever that is.
    Input,
    /// A person, or one who is taken for a person.
    Interactively,
}

/// What a shell with that grammar reads, by its arguments (its own name first).
#[must_use]
pub(crate) fn reads<S: AsRef<str>>(arguments: &[S], grammar: &Grammar) -> Reads {
    let mut seen = Seen::default();
    let mut rest = arguments.iter().skip(1).map(AsRef::as_ref).peekable();
    while !seen.is_last
        && let Some(option) = rest.next_if(|argument| is_option(argument, grammar.style))
    {
        if matches!(option, "--" | "-") {
            break;
        }
        match seen.add(option, grammar) {
            Follows::Nothing => {}
            Follows::Values(count) => {
                for _ in 0..count {
                    rest.next();
                }
            }
            Follows::List => while rest.next_if(|it| !is_option(it, grammar.style)).is_some() {},
        }
    }
    let has_operand = rest.next().is_some();
    if seen.stays {
        Reads::Interactively
    } else if seen.command {
        Reads::OneCommand
    } else if has_operand && !seen.input {
        Reads::Script
    } else if seen.interactive {
        Reads::Interactively
    } else {
        Reads::Input
    }
}

fn is_option(argument: &str, style: Style) -> bool {
    match style {
        Style::Letters | Style::Attached => argument.starts_with(['-', '+']),
        Style::Words => argument.starts_with('-'),
        Style::Abbreviated => match argument.strip_prefix('/') {
            // A script's path has more than one slash, or a dot.
            Some(name) => name.bytes().all(|byte| byte.is_ascii_alphabetic()),
            None => argument.starts_with('-'),
        },
        Style::Slashes => argument
            .strip_prefix('/')
            .is_some_and(|option| option.len() == 1 || option.as_bytes().get(1) == Some(&b':')),
    }
}

/// What comes behind an option.
enum Follows {
    Nothing,
    Values(usize),
    /// Values up to the next option.
    List,
}

/// What the options said.
#[derive(Default)]
#[expect(clippy::struct_excessive_bools, reason = "each kind of option was there or not")]
struct Seen {
    command: bool,
    input: bool,
    interactive: bool,
    stays: bool,
    is_last: bool,
}

impl Seen {
    fn add(&mut self, option: &str, grammar: &Grammar) -> Follows {
        let name = option.trim_start_matches(['-', '+', '/']);
        match grammar.style {
            Style::Words | Style::Abbreviated => self.word(name, grammar),
            Style::Slashes => self.letters(name.get(..1).unwrap_or_default(), grammar),
            Style::Letters | Style::Attached => {
                let is_word = option.starts_with("--") || grammar.words.contains(&name);
                if is_word { self.word(name, grammar) } else { self.letters(name, grammar) }
            }
        }
    }

    fn word(&mut self, option: &str, grammar: &Grammar) -> Follows {
        let (name, has_value) = match option.split_once(['=', ':']) {
            Some((name, _)) => (name, true),
            None => (option, false),
        };
        let is = |options: Options| options.has_word(name, grammar.style);
        self.note(&is, grammar);
        if has_value {
            Follows::Nothing
        } else if is(grammar.values) {
            Follows::List
        } else {
            Follows::Values(usize::from(is(grammar.value)))
        }
    }

    fn letters(&mut self, group: &str, grammar: &Grammar) -> Follows {
        let lower = grammar.style == Style::Slashes;
        let mut values = 0;
        for (at, letter) in group.char_indices() {
            let letter = if lower { letter.to_ascii_lowercase() } else { letter };
            let is = |options: Options| options.letters.contains(letter);
            self.note(&is, grammar);
            if is(grammar.value) {
                let is_end = at + letter.len_utf8() == group.len();
                if grammar.style == Style::Attached {
                    return Follows::Values(usize::from(is_end));
                }
                values += 1;
            }
        }
        Follows::Values(values)
    }

    fn note(&mut self, is: &dyn Fn(Options) -> bool, grammar: &Grammar) {
        self.command |= is(grammar.command);
        self.input |= is(grammar.input);
        self.interactive |= is(grammar.interactive);
        self.stays |= is(grammar.stays);
        self.is_last |= is(grammar.last);
    }
}

impl Options {
    /// Whether a word is one of these options, or the beginning of one where the style allows that.
    fn has_word(self, name: &str, style: Style) -> bool {
        match style {
            Style::Words | Style::Letters => self.words.contains(&name),
            Style::Attached => begins_one(self.words, name),
            Style::Abbreviated => begins_one(self.words, &name.to_ascii_lowercase()),
            Style::Slashes => false,
        }
    }
}

/// Whether a text is one of the names, or the beginning of one.
fn begins_one(names: &[&str], text: &str) -> bool {
    !text.is_empty() && names.iter().any(|name| name.starts_with(text))
}

#[cfg(test)]
mod tests;
