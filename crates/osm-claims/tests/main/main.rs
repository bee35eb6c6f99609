//! Claims: the protocol as a model, every ledger, several processes, and disks that fail.

#![expect(clippy::unwrap_used, reason = "in a test, the panic is the report")]

#[macro_use]
extern crate osm_testkit; // Its #[test]: a test without its tool is ignored.

mod claimant;
#[cfg(target_os = "linux")] // strace.
mod crash;
#[cfg(target_os = "linux")] // The log stays when a file is closed, and in-place writes.
mod damage;
#[cfg(target_os = "linux")] // Mounts, and who has a lock.
mod faults;
mod harness;
mod lease;
#[cfg(target_os = "linux")] // Signals, namespaces and /proc.
mod liveness;
mod lossy;
mod model;
mod paths;
#[cfg(target_os = "linux")] // A server of Debian's package.
mod postgres;
#[cfg(target_os = "linux")]
mod power_loss;
mod random;
#[cfg(target_os = "linux")] // The same ledgers.
mod repair;
mod story;
mod version;
mod wait;

fn main() -> std::process::ExitCode {
    osm_testkit::trials::run()
}

/// A file that is not listed above would never be compiled.
#[test]
fn every_file_is_a_module() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/main");
    osm_testkit::modules::every_file_is_listed(&folder, include_str!("main.rs"));
}
