//! Programs under another name.

use std::io;
use std::path::Path;
use std::process::Command;

/// Copies a program, to be run at once.
///
/// Another program copies it. A process that another thread of the tests starts meanwhile would inherit
/// our descriptor of the new file, and the system runs no program that a process can write to.
pub fn copy(program: &Path, to: &Path) -> io::Result<()> {
    let status = Command::new("cp").arg(program).arg(to).status()?;
    if status.success() { Ok(()) } else { Err(io::Error::other(format!("cp: {status}"))) }
}
