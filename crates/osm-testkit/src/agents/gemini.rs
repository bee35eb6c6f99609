//! Gemini CLI. It refuses `$( )` and backquotes in a command, so give it a script to run.

use serde_json::json;

use super::{Agent, Plan, Resumes, Task};

pub(super) const AGENT: Agent = Agent {
    name: "gemini",
    known_as: "gemini-cli",
    program: "node_modules/.bin/gemini",
    resumes: Resumes::Always,
    asks_model: true,
    plan,
};

fn plan(task: &Task) -> Plan {
    let settings = json!({
        "security": { "auth": { "selectedType": "gemini-api-key" } },
        "general": { "enableAutoUpdate": false, "enableAutoUpdateNotification": false },
        "privacy": { "usageStatisticsEnabled": false },
        "telemetry": { "enabled": false },
    });
    // A model of its own choosing would be chosen by asking one.
    let mut args = vec!["--yolo", "--model", "gemini-2.5-pro"];
    if task.resume {
        args.extend(["--resume", "latest"]);
    }
    args.extend([if task.terminal { "--prompt-interactive" } else { "--prompt" }, task.prompt]);
    Plan {
        args: args.into_iter().map(Into::into).collect(),
        env: vec![
            ("GOOGLE_GEMINI_BASE_URL", task.url.into()),
            ("GEMINI_API_KEY", "none".into()),
            ("GEMINI_CLI_TRUST_WORKSPACE", "true".into()),
        ],
        files: vec![(".gemini/settings.json", settings.to_string())],
    }
}
