//! The agents that osm can be installed into: where their hooks are, what they say, what they hear.
//!
//! Tests drive the real agent where `tried` is true. The other rows follow what was observed of the agent, or, for
//! Cursor, Crush and Goose, the vendor's documentation.

use super::event::Moment;

/// One agent.
#[derive(Debug)]
pub(crate) struct Agent {
    /// What a user types: `osm agent install claude`.
    pub(crate) name: &'static str,
    /// What its vendor calls it.
    pub(crate) title: &'static str,
    /// Its name in the catalogue of identity, and so in ids.
    pub(crate) catalogue: &'static str,
    /// Its folder of settings.
    pub(crate) folder: Folder,
    /// How its hooks are written down.
    pub(crate) format: Format,
    /// Where it is told of MCP servers; `None` if osm cannot tell it.
    pub(crate) server: Option<Server>,
    /// Its skills, below its folder.
    pub(crate) skill: Option<&'static str>,
    /// Its hooks.
    pub(crate) hooks: &'static [Hook],
    /// The tools that change files.
    pub(crate) edits: &'static [&'static str],
    /// The tools that read a file.
    pub(crate) reads: &'static [&'static str],
    /// The tools that run shell commands.
    pub(crate) shells: &'static [&'static str],
    /// How its payloads name the session.
    pub(crate) identity: Identity,
    /// How it is answered.
    pub(crate) dialect: Dialect,
    /// Whether tests drive the real agent with osm's hooks.
    pub(crate) tried: bool,
    /// What its hooks cannot do, for people.
    pub(crate) limits: &'static [&'static str],
}

/// Where an agent keeps its settings.
#[derive(Debug)]
pub(crate) struct Folder {
    /// A variable that names the user's folder.
    pub(crate) variable: Option<&'static str>,
    /// The user's folder: below the home, or below the folder of all configurations.
    pub(crate) user: Below,
    /// The project's folder, below the project.
    pub(crate) project: &'static str,
}

/// A folder below another one.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Below {
    /// `~/NAME`
    Home(&'static str),
    /// `$XDG_CONFIG_HOME/NAME`, or `~/.config/NAME`
    Config(&'static str),
}

/// How hooks are written down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    /// Groups with a matcher in a settings file that others write to, too.
    Groups {
        /// The file, below the agent's folder.
        file: &'static str,
        /// Whether the agent accepts comments in it.
        comments: bool,
        /// The time limit of a hook, in the agent's unit.
        timeout: u32,
    },
    /// `{"version": 1, "hooks": {EVENT: [{…}]}}`, in a file of our own.
    Copilot {
        /// The file.
        file: &'static str,
    },
    /// `{"version": 1, "hooks": {EVENT: [{"command", "matcher"}]}}`, in a shared file.
    Cursor {
        /// The file.
        file: &'static str,
    },
    /// `{"hooks": {EVENT: [{"command", "matcher", "timeout"}]}}`, in a shared file with comments.
    Crush {
        /// The file.
        file: &'static str,
    },
    /// A program for each event, in this folder.
    Programs {
        /// The folder.
        folder: &'static str,
    },
    /// A module of JavaScript, in a file of our own.
    Module {
        /// The file.
        file: &'static str,
        /// Its text.
        text: &'static str,
    },
}

/// Where an agent is told of MCP servers.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Server {
    /// A member of an object in JSON.
    Json {
        /// The user's file.
        user: Spot,
        /// The project's file.
        project: Option<Spot>,
        /// Whether the agent accepts comments in it.
        comments: bool,
        /// The name of the object with all servers.
        key: &'static str,
        /// The server.
        entry: &'static str,
    },
    /// Tables of the user's or the project's `config.toml`.
    Codex,
    /// The module with its hooks tells it.
    Module,
}

