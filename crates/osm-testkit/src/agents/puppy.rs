//! Code Puppy.

use serde_json::json;

use super::invocation::no_network;
use super::{Agent, Plan, Resumes, Task};

pub(super) const AGENT: Agent = Agent {
    name: "puppy",
    known_as: "code-puppy",
    program: "puppy/bin/code-puppy",
    resumes: Resumes::Never,
    asks_model: true,
    plan,
};

fn plan(task: &Task) -> Plan {
    let models = json!({
        "scripted": {
            "type": "custom_openai",
            "name": "scripted",
            "custom_endpoint": { "url": format!("{}/v1", task.url), "api_key": "none" },
            "context_length": 100_000,
        },
    });
    let settings =
        "[puppy]\npuppy_name = Rex\nowner_name = tester\nmodel = scripted\nyolo_mode = true\n";
    let args = ["--yolo", "true", "--model", "scripted", "--prompt", task.prompt];
    Plan {
        args: args.map(Into::into).into(),
        env: no_network(task.url).into(),
        files: vec![
            (".code_puppy/puppy.cfg", settings.into()),
            (".code_puppy/extra_models.json", models.to_string()),
        ],
    }
}
