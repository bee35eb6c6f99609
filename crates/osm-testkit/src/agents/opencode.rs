//! opencode.

use serde_json::json;

use super::{Agent, Plan, Resumes, Task};

pub(super) const AGENT: Agent = Agent {
    name: "opencode",
    known_as: "opencode",
    program: "node_modules/.bin/opencode",
    resumes: Resumes::WithoutTerminal,
    asks_model: true,
    plan,
};

fn plan(task: &Task) -> Plan {
    let config = json!({
        "model": "scripted/scripted",
        "small_model": "scripted/scripted",
        "autoupdate": false,
        "share": "disabled",
        "permission": { "bash": "allow" },
        "provider": {
            "scripted": {
                "npm": "@ai-sdk/openai-compatible",
                "name": "scripted",
                "options": { "baseURL": format!("{}/v1", task.url), "apiKey": "none" },
                "models": { "scripted": { "name": "scripted", "tool_call": true } },
            },
        },
    });
    // It fetches a package for plugins into its folder unless a lock file names it already.
    let plugins = json!({ "dependencies": { "@opencode-ai/plugin": "*" } });
    let lock = json!({ "packages": { "": plugins } });

    let mut args = if task.terminal { vec!["--prompt"] } else { vec!["run"] };
    args.push(task.prompt);
    if task.resume {
        args.push("--continue");
    }
    Plan {
        args: args.into_iter().map(Into::into).collect(),
        env: vec![
            ("OPENCODE_DISABLE_AUTOUPDATE", "1".into()),
            ("OPENCODE_DISABLE_MODELS_FETCH", "1".into()),
            ("OPENCODE_DISABLE_LSP_DOWNLOAD", "1".into()),
        ],
        files: vec![
            (".config/opencode/opencode.json", config.to_string()),
            (".config/opencode/package.json", plugins.to_string()),
            (".config/opencode/package-lock.json", lock.to_string()),
            (".config/opencode/node_modules/.keep", String::new()),
        ],
    }
}
