//! The agents whose hooks are measured, and what they send.

use std::path::Path;

use serde::{Deserialize, Serialize};

/// What a hook is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Question {
    /// Before an edit of a file that the session has claimed.
    Ours,
    /// Before an edit of a file that no session has claimed.
    New,
    /// Before an edit of a file that another running session has claimed.
    Held,
    /// After an edit.
    Done,
    /// Before a shell command.
    Command,
}

impl Question {
    /// All of them, with what the tables call them.
    pub(crate) const TABLE: [(Self, &'static str); 5] = [
        (Self::Ours, "before an edit, ours already"),
        (Self::New, "before an edit, a new claim"),
        (Self::Held, "before an edit, refused"),
        (Self::Done, "after an edit"),
        (Self::Command, "before a command"),
    ];

    /// What the tables call it.
    pub(crate) fn name(self) -> &'static str {
        Self::TABLE.iter().find(|(it, _)| *it == self).map_or("", |(_, name)| name)
    }

    /// The event that `osm agent hook` is told.
    pub(crate) fn event(self) -> &'static str {
        if self == Self::Done { "after-tool" } else { "before-tool" }
    }
}

/// An agent.
#[derive(Debug)]
pub(crate) struct Agent {
    /// What the tables call it.
    pub(crate) name: &'static str,
    /// The name of its process.
    pub(crate) program: &'static str,
    /// What it sends before an edit. In the place of `FOLDER` and `FILE` comes where it works, and the file.
    edit: &'static str,
    /// The same after an edit and before a command, where these are measured.
    more: Option<[&'static str; 2]>,
}

/// The first is measured in all situations.
pub(crate) const AGENTS: &[Agent] = &[
    Agent {
        name: "Claude Code",
        program: "claude",
        edit: r#"{"session_id":"9ada0c5e-7a0f-4d53-8f6b-3f2ab1c4d5e6","transcript_path":"/home/me/.claude/projects/x/9ada0c5e.jsonl",
            "cwd":"FOLDER","prompt_id":"cbbf1b52","permission_mode":"bypassPermissions","effort":{"level":"medium"},
            "hook_event_name":"PreToolUse","tool_name":"Write","tool_input":{"file_path":"FOLDER/FILE","content":"x\n"},
            "tool_use_id":"toolu_01"}"#,
        more: Some([
            r#"{"session_id":"9ada0c5e-7a0f-4d53-8f6b-3f2ab1c4d5e6","transcript_path":"/home/me/.claude/projects/x/9ada0c5e.jsonl",
            "cwd":"FOLDER","prompt_id":"cbbf1b52","permission_mode":"bypassPermissions","effort":{"level":"medium"},
            "hook_event_name":"PostToolUse","tool_name":"Write","tool_input":{"file_path":"FOLDER/FILE","content":"x\n"},
            "tool_response":{"type":"update","filePath":"FOLDER/FILE","content":"x\n"},"tool_use_id":"toolu_01"}"#,
            r#"{"session_id":"9ada0c5e-7a0f-4d53-8f6b-3f2ab1c4d5e6","transcript_path":"/home/me/.claude/projects/x/9ada0c5e.jsonl",
            "cwd":"FOLDER","prompt_id":"cbbf1b52","permission_mode":"bypassPermissions","effort":{"level":"medium"},
            "hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"make","description":"Build"},
            "tool_use_id":"toolu_02"}"#,
        ]),
    },
    Agent {
        name: "Codex",
        program: "codex",
        edit: r#"{"session_id":"01a1e3d7-b9de-7c32-8a55-2f0e6d1c9b8a","turn_id":"01a1e3d8","cwd":"FOLDER","hook_event_name":"PreToolUse",
            "tool_name":"apply_patch","tool_input":{"command":"*** Begin Patch\n*** Update File: FILE\n@@\n-x\n+y\n*** End Patch\n"}}"#,
        more: None,
    },
    Agent {
        name: "Gemini CLI",
        program: "gemini",
        edit: r#"{"session_id":"c8f5a6d2","cwd":"FOLDER","hook_event_name":"BeforeTool","timestamp":"2026-11-16T14:12:52.765Z",
            "tool_name":"write_file","tool_input":{"file_path":"FOLDER/FILE","content":"x\n"}}"#,
        more: None,
    },
    Agent {
        name: "Copilot CLI",
        program: "copilot",
        edit: r#"{"sessionId":"ef6a7b1c","timestamp":1794838840076,"cwd":"FOLDER","toolName":"create",
            "toolArgs":{"path":"FOLDER/FILE","file_text":"x\n"}}"#,
        more: None,
    },
];

impl Agent {
    /// The agent whose process has that name.
    pub(crate) fn named(program: &str) -> Option<&'static Self> {
        AGENTS.iter().find(|it| it.program == program)
    }

    /// What is measured of it.
    pub(crate) fn questions(&self) -> impl Iterator<Item = Question> {
        let all = if self.more.is_some() { Question::TABLE.len() } else { 2 };
        Question::TABLE.iter().take(all).map(|(question, _)| *question)
    }

    /// What it sends.
    pub(crate) fn payload(&self, question: Question, folder: &Path, file: &str) -> String {
        let text = match (question, self.more) {
            (Question::Done, Some([done, _])) => done,
            (Question::Command, Some([_, command])) => command,
            _ => self.edit,
        };
        text.replace("FOLDER", &folder.display().to_string()).replace("FILE", file)
    }
}
