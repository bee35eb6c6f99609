//! Measures how long a prompt takes, against `cat` of the same files and against other tools.
//!
//! Whoever makes a prompt of files has to read and write them. That is the floor, and `cat` does
//! nothing else; every claim is a ratio to it, measured in turns in the same run, over the same files.
//!
//! - [`trees`]: a prompt of 100, 1 000 and 10 000 files, with and without counting tokens; memory.
//! - [`start`]: from the start of `osm code-review` on a terminal to its first prompt.
//! - [`commands`]: two hundred commands in one session, each of them saved.
//!
//! Programs named in `OSM_BENCH_PEERS` take their turns over the same trees ([`peers`]).
//!
//! Without `--bench`, as under `cargo test --all-targets`, there is nothing to do.

#![expect(
    clippy::disallowed_methods,
    reason = "a benchmark is a program of its own: it reads the clock and owns its files"
)]

mod commands;
mod peers;
mod report;
mod run;
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

/// Measures and reports; says whether that is a success.
fn conduct(options: &Options) -> Result<bool> {
    // Not in /tmp, which is often memory, where syncing costs nothing.
    let scratch = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR"))?;
    let scratch = scratch.path();
    // Outside of this repository: some tools go by the ignore rules of whatever lies above.
    let outside = tempfile::tempdir()?;
    let report = report::Report {
        trees: trees::measure(options, outside.path())?,
        start: start::measure(options, &scratch.join("start"))?,
        commands: commands::measure(options, &scratch.join("commands"))?,
    };
    report.outcome().publish(options)
}

/// Tells whoever waits how far we are.
fn say(message: &str) -> std::io::Result<()> {
    osm_testkit::bench::say("prompt", message)
}
