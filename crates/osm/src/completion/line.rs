//! A command line that is being typed: which argument the cursor is in.
//!
//! The argument parser refuses unfinished lines, so this reads them with the parser's own tree of
//! commands, and takes no word amiss.

use std::ffi::OsString;

use clap::{Arg, Command};

use super::kind::{self, Kind};
use super::{Candidate, ShellOffers};

/// Where the cursor is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// Names of commands and options, and values that the argument parser lists, that fit.
    pub(crate) offered: Vec<Candidate>,
    /// What else can stand here.
    pub(crate) kind: Kind,
    /// How the word begins that stands here.
    pub(crate) prefix: String,
    /// The part of the typed word before it: `--scope=`.
    pub(crate) before: String,
    /// The arguments of the command so far that are no options.
    pub(crate) arguments: Vec<String>,
    /// The options of the line, with their values.
    options: Vec<(String, String)>,
}

impl Place {
    /// The value of an option that was typed before.
    pub(crate) fn option(&self, name: &str) -> Option<&str> {
        self.options.iter().rev().find(|it| it.0 == name).map(|it| it.1.as_str())
    }

    /// What the shell itself adds.
    pub(crate) fn shell(&self) -> ShellOffers {
        self.kind.shell()
    }
}

/// The words before the cursor's, as they were understood.
struct Line<'a> {
    command: &'a Command,
    /// The names of the commands: `session list`.
    path: String,
    arguments: Vec<String>,
    options: Vec<(String, String)>,
    /// The option whose value comes next.
    pending: Option<&'a Arg>,
    /// All that follows are arguments.
    is_literal: bool,
}

/// Where the cursor is, if it stands at the end of the last word.
pub(crate) fn read(root: &Command, words: &[OsString]) -> Place {
    let mut words: Vec<String> = words.iter().map(|it| it.to_string_lossy().into_owned()).collect();
    let current = words.pop().unwrap_or_default();
    let mut line = Line {
        command: root,
        path: String::new(),
        arguments: Vec::new(),
        options: Vec::new(),
        pending: None,
        is_literal: false,
    };
    for word in words {
        line.take(word);
    }
    line.place(current)
}

impl<'a> Line<'a> {
    fn take(&mut self, word: String) {
        if let Some(option) = self.pending.take() {
            self.options.push((option.get_id().to_string(), word));
        } else if self.is_literal || word == "-" || !word.starts_with('-') {
            self.take_argument(word);
        } else if word == "--" {
            self.is_literal = true;
        } else {
            self.take_option(&word);
        }
    }

    fn take_argument(&mut self, word: String) {
        if !self.is_literal
            && self.arguments.is_empty()
            && let Some(command) = self.command.find_subcommand(&word)
        {
            if !self.path.is_empty() {
                self.path.push(' ');
            }
            self.path.push_str(command.get_name());
            self.command = command;
            return;
        }
        self.arguments.push(word);
        // Everything after this one belongs to another program.
        self.is_literal |= self.argument().is_some_and(Arg::is_trailing_var_arg_set);
    }

