//! Goals: a prompt with a purpose, the variables that shape it, and the commands that go with it.
//!
//! A goal is data. Those that are built in are `.prompt.md` files like everybody's
//! (`assets/goals`); others are found in folders (`discovery.rs`). Only a JSON goal can carry code,
//! its handlers, and code from the working tree runs only if it is trusted (`crate::trust`).
//!
//! | for | see |
//! |---|---|
//! | the lines between `---` | `front_matter.rs` |
//! | goals as `.prompt.md` | `prompt_file.rs`, files that they link to: `links.rs` |
//! | goals as JSON | `json.rs` |
//! | what a template may refer to | `template.rs`, the syntax of the tool that came before: `go_template.rs` |
//! | where goals are looked for | `discovery.rs` |
//! | which of several of one name is meant | `registry.rs` |
//! | a first file for a goal of one's own | `scaffold.rs` |

mod built_in;
mod discovery;
mod front_matter;
mod go_template;
mod json;
mod links;
mod prompt_file;
mod registry;
mod scaffold;
mod template;

use serde::Serialize;
use serde_json::{Map, Value};

pub(crate) use built_in::names as built_in_names;
pub(crate) use discovery::Scene;
pub(crate) use registry::{Entry, Registry};
pub(crate) use scaffold::{Form, scaffold};

/// Commands of the context that a goal may offer, in the order in which they are shown.
pub(crate) const COMMANDS: [&str; 9] =
    ["add", "diff", "exec", "note", "list", "edit", "remove", "show", "copy"];

/// Those that a goal has if it does not say. `exec` runs programs, so it must be wanted.
const USUAL: [&str; 8] = ["add", "diff", "note", "list", "edit", "remove", "show", "copy"];

/// Names that mean something else: modes, and what comes after `osm goal`.
const RESERVED: [&str; 9] =
    ["code-review", "review", "prompt-flow", "flow", "list", "show", "new", "paths", "help"];

/// How a prompt is put together if a goal does not say.
const FRAME: &str = include_str!("../assets/prompts/goal.md");

/// A goal. Serialized, it is the global `GOAL_CONFIG` of the script that plays it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Goal {
    pub(crate) name: String,
    pub(crate) title: String,
    pub(crate) description: String,
    pub(crate) category: String,
    /// What is shown before the cursor.
    pub(crate) prompt: String,
    /// Commands of the context.
    pub(crate) commands: Vec<String>,
    /// Commands of its own, which are code.
    pub(crate) handlers: Vec<Handler>,
    pub(crate) variables: Vec<Variable>,
    /// What `run` does.
    pub(crate) run: Option<Run>,
    pub(crate) snippets: Vec<Snippet>,
    pub(crate) post_copy_hint: Option<String>,
    /// What is shown on entering, a template.
    pub(crate) banner: Option<String>,
    /// What `help` shows in addition, a template.
    pub(crate) usage: Option<String>,
    /// The prompt: a template with `context` in it.
    pub(crate) template: String,
    /// What the template refers to, besides the variables.
    pub(crate) data: Map<String, Value>,
    /// More of that, by the value of a variable: name → value → text.
    pub(crate) options: Map<String, Value>,
}

/// Something that shapes the prompt and is remembered in the session.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Variable {
    pub(crate) name: String,
    /// Its name in templates.
    pub(crate) key: String,
    /// The command that shows and sets it, if there is one.
    pub(crate) setter: Option<String>,
    /// What it may be; anything if this is empty.
    pub(crate) choices: Vec<String>,
    pub(crate) default: Value,
}

impl Variable {
    /// One with a choice; the first is the default.
    fn choice(name: &str, choices: Vec<String>) -> Self {
        let default = choices.first().cloned().unwrap_or_default().into();
        Self { choices, ..Self::text(name, default) }
    }

    /// One that takes anything.
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
    /// A function of JavaScript.
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
pub(crate) struct Snippet {
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) text: String,
}

