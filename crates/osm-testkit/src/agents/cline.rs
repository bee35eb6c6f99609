//! Cline's command line.

use serde_json::json;

use super::{Agent, Plan, Resumes, Task};

pub(super) const AGENT: Agent = Agent {
    name: "cline",
    known_as: "cline",
    program: "node_modules/.bin/cline",
    resumes: Resumes::Never,
    asks_model: true,
    plan,
};

fn plan(task: &Task) -> Plan {
    let settings = json!({
        "provider": "openai-compatible",
        "apiKey": "none",
        "model": "scripted",
        "baseUrl": format!("{}/v1", task.url),
    });
    let providers = json!({
        "version": 1,
        "lastUsedProvider": "openai-compatible",
        "modes": {},
        "providers": {
            "openai-compatible": {
                "settings": settings,
                "updatedAt": "2026-01-01T00:00:00.000Z",
                "tokenSource": "manual",
            },
        },
    });
    let args =
        ["--provider", "openai-compatible", "--model", "scripted", "--key", "none", task.prompt];
    Plan {
        args: args.map(Into::into).into(),
        env: Vec::new(),
        files: vec![(".cline/data/settings/providers.json", providers.to_string())],
    }
}
