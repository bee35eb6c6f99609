//! Links the program so that it starts quickly.
//!
//! `osm session id` stands in prompts, and most of what a small program costs is its loader's work.
//! So the unwinder is linked in instead of being a second library to load, and the program has a
//! fixed address and one segment less. `scripts/release` goes further; this is for everybody who
//! types `cargo install`. Elsewhere than on Linux with glibc nothing is changed.
#![expect(clippy::disallowed_methods, reason = "cargo talks to build scripts through variables")]

use std::env::var;
use std::io::{self, Write};
use std::path::Path;
use std::process::Command;

fn main() -> io::Result<()> {
    let mut cargo = io::stdout();
    writeln!(cargo, "cargo:rerun-if-changed=build.rs")?;
    let is = |name: &str, value: &str| var(name).is_ok_and(|found| found == value);
    let native = var("HOST").is_ok() && var("HOST") == var("TARGET");
    if !native || !is("CARGO_CFG_TARGET_OS", "linux") || !is("CARGO_CFG_TARGET_ENV", "gnu") {
        return Ok(());
    }
    if let Some(folder) = unwinder() {
        writeln!(cargo, "cargo:rustc-link-search=native={folder}")?;
        writeln!(cargo, "cargo:rustc-link-lib=static:-bundle=gcc_eh")?;
    }
    for argument in ["-no-pie", "-Wl,-z,noseparate-code"] {
        writeln!(cargo, "cargo:rustc-link-arg-bins={argument}")?;
    }
    Ok(())
}

/// The folder of the static unwinder, if the C compiler has one.
fn unwinder() -> Option<String> {
    let output = Command::new("cc").arg("-print-file-name=libgcc_eh.a").output().ok()?;
    let file = String::from_utf8(output.stdout).ok()?;
    let file = Path::new(file.trim());
    // Only the name comes back where there is no such file.
    file.is_file().then(|| file.parent().map(|folder| folder.display().to_string()))?
}
