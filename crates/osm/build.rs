//! Links the program so that it starts quickly.
//!
//! Shell prompts run `osm session id`, and most of the start of a small program is the work of the
//! dynamic loader. So on Linux with glibc the C libraries are linked statically, and the program has a
//! fixed address and one segment less. `scripts/release` goes further; this is for `cargo install`.
//! Where the C compiler has no static libraries, and on processors other than `x86_64`, where Rust
//! brings no linker of its own, the program is linked dynamically and starts a little later.
#![expect(clippy::disallowed_methods, reason = "cargo talks to build scripts through variables")]

use std::env::var;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The libraries that Rust names to the linker, and those of the C compiler that stand for them.
const LIBRARIES: [(&str, &str); 7] = [
    ("c", "c"),
    ("dl", "dl"),
    ("gcc_s", "gcc_eh"),
    ("m", "m"),
    ("pthread", "pthread"),
    ("rt", "rt"),
    ("util", "util"),
];

fn main() -> io::Result<()> {
    let mut cargo = io::stdout();
    writeln!(cargo, "cargo:rerun-if-changed=build.rs")?;
    let is = |name: &str, value: &str| var(name).is_ok_and(|found| found == value);
    let native = var("HOST").is_ok() && var("HOST") == var("TARGET");
    if !native || !is("CARGO_CFG_TARGET_OS", "linux") || !is("CARGO_CFG_TARGET_ENV", "gnu") {
        return Ok(());
    }
    for argument in ["-no-pie", "-Wl,-z,noseparate-code"] {
        writeln!(cargo, "cargo:rustc-link-arg-bins={argument}")?;
    }
    let folder = PathBuf::from(var("OUT_DIR").unwrap_or_default());
    if is("CARGO_CFG_TARGET_ARCH", "x86_64") && offer(&folder)? {
        writeln!(cargo, "cargo:rustc-link-arg-bins=-L{}", folder.display())?;
        writeln!(cargo, "cargo:rustc-link-arg-bins=-static")?;
    }
    Ok(())
}

/// Offers the static libraries in this folder, under the names by which the linker is told to look
/// for shared ones, if there are all of them.
fn offer(folder: &Path) -> io::Result<bool> {
    let found: Option<Vec<_>> =
        LIBRARIES.iter().map(|(wanted, ours)| Some((wanted, library(ours)?))).collect();
    let Some(found) = found else { return Ok(false) };
    for (wanted, file) in found {
        let script = format!("INPUT(\"{}\")\n", file.display());
        fs::write(folder.join(format!("lib{wanted}.a")), script)?;
    }
    Ok(true)
}

/// Where the C compiler has a static library, if it has.
fn library(name: &str) -> Option<PathBuf> {
    let question = format!("-print-file-name=lib{name}.a");
    let output = Command::new("cc").arg(question).output().ok()?;
    let file = PathBuf::from(String::from_utf8(output.stdout).ok()?.trim());
    // Only the name comes back where there is no such file.
    file.is_file().then_some(file)
}
