//! Qwen Code.

use serde_json::json;

use super::{Agent, Plan, Resumes, Task};

pub(super) const AGENT: Agent = Agent {
    name: "qwen",
    known_as: "qwen-code",
    program: "node_modules/.bin/qwen",
    resumes: Resumes::Always,
    asks_model: true,
    plan,
};

fn plan(task: &Task) -> Plan {
    let settings = json!({
        "general": { "enableAutoUpdate": false },
        "privacy": { "usageStatisticsEnabled": false },
        "telemetry": { "enabled": false },
    });
    let mut args = vec!["--auth-type", "openai", "--yolo"];
    if task.resume {
        args.push("--continue");
    }
    args.extend([if task.terminal { "--prompt-interactive" } else { "--prompt" }, task.prompt]);
    Plan {
        args: args.into_iter().map(Into::into).collect(),
        env: vec![
            ("OPENAI_BASE_URL", format!("{}/v1", task.url)),
            ("OPENAI_API_KEY", "none".into()),
            ("OPENAI_MODEL", "scripted".into()),
        ],
        files: vec![(".qwen/settings.json", settings.to_string())],
    }
}
