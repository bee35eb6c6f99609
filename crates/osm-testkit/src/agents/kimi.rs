//! Kimi Code, whose model can be named by variables alone.

use super::{Agent, Plan, Resumes, Task};

pub(super) const AGENT: Agent = Agent {
    name: "kimi",
    known_as: "kimi",
    program: "node_modules/.bin/kimi",
    resumes: Resumes::WithoutTerminal,
    asks_model: true,
    plan,
};

fn plan(task: &Task) -> Plan {
    let mut args = Vec::new();
    if task.resume {
        args.push("--continue");
    }
    args.extend(["--prompt", task.prompt]);
    Plan {
        args: args.into_iter().map(Into::into).collect(),
        env: vec![
            ("KIMI_MODEL_NAME", "scripted".into()),
            ("KIMI_MODEL_PROVIDER_TYPE", "openai".into()),
            ("KIMI_MODEL_BASE_URL", format!("{}/v1", task.url)),
            ("KIMI_MODEL_API_KEY", "none".into()),
            ("KIMI_MODEL_MAX_CONTEXT_SIZE", "100000".into()),
            ("KIMI_CODE_MODEL_CATALOG_REFRESH_ON_START", "0".into()),
        ],
        files: Vec::new(),
    }
}
