//! What a hook is told: which conversation, which tool, which files.
//!
//! Agents name the same things differently, but no two of them give one name two meanings. So a payload is
//! read by all names, and the agent's row says only what its tools are. A payload comes from an agent that may be
//! another version than the one osm knows: a field of another type counts as missing.

#[cfg(test)]
mod tests;

use serde_json::Value;

use super::patch;
use super::table::{AGENTS, Agent};

/// The longest payload that is read. A tool that writes a file has its content in the payload.
pub(crate) const MOST_BYTES: u64 = 64 << 20;

/// When a hook runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Moment {
    /// A conversation begins, is resumed, cleared or compacted.
    SessionStart,
    /// A sub-agent begins.
    SubagentStart,
    /// A tool is about to run.
    BeforeTool,
    /// A tool has run.
    AfterTool,
    /// A conversation ends.
    SessionEnd,
}

/// The words of all moments, for completion.
pub(crate) const WORDS: &[&str] =
    &["session-start", "subagent-start", "before-tool", "after-tool", "session-end"];

impl Moment {
    /// Every moment, and its word on the command line.
    pub(crate) const TABLE: [(Self, &'static str); 5] = [
        (Self::SessionStart, "session-start"),
        (Self::SubagentStart, "subagent-start"),
        (Self::BeforeTool, "before-tool"),
        (Self::AfterTool, "after-tool"),
        (Self::SessionEnd, "session-end"),
    ];

    /// The moment of a word.
    pub(crate) fn named(word: &str) -> Option<Self> {
        Self::TABLE.iter().find(|(_, name)| *name == word).map(|(moment, _)| *moment)
    }

    /// Its word.
    pub(crate) fn word(self) -> &'static str {
        let row = Self::TABLE.iter().find(|(moment, _)| *moment == self);
        row.map_or("", |(_, word)| word)
    }

    /// What Claude Code calls it, and every agent with its form of payloads.
    pub(crate) fn claude_name(self) -> &'static str {
        match self {
            Self::SessionStart => "SessionStart",
            Self::SubagentStart => "SubagentStart",
            Self::BeforeTool => "PreToolUse",
            Self::AfterTool => "PostToolUse",
            Self::SessionEnd => "SessionEnd",
        }
    }
}

/// The conversation that an agent names, and the sub-agent that speaks in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Speaker {
    /// The conversation.
    pub(crate) session: Option<String>,
    /// The sub-agent, if one runs the tool.
    pub(crate) subagent: Option<String>,
}

/// What a hook is told.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Event {
    /// When it runs.
    pub(crate) moment: Moment,
    /// The agent's own name for that.
    pub(crate) name: Option<String>,
    /// Who runs the tool.
    pub(crate) speaker: Speaker,
    /// The folder in which the agent works.
    pub(crate) folder: Option<String>,
    /// The tool.
    pub(crate) tool: Option<Tool>,
    /// The payload has the form of Claude Code's.
    pub(crate) has_claude_form: bool,
}

/// A call of a tool.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Tool {
    /// Its name.
    pub(crate) name: String,
    /// What it does to files.
    pub(crate) kind: Kind,
    /// The files, as the agent names them.
    pub(crate) paths: Vec<String>,
    /// Its arguments.
    pub(crate) input: Value,
}

/// What a tool does to files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Changes them.
    Edit,
    /// Reads them.
    Read,
    /// Runs a command, which can do anything.
    Shell,
    /// Does not touch them.
    Other,
}

/// Why a payload says nothing.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Unreadable {
    /// It is not JSON.
    #[error("the payload is not JSON: {0}")]
    Json(#[from] serde_json::Error),
    /// It is JSON, but not an object.
    #[error("the payload is not a JSON object")]
    NotAnObject,
}

/// The arguments in which tools name a file.
const PATHS: [&str; 9] = [
    "file_path",
    "filePath",
    "notebook_path",
    "path",
    "absolute_path",
    "filename",
    "source",
    "destination",
    "relative_path",
];

/// The arguments in which tools name several.
const LISTS: [&str; 3] = ["paths", "files", "file_paths"];

/// The arguments in which a patch can be.
const PATCHES: [&str; 5] = ["command", "patchText", "patch", "input", "diff"];

/// Words in the name of an MCP tool that only looks at files.
const READING: [&str; 14] = [
    "read", "get", "list", "search", "find", "grep", "view", "show", "stat", "info", "tree",
    "open", "query", "fetch",
];

impl Event {
    /// Reads a payload. The agent is unknown if the process tree does not show it; then a tool is known by its
    /// name in any agent.
    pub(crate) fn parse(
        moment: Moment,
        agent: Option<&Agent>,
        bytes: &[u8],
    ) -> Result<Self, Unreadable> {
        let payload: Value = serde_json::from_slice(bytes)?;
        if !payload.is_object() {
            return Err(Unreadable::NotAnObject);
        }
        Ok(Self {
            moment,
            name: first(&payload, &["hook_event_name", "hookEventName", "hookName"]),
            speaker: speaker(&payload),
            folder: first(&payload, &["cwd"]).or_else(|| text(&payload["workspaceRoots"][0])),
            tool: tool(agent, &payload),
            has_claude_form: payload["session_id"].is_string()
                && payload["hook_event_name"].is_string(),
        })
    }

