//! Goals: prompts for a purpose, with variables and commands.
//!
//! A goal is data. The built-in goals are `.prompt.md` files (`assets/goals`), like those of users,
//! which are found in folders (`discovery.rs`). Only a JSON goal can contain code, its handlers, and
//! code in the working tree runs only if the user trusts it (`crate::trust`).
//!
//! | for | see |
//! |---|---|
//! | the lines between `---` | `front_matter.rs` |
//! | goals as `.prompt.md` | `prompt_file.rs`, files that they link to: `links.rs` |
//! | goals as JSON | `json.rs` |
//! | the names that a template may use | `template.rs`, their values: `values.rs`, templates of the upstream tool: `go_template.rs` |
//! | the folders in which osm looks for goals | `discovery.rs` |
//! | which goal a name means | `registry.rs` |
//! | the file that `osm goal new` writes | `scaffold.rs`, how it is opened: `new_file.rs` |

mod built_in;
mod discovery;
mod front_matter;
mod go_template;
mod json;
mod links;
pub(crate) mod new_file;
mod prompt_file;
mod registry;
mod scaffold;
mod template;
mod values;

use serde::Serialize;
use serde_json::{Map, Value};

pub(crate) use built_in::names as built_in_names;
pub(crate) use discovery::{SearchPaths, name_of};
pub use registry::UnknownGoal;
pub(crate) use registry::{Entry, Registry};
pub(crate) use scaffold::{Form, scaffold};

/// The commands for the context that a goal can have, in the order in which osm shows them.
pub(crate) const COMMANDS: [&str; 9] =
    ["add", "diff", "exec", "note", "list", "edit", "remove", "show", "copy"];

/// The default commands. `exec` runs programs, so a goal must ask for it.
const USUAL: [&str; 8] = ["add", "diff", "note", "list", "edit", "remove", "show", "copy"];

/// Names that a goal cannot have: modes and subcommands of `osm goal`.
const RESERVED: [&str; 9] =
    ["code-review", "review", "prompt-flow", "flow", "list", "show", "new", "paths", "help"];

/// The default template around the instructions.
const FRAME: &str = include_str!("../assets/prompts/goal.md");

/// A goal. Serialized, it is the global `GOAL_CONFIG` of the script that runs it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Goal {
    pub(crate) name: String,
    pub(crate) title: String,
    pub(crate) description: String,
    pub(crate) category: String,
    /// The text before the cursor.
    pub(crate) prompt: String,
    /// Commands for the context.
    pub(crate) commands: Vec<String>,
    /// Commands that are code.
    pub(crate) handlers: Vec<Handler>,
    pub(crate) variables: Vec<Variable>,
    /// What `run` does.
    pub(crate) run: Option<Run>,
    pub(crate) snippets: Vec<Snippet>,
    pub(crate) post_copy_hint: Option<String>,
    /// The text that is shown at the start, a template.
    pub(crate) banner: Option<String>,
    /// A text that `help` adds, a template.
    pub(crate) usage: Option<String>,
    /// The prompt: a template with `context` in it.
    pub(crate) template: String,
    /// Values that the template can use, besides the variables.
    pub(crate) data: Map<String, Value>,
    /// Values that depend on a variable: name → value of the variable → text.
    pub(crate) options: Map<String, Value>,
    /// Where it comes from, for errors: its file.
    pub(crate) source: String,
}

/// A value that the user sets and the session keeps.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Variable {
    pub(crate) name: String,
    /// Its name in templates.
    pub(crate) key: String,
    /// The command that shows and sets it.
    pub(crate) setter: Option<String>,
    /// The values that it can have; any text if this is empty.
    pub(crate) choices: Vec<String>,
    pub(crate) default: Value,
}

impl Variable {
    /// A variable with choices; the first is the default.
    fn choice(name: &str, choices: Vec<String>) -> Self {
        let default = choices.first().cloned().unwrap_or_default().into();
        Self { choices, ..Self::text(name, default) }
    }

    /// A variable that takes any text.
    fn text(name: &str, default: Value) -> Self {
        let key = name.replace('-', "_");
        let setter = Some(name.to_owned());
        Self { name: name.to_owned(), key, setter, choices: Vec::new(), default }
    }
}

/// A command that is code.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Handler {
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) usage: String,
    pub(crate) arg_completers: Vec<String>,
    pub(crate) flag_defs: Value,
    /// A JavaScript function.
    #[serde(rename = "handler")]
    pub(crate) code: String,
}

/// What `run` does with its arguments before it shows the prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Run {
    /// Adds them as files.
    Files,
    /// Adds a diff with them.
    Diff,
}

/// A text that `hot-NAME` copies.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Snippet {
    pub name: String,
    pub description: String,
    pub text: String,
}

impl Goal {
    /// A goal with defaults.
    fn new(name: &str, description: &str) -> Self {
        Self {
            name: name.to_owned(),
            title: titled(name),
            description: description.to_owned(),
            category: "other".to_owned(),
            prompt: format!("({name}) > "),
            commands: USUAL.map(str::to_owned).into(),
            handlers: Vec::new(),
            variables: Vec::new(),
            run: None,
            snippets: Vec::new(),
            post_copy_hint: None,
            banner: None,
            usage: None,
            template: String::new(),
            data: Map::new(),
            options: Map::new(),
            source: format!("goal {name}"),
        }
    }