/// Where a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Spot {
    /// In the agent's folder.
    Folder(&'static str),
    /// In the agent's folder if a variable names that, else in the home.
    Home(&'static str),
    /// At the top of the project.
    Top(&'static str),
}

/// One hook.
#[derive(Debug)]
pub(crate) struct Hook {
    /// The agent's name for the event.
    pub(crate) event: &'static str,
    /// What osm calls it.
    pub(crate) moment: Moment,
    /// The tools for which it runs, as a regular expression; empty for an event without tools.
    pub(crate) matcher: &'static str,
}

const fn hook(event: &'static str, moment: Moment, matcher: &'static str) -> Hook {
    Hook { event, moment, matcher }
}

/// How a payload names the session, so that a hook and a shell command of one conversation are one session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Identity {
    /// Shell commands have a variable with the id of the conversation; the payload has the id.
    Conversation {
        /// The variables, which all have this value.
        variables: &'static [&'static str],
        /// How a sub-agent is told apart.
        subagent: SubAgent,
    },
    /// Shell commands know only the agent's process; so the conversation in the payload does not count.
    Process {
        /// How a sub-agent is told apart.
        subagent: SubAgent,
    },
}

/// How a sub-agent is told apart from its agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SubAgent {
    /// It is not.
    Same,
    /// Its shell commands have this variable, and the payload has the same value.
    Variable(&'static str),
    /// Only the payload has an id; osm puts `OSM_CONTEXT_ID` before its shell commands.
    Context,
    /// Its id takes the place of the conversation in this variable.
    Conversation(&'static str),
}

/// How an agent is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// `hookSpecificOutput`, with `permissionDecision`.
    Claude,
    /// `decision` and `reason`.
    Gemini,
    /// `permissionDecision` at the top; Claude's form if the payload has Claude's form.
    Copilot,
    /// A refusal would end the run, so the call is replaced by a harmless one.
    Cline,
    /// The plain form that osm's own modules of JavaScript read.
    Module,
    /// `permission` and `agent_message`.
    Cursor,
    /// `decision` and `reason`, and nothing else.
    Crush,
}

/// An MCP server as most agents write it down.
const PLAIN_SERVER: &str = r#"{"command":"osm","args":["mcp"]}"#;

const CLAUDE_EDITS: &[&str] = &["Write", "Edit", "MultiEdit", "NotebookEdit"];

/// The names of all agents, for completion.
pub(crate) const NAMES: &[&str] = &[
    "claude", "codex", "gemini", "qwen", "opencode", "copilot", "cline", "pi", "cursor", "crush",
    "goose",
];

