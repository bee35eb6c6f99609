//! Pi.

use serde_json::json;

use super::{Agent, Plan, Resumes, Task};

pub(super) const AGENT: Agent = Agent {
    name: "pi",
    known_as: "pi",
    program: "node_modules/.bin/pi",
    resumes: Resumes::Always,
    asks_model: true,
    plan,
};

fn plan(task: &Task) -> Plan {
    let models = json!({
        "providers": {
            "scripted": {
                "baseUrl": format!("{}/v1", task.url),
                "api": "openai-completions",
                "apiKey": "none",
                "models": [{ "id": "scripted" }],
            },
        },
    });
    let mut args = vec!["--provider", "scripted", "--model", "scripted"];
    if !task.terminal {
        args.push("--print");
    }
    if task.resume {
        args.push("--continue");
    }
    args.push(task.prompt);
    Plan {
        args: args.into_iter().map(Into::into).collect(),
        env: vec![("PI_OFFLINE", "1".into())],
        files: vec![(".pi/agent/models.json", models.to_string())],
    }
}
