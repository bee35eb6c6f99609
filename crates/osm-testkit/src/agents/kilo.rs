//! Kilo Code's command line, a descendant of opencode.

use serde_json::json;

use super::invocation::no_network;
use super::{Agent, Plan, Resumes, Task};

pub(super) const AGENT: Agent = Agent {
    name: "kilo",
    known_as: "kilo",
    program: "node_modules/.bin/kilo",
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
    // As opencode, it fetches a package for plugins unless a lock file names it already.
    let plugins = json!({ "dependencies": { "@kilocode/plugin": "*" } });
    let lock = json!({ "packages": { "": plugins } });
    let mut args = vec!["run", "--auto", task.prompt];
    if task.resume {
        args.push("--continue");
    }
    let mut env = vec![
        ("KILO_DISABLE_AUTOUPDATE", "1".into()),
        ("KILO_DISABLE_MODELS_FETCH", "1".into()),
        ("KILO_DISABLE_LSP_DOWNLOAD", "1".into()),
    ];
    env.extend(no_network(task.url));
    Plan {
        args: args.into_iter().map(Into::into).collect(),
        env,
        files: vec![
            (".config/kilo/kilo.json", config.to_string()),
            (".config/kilo/package.json", plugins.to_string()),
            (".config/kilo/package-lock.json", lock.to_string()),
            (".config/kilo/node_modules/.keep", String::new()),
        ],
    }
}
