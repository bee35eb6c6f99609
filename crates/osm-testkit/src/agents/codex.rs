//! Codex.

use super::{Agent, Plan, Resumes, Task};

pub(super) const AGENT: Agent = Agent {
    name: "codex",
    known_as: "codex",
    program: "node_modules/.bin/codex",
    resumes: Resumes::Always,
    asks_model: true,
    plan,
};

fn plan(task: &Task) -> Plan {
    let config = format!(
        r#"model = "{model}"
model_provider = "scripted"
check_for_update_on_startup = false

[model_providers.scripted]
name = "scripted"
base_url = "{url}/v1"
wire_api = "responses"

[projects."{workdir}"]
trust_level = "trusted"

[analytics]
enabled = false

# These ask the vendor for a catalogue at every start.
[features]
apps = false
plugins = false
remote_plugin = false
"#,
        // Only a model that it knows is offered its tool for edits. At a terminal it introduces such a
        // model first, and waits for a key.
        model = if task.terminal { "scripted" } else { "gpt-5.5" },
        url = task.url,
        workdir = task.workdir.display(),
    );
    let mut args = Vec::new();
    if !task.terminal {
        args.extend(["exec", "--skip-git-repo-check"]);
    }
    args.push("--dangerously-bypass-approvals-and-sandbox");
    if task.resume {
        args.extend(["resume", "--last"]);
    }
    args.push(task.prompt);
    Plan {
        args: args.into_iter().map(Into::into).collect(),
        env: Vec::new(),
        files: vec![(".codex/config.toml", config)],
    }
}
