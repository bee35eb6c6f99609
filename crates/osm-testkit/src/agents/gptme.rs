//! gptme.

use super::{Agent, Plan, Resumes, Task};

pub(super) const AGENT: Agent = Agent {
    name: "gptme",
    known_as: "gptme",
    program: "gptme/bin/gptme",
    resumes: Resumes::WithoutTerminal,
    asks_model: true,
    plan,
};

fn plan(task: &Task) -> Plan {
    let mut args = vec![
        "--non-interactive",
        "--no-confirm",
        "--model",
        "local/scripted",
        "--tool-format",
        "tool",
        "--tools",
        "shell,complete",
    ];
    if task.resume {
        args.push("--resume");
    }
    args.push(task.prompt);
    Plan {
        args: args.into_iter().map(Into::into).collect(),
        env: vec![
            ("OPENAI_BASE_URL", format!("{}/v1", task.url)),
            ("OPENAI_API_KEY", "none".into()),
        ],
        files: Vec::new(),
    }
}
