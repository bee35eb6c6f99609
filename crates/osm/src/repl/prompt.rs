//! What somebody who types is shown, and what they can type.

use std::rc::Rc;

use osm_script::{CommandInfo, Document, ModeInfo, Modes};

use super::Repl;
use super::builtins::{BUILTINS, Builtin};
use super::complete::{Known, Suggestion, Surroundings, suggest};

/// Completes a line at a place.
pub(crate) type Complete = Rc<dyn Fn(&str, usize) -> Vec<Suggestion>>;

/// The invitation to type a line.
#[derive(Clone, Default)]
pub(crate) struct Prompt {
    /// What stands before the line.
    pub(crate) text: String,
    /// The mode, whose lines have a history of their own.
    pub(crate) mode: String,
    /// Every command there is, for the eye.
    pub(crate) commands: Vec<String>,
    /// Keys that scripts have bound, as they name them.
    pub(crate) keys: Vec<String>,
    /// What Tab asks.
    pub(crate) complete: Option<Complete>,
}

impl Repl {
    pub(super) fn prompt(&self) -> Prompt {
        if !self.source.asks() {
            return Prompt::default();
        }
        let mode = self.modes().current();
        let (name, own) = mode.map_or_else(Default::default, |mode| (mode.name, mode.prompt));
        let commands = self.commands();
        let surroundings = self.surroundings();
        let runtime = Rc::clone(&self.runtime);
        let names = commands.iter().map(|it| it.name.clone()).collect();
        let complete = move |line: &str, place: usize| {
            let scripted = |completer: &str| {
                let cursor = line.get(..place).unwrap_or(line).chars().count();
                let document = Document { text: line.to_owned(), cursor };
                // What a completer throws is no reason to disturb whoever types.
                let offers = Modes::new(&runtime).complete(completer, &document);
                let offers = offers.unwrap_or_default().into_iter();
                offers.map(|it| (it.text, it.description)).collect()
            };
            suggest(line, place, &commands, &surroundings, &scripted)
        };
        Prompt {
            text: text(&own, &name),
            mode: name,
            commands: names,
            keys: self.modes().key_bindings().unwrap_or_default(),
            complete: Some(Rc::new(complete)),
        }
    }

    /// Every command that can be typed, built-ins last.
    pub(super) fn commands(&self) -> Vec<Known> {
        let mode = self.modes().current();
        let own = mode.map(|ModeInfo { commands, .. }| commands).unwrap_or_default();
        let all = self.modes().commands().unwrap_or_default();
        let known = |command: CommandInfo| Known {
            name: command.name,
            description: command.description,
            completers: command.arg_completers,
            flags: command.flags.into_iter().map(|it| (it.name, it.description)).collect(),
        };
        let builtin = |builtin: &Builtin| Known {
            name: builtin.name.to_owned(),
            description: builtin.description.to_owned(),
            completers: builtin.completers.iter().map(ToString::to_string).collect(),
            flags: Vec::new(),
        };
        own.into_iter().chain(all).map(known).chain(BUILTINS.iter().map(builtin)).collect()
    }

    fn surroundings(&self) -> Surroundings {
        let environment = &self.desk.environment;
        let home = if cfg!(windows) { "USERPROFILE" } else { "HOME" };
        Surroundings {
            folder: self.desk.folder.clone(),
            user_home: environment.get(home).map(Into::into),
            programs: environment.get("PATH").map(ToOwned::to_owned),
            modes: self.modes().list().unwrap_or_default().into_iter().map(|it| it.name).collect(),
        }
    }
}

/// The prompt of a mode: its own, or one made of its name. Control characters would confuse the
/// terminal, or worse.
fn text(own: &str, mode: &str) -> String {
    let text = if own.is_empty() { format!("({mode}) > ") } else { own.to_owned() };
    text.chars().filter(|it| !it.is_control()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prompts() {
        assert_eq!(text("", "code-review"), "(code-review) > ");
        assert_eq!(text("» ", "x"), "» ");
        assert_eq!(text("a\x1b[2J\nb> ", "x"), "a[2Jb> ");
    }
}