    /// Whether it contains code.
    pub(crate) fn has_code(&self) -> bool {
        !self.handlers.is_empty()
    }

    /// Checks the goal: the first problem is the error.
    fn check(&self) -> Result<(), String> {
        check_name(&self.name)?;
        if self.description.trim().is_empty() {
            return Err(
                "missing `description`: write one sentence about what the goal is for".into()
            );
        }
        let hint = self.post_copy_hint.as_ref();
        for text in
            [&self.title, &self.description, &self.category, &self.prompt].into_iter().chain(hint)
        {
            if text.chars().any(|it| it.is_control() && it != '\n' && it != '\t') {
                return Err(format!("control characters are not allowed: {text:?}"));
            }
        }
        let unknown = |name: &&String| !COMMANDS.contains(&name.as_str());
        if let Some(name) = self.commands.iter().find(unknown) {
            let known = COMMANDS.join(", ");
            return Err(format!("unknown command {name:?}; use {known}"));
        }
        let mut taken: Vec<String> = self.commands.clone();
        taken.extend(["help", "exit", "quit", "snippets", "usage"].map(str::to_owned));
        taken.extend(self.run.map(|_| "run".into()));
        taken.extend(self.snippets.iter().map(|it| format!("hot-{}", it.name)));
        let handlers = self.handlers.iter().map(|it| &it.name);
        for name in self.variables.iter().filter_map(|it| it.setter.as_ref()).chain(handlers) {
            check_word(name).map_err(|reason| format!("command: {reason}"))?;
            if taken.contains(name) {
                return Err(format!("duplicate command `{name}`"));
            }
            taken.push(name.clone());
        }
        for snippet in &self.snippets {
            check_word(&snippet.name).map_err(|reason| format!("snippet: {reason}"))?;
        }
        for variable in &self.variables {
            check_variable(variable)?;
        }
        Ok(())
    }
}

/// Checks the name of a goal: letters, digits and hyphens, and no hyphen first.
pub(crate) fn check_name(name: &str) -> Result<(), String> {
    check_word(name)?;
    if RESERVED.contains(&name) {
        return Err(format!("the name `{name}` is reserved: choose another name"));
    }
    Ok(())
}

fn check_word(name: &str) -> Result<(), String> {
    let is_good = |it: char| it.is_ascii_alphanumeric() || it == '-';
    if name.is_empty() || name.len() > 64 || name.starts_with('-') || !name.chars().all(is_good) {
        return Err(format!(
            "invalid name {name:?}: use at most 64 letters, digits and hyphens, and no hyphen first"
        ));
    }
    Ok(())
}

/// The names that every template can use.
const GIVEN: [&str; 11] = [
    "context",
    "contextTxtar",
    "contextHeader",
    "context_header",
    "description",
    "name",
    "title",
    "stateKeys",
    "promptInstructions",
    "promptFooter",
    "links",
];

fn check_variable(variable: &Variable) -> Result<(), String> {
    let name = &variable.name;
    let letters = name.replace('_', "-");
    check_word(&letters).map_err(|reason| format!("variable: {reason}"))?;
    if name.starts_with(|it: char| it.is_ascii_digit()) {
        return Err(format!("variable `{name}`: the name must start with a letter"));
    }
    if GIVEN.contains(&variable.key.as_str()) {
        return Err(format!("variable `{name}`: the name is reserved"));
    }
    Ok(())
}

/// `doc-generator` as `Doc Generator`.
fn titled(name: &str) -> String {
    let word = |word: &str| {
        let mut letters = word.chars();
        let first = letters.next().map(|it| it.to_ascii_uppercase());
        first.into_iter().chain(letters).collect::<String>()
    };
    name.split('-').map(word).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        for good in ["a", "A-1", "0day", "commit-message"] {
            assert_eq!(check_name(good), Ok(()), "{good}");
        }
        let long = "a".repeat(65);
        for bad in ["", "-a", "a b", "a/b", "..", "a.b", "ä", "a\n", "a\u{202e}b", "list", &long] {
            assert!(check_name(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn one_command_for_one_name() {
        let mut goal = Goal::new("a", "b");
        goal.variables.push(Variable::text("copy", "".into()));
        assert_eq!(goal.check(), Err("duplicate command `copy`".into()));
        goal.variables[0].setter = Some("set-copy".into());
        assert_eq!(goal.check(), Ok(()));
        goal.variables.push(Variable::text("context", "".into()));
        assert_eq!(goal.check(), Err("variable `context`: the name is reserved".into()));
    }

    #[test]
    fn control_characters_are_refused() {
        for text in ["\x1b[2J", "\u{9b}2J", "a\x07"] {
            let goal = Goal { title: text.into(), ..Goal::new("a", "b") };
            assert!(goal.check().unwrap_err().contains("control characters"), "{text:?}");
        }
    }

    #[test]
    fn titles() {
        assert_eq!(titled("which-one-is-better"), "Which One Is Better");
        assert_eq!(titled("a--b"), "A  B");
    }
}
