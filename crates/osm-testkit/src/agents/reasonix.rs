//! Reasonix, whose native program is started by a script of node.

use super::{Agent, Plan, Resumes, Task};

pub(super) const AGENT: Agent = Agent {
    name: "reasonix",
    known_as: "reasonix",
    program: "node_modules/.bin/reasonix",
    resumes: Resumes::WithoutTerminal,
    asks_model: true,
    plan,
};

fn plan(task: &Task) -> Plan {
    let config = format!(
        r#"config_version = 10
default_model = "scripted"

[[providers]]
name = "scripted"
kind = "openai"
base_url = "{}/v1"
models = ["scripted"]
default = "scripted"
api_key_env = "SCRIPTED_API_KEY"
"#,
        task.url
    );
    // Any other mode gives each command a /tmp of its own, without the files of the test.
    let mut args = vec!["--print", "--permission-mode", "danger-full-access"];
    if task.resume {
        args.push("--continue");
    }
    args.push(task.prompt);
    Plan {
        args: args.into_iter().map(Into::into).collect(),
        env: vec![
            ("REASONIX_HOME", task.home.join(".reasonix").display().to_string()),
            ("SCRIPTED_API_KEY", "none".into()),
            ("REASONIX_TELEMETRY", "off".into()),
        ],
        files: vec![(".reasonix/config.toml", config)],
    }
}
