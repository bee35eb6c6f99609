//! aider, which runs a user's `/run COMMAND` itself and asks no model.

use serde_json::json;

use super::{Agent, Plan, Resumes, Task};

pub(super) const AGENT: Agent = Agent {
    name: "aider",
    known_as: "aider",
    program: "aider/bin/aider",
    resumes: Resumes::Never,
    asks_model: false,
    plan,
};

fn plan(task: &Task) -> Plan {
    let mut script = String::new();
    for command in task.commands {
        script.push_str("/run ");
        script.push_str(command);
        script.push('\n');
    }
    let mut args: Vec<String> = [
        "--model",
        "openai/scripted",
        "--yes-always",
        "--no-git",
        "--no-check-update",
        "--no-show-model-warnings",
        "--no-show-release-notes",
        "--analytics-disable",
        "--exit",
        "--load",
    ]
    .map(Into::into)
    .into();
    args.push(task.home.join("commands").display().to_string());
    // Prices and sizes of models, which it fetches when it has none of today.
    let prices = json!({ "openai/scripted": { "max_input_tokens": 100_000 } });
    Plan {
        args,
        env: vec![
            ("OPENAI_API_BASE", format!("{}/v1", task.url)),
            ("OPENAI_API_KEY", "none".into()),
            ("LITELLM_LOCAL_MODEL_COST_MAP", "True".into()),
        ],
        files: vec![
            ("commands", script),
            (".aider/caches/model_prices_and_context_window.json", prices.to_string()),
        ],
    }
}
