//! Copilot CLI, with the scripted model in place of GitHub's.

use super::{Agent, Plan, Resumes, Task};

pub(super) const AGENT: Agent = Agent {
    name: "copilot",
    known_as: "copilot",
    program: "node_modules/.bin/copilot",
    resumes: Resumes::WithoutTerminal,
    asks_model: true,
    plan,
};

fn plan(task: &Task) -> Plan {
    let mut args = vec!["--allow-all", "--no-auto-update"];
    if task.resume {
        args.push("--continue");
    }
    args.extend([if task.terminal { "--interactive" } else { "--prompt" }, task.prompt]);
    Plan {
        args: args.into_iter().map(Into::into).collect(),
        env: vec![
            ("COPILOT_PROVIDER_BASE_URL", format!("{}/v1", task.url)),
            ("COPILOT_PROVIDER_API_KEY", "none".into()),
            ("COPILOT_MODEL", "scripted".into()),
            ("COPILOT_OFFLINE", "true".into()),
        ],
        files: Vec::new(),
    }
}