    /// The files that the tool changes.
    pub(crate) fn edited(&self) -> &[String] {
        self.paths_of(Kind::Edit)
    }

    /// The files that the tool reads.
    pub(crate) fn read(&self) -> &[String] {
        self.paths_of(Kind::Read)
    }

    fn paths_of(&self, kind: Kind) -> &[String] {
        self.tool.as_ref().filter(|tool| tool.kind == kind).map_or(&[], |tool| &tool.paths)
    }

    /// Whether the tool runs a command.
    pub(crate) fn is_shell(&self) -> bool {
        self.tool.as_ref().is_some_and(|tool| tool.kind == Kind::Shell)
    }
}

/// The conversation, and the sub-agent that speaks in it.
fn speaker(payload: &Value) -> Speaker {
    let session = first(payload, &["session_id", "sessionId", "sessionID"])
        .or_else(|| text(&payload["sessionContext"]["rootSessionId"]))
        .or_else(|| text(&payload["taskId"]));
    // Copilot: the session of a sub-agent is the sub-agent, and its parent is the conversation.
    if let Some(parent) = text(&payload["parentAgentId"]) {
        let subagent = text(&payload["agentId"]).or(session);
        return Speaker { session: Some(parent), subagent };
    }
    // Cline gives the main agent an id, too, and says that it has no parent.
    let is_main = payload.get("parent_agent_id").is_some_and(Value::is_null);
    let subagent = text(&payload["agent_id"]).filter(|_| !is_main);
    let subagent = subagent.filter(|it| Some(it) != session.as_ref());
    Speaker { session, subagent }
}

fn tool(agent: Option<&Agent>, payload: &Value) -> Option<Tool> {
    let call = &payload["tool_call"];
    let name = first(payload, &["tool_name", "toolName"])
        .or_else(|| text(&call["name"]))
        .or_else(|| text(&payload["preToolUse"]["toolName"]))
        .or_else(|| text(&payload["postToolUse"]["toolName"]))?;
    let inputs = [
        &payload["tool_input"],
        &payload["toolArgs"],
        &call["input"],
        &payload["preToolUse"]["parameters"],
        &payload["postToolUse"]["parameters"],
    ];
    let input = inputs.into_iter().find(|it| !it.is_null()).cloned().unwrap_or_default();
    let paths = paths(&input);
    let kind = kind(agent, &name, !paths.is_empty());
    Some(Tool { name, kind, paths, input })
}

/// What a tool does: by the agent's row, or, for a tool of an MCP server, by the words in its name.
fn kind(agent: Option<&Agent>, name: &str, has_path: bool) -> Kind {
    let rows = || AGENTS.iter().filter(|row| agent.is_none_or(|it| it.name == row.name));
    let is = |tools: fn(&'static Agent) -> &'static [&'static str]| {
        rows().any(|row| tools(row).contains(&name))
    };
    if is(|row| row.edits) {
        Kind::Edit
    } else if is(|row| row.shells) {
        Kind::Shell
    } else if is(|row| row.reads) {
        Kind::Read
    } else if has_path && name.starts_with("mcp_") {
        let tool = name.rsplit("__").next().unwrap_or(name);
        let mut words = tool.split(|c: char| !c.is_ascii_alphanumeric());
        let reads = words.any(|word| READING.contains(&word.to_ascii_lowercase().as_str()));
        if reads { Kind::Read } else { Kind::Edit }
    } else {
        Kind::Other
    }
}

/// The files that arguments name.
fn paths(input: &Value) -> Vec<String> {
    if let Some(patch) = input.as_str() {
        return patch::paths(patch);
    }
    let patches = PATCHES.iter().filter_map(|key| input[*key].as_str());
    let patched: Vec<String> = patches.flat_map(patch::paths).collect();
    if !patched.is_empty() {
        return patched;
    }
    let single = PATHS.iter().filter_map(|key| text(&input[*key]));
    let listed = LISTS.iter().filter_map(|key| input[*key].as_array()).flatten();
    let mut named: Vec<String> =
        single.chain(listed.filter_map(|it| text(it).or_else(|| text(&it["path"])))).collect();
    named.dedup();
    named
}

/// The first of these fields that is a text.
fn first(value: &Value, names: &[&str]) -> Option<String> {
    names.iter().find_map(|name| text(&value[*name]))
}

/// A text that says something.
fn text(value: &Value) -> Option<String> {
    value.as_str().filter(|text| !text.trim().is_empty()).map(str::to_owned)
}
