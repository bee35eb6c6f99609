//! Open Codex, made of the first Codex, which was written in JavaScript.

use super::invocation::no_network;
use super::{Agent, Plan, Resumes, Task};

pub(super) const AGENT: Agent = Agent {
    name: "open-codex",
    known_as: "open-codex",
    program: "node_modules/.bin/open-codex",
    resumes: Resumes::Never,
    asks_model: true,
    plan,
};

fn plan(task: &Task) -> Plan {
    let args =
        ["--quiet", "--full-auto", "--provider", "ollama", "--model", "scripted", task.prompt];
    let mut env = no_network(task.url).to_vec();
    // The address of no other provider can be changed.
    env.push(("OLLAMA_BASE_URL", format!("{}/v1", task.url)));
    Plan { args: args.map(Into::into).into(), env, files: Vec::new() }
}