/// Every agent.
pub(crate) static AGENTS: &[Agent] = &[
    Agent {
        name: "claude",
        title: "Claude Code",
        catalogue: "claude-code",
        folder: Folder {
            variable: Some("CLAUDE_CONFIG_DIR"),
            user: Below::Home(".claude"),
            project: ".claude",
        },
        format: Format::Groups { file: "settings.json", comments: false, timeout: 30 },
        server: Some(Server::Json {
            user: Spot::Home(".claude.json"),
            project: Some(Spot::Top(".mcp.json")),
            comments: false,
            key: "mcpServers",
            entry: r#"{"type":"stdio","command":"osm","args":["mcp"]}"#,
        }),
        skill: Some("skills"),
        hooks: &[
            hook("SessionStart", Moment::SessionStart, ""),
            hook("SubagentStart", Moment::SubagentStart, ""),
            hook(
                "PreToolUse",
                Moment::BeforeTool,
                "Write|Edit|MultiEdit|NotebookEdit|Bash|mcp__.*",
            ),
            hook("PostToolUse", Moment::AfterTool, "Write|Edit|MultiEdit|NotebookEdit|Read|Bash"),
            hook("SessionEnd", Moment::SessionEnd, ""),
        ],
        edits: CLAUDE_EDITS,
        reads: &["Read"],
        shells: &["Bash"],
        identity: Identity::Conversation {
            variables: &["CLAUDE_CODE_SESSION_ID"],
            subagent: SubAgent::Context,
        },
        dialect: Dialect::Claude,
        tried: true,
        limits: &[],
    },
    Agent {
        name: "codex",
        title: "Codex",
        catalogue: "codex",
        folder: Folder {
            variable: Some("CODEX_HOME"),
            user: Below::Home(".codex"),
            project: ".codex",
        },
        format: Format::Groups { file: "hooks.json", comments: false, timeout: 30 },
        server: Some(Server::Codex),
        skill: Some("skills"),
        hooks: &[
            hook("SessionStart", Moment::SessionStart, ""),
            hook("SubagentStart", Moment::SubagentStart, ""),
            hook("PreToolUse", Moment::BeforeTool, "apply_patch|Write|Edit|Bash|mcp__.*"),
            hook("PostToolUse", Moment::AfterTool, "apply_patch|Bash"),
        ],
        edits: &["apply_patch", "Write", "Edit"],
        reads: &[],
        shells: &["Bash", "exec_command", "shell"],
        identity: Identity::Conversation {
            variables: &["CODEX_SESSION_ID", "CODEX_THREAD_ID"],
            subagent: SubAgent::Conversation("CODEX_THREAD_ID"),
        },
        dialect: Dialect::Claude,
        tried: true,
        limits: &["runs a hook only after you trust it: type /hooks in Codex"],
    },
    Agent {
        name: "gemini",
        title: "Gemini CLI",
        catalogue: "gemini-cli",
        folder: Folder { variable: None, user: Below::Home(".gemini"), project: ".gemini" },
        format: Format::Groups { file: "settings.json", comments: true, timeout: 30_000 },
        server: Some(Server::Json {
            user: Spot::Folder("settings.json"),
            project: Some(Spot::Folder("settings.json")),
            comments: true,
            key: "mcpServers",
            entry: PLAIN_SERVER,
        }),
        skill: Some("skills"),
        hooks: &[
            hook("SessionStart", Moment::SessionStart, ""),
            hook("BeforeTool", Moment::BeforeTool, "write_file|replace|run_shell_command|mcp_.*"),
            hook("AfterTool", Moment::AfterTool, "write_file|replace|read_file|run_shell_command"),
            hook("SessionEnd", Moment::SessionEnd, ""),
        ],
        edits: &["write_file", "replace"],
        reads: &["read_file"],
        shells: &["run_shell_command"],
        identity: Identity::Process { subagent: SubAgent::Same },
        dialect: Dialect::Gemini,
        tried: true,
        limits: &["its hooks cannot tell a sub-agent from its agent"],
    },
    Agent {
        name: "qwen",
        title: "Qwen Code",
        catalogue: "qwen-code",
        folder: Folder { variable: None, user: Below::Home(".qwen"), project: ".qwen" },
        format: Format::Groups { file: "settings.json", comments: true, timeout: 30 },
        server: Some(Server::Json {
            user: Spot::Folder("settings.json"),
            project: Some(Spot::Folder("settings.json")),
            comments: true,
            key: "mcpServers",
            entry: PLAIN_SERVER,
        }),
        skill: Some("skills"),
        hooks: &[
            hook("SessionStart", Moment::SessionStart, ""),
            hook("SubagentStart", Moment::SubagentStart, ""),
            hook(
                "PreToolUse",
                Moment::BeforeTool,
                "write_file|edit|notebook_edit|run_shell_command|mcp__.*",
            ),
            hook("PostToolUse", Moment::AfterTool, "write_file|edit|read_file|run_shell_command"),
            hook("SessionEnd", Moment::SessionEnd, ""),
        ],
        edits: &["write_file", "edit", "notebook_edit"],
        reads: &["read_file"],
        shells: &["run_shell_command"],
        identity: Identity::Conversation {
            variables: &["QWEN_CODE_SESSION_ID"],
            subagent: SubAgent::Variable("QWEN_CODE_AGENT_ID"),
        },
        dialect: Dialect::Claude,
        tried: true,
        limits: &[],
    },
    Agent {
        name: "opencode",
        title: "opencode",
        catalogue: "opencode",
        folder: Folder { variable: None, user: Below::Config("opencode"), project: ".opencode" },
        format: Format::Module {
            file: "plugin/osm.js",
            text: include_str!("../../assets/agents/opencode.js"),
        },
        server: Some(Server::Module),
        skill: Some("skills"),
        hooks: &[],
        edits: &["write", "edit", "apply_patch", "patch"],
        reads: &["read"],
        shells: &["bash"],
        identity: Identity::Process { subagent: SubAgent::Context },
        dialect: Dialect::Module,
        tried: true,
        limits: &["a resumed conversation is a new session"],
    },
    Agent {
        name: "copilot",
        title: "Copilot CLI",
        catalogue: "copilot",
        folder: Folder {
            variable: Some("COPILOT_HOME"),
            user: Below::Home(".copilot"),
            project: ".github",
        },
        format: Format::Copilot { file: "hooks/osm.json" },
        server: Some(Server::Json {
            user: Spot::Folder("mcp-config.json"),
            // In a project it reads `.mcp.json`, which is Claude Code's.
            project: None,
            comments: true,
            key: "mcpServers",
            entry: r#"{"type":"local","command":"osm","args":["mcp"],"tools":["*"]}"#,
        }),
        skill: Some("skills"),
        hooks: &[
            hook("sessionStart", Moment::SessionStart, ""),
            hook("preToolUse", Moment::BeforeTool, ""),
            hook("postToolUse", Moment::AfterTool, ""),
            hook("sessionEnd", Moment::SessionEnd, ""),
        ],
        edits: &["create", "edit", "apply_patch", "Write", "Edit"],
        reads: &["view", "Read"],
        shells: &["bash", "Bash"],
        identity: Identity::Conversation {
            variables: &["COPILOT_AGENT_SESSION_ID"],
            subagent: SubAgent::Context,
        },
        dialect: Dialect::Copilot,
        tried: true,
        limits: &["-p runs the hooks of a project only in a trusted folder"],
    },
    Agent {
        name: "cline",
        title: "Cline CLI",
        catalogue: "cline",
        folder: Folder { variable: None, user: Below::Home(".cline"), project: ".clinerules" },
        format: Format::Programs { folder: "hooks" },
        server: Some(Server::Json {
            user: Spot::Folder("data/settings/cline_mcp_settings.json"),
            project: None,
            comments: false,
            key: "mcpServers",
            entry: r#"{"transport":{"type":"stdio","command":"osm","args":["mcp"]}}"#,
        }),
        skill: None,
        hooks: &[
            hook("PreToolUse", Moment::BeforeTool, ""),
            hook("PostToolUse", Moment::AfterTool, ""),
        ],
        edits: &["editor"],
        reads: &["read_file", "read_files"],
        shells: &["run_commands"],
        identity: Identity::Process { subagent: SubAgent::Same },
        dialect: Dialect::Cline,
        tried: true,
        limits: &[
            "a refusal ends its run, so osm replaces the edit by one without effect",
            "it does not hear osm at the start of a task",
        ],
    },
    Agent {
        name: "pi",
        title: "pi",
        catalogue: "pi",
        folder: Folder { variable: None, user: Below::Home(".pi/agent"), project: ".pi" },
        format: Format::Module {
            file: "extensions/osm.js",
            text: include_str!("../../assets/agents/pi.js"),
        },
        server: None,
        skill: Some("skills"),
        hooks: &[],
        edits: &["write", "edit"],
        reads: &["read"],
        shells: &["bash"],
        identity: Identity::Conversation {
            variables: &["PI_SESSION_ID"],
            subagent: SubAgent::Same,
        },
        dialect: Dialect::Module,
        tried: true,
        limits: &[
            "-p skips the extensions of a project that is not trusted",
            "it has no MCP before version 1",
        ],
    },
    Agent {
        name: "cursor",
        title: "Cursor",
        catalogue: "cursor",
        folder: Folder { variable: None, user: Below::Home(".cursor"), project: ".cursor" },
        format: Format::Cursor { file: "hooks.json" },
        server: Some(Server::Json {
            user: Spot::Folder("mcp.json"),
            project: Some(Spot::Folder("mcp.json")),
            comments: false,
            key: "mcpServers",
            entry: PLAIN_SERVER,
        }),
        skill: None,
        hooks: &[
            hook("sessionStart", Moment::SessionStart, ""),
            hook("preToolUse", Moment::BeforeTool, "Write|StrReplace|Edit|TabWrite"),
            hook("postToolUse", Moment::AfterTool, "Write|StrReplace|Edit|TabWrite|Read|Shell"),
            hook("sessionEnd", Moment::SessionEnd, ""),
        ],
        edits: &["Write", "StrReplace", "Edit", "TabWrite"],
        reads: &["Read"],
        shells: &["Shell"],
        identity: Identity::Conversation {
            variables: &["CURSOR_CONVERSATION_ID"],
            subagent: SubAgent::Same,
        },
        dialect: Dialect::Cursor,
        tried: false,
        limits: &[],
    },
    Agent {
        name: "crush",
        title: "Crush",
        catalogue: "crush",
        folder: Folder { variable: None, user: Below::Config("crush"), project: "" },
        format: Format::Crush { file: "crush.json" },
        server: Some(Server::Json {
            user: Spot::Folder("crush.json"),
            project: Some(Spot::Folder("crush.json")),
            comments: true,
            key: "mcp",
            entry: r#"{"type":"stdio","command":"osm","args":["mcp"]}"#,
        }),
        skill: None,
        hooks: &[hook("PreToolUse", Moment::BeforeTool, "^(edit|multiedit|write)$")],
        edits: &["edit", "multiedit", "write"],
        reads: &["view"],
        shells: &["bash"],
        identity: Identity::Conversation {
            variables: &["CRUSH_SESSION_ID"],
            subagent: SubAgent::Same,
        },
        dialect: Dialect::Crush,
        tried: false,
        limits: &["has a hook before a tool and no other, and none inside sub-agents"],
    },
    Agent {
        name: "goose",
        title: "Goose",
        catalogue: "goose",
        folder: Folder {
            variable: None,
            user: Below::Home(".agents/plugins/osm"),
            project: ".agents/plugins/osm",
        },
        format: Format::Groups { file: "hooks/hooks.json", comments: false, timeout: 30 },
        server: None,
        skill: None,
        hooks: &[
            hook("SessionStart", Moment::SessionStart, ""),
            hook("PreToolUse", Moment::BeforeTool, ".*"),
            hook("PostToolUse", Moment::AfterTool, ".*"),
        ],
        edits: &["text_editor", "developer__text_editor", "write", "edit"],
        reads: &[],
        shells: &["shell", "developer__shell"],
        identity: Identity::Conversation {
            variables: &["AGENT_SESSION_ID"],
            subagent: SubAgent::Same,
        },
        dialect: Dialect::Claude,
        tried: false,
        limits: &[],
    },
];

