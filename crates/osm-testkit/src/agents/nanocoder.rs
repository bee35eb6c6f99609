//! Nanocoder.

use serde_json::json;

use super::{Agent, Plan, Resumes, Task};

pub(super) const AGENT: Agent = Agent {
    name: "nanocoder",
    known_as: "nanocoder",
    program: "node_modules/.bin/nanocoder",
    resumes: Resumes::Never,
    asks_model: true,
    plan,
};

fn plan(task: &Task) -> Plan {
    let config = json!({
        "nanocoder": {
            "providers": [{
                "name": "scripted",
                "baseUrl": format!("{}/v1", task.url),
                "apiKey": "none",
                "models": ["scripted"],
            }],
        },
    });
    let args = [
        "--provider",
        "scripted",
        "--model",
        "scripted",
        "--mode",
        "yolo",
        "--trust-directory",
        "--plain",
        "run",
        task.prompt,
    ];
    Plan {
        args: args.map(Into::into).into(),
        env: Vec::new(),
        files: vec![(".config/nanocoder/agents.config.json", config.to_string())],
    }
}
