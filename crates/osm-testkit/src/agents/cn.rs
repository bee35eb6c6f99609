//! Continue's command line.

use super::{Agent, Plan, Resumes, Task};

pub(super) const AGENT: Agent = Agent {
    name: "cn",
    known_as: "continue",
    program: "node_modules/.bin/cn",
    resumes: Resumes::WithoutTerminal,
    asks_model: true,
    plan,
};

fn plan(task: &Task) -> Plan {
    // Only a model that says that it can use tools is offered them.
    let config = format!(
        "name: scripted\nversion: 1.0.0\nschema: v1\nmodels:\n  - name: scripted\n    provider: openai\n    \
         model: scripted\n    apiBase: {}/v1\n    apiKey: none\n    roles: [chat]\n    \
         capabilities: [tool_use]\n",
        task.url
    );
    let config_file = task.home.join(".continue/config.yaml").display().to_string();
    let mut args = vec!["--config", &config_file, "--auto"];
    if !task.terminal {
        args.push("--print");
    }
    if task.resume {
        args.push("--resume");
    }
    args.push(task.prompt);
    let env = vec![
        ("CONTINUE_TELEMETRY_ENABLED", "0".into()),
        ("CONTINUE_API_BASE", format!("{}/", task.url)),
    ];
    Plan {
        args: args.into_iter().map(Into::into).collect(),
        env,
        files: vec![(".continue/config.yaml", config)],
    }
}