impl Agent {
    /// The agent that a user names.
    pub(crate) fn named(name: &str) -> Option<&'static Self> {
        AGENTS.iter().find(|agent| agent.name == name || agent.catalogue == name)
    }

    /// The agent that identity found above a process.
    pub(crate) fn of_catalogue(name: &str) -> Option<&'static Self> {
        AGENTS.iter().find(|agent| agent.catalogue == name)
    }
}

#[cfg(test)]
mod tests {
    use osm_identity::Catalogue;

    use super::*;

    #[test]
    fn every_agent_is_completed() {
        assert!(AGENTS.iter().map(|agent| agent.name).eq(NAMES.iter().copied()));
    }

    #[test]
    fn identity_knows_every_agent_and_its_variables() {
        let catalogue = Catalogue::new();
        for agent in AGENTS {
            let known = catalogue.agents().find(|it| it.name == agent.catalogue);
            let known = known.unwrap_or_else(|| panic!("{} is not in the catalogue", agent.name));
            let variables = match agent.identity {
                Identity::Conversation { variables, .. } => variables,
                Identity::Process { .. } => &[],
            };
            for variable in variables {
                assert!(known.session.contains(variable), "{}: {variable}", agent.name);
            }
            if let Identity::Conversation { subagent: SubAgent::Variable(name), .. } =
                agent.identity
            {
                assert_eq!(known.subagent, Some(name), "{}", agent.name);
            }
        }
    }
}
