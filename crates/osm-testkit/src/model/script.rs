//! What conversations are to do: lists of commands, each with a number that its prompt names.
//!
//! The prompt carries the number and not the commands themselves. Agents look into prompts (`@file`
//! is replaced by a file, a leading `/` is a command of their own), and a prompt is visible in the
//! agent's arguments, where a command that looks at processes would find itself.

/// How a prompt names its script; a number follows.
const MARK: &str = "scripted-task-";

/// How a step that writes a file begins; the path follows.
const WRITE: &str = "write-file:";

/// A step in which the agent writes a file with its own tool, instead of running a command.
#[must_use]
pub fn write_file(path: &str) -> String {
    format!("{WRITE}{path}")
}

/// How a step that starts a sub-agent begins; its prompt follows.
const DELEGATE: &str = "delegate:";

/// A step in which the agent starts a sub-agent, which does what a script says.
#[must_use]
pub fn delegate(script: &Script) -> String {
    format!("{DELEGATE}{}", script.prompt())
}

/// How a step that calls a tool of an MCP server begins; the server and the tool follow.
const CALL: &str = "call-tool:";

/// A step in which the agent calls a tool of an MCP server, without arguments.
#[must_use]
pub fn call_tool(server: &str, tool: &str) -> String {
    format!("{CALL}mcp__{server}__{tool}")
}

/// What a step asks for.
pub(super) enum Step<'a> {
    Run(&'a str),
    Write(&'a str),
    Delegate(&'a str),
    Call(&'a str),
}

impl<'a> Step<'a> {
    pub(super) fn of(text: &'a str) -> Self {
        if let Some(path) = text.strip_prefix(WRITE) {
            Self::Write(path)
        } else if let Some(prompt) = text.strip_prefix(DELEGATE) {
            Self::Delegate(prompt)
        } else if let Some(name) = text.strip_prefix(CALL) {
            Self::Call(name)
        } else {
            Self::Run(text)
        }
    }
}

/// A list of commands that one conversation is to run in turn.
#[derive(Clone, Debug)]
pub struct Script {
    number: usize,
}

impl Script {
    /// What to tell the agent.
    #[must_use]
    pub fn prompt(&self) -> String {
        format!("Please do {MARK}{}.", self.number)
    }
}

#[derive(Default)]
pub(super) struct Scripts(Vec<Entry>);

struct Entry {
    commands: Vec<String>,
    results: Vec<String>,
}

impl Scripts {
    pub(super) fn add(&mut self, commands: Vec<String>) -> Script {
        self.0.push(Entry { commands, results: Vec::new() });
        Script { number: self.0.len() - 1 }
    }

    /// The script that a text names last, if it is one of ours.
    pub(super) fn named_in(&self, text: &str) -> Option<Script> {
        let (_, after) = text.rsplit_once(MARK)?;
        let digits = after.find(|c: char| !c.is_ascii_digit()).unwrap_or(after.len());
        let number = after[..digits].parse().ok()?;
        (number < self.0.len()).then_some(Script { number })
    }

    pub(super) fn command(&self, script: &Script, index: usize) -> Option<&str> {
        self.0[script.number].commands.get(index).map(String::as_str)
    }

    pub(super) fn results(&self, script: &Script) -> &[String] {
        &self.0[script.number].results
    }

    /// Keeps what a conversation shows; a request that comes late, or again, takes nothing away.
    pub(super) fn keep_results(&mut self, script: &Script, results: &[&str]) {
        let kept = &mut self.0[script.number].results;
        if results.len() > kept.len() {
            *kept = results.iter().map(|&r| r.to_owned()).collect();
        }
    }
}

impl Script {
    /// The id of the call that asks for the command at `index`.
    pub(super) fn call_id(&self, index: usize) -> String {
        format!("call_{}_{index}", self.number)
    }
}
