//! Mistral Vibe.

use super::{Agent, Plan, Resumes, Task};

pub(super) const AGENT: Agent = Agent {
    name: "vibe",
    known_as: "mistral-vibe",
    program: "vibe/bin/vibe",
    resumes: Resumes::WithoutTerminal,
    asks_model: true,
    plan,
};

fn plan(task: &Task) -> Plan {
    let config = format!(
        r#"active_model = "scripted"
enable_update_checks = false
enable_telemetry = false

[[providers]]
name = "scripted"
api_base = "{}/v1"
api_key_env_var = "SCRIPTED_API_KEY"
api_style = "openai"
backend = "generic"

[[models]]
name = "scripted"
provider = "scripted"
alias = "scripted"
"#,
        task.url
    );
    let mut args = vec!["--trust", "--auto-approve"];
    if task.resume {
        args.push("--continue");
    }
    args.extend(["--prompt", task.prompt]);
    Plan {
        args: args.into_iter().map(Into::into).collect(),
        env: vec![("SCRIPTED_API_KEY", "none".into())],
        files: vec![(".vibe/config.toml", config)],
    }
}