impl Goal {
    /// A goal without anything special.
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
        }
    }

    /// Whether it brings code along.
    pub(crate) fn has_code(&self) -> bool {
        !self.handlers.is_empty()
    }

    /// The first reason why it cannot work, if there is one.
    fn check(&self) -> Result<(), String> {
        check_name(&self.name)?;
        if self.description.trim().is_empty() {
            return Err("`description` is missing: say in a sentence what the goal is for".into());
        }
        let hint = self.post_copy_hint.as_ref();
        for text in
            [&self.title, &self.description, &self.category, &self.prompt].into_iter().chain(hint)
        {
            if text.chars().any(|it| it.is_control() && it != '\n' && it != '\t') {
                return Err(format!(
                    "{text:?} holds control characters: a terminal would obey them"
                ));
            }
        }
        let unknown = |name: &&String| !COMMANDS.contains(&name.as_str());
        if let Some(name) = self.commands.iter().find(unknown) {
            let known = COMMANDS.join(", ");
            return Err(format!(
                "there is no command `{}`; there are: {known}",
                name.escape_debug()
            ));
        }
        let mut taken: Vec<String> = self.commands.clone();
        taken.extend(["help", "exit", "quit", "snippets", "usage"].map(str::to_owned));
        taken.extend(self.run.map(|_| "run".into()));
        taken.extend(self.snippets.iter().map(|it| format!("hot-{}", it.name)));
        let handlers = self.handlers.iter().map(|it| &it.name);
        for name in self.variables.iter().filter_map(|it| it.setter.as_ref()).chain(handlers) {
            check_word(name).map_err(|reason| format!("command {reason}"))?;
            if taken.contains(name) {
                return Err(format!("there are two commands `{name}`"));
            }
            taken.push(name.clone());
        }
        for snippet in &self.snippets {
            check_word(&snippet.name).map_err(|reason| format!("snippet {reason}"))?;
        }
        for variable in &self.variables {
            check_variable(variable)?;
        }
        Ok(())
    }
}

/// Letters, digits and hyphens, and a letter or a digit first.
pub(crate) fn check_name(name: &str) -> Result<(), String> {
    check_word(name)?;
    if RESERVED.contains(&name) {
        return Err(format!("`{name}` means something else: choose another name"));
    }
    Ok(())
}

fn check_word(name: &str) -> Result<(), String> {
    let is_good = |it: char| it.is_ascii_alphanumeric() || it == '-';
    if name.is_empty() || name.len() > 64 || name.starts_with('-') || !name.chars().all(is_good) {
        return Err(format!(
            "name {name:?}: letters, digits and hyphens are expected, not a hyphen first, 64 at most"
        ));
    }
    Ok(())
}

/// What every template has already.
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
    check_word(&letters).map_err(|reason| format!("variable {reason}"))?;
    if name.starts_with(|it: char| it.is_ascii_digit()) {
        return Err(format!("variable `{name}`: a letter is expected first"));
    }
    if GIVEN.contains(&variable.key.as_str()) {
        return Err(format!("variable `{name}`: every prompt has that already"));
    }
    Ok(())
}

/// Other people's text on one line, without anything that a terminal would obey.
pub(crate) fn plain(text: &str) -> String {
    let safe = |it: char| match it {
        '\n' | '\t' | '\r' => ' ',
        it if it.is_control() => '\u{fffd}',
        it => it,
    };
    text.chars().map(safe).collect()
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
        assert_eq!(goal.check(), Err("there are two commands `copy`".into()));
        goal.variables[0].setter = Some("set-copy".into());
        assert_eq!(goal.check(), Ok(()));
        goal.variables.push(Variable::text("context", "".into()));
        assert_eq!(goal.check(), Err("variable `context`: every prompt has that already".into()));
    }

    #[test]
    fn a_terminal_is_not_told_what_to_do() {
        for text in ["\x1b[2J", "\u{9b}2J", "a\x07"] {
            let goal = Goal { title: text.into(), ..Goal::new("a", "b") };
            assert!(goal.check().unwrap_err().contains("control characters"), "{text:?}");
            assert!(!plain(text).contains(char::is_control));
        }
        assert_eq!(plain("a\nb"), "a b");
    }

    #[test]
    fn titles() {
        assert_eq!(titled("which-one-is-better"), "Which One Is Better");
        assert_eq!(titled("a--b"), "A  B");
    }
}
