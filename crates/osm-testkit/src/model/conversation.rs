//! A request to a model without its wire format, and the decision what to answer.

use serde_json::{Value, json};

use super::schema;
use super::script::{Scripts, Step};

/// What the model is asked to go on with.
#[derive(Default)]
pub(super) struct Conversation {
    pub(super) tools: Vec<Tool>,
    pub(super) turns: Vec<Turn>,
    /// The schema of the answer, where the client wants JSON and not prose.
    pub(super) answer_schema: Option<Value>,
}

/// A tool that the agent offers.
pub(super) struct Tool {
    pub(super) name: String,
    pub(super) parameters: Value,
}

/// A turn that the model did not take itself.
pub(super) enum Turn {
    User(String),
    ToolResult(String),
}

/// What the model answers, without its wire format.
pub(super) struct Answer {
    /// Different in every answer; ids are made of it.
    pub(super) number: u64,
    /// The name of the model that the client asked for.
    pub(super) model: String,
    pub(super) reply: Reply,
}

pub(super) enum Reply {
    Say(String),
    Call { id: String, tool: String, arguments: Value },
}

impl Conversation {
    /// What comes next: the command whose turn it is, or a sentence.
    ///
    /// Agents also ask for a title, a summary, a guess at what the user wants next. Such requests
    /// offer no shell, or name no script; a sentence does for them.
    pub(super) fn reply(&self, scripts: &mut Scripts) -> Reply {
        if let Some(schema) = &self.answer_schema {
            return Reply::Say(schema::instance(schema).to_string());
        }
        let Some((tool, command_key)) = self.shell_tool() else {
            return Reply::Say("A scripted task".to_owned());
        };
        let Some((at, script)) = self.turns.iter().enumerate().rev().find_map(|(at, turn)| {
            let Turn::User(text) = turn else { return None };
            Some((at, scripts.named_in(text)?))
        }) else {
            return Reply::Say("No script is named in this conversation.".to_owned());
        };
        let results: Vec<&str> = self.turns[at..]
            .iter()
            .filter_map(|turn| match turn {
                Turn::ToolResult(text) => Some(text.as_str()),
                Turn::User(_) => None,
            })
            .collect();
        scripts.keep_results(&script, &results);
        let Some(step) = scripts.command(&script, results.len()) else {
            return Reply::Say("All commands were run.".to_owned());
        };
        let call = match Step::of(step) {
            Step::Run(command) => {
                Some((tool, schema::shell_arguments(&tool.parameters, command_key, command)))
            }
            Step::Write(path) => self
                .first_tool(&["Write", "write_file", "write", "create", "editor", "apply_patch"])
                .map(|tool| (tool, schema::write_arguments(&tool.parameters, path))),
            Step::Call(_) => None,
            Step::Delegate(prompt) => {
                self.first_tool(&["Agent", "Task", "task", "agent"]).map(|tool| {
                    // The kind for any work has another name in opencode.
                    let kind = if tool.name == "task" { "general" } else { "general-purpose" };
                    (tool, schema::agent_arguments(&tool.parameters, prompt, kind))
                })
            }
        };
        let id = script.call_id(results.len());
        match (call, Step::of(step)) {
            (Some((tool, arguments)), _) => Reply::Call { id, tool: tool.name.clone(), arguments },
            (None, Step::Call(name)) => {
                Reply::Call { id, tool: self.server_tool(name), arguments: json!({}) }
            }
            (None, _) => Reply::Say(format!("No tool does this: {step}")),
        }
    }

    /// What this agent calls a tool of a server. Agents that search for such tools do not offer them, and use
    /// the name that is given.
    fn server_tool(&self, name: &str) -> String {
        let letters = |name: &str| name.replace(|c: char| !c.is_alphanumeric(), "");
        let bare = letters(name.trim_start_matches("mcp__"));
        let offered = self.tools.iter().find(|tool| letters(&tool.name).ends_with(&bare));
        offered.map_or_else(|| name.to_owned(), |tool| tool.name.clone())
    }

    /// The first of these tools that the agent offers.
    fn first_tool(&self, names: &[&str]) -> Option<&Tool> {
        names.iter().find_map(|name| self.tools.iter().find(|tool| tool.name == *name))
    }

    /// The tool that runs commands, and the name of its argument for the command.
    ///
    /// Known names come first, because some agents have further tools that take a `command`, such
    /// as one that watches it.
    fn shell_tool(&self) -> Option<(&Tool, &'static str)> {
        const NAMES: [&str; 7] = [
            "Bash",
            "bash",
            "exec_command",
            "run_shell_command",
            "shell_command",
            "shell",
            "local_shell",
        ];
        let known = NAMES.iter().find_map(|name| self.tools.iter().find(|t| t.name == *name));
        let candidates = known.into_iter().chain(&self.tools);
        candidates.into_iter().find_map(|tool| Some((tool, schema::command_key(&tool.parameters)?)))
    }
}

/// The text of a content that is a string, or a list of parts with a text each.
pub(super) fn text_of(content: &Value) -> String {
    if let Some(text) = content.as_str() {
        return text.to_owned();
    }
    content.as_array().into_iter().flatten().filter_map(|part| part["text"].as_str()).collect()
}
