//! Sessions at rest, on every backend, in several processes, and on disks that fail.

#![expect(clippy::unwrap_used, reason = "in a test, the panic is the report")]

#[macro_use]
extern crate osm_testkit; // Its #[test]: a test without its tool is ignored.

mod backend_story;
mod child;
mod cleanup;
#[cfg(target_os = "linux")]
mod crash;
#[cfg(target_os = "linux")]
mod disks;
#[cfg(target_os = "linux")]
mod eviction;
mod fallback;
mod files;
mod harness;
#[cfg(target_os = "linux")]
mod journals;
mod leases;
mod locks;
mod lossy;
#[cfg(target_os = "linux")]
mod postgres;
#[cfg(target_os = "linux")]
mod power_loss;
mod races;
mod session_story;
mod sharing;
mod summaries;
#[cfg(unix)]
mod unsafe_files;
mod watch;
mod worker;

fn main() -> std::process::ExitCode {
    osm_testkit::trials::run()
}

/// A file that is not listed above would never be compiled.
#[test]
fn every_file_is_a_module() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/main");
    osm_testkit::modules::every_file_is_listed(&folder, include_str!("main.rs"));
}
