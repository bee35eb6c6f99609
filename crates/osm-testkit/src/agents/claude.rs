//! Claude Code.

use serde_json::json;

use super::{Agent, Plan, Resumes, Task};

pub(super) const AGENT: Agent = Agent {
    name: "claude",
    known_as: "claude-code",
    program: "node_modules/.bin/claude",
    resumes: Resumes::Always,
    asks_model: true,
    plan,
};

/// A key like any other; an unknown one is asked about on a terminal.
const KEY: &str = "none";

fn plan(task: &Task) -> Plan {
    let mut args = vec![task.prompt.into(), "--dangerously-skip-permissions".into()];
    if !task.terminal {
        args.push("--print".into());
    }
    if task.resume {
        args.push("--continue".into());
    }
    // All that it would ask a new user on a terminal.
    let state = json!({
        "hasCompletedOnboarding": true,
        "theme": "dark",
        "bypassPermissionsModeAccepted": true,
        "customApiKeyResponses": { "approved": [KEY], "rejected": [] },
        "projects": { task.workdir.display().to_string(): { "hasTrustDialogAccepted": true } },
    });
    let settings = json!({ "skipDangerousModePermissionPrompt": true });
    Plan {
        args,
        env: vec![
            ("ANTHROPIC_BASE_URL", task.url.into()),
            ("ANTHROPIC_API_KEY", KEY.into()),
            ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1".into()),
            // Root may skip permissions only in a sandbox.
            ("IS_SANDBOX", "1".into()),
        ],
        files: vec![
            (".claude.json", state.to_string()),
            (".claude/settings.json", settings.to_string()),
        ],
    }
}
