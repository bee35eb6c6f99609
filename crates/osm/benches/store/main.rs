//! Measures what keeping sessions costs, against the bare system calls for the same files.
//!
//! To keep a session durably a program has to write, sync and rename; to list sessions, it has to
//! read a folder and look at its files; to remove them, it has to unlink. That is the floor, and
//! every claim is a ratio to it ([`bare`]), measured in turns in the same run, in the same folder.
//!
//! - [`save`]: open, change and save a session, and load it.
//! - [`growth`]: the same as the history grows from 1 to 200 commands.
//! - [`many`]: list, clean and purge a thousand to a hundred thousand sessions.
//! - [`writers`]: up to sixteen processes that change one session at once.
//!
//! Saving and loading are timed in this process, with the library: starting a program is a matter of
//! the benchmark `identity`, and a session is saved many times in the life of one. What is done to
//! many sessions is timed from start to end of a process, with output and all, and so is its floor:
//! this one binary is run again for it ([`errand`]).
//!
//! Without `--bench`, as under `cargo test --all-targets`, there is nothing to do.

#![expect(
    clippy::disallowed_methods,
    reason = "a benchmark is a program of its own: it reads the clock and owns its files"
)]

mod bare;
mod errand;
mod growth;
mod many;
mod report;
mod sample;
mod save;
mod writers;

use std::process::ExitCode;
use std::time::Duration;

use osm_testkit::bench::Result;
use osm_testkit::bench::options::Options;
use osm_testkit::bench::outcome::exit_code;
use osm_testkit::bench::timed;

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
    exit_code("store", end)
}

/// Measures and reports; says whether that is a success.
fn conduct(options: &Options) -> Result<bool> {
    // Not in /tmp, which is often memory, where syncing costs nothing.
    let scratch = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR"))?;
    let scratch = scratch.path();
    let report = report::Report {
        saves: save::measure(options, &scratch.join("save"))?,
        growths: growth::measure(options, &scratch.join("growth"))?,
        crowds: many::measure(options, &scratch.join("many"))?,
        writers: writers::measure(options, &scratch.join("writers"))?,
    };
    report.outcome().publish(options)
}

/// How long something takes once everything before it is over: a save leaves the space of the old
/// file to be given back meanwhile, and the next measurement must not pay for that.
fn settled<T>(action: impl FnOnce() -> Result<T>) -> Result<f64> {
    std::thread::sleep(Duration::from_millis(20));
    timed(action)
}

/// Reports progress.
fn say(message: &str) -> std::io::Result<()> {
    osm_testkit::bench::say("store", message)
}