    fn take_option(&mut self, word: &str) {
        let (name, value) = match word.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (word, None),
        };
        let Some(option) = self.find_option(name) else { return };
        let id = option.get_id().to_string();
        match value {
            Some(value) => self.options.push((id, value.to_owned())),
            None if option.get_action().takes_values() => self.pending = Some(option),
            None => self.options.push((id, String::new())),
        }
    }

    /// The option of a word: long ones have one dash or two, as everywhere in osm.
    fn find_option(&self, word: &str) -> Option<&'a Arg> {
        let name = word.trim_start_matches('-');
        let is_long = |it: &&Arg| {
            it.get_long() == Some(name)
                || it.get_all_aliases().is_some_and(|them| them.contains(&name))
        };
        let short = name.chars().last().filter(|_| !word.starts_with("--"));
        let is_short = |it: &&Arg| short.is_some() && it.get_short() == short;
        let all = || self.command.get_arguments();
        all().find(is_long).or_else(|| all().find(is_short))
    }

    /// The argument that comes next, if it is not an option. The last one takes what is left.
    fn argument(&self) -> Option<&'a Arg> {
        let mut all: Vec<&Arg> = self.command.get_positionals().collect();
        if self.is_literal
            && let Some(last) = all.iter().find(|it| it.is_last_set())
        {
            return Some(last);
        }
        all.retain(|it| !it.is_last_set());
        let takes_more = |it: &&&Arg| it.get_num_args().is_some_and(|it| it.max_values() > 1);
        let at = all.get(self.arguments.len());
        at.or_else(|| all.last().filter(takes_more)).copied()
    }

    fn kind_of(&self, argument: &Arg) -> Kind {
        kind::of(&self.path, argument.get_id().as_str()).unwrap_or(Kind::Text)
    }

    /// The place of the cursor, whose word begins with `typed`.
    fn place(self, typed: String) -> Place {
        let (mut offered, mut kind) = (Vec::new(), Kind::Text);
        let (mut before, mut prefix) = (String::new(), typed);
        let option = prefix.split_once('=').filter(|_| !self.is_literal && prefix.starts_with('-'));
        let option = option.and_then(|(name, value)| Some((self.find_option(name)?, name, value)));
        if let Some(option) = self.pending {
            (offered, kind) = (values(option, &prefix), self.kind_of(option));
        } else if let Some((option, name, value)) = option {
            (before, prefix) = (format!("{name}="), value.to_owned());
            (offered, kind) = (values(option, &prefix), self.kind_of(option));
        } else if prefix.starts_with('-') && !self.is_literal {
            offered = self.options(&prefix);
        } else {
            if self.arguments.is_empty() && !self.is_literal {
                offered = commands(self.command, &prefix);
            }
            if let Some(argument) = self.argument() {
                offered.extend(values(argument, &prefix));
                kind = self.kind_of(argument);
                if kind == Kind::Programs && self.command_has_begun() {
                    kind = Kind::Files;
                }
            }
            let most = self.command.get_positionals().count();
            let is_whole = self.argument().is_none() && self.arguments.len() <= most;
            if offered.is_empty() && is_whole && !self.is_literal {
                offered = self.options(&prefix);
            }
        }
        let Self { arguments, options, .. } = self;
        Place { offered, kind, prefix, before, arguments, options }
    }

    /// Whether the other program's name was typed already.
    fn command_has_begun(&self) -> bool {
        let own = self.command.get_positionals().filter(|it| !it.is_last_set()).count();
        self.arguments.len() > own
    }

    /// The options of the command that were not typed yet.
    fn options(&self, prefix: &str) -> Vec<Candidate> {
        let is_given = |it: &Arg| self.options.iter().any(|given| given.0 == it.get_id().as_str());
        let repeats = |it: &Arg| matches!(it.get_action(), clap::ArgAction::Append);
        self.command
            .get_arguments()
            .filter(|it| !it.is_hide_set() && (repeats(it) || !is_given(it)))
            .filter_map(|it| Some((format!("--{}", it.get_long()?), it)))
            .filter(|(name, _)| name.starts_with(prefix) || prefix == "-")
            .map(|(name, it)| Candidate::new(name, first_line(it.get_help())))
            .collect()
    }
}

/// The commands below a command.
pub(crate) fn commands(command: &Command, prefix: &str) -> Vec<Candidate> {
    command
        .get_subcommands()
        .filter(|it| !it.is_hide_set() && it.get_name().starts_with(prefix))
        .map(|it| Candidate::new(it.get_name(), first_line(it.get_about())))
        .collect()
}

/// The values that the argument parser lists.
fn values(argument: &Arg, prefix: &str) -> Vec<Candidate> {
    let listed = argument.get_possible_values();
    let shown = listed.iter().filter(|it| !it.is_hide_set() && it.get_name().starts_with(prefix));
    shown.map(|it| Candidate::new(it.get_name(), first_line(it.get_help()))).collect()
}

fn first_line(text: Option<&clap::builder::StyledStr>) -> String {
    text.map(ToString::to_string).unwrap_or_default().lines().next().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests;
