//! Measures what `osm session id` costs, against `/bin/true` and against doing nothing.
//!
//! Shell prompts and hooks call it many times a minute, so it has to cost less than a program
//! that does nothing. Milliseconds mean nothing on another machine; ratios to
//! programs started in the same moment do. So all programs take turns, in a new order each round,
//! and every claim is a ratio of medians. Instruction counts come from callgrind and hardly move
//! from run to run: they tell a real change from noise.
//!
//! Where a program is started counts as much as what it does: osm reads its ancestors, and ours
//! depend on who runs the benchmark. Therefore the measuring process is put under a shell in a
//! terminal of its own that has nothing above it but PID 1 ([`terminal`]), with a typical
//! environment.
//!
//! This one binary is run several times over:
//! - `--bench`, by cargo: finds the programs, has them measured, reports ([`report`], [`plot`]).
//! - `--measure REQUEST`, in that terminal: times and counts all programs ([`measure`], [`callgrind`]).
//! - `--chain LEVELS REQUEST`, below that: the same under many more processes ([`chain`]).
//!
//! Without any of these, as under `cargo test --all-targets`, there is nothing to do.

mod callgrind;
mod chain;
mod measure;
mod plot;
mod programs;
mod report;
mod request;
mod terminal;

use std::path::Path;
use std::process::ExitCode;

use osm_testkit::bench::options::Options;
use osm_testkit::bench::outcome::exit_code;
use osm_testkit::bench::{Result, workspace};

use crate::request::{Finding, Request};

/// Enough for the median to settle, in a few seconds.
const ROUNDS: u32 = 1000;
const QUICK_ROUNDS: u32 = 100;
/// How many processes are put above osm. It looks at 100 ancestors at most, and the terminal brings
/// a few.
const CHAINS: [u32; 5] = [1, 5, 20, 50, 90];
/// The chain that has a target, and the target in medians of `/bin/true` below the same chain: an
/// agent in a terminal of an editor is about as deep.
pub(crate) const DEEP_TARGET: (u32, f64) = (20, 0.9);

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let outcome = match *words {
        ["--measure", request] => measure::everything(Path::new(request)).map(|()| true),
        ["--chain", levels, request] => {
            chain::continue_at(levels, Path::new(request)).map(|()| true)
        }
        _ if words.contains(&"--bench") => {
            Options::parse(&words).and_then(|options| conduct(&options))
        }
        _ => Ok(true),
    };
    exit_code("identity", outcome)
}

/// Measures and reports; says whether that is a success.
fn conduct(options: &Options) -> Result<bool> {
    let workspace = workspace();
    let scratch = tempfile::tempdir()?;
    let programs = programs::find(&workspace)?;
    let deep =
        programs.iter().position(|program| program.deep).ok_or("there is no osm to measure")?;
    let request = Request {
        programs,
        deep,
        rounds: options.rounds.unwrap_or(if options.quick { QUICK_ROUNDS } else { ROUNDS }),
        chains: CHAINS.to_vec(),
        scratch: scratch.path().to_path_buf(),
    };
    let request_path = request.save()?;
    terminal::measure_in_one(&request_path, scratch.path())?;
    let findings = Finding::load_all(&request)?;

    report::Report::new(&request, &findings)?.outcome().publish(options)
}
