//! Modes and their commands for the program: a typed interface to `js/tui.js`.
//!
//! A script registers modes; the program shows their prompts, reads lines and dispatches them. Every
//! call waits for its promise. A timer that is still pending then fires during a later call.

use serde_json::{Value, json};

use crate::error::{Kind, ScriptError};
use crate::host::StateKey;
use crate::runtime::Runtime;

/// The modes of a runtime.
#[derive(Clone, Copy)]
pub struct Modes<'r>(&'r Runtime);

/// A mode.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModeInfo {
    /// Its name.
    pub name: String,
    /// Its title; the name if it has none.
    pub title: String,
    /// Its prompt.
    pub prompt: String,
    /// Whether it accepts input of several lines.
    pub multiline: bool,
    /// The command that the program runs after entering the mode.
    pub initial_command: Option<String>,
    /// The completer set by `tui.setCompleter`.
    pub completer: Option<String>,
    /// Its commands, in the order of their registration.
    pub commands: Vec<CommandInfo>,
}

/// A command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandInfo {
    /// Its name: the first word of a line.
    pub name: String,
    /// What it does.
    pub description: String,
    /// How it is typed.
    pub usage: String,
    /// The completers of its arguments: `file`, `gitref`, `executable`, `flag`, or one that a script has
    /// registered.
    pub arg_completers: Vec<String>,
    /// Its flags.
    pub flags: Vec<FlagInfo>,
    /// Whether the rest of its line is a text, in which quotes and backslashes have no meaning.
    pub takes_text: bool,
}

/// A flag of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlagInfo {
    /// Its name, without dashes.
    pub name: String,
    /// What it does.
    pub description: String,
}

/// The result of a dispatch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dispatch {
    /// The command has run.
    Done,
    /// No command has this name.
    Unknown,
}

/// The text being typed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Document {
    /// The whole text.
    pub text: String,
    /// The number of characters before the cursor.
    pub cursor: usize,
}

/// A suggestion of a completer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suggestion {
    /// The completed text.
    pub text: String,
    /// Its description.
    pub description: Option<String>,
}

impl<'r> Modes<'r> {
    /// The modes of a runtime.
    #[must_use]
    pub fn new(runtime: &'r Runtime) -> Self {
        Self(runtime)
    }

    /// All modes, in the order of their registration.
    pub fn list(&self) -> Result<Vec<ModeInfo>, ScriptError> {
        self.0.call("listModes", &[]).map(|modes| each(&modes, mode))
    }

    /// The current mode.
    #[must_use]
    pub fn current(&self) -> Option<ModeInfo> {
        let value = self.0.call("currentMode", &[]).ok()?;
        (!value.is_null()).then(|| mode(&value))
    }

    /// The commands of all modes (`tui.registerCommand`).
    pub fn commands(&self) -> Result<Vec<CommandInfo>, ScriptError> {
        self.0.call("globalCommands", &[]).map(|commands| each(&commands, command))
    }

    /// Leaves the current mode and enters another. If that fails, the current mode stays.
    pub fn enter(&self, name: &str) -> Result<(), ScriptError> {
        self.0.call("enterMode", &[json!(name)]).map(drop)
    }

    /// Makes a mode current without entering it: after it was left for another one, which failed.
    pub fn resume(&self, name: &str) -> Result<(), ScriptError> {
        self.0.call("resumeMode", &[json!(name)]).map(drop)
    }

    /// Leaves the current mode, even if its `onExit` fails.
    pub fn leave(&self) -> Result<(), ScriptError> {
        self.0.call("leaveMode", &[]).map(drop)
    }

    /// Runs a command of the current mode, or a global one, with the words after its name and with the
    /// same text as it was typed.
    pub fn dispatch(
        &self,
        name: &str,
        arguments: &[String],
        text: &str,
    ) -> Result<Dispatch, ScriptError> {
        let answer = self.0.call("dispatch", &[json!(name), json!(arguments), json!(text)])?;
        Ok(if answer == "done" { Dispatch::Done } else { Dispatch::Unknown })
    }

    /// The names of the completers that scripts have registered.
    pub fn completers(&self) -> Result<Vec<String>, ScriptError> {
        self.0.call("completers", &[]).map(|names| each(&names, plain))
    }

    /// The suggestions of a completer.
    pub fn complete(
        &self,
        completer: &str,
        document: &Document,
    ) -> Result<Vec<Suggestion>, ScriptError> {
        let document = json!({ "text": document.text, "cursor": document.cursor });
        let offers = self.0.call("complete", &[json!(completer), document])?;
        let suggestion = |value: &Value| Suggestion {
            text: text(value, "text"),
            description: value["description"].as_str().map(str::to_owned),
        };
        Ok(each(&offers, suggestion))
    }

    /// Notifies observers of keys that another process changed, or whose changes were discarded.
    pub fn changed(&self, keys: &[StateKey]) -> Result<(), ScriptError> {
        let keys: Vec<Value> = keys.iter().map(StateKey::to_json).collect();
        self.0.call("changed", &[json!(keys)]).map(drop)
    }

    /// The keys that scripts have bound, by name.
    pub fn key_bindings(&self) -> Result<Vec<String>, ScriptError> {
        self.0.call("keyBindings", &[]).map(|names| each(&names, plain))
    }

    /// Runs the handler of a key; false if the key is not bound.
    pub fn press(&self, key: &str) -> Result<bool, ScriptError> {
        self.0.call("press", &[json!(key)]).map(|bound| bound == true)
    }

    /// Whether a script has requested the end of the program, or the runtime is unusable.
    #[must_use]
    pub fn exit_requested(&self) -> bool {
        match self.0.call("exitRequested", &[]) {
            Ok(wanted) => wanted == true,
            Err(error) => error.kind == Kind::Unusable,
        }
    }
}

fn mode(value: &Value) -> ModeInfo {
    let optional = |field: &str| value[field].as_str().map(str::to_owned);
    ModeInfo {
        name: text(value, "name"),
        title: text(value, "title"),
        prompt: text(value, "prompt"),
        multiline: value["multiline"] == true,
        initial_command: optional("initialCommand"),
        completer: optional("completer"),
        commands: each(&value["commands"], command),
    }
}

fn command(value: &Value) -> CommandInfo {
    let flag = |value: &Value| FlagInfo {
        name: text(value, "name"),
        description: text(value, "description"),
    };
    CommandInfo {
        name: text(value, "name"),
        description: text(value, "description"),
        usage: text(value, "usage"),
        arg_completers: each(&value["argCompleters"], plain),
        flags: each(&value["flagDefs"], flag),
        takes_text: value["takesText"] == true,
    }
}

/// Converts a list of the built-in script; anything else gives an empty list.
fn each<T>(list: &Value, make: impl Fn(&Value) -> T) -> Vec<T> {
    list.as_array().into_iter().flatten().map(make).collect()
}

fn text(value: &Value, field: &str) -> String {
    plain(&value[field])
}

fn plain(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
