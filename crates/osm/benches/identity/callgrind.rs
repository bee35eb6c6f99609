//! Counts the instructions of a program with callgrind.
//!
//! They are those in user mode only: what the kernel does for a start, an exec or a read is not in
//! them. And valgrind offers a plain processor, without the instructions for SHA-256 for one, so a
//! program that would use these shows more instructions here than it runs.

use std::io::ErrorKind;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::programs::Program;
use osm_testkit::bench::Result;

/// Counts the instructions of one run; nothing if valgrind is not installed.
pub(crate) fn instructions(program: &Program, scratch: &Path) -> Result<Option<u32>> {
    let output = scratch.join("callgrind.out");
    let status = Command::new("valgrind")
        .args(["--tool=callgrind", "--quiet"])
        .arg(format!("--callgrind-out-file={}", output.display()))
        .args(&program.command)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    match status {
        Ok(status) if status.success() => {}
        Ok(status) => return Err(format!("valgrind {}: {status}", program.name).into()),
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(format!("valgrind: {error}").into()),
    }
    let text = std::fs::read_to_string(&output)?;
    let total = total(&text).ok_or("callgrind wrote no total")?;
    Ok(Some(total))
}

/// Finds the total in callgrind's file, a line `totals: N`.
fn total(text: &str) -> Option<u32> {
    text.lines().find_map(|line| line.strip_prefix("totals:"))?.trim().parse().ok()
}
