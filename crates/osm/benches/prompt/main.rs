//! Measures how long building a prompt takes, compared with `cat` of the same files and other tools.
//!
//! Every program that builds a prompt from files reads and writes them. `cat` does nothing else, so every
//! target is a ratio to it, measured alternately in the same run, on the same files.
//!
//! - [`trees`]: prompts of made-up files and of real code, with and without counting tokens; memory.
//! - [`start`]: from the start of `osm code-review` on a terminal to its first prompt.
//! - [`commands`]: two hundred commands in one session, each of which is saved.
//!
//! Both `dist/osm`, which users install, and the build of cargo are measured ([`run`]). Programs named in
//! `OSM_BENCH_PEERS` run on the same trees ([`peers`]).
//!
//! Without `--bench`, as under `cargo test --all-targets`, it does nothing.

#![expect(
    clippy::disallowed_methods,
    reason = "a benchmark is a program of its own: it reads the clock and owns its files"
)]

mod commands;
mod peers;
mod report;
mod run;
mod sources;
mod start;
mod trees;

use std::process::ExitCode;

use osm_testkit::bench::Result;
use osm_testkit::bench::options::Options;
use osm_testkit::bench::outcome::exit_code;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let end = match *words {
        _ if words.contains(&"--bench") => {
            Options::parse(&words).and_then(|options| conduct(&options))
        }
        _ => Ok(true),
    };
    exit_code("prompt", end)
}

/// Measures and reports; returns whether all targets are met.
fn conduct(options: &Options) -> Result<bool> {
    // Not in /tmp, which is often memory, where syncing costs nothing.
    let scratch = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR"))?;
    let scratch = scratch.path();
    // Outside of this repository: some tools follow the ignore rules of the folders above.
    let outside = tempfile::tempdir()?;
    let builds = run::Osm::builds()?;
    let report = report::Report {
        trees: trees::measure(options, &builds, outside.path())?,
        start: start::measure(options, &builds, &scratch.join("start"))?,
        commands: commands::measure(options, &builds[0], &scratch.join("commands"))?,
    };
    report.outcome().publish(options)
}

/// Prints the progress.
fn say(message: &str) -> std::io::Result<()> {
    osm_testkit::bench::say("prompt", message)
}
