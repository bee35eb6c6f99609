//! Coding agents: how to know one by its process, and where it says which conversation it is.
//!
//! An agent's process is the proof, its variables are evidence. Most agents export the id of the
//! conversation to the commands they run; that id is the better identity, since it survives a
//! restart and tells two conversations of one process apart. But variables are inherited by
//! whatever outlives the agent, so an id counts only below the agent that it belongs to.

use super::Names;

/// A coding agent.
#[derive(Clone, Copy, Debug)]
pub struct Agent {
    /// Its name, as it stands in ids.
    pub name: &'static str,
    /// Names of its process or of its script.
    pub programs: Names,
    /// Runs of path components that mark its executable or script, for processes whose own name
    /// says nothing (`node`, `agent`, `2.1.325`).
    pub packages: Names,
    /// Names that look like the agent and are not: a daemon shared by all its sessions.
    pub impostors: Names,
    /// Variables that name the conversation, the more specific first.
    pub session: Names,
    /// Where it writes down the conversation, for commands that no variable reaches.
    pub record: Option<Record>,
    /// The variable in which the agent publishes its own pid.
    pub owner: Option<&'static str>,
    /// The variable that names a sub-agent; blank for the main one.
    pub subagent: Option<&'static str>,
    /// A variable that must be set for the process to count, where the name alone is too common.
    pub marker: Option<&'static str>,
    /// The name is too common for a program, but not for a script: it counts only where an
    /// interpreter runs it.
    pub is_script: bool,
    /// Graphical programs that run the agent inside themselves: they confirm its variables, but
    /// are not an identity, since one process has many windows.
    pub hosts: Names,
    /// Conversation ids count up on each machine, so the boot is part of the identity.
    pub local_ids: bool,
    /// One process serves several conversations at once. Elsewhere a new id in the same process
    /// means that the conversation was cleared or compacted.
    pub concurrent: bool,
}

/// A file of JSON named after the pid of an agent, in which the agent tells its conversation.
#[derive(Clone, Copy, Debug)]
pub struct Record {
    /// The folder of the agent's settings in the home of its user,
    pub home: &'static str,
    /// unless this variable of the agent names another.
    pub moved_by: &'static str,
    /// The folder of the files in it.
    pub folder: &'static str,
    /// The key of the conversation.
    pub conversation: &'static str,
    /// The key of the start of the process, as the process table spells it.
    pub start: &'static str,
}

impl Agent {
    /// Nothing known yet: the base of every row.
    pub const NONE: Self = Self {
        name: "",
        programs: &[],
        packages: &[],
        impostors: &[],
        session: &[],
        record: None,
        owner: None,
        subagent: None,
        marker: None,
        is_script: false,
        hosts: &[],
        local_ids: false,
        concurrent: false,
    };

    /// An agent that a user describes.
    ///
    /// A catalogue is filled once, when a program starts, and lives as long as it does; so do the
    /// texts given here.
    #[must_use]
    pub fn defined(
        name: String,
        programs: Vec<String>,
        session: Vec<String>,
        owner: Option<String>,
    ) -> Self {
        let keep = |texts: Vec<String>| -> Names {
            texts.into_iter().map(|text| &*text.leak()).collect::<Vec<_>>().leak()
        };
        Self {
            name: name.leak(),
            programs: keep(programs),
            session: keep(session),
            owner: owner.map(|owner| &*owner.leak()),
            ..Self::NONE
        }
    }
}

const fn named(name: &'static str, programs: Names) -> Agent {
    Agent { name, programs, ..Agent::NONE }
}

