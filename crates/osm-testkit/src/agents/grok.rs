//! The community's Grok CLI.

use super::{Agent, Plan, Resumes, Task};

pub(super) const AGENT: Agent = Agent {
    name: "grok",
    known_as: "grok",
    program: "node_modules/.bin/grok",
    resumes: Resumes::Never,
    asks_model: true,
    plan,
};

fn plan(task: &Task) -> Plan {
    let args = ["--model", "scripted", "--prompt", task.prompt];
    Plan {
        args: args.map(Into::into).into(),
        env: vec![("GROK_BASE_URL", format!("{}/v1", task.url)), ("GROK_API_KEY", "none".into())],
        files: Vec::new(),
    }
}
