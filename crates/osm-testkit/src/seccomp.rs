//! A program that runs others under a seccomp filter, as sandboxes do.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::tools::{self, Stop};

/// Compiles a program to a folder that runs another one, to which `statx` is refused:
/// `refuse_statx ERRNO PROGRAM [ARGUMENT…]`.
pub fn refuse_statx(folder: &Path) -> Result<PathBuf, Stop> {
    let source = folder.join("refuse_statx.c");
    std::fs::write(&source, include_str!("refuse_statx.c"))?;
    let program = folder.join("refuse_statx");
    let output = Command::new(tools::program("cc")?).arg("-o").arg(&program).arg(&source).output();
    let output = output?;
    if output.status.success() {
        return Ok(program);
    }
    // Without the headers of the kernel.
    Err(Stop::Skipped(String::from_utf8_lossy(&output.stderr).into_owned()))
}
