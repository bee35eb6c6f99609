//! Measures what `osm session id` costs, against `/bin/true` and against doing nothing.
//!
//! Shell prompts and hooks call it many times a minute, so it has to be cheaper than what nobody
//! would think about twice. Milliseconds mean nothing on somebody else's machine; ratios to
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

#![expect(
    clippy::disallowed_methods,
    reason = "a benchmark is a program of its own: it reads its own environment and owns its files"
)]

mod callgrind;
mod chain;
mod measure;
mod plot;
mod programs;
mod report;
mod request;
mod statistics;
mod terminal;

use std::error::Error;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::request::{Finding, Request};

/// Nobody handles one kind of failure apart from another here: all of them end the run with a
/// message.
type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// Enough for the median to settle, in a few seconds.
const ROUNDS: u32 = 1000;
/// How many processes are put above osm. It looks at 100 ancestors at most, and the terminal brings
/// a few.
const CHAINS: [u32; 5] = [1, 5, 20, 50, 90];

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
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            // If not even stderr can be written to, the exit code still tells.
            writeln!(std::io::stderr(), "identity benchmark: {error}").ok();
            ExitCode::FAILURE
        }
    }
}

/// What may be asked for on the command line.
struct Options {
    /// A missed target fails the run.
    check: bool,
    /// The results are written to `docs/benchmarks`.
    write: bool,
    rounds: u32,
}

impl Options {
    fn parse(words: &[&str]) -> Result<Self> {
        let mut options = Self { check: false, write: true, rounds: ROUNDS };
        let mut words = words.iter();
        while let Some(&word) = words.next() {
            match word {
                "--bench" => {}
                "--check" => options.check = true,
                "--no-write" => options.write = false,
                "--rounds" => {
                    let rounds = words.next().ok_or("--rounds needs a number")?;
                    options.rounds =
                        rounds.parse().map_err(|_| format!("--rounds {rounds}: not a number"))?;
                }
                _ => return Err(format!("unknown option {word}").into()),
            }
        }
        if options.rounds == 0 {
            return Err("--rounds must be at least 1".into());
        }
        Ok(options)
    }
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
        rounds: options.rounds,
        chains: CHAINS.to_vec(),
        scratch: scratch.path().to_path_buf(),
    };
    let request_path = request.save()?;
    terminal::measure_in_one(&request_path, scratch.path())?;
    let findings = Finding::load_all(&request)?;

    let report = report::Report::new(&request, &findings)?;
    let mut stdout = std::io::stdout().lock();
    writeln!(stdout, "\n{}", report.tables())?;
    if options.write {
        let folder = workspace.join("docs/benchmarks");
        std::fs::create_dir_all(&folder)?;
        std::fs::write(folder.join("identity.md"), report.page())?;
        std::fs::write(folder.join("identity.svg"), plot::draw(&report))?;
        writeln!(stdout, "wrote docs/benchmarks/identity.md and identity.svg\n")?;
    }
    let mut all_met = true;
    for verdict in report.verdicts() {
        writeln!(stdout, "{}", verdict.line)?;
        all_met &= verdict.met;
    }
    Ok(all_met || !options.check)
}

/// The folder that holds the whole workspace: this crate is two levels below it.
fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .ancestors()
        .nth(2)
        .expect("crates/osm lies in the workspace")
        .to_path_buf()
}
