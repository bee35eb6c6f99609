//! `osm:exec`: run programs.

use serde_json::{Value, json};

use super::{Arguments, Native};
use crate::host::{Execution, Host};

pub(super) const FUNCTIONS: &[(&str, Native)] = &[("exec", exec), ("execv", execv)];

/// `exec(program, ...arguments)`.
fn exec(host: &mut dyn Host, arguments: &Arguments) -> Result<Value, String> {
    let words = 0..arguments.all().len();
    let command =
        words.map(|at| arguments.text(at).map(str::to_owned)).collect::<Result<_, _>>()?;
    run(host, command)
}

/// `execv([program, ...arguments])`.
fn execv(host: &mut dyn Host, arguments: &Arguments) -> Result<Value, String> {
    run(host, arguments.texts(0)?)
}

/// A program that fails or cannot be started gives a result with `error: true`, not an exception.
fn run(host: &mut dyn Host, command: Vec<String>) -> Result<Value, String> {
    if command.is_empty() {
        return Err("exec: missing program".into());
    }
    let shown = command[0].clone();
    let execution = Execution { command, folder: None, variables: Vec::new() };
    Ok(match host.run(&execution) {
        Ok(finished) => {
            let failed = finished.code != 0;
            let message = if failed {
                format!("{shown}: exit code {}", finished.code)
            } else {
                String::new()
            };
            json!({
                "stdout": finished.stdout,
                "stderr": finished.stderr,
                "code": finished.code,
                "error": failed,
                "message": message,
            })
        }
        Err(error) => json!({
            "stdout": "",
            "stderr": "",
            "code": -1,
            "error": true,
            "message": format!("{shown} cannot be started: {error}"),
        }),
    })
}
