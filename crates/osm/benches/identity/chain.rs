//! Puts a chain of processes above the programs, to see what each ancestor costs.
//!
//! Each link is this program, waiting for the next one; the last one measures. So only the time of
//! osm itself counts, however deep it stands, and `/bin/true` takes turns with it there: whatever
//! the depth alone may cost hits both.

use std::path::Path;
use std::process::Command;

use crate::measure;
use crate::request::Request;
use osm_testkit::bench::Result;

/// Starts a chain of so many processes and waits for it.
pub(crate) fn start(levels: u32, request: &Path) -> Result<()> {
    link(levels, levels, request)
}

/// Goes on as a link of the chain. `levels` is how many are left, this one included, and of how
/// many.
pub(crate) fn continue_at(levels: &str, request: &Path) -> Result<()> {
    let parsed = levels
        .split_once('/')
        .and_then(|(left, all)| Some((left.parse::<u32>().ok()?, all.parse::<u32>().ok()?)));
    match parsed {
        Some((1, all)) => {
            let request = Request::load(request)?;
            measure::record(&request, all, &[0, request.deep])
        }
        Some((left, all)) if left > 1 => link(left - 1, all, request),
        _ => Err(format!("--chain {levels}: not LEFT/ALL").into()),
    }
}

fn link(left: u32, all: u32, request: &Path) -> Result<()> {
    let status = Command::new(std::env::current_exe()?)
        .args(["--chain", &format!("{left}/{all}")])
        .arg(request)
        .status()?;
    if status.success() { Ok(()) } else { Err(format!("the chain broke: {status}").into()) }
}
