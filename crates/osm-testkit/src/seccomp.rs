//! A program that runs others under a seccomp filter, as sandboxes do.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::tools::{self, Stop};

/// Compiles a program to a folder that runs another one, to which a call of the system is refused:
/// `refuse_statx ERRNO PROGRAM [ARGUMENT…]`.
pub fn refuse(folder: &Path, call: &str) -> Result<PathBuf, Stop> {
    let source = folder.join("refuse.c");
    std::fs::write(&source, include_str!("refuse.c"))?;
    let program = folder.join(format!("refuse_{call}"));
    let mut compiler = Command::new(tools::program("cc")?);
    compiler.arg(format!("-DCALL=SYS_{call}")).arg("-o").arg(&program).arg(&source);
    let output = compiler.output();
    let output = output?;
    if output.status.success() {
        return Ok(program);
    }
    // Without the headers of the kernel.
    Err(Stop::Skipped(String::from_utf8_lossy(&output.stderr).into_owned()))
}