/// All that we know.
///
/// The order matters where one agent sets another's variables for compatibility: Amp and
/// `CodeBuddy` before Claude Code, Kilo before opencode, Qwen Code before Gemini CLI.
pub static AGENTS: &[Agent] = &[
    Agent {
        packages: &["@sourcegraph/amp"],
        session: &["AMP_CURRENT_THREAD_ID", "AGENT_THREAD_ID"],
        ..named("amp", &["amp"])
    },
    Agent {
        packages: &["@tencent-ai/codebuddy-code"],
        session: &["CODEBUDDY_SESSION_ID"],
        ..named("codebuddy", &["codebuddy"])
    },
    Agent {
        packages: &["@anthropic-ai/claude-code", "claude/versions"],
        impostors: &["claude daemon"],
        session: &["CLAUDE_CODE_SESSION_ID"],
        record: Some(Record {
            home: ".claude",
            moved_by: "CLAUDE_CONFIG_DIR",
            folder: "sessions",
            conversation: "sessionId",
            start: "procStart",
        }),
        owner: Some("CLAUDE_PID"),
        ..named("claude-code", &["claude"])
    },
    Agent {
        packages: &["@openai/codex"],
        session: &["CODEX_THREAD_ID", "CODEX_SESSION_ID"],
        concurrent: true,
        ..named("codex", &["codex", "codex.js"])
    },
    Agent {
        packages: &["@kilocode/cli"],
        owner: Some("KILO_PID"),
        ..named("kilo", &["kilo", "kilocode"])
    },
    Agent {
        packages: &["opencode-ai"],
        session: &["OPENCODE_SESSION_ID"],
        owner: Some("OPENCODE_PID"),
        concurrent: true,
        ..named("opencode", &["opencode"])
    },
    Agent {
        packages: &["cursor-agent/versions"],
        session: &["CURSOR_CONVERSATION_ID"],
        hosts: &["Cursor", "cursor", "cursor-server"],
        ..named("cursor", &["cursor-agent"])
    },
    Agent { session: &["KIRO_SESSION_ID"], ..named("kiro", &["kiro-cli", "kiro-cli-chat"]) },
    Agent {
        packages: &["@github/copilot"],
        session: &["COPILOT_AGENT_SESSION_ID"],
        ..named("copilot", &["copilot"])
    },
    Agent {
        session: &["AGENT_SESSION_ID"],
        local_ids: true,
        ..named("goose", &["goose", "goosed"])
    },
    Agent {
        session: &["PI_SESSION_ID"],
        marker: Some("PI_CODING_AGENT"),
        ..named("pi", &["pi", "pi-rpc"])
    },
    Agent { session: &["CRUSH_SESSION_ID"], ..named("crush", &["crush"]) },
    Agent { session: &["GROK_SESSION_ID"], ..named("grok", &["grok"]) },
    Agent {
        packages: &["@qwen-code/qwen-code"],
        session: &["QWEN_CODE_SESSION_ID"],
        subagent: Some("QWEN_CODE_AGENT_ID"),
        ..named("qwen-code", &["qwen", "qwen.js"])
    },
    Agent {
        session: &["HERMES_SESSION_ID"],
        ..named("hermes", &["hermes", "hermes-agent", "hermes-acp"])
    },
    Agent {
        packages: &["@letta-ai/letta-code"],
        session: &["LETTA_CONVERSATION_ID"],
        ..named("letta-code", &["letta"])
    },
    Agent {
        packages: &["@augmentcode/auggie"],
        session: &["AUGMENT_CONVERSATION_ID"],
        ..named("auggie", &["auggie", "augment.mjs"])
    },
    Agent {
        session: &["CLINE_TASK_ID"],
        hosts: &["code", "code-insiders", "codium", "Cursor", "cursor"],
        ..named("cline", &["cline"])
    },
    Agent {
        session: &["ROO_CODE_TASK_ID"],
        hosts: &["code", "code-insiders", "codium", "Cursor", "cursor"],
        ..named("roo-code", &[])
    },
    named("antigravity", &["agy"]),
    Agent { session: &["OZ_RUN_ID"], hosts: &["warp", "warp-terminal"], ..named("warp", &["oz"]) },
    Agent {
        // Only its hooks have GEMINI_SESSION_ID; its shell commands and MCP servers do not.
        packages: &["@google/gemini-cli"],
        ..named("gemini-cli", &["gemini", "gemini.js"])
    },
    named("oh-my-pi", &["omp"]),
    named("junie", &["junie"]),
    Agent { packages: &["@continuedev/cli"], ..named("continue", &["cn"]) },
    Agent { packages: &["@factory/cli"], ..named("droid", &["droid"]) },
    named("aider", &["aider"]),
    Agent {
        packages: &["@moonshot-ai/kimi-code"],
        ..named("kimi", &["kimi", "kimi-code", "kimi-cli", "Kimi Code"])
    },
    named("mistral-vibe", &["vibe", "vibe-rs", "vibe-app-server", "vibe-acp"]),
    named("mini-swe-agent", &["mini-swe-agent"]),
    Agent { is_script: true, ..named("mini-swe-agent", &["mini"]) },
    named("deepagents", &["deepagents", "deepagents-cli", "deepagents-code", "dcode"]),
    named("gptme", &["gptme", "gptme-tui", "gptme-acp", "gptme-server"]),
    Agent { packages: &["@qoder-ai/qodercli"], ..named("qoder", &["qodercli", "qodercli.js"]) },
    named("devin", &["devin"]),
    named("reasonix", &["reasonix"]),
    named("code-puppy", &["code-puppy"]),
    Agent { packages: &["open-codex/dist"], ..named("open-codex", &["open-codex"]) },
    Agent { packages: &["@nanocollective/nanocoder"], ..named("nanocoder", &["nanocoder"]) },
];

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_row_can_be_told_and_spelled() {
        let mut programs = BTreeSet::new();
        for agent in AGENTS {
            assert!(agent.name.bytes().all(|b| b.is_ascii_lowercase() || b == b'-'), "{agent:?}");
            assert!(agent.name.len() <= 20, "{}: ids have 80 bytes", agent.name);
            assert!(!agent.programs.is_empty() || !agent.hosts.is_empty(), "{}", agent.name);
            for program in agent.programs {
                assert!(programs.insert(*program), "{program} is two agents");
            }
            for package in agent.packages {
                assert!(!package.starts_with('/') && !package.ends_with('/'), "{package}");
            }
        }
    }
}
