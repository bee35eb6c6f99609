//! Measures what the hooks of coding agents cost, against `/bin/true`.
//!
//! A hook runs before and after every tool of an agent, so the model waits for it: each figure is a whole process,
//! from start to end, beside the smallest process that a shell can start. The hooks get the payloads that the real
//! agents send ([`agents`]), below a process that has the agent's name, in a Git repository; all programs take turns,
//! in a new order each round.
//!
//! Each row is measured with a ledger that has the claims of this benchmark only, and with one in which another
//! running session holds ten thousand files of the same worktree ([`crowd`]).
//!
//! This one binary is run several times over:
//! - `--bench`, by cargo: fills the ledgers, has the hooks measured, checks that they did what they should, reports.
//! - `--measure REQUEST`, as a copy that has the name of an agent: runs its hooks and times them ([`measure`]).
//!
//! Without any of these, as under `cargo test --all-targets`, there is nothing to do.

mod agents;
mod crowd;
mod measure;
mod peers;
mod report;
mod request;

use std::path::Path;
use std::process::ExitCode;

use osm_testkit::bench::Result;
use osm_testkit::bench::options::Options;
use osm_testkit::bench::outcome::exit_code;

use crate::agents::AGENTS;

const ROUNDS: u32 = 200;
const QUICK_ROUNDS: u32 = 30;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let end = match *words {
        ["--measure", request] => measure::measure(Path::new(request)).map(|()| true),
        _ if words.contains(&"--bench") => {
            Options::parse(&words).and_then(|options| conduct(&options))
        }
        _ => Ok(true),
    };
    exit_code("agents", end)
}

/// Measures and reports; says whether that is a success.
fn conduct(options: &Options) -> Result<bool> {
    // Not in /tmp, which is often memory, where syncing costs nothing.
    let scratch = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR"))?;
    let rounds = options.rounds.unwrap_or(if options.quick { QUICK_ROUNDS } else { ROUNDS });
    let mut rows = Vec::new();
    for agent in AGENTS {
        say(&format!("{}, {rounds} rounds", agent.name))?;
        rows.extend(measure::below(agent, rounds, &scratch.path().join(agent.program))?);
    }
    report::Report { rows }.outcome().publish(options)
}

/// Reports progress.
fn say(message: &str) -> std::io::Result<()> {
    osm_testkit::bench::say("agents", message)
}
