//! What every benchmark needs: options, turns, arithmetic, tables, pictures, verdicts.
//!
//! A benchmark compares with something measured in the same run, in turns, and claims ratios of
//! medians only: milliseconds mean nothing on another machine.

pub mod chart;
pub mod options;
pub mod outcome;
pub mod peers;
pub mod statistics;
pub mod table;
pub mod turns;

use std::error::Error;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Nobody handles one kind of failure apart from another here: all of them end the run with a
/// message.
pub type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// How long something takes, in microseconds.
pub fn timed<T>(action: impl FnOnce() -> Result<T>) -> Result<f64> {
    let start = Instant::now();
    let made = action()?;
    let microseconds = start.elapsed().as_secs_f64() * 1e6;
    // Whatever has to be let go of is part of it only if the action lets go of it.
    drop(made);
    Ok(microseconds)
}

/// Reports the progress of a benchmark.
pub fn say(name: &str, message: &str) -> io::Result<()> {
    writeln!(io::stdout(), "{name} benchmark: {message}")
}

/// The folder that holds the whole workspace: this crate is two levels below it.
///
/// # Panics
///
/// Not as long as it is.
#[must_use]
pub fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .ancestors()
        .nth(2)
        .expect("crates/osm-testkit lies in the workspace")
        .to_path_buf()
}

/// Describes the machine as far as it matters to a reader: processor, cores, kernel.
#[must_use]
pub fn machine() -> String {
    let processor = std::fs::read_to_string("/proc/cpuinfo")
        .ok()
        .and_then(|text| {
            let line = text.lines().find(|line| line.starts_with("model name"))?;
            Some(line.split_once(':')?.1.trim().to_owned())
        })
        .unwrap_or_else(|| std::env::consts::ARCH.to_owned());
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let kernel = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let kernel = kernel.trim().split('.').take(2).collect::<Vec<_>>().join(".");
    format!("{processor}, {cores} cores, {} {kernel}", std::env::consts::OS)
}
