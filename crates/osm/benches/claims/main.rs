//! Measures what claims cost, against bare commits of the same database.
//!
//! A claim that a crash cannot undo takes one commit and one sync. That is the
//! floor, and every claim of ours is a ratio to it ([`bare`]), measured in turns in the same run, in
//! the same folder.
//!
//! - [`commit`]: claim and release in one process, and as whole programs, beside one commit.
//! - [`contest`]: 1, 8 and 64 processes that claim and release, one resource or many.
//! - [`many`]: `osm claims` and `osm claim next` with ten to a hundred thousand open claims.
//!
//! Programs named in `OSM_BENCH_PEERS` take their turns beside `osm claim` ([`peers`]).
//!
//! Without `--bench`, as under `cargo test --all-targets`, there is nothing to do.

mod bare;
mod commit;
mod contest;
mod errand;
mod many;
mod peers;
mod report;
mod sample;

use std::process::ExitCode;

use osm_testkit::bench::Result;
use osm_testkit::bench::options::Options;
use osm_testkit::bench::outcome::exit_code;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let end = match *words {
        ["--errand", ref errand @ ..] => errand::run(errand).map(|()| true),
        _ if words.contains(&"--bench") => {
            Options::parse(&words).and_then(|options| conduct(&options))
        }
        _ => Ok(true),
    };
    exit_code("claims", end)
}

/// Measures and reports; says whether that is a success.
fn conduct(options: &Options) -> Result<bool> {
    // Not in /tmp, which is often memory, where syncing costs nothing.
    let scratch = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR"))?;
    let scratch = scratch.path();
    let report = report::Report {
        single: commit::measure(options, &scratch.join("commit"))?,
        contests: contest::measure(options, &scratch.join("contest"))?,
        crowds: many::measure(options, &scratch.join("many"))?,
    };
    report.outcome().publish(options)
}

/// Shows how far the benchmark is.
fn say(message: &str) -> std::io::Result<()> {
    osm_testkit::bench::say("claims", message)
}
