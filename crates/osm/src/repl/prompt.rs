//! The prompt, and the commands that can be completed after it.

use std::rc::Rc;

use osm_script::{CommandInfo, Document, ModeInfo, Modes};

use super::Repl;
use super::builtins::{BUILTINS, Builtin};
use super::complete::{CommandSpec, CompletionScope, Suggestion, suggest};
use super::syntax::Syntax;
use crate::render::escape::one_line;

/// Completes a line at a place.
pub(crate) type Complete = Rc<dyn Fn(&str, usize) -> Vec<Suggestion>>;

/// A prompt, and what the line editor needs to know for the line.
#[derive(Clone, Default)]
pub(crate) struct Prompt {
    /// The text before the line.
    pub(crate) text: String,
    /// The mode, which has its own history.
    pub(crate) mode: String,
    /// How the line is split into commands.
    pub(crate) syntax: Syntax,
    /// All command names, for highlighting.
    pub(crate) commands: Vec<String>,
    /// The keys that scripts have bound, by name.
    pub(crate) keys: Vec<String>,
    /// Completes the line on Tab.
    pub(crate) complete: Option<Complete>,
}

impl Repl {
    pub(super) fn prompt(&self) -> Prompt {
        let commands = self.commands();
        let syntax = Syntax::of(&commands);
        if !self.source.shows_prompt() {
            return Prompt { syntax, ..Prompt::default() };
        }
        let mode = self.modes().current();
        let (name, own) = mode.map_or_else(Default::default, |mode| (mode.name, mode.prompt));
        let scope = self.scope();
        let (runtime, catalogue) = (Rc::clone(&self.running.runtime), Rc::clone(&self.catalogue));
        let names = commands.iter().map(|it| it.name.clone()).collect();
        let modes = self.scripted_modes().unwrap_or_default();
        let complete = move |line: &str, place: usize| {
            let scripted = |completer: &str| {
                if completer == "mode" {
                    let listed = catalogue.list().into_iter().map(|it| (it.call, it.description));
                    let all = modes.iter().cloned().chain(listed);
                    return all.map(|(name, about)| (name, Some(about))).collect();
                }
                let cursor = line.get(..place).unwrap_or(line).chars().count();
                let document = Document { text: line.to_owned(), cursor };
                // An error of a completer must not disturb the line that is being typed.
                let offers = Modes::new(&runtime).complete(completer, &document);
                let offers = offers.unwrap_or_default().into_iter();
                offers.map(|it| (it.text, it.description)).collect()
            };
            suggest(line, place, &commands, &scope, &scripted)
        };
        Prompt {
            text: text(&own, &name),
            mode: name,
            syntax,
            commands: names,
            keys: self.modes().key_bindings().unwrap_or_default(),
            complete: Some(Rc::new(complete)),
        }
    }

    /// All commands that can be typed, built-ins last.
    pub(super) fn commands(&self) -> Vec<CommandSpec> {
        let mode = self.modes().current();
        let own = mode.map(|ModeInfo { commands, .. }| commands).unwrap_or_default();
        let all = self.modes().commands().unwrap_or_default();
        let known = |command: CommandInfo| CommandSpec {
            name: command.name,
            description: command.description,
            completers: command.arg_completers,
            flags: command.flags.into_iter().map(|it| (it.name, it.description)).collect(),
            takes_text: command.takes_text,
        };
        let builtin = |builtin: &Builtin| CommandSpec {
            name: builtin.name.to_owned(),
            description: builtin.description.to_owned(),
            completers: builtin.completers.iter().map(ToString::to_string).collect(),
            ..CommandSpec::default()
        };
        own.into_iter().chain(all).map(known).chain(BUILTINS.iter().map(builtin)).collect()
    }

    fn scope(&self) -> CompletionScope {
        let environment = &self.host.environment;
        let home = if cfg!(windows) { "USERPROFILE" } else { "HOME" };
        CompletionScope {
            folder: self.host.folder.clone(),
            user_home: environment.get(home).map(Into::into),
            programs: environment.get("PATH").map(ToOwned::to_owned),
        }
    }
}

/// The prompt of a mode: its own, or one made from its name. Escaped, because the line editor writes it to
/// the terminal itself.
fn text(own: &str, mode: &str) -> String {
    let text = if own.is_empty() { format!("({mode}) > ") } else { own.to_owned() };
    one_line(&text).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prompts() {
        assert_eq!(text("", "code-review"), "(code-review) > ");
        assert_eq!(text("» ", "x"), "» ");
        assert_eq!(text("a\x1b[2J\nb> ", "x"), r"a\u{1b}[2J\nb> ");
    }
}
