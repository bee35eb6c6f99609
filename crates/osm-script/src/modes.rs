//! Modes and their commands, as the program sees them: a typed view of `js/tui.js`.
//!
//! A script registers modes; the program shows their prompts, reads lines, and dispatches them.
//! Every call waits for what it promises. A timer that is still set afterwards fires during a later
//! call.

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
    /// What it is called in front of people; its name if it says nothing.
    pub title: String,
    /// What stands before a line that is typed in it.
    pub prompt: String,
    /// Whether a line may be several.
    pub multiline: bool,
    /// A line that is run when it is entered; whoever enters it does that.
    pub initial_command: Option<String>,
    /// The completer that `tui.setCompleter` gave it.
    pub completer: Option<String>,
    /// Its commands, in the order of their registration.
    pub commands: Vec<CommandInfo>,
}

/// A command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandInfo {
    /// Its name, which is the first word of a line.
    pub name: String,
    /// What it does.
    pub description: String,
    /// How it is typed.
    pub usage: String,
    /// What completes its arguments: `file`, `gitref`, `executable`, `flag`, or a completer that a
    /// script has registered.
    pub arg_completers: Vec<String>,
    /// Its flags.
    pub flags: Vec<FlagInfo>,
}

/// A flag of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlagInfo {
    /// Its name, without dashes.
    pub name: String,
    /// What it does.
    pub description: String,
}

/// What became of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dispatch {
    /// A command took it and came to its end.
    Done,
    /// There is no such command.
    Unknown,
}

/// What is being typed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Document {
    /// All of it.
    pub text: String,
    /// How many characters stand before the cursor.
    pub cursor: usize,
}

/// What a completer offers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suggestion {
    /// What would be typed.
    pub text: String,
    /// What it is.
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

    /// The mode that we are in.
    #[must_use]
    pub fn current(&self) -> Option<ModeInfo> {
        let value = self.0.call("currentMode", &[]).ok()?;
        (!value.is_null()).then(|| mode(&value))
    }

    /// Commands that every mode has, and that are there without one.
    pub fn commands(&self) -> Result<Vec<CommandInfo>, ScriptError> {
        self.0.call("globalCommands", &[]).map(|commands| each(&commands, command))
    }

    /// Leaves the mode that we are in and enters another. If that fails, we stay.
    pub fn enter(&self, name: &str) -> Result<(), ScriptError> {
        self.0.call("enterMode", &[json!(name)]).map(drop)
    }

    /// Leaves the mode that we are in. Whatever it says to that, we are in none afterwards.
    pub fn leave(&self) -> Result<(), ScriptError> {
        self.0.call("leaveMode", &[]).map(drop)
    }

    /// Runs a command: of the mode that we are in, or a global one.
    pub fn dispatch(&self, name: &str, arguments: &[String]) -> Result<Dispatch, ScriptError> {
        let answer = self.0.call("dispatch", &[json!(name), json!(arguments)])?;
        Ok(if answer == "done" { Dispatch::Done } else { Dispatch::Unknown })
    }

    /// The names of the completers that scripts have registered.
    pub fn completers(&self) -> Result<Vec<String>, ScriptError> {
        self.0.call("completers", &[]).map(|names| each(&names, plain))
    }

    /// What a completer offers for what is being typed.
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

    /// Tells observers of keys that somebody else changed, or that were taken back.
    pub fn changed(&self, keys: &[StateKey]) -> Result<(), ScriptError> {
        let keys: Vec<Value> = keys.iter().map(StateKey::to_json).collect();
        self.0.call("changed", &[json!(keys)]).map(drop)
    }

    /// The keys that scripts have bound, by name.
    pub fn key_bindings(&self) -> Result<Vec<String>, ScriptError> {
        self.0.call("keyBindings", &[]).map(|names| each(&names, plain))
    }

    /// Does what a key is bound to. Whether it is bound at all.
    pub fn press(&self, key: &str) -> Result<bool, ScriptError> {
        self.0.call("press", &[json!(key)]).map(|bound| bound == true)
    }

    /// Whether a script wants the program to end. So does a runtime in which nothing runs any more.
    #[must_use]
    pub fn exit_requested(&self) -> bool {
        match self.0.call("exitRequested", &[]) {
            Ok(wanted) => wanted == true,
            Err(error) => error.kind == Kind::Spoiled,
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
    }
}

/// What our own script gives has the right shape; anything else is empty.
fn each<T>(list: &Value, make: impl Fn(&Value) -> T) -> Vec<T> {
    list.as_array().into_iter().flatten().map(make).collect()
}

fn text(value: &Value, field: &str) -> String {
    plain(&value[field])
}

fn plain(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
