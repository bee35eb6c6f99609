//! Hermes.

use super::{Agent, Plan, Resumes, Task};

pub(super) const AGENT: Agent = Agent {
    name: "hermes",
    known_as: "hermes",
    program: "hermes/bin/hermes",
    resumes: Resumes::WithoutTerminal,
    asks_model: true,
    plan,
};

fn plan(task: &Task) -> Plan {
    let config = format!(
        "model:\n  default: scripted\n  provider: custom\n  base_url: {}/v1\n  api_key: none\n  \
         context_length: 100000\n",
        task.url
    );
    let mut args = vec!["chat", "--quiet", "--yolo", "--toolsets", "terminal"];
    if task.resume {
        args.push("--continue");
    }
    args.extend(["--query", task.prompt]);
    Plan {
        args: args.into_iter().map(Into::into).collect(),
        env: Vec::new(),
        files: vec![(".hermes/config.yaml", config)],
    }
}
