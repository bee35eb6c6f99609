//! Connections, transactions and migrations, with a real server.

#![cfg_attr(
    target_os = "linux",
    expect(clippy::unwrap_used, reason = "in a test, the panic is the report")
)]

#[cfg(target_os = "linux")]
#[macro_use]
extern crate osm_testkit; // Its #[test]: a test without its tool is ignored.

#[cfg(target_os = "linux")]
mod connecting;
#[cfg(target_os = "linux")]
mod encryption;
#[cfg(target_os = "linux")]
mod harness;
#[cfg(target_os = "linux")]
mod migrations;
#[cfg(target_os = "linux")]
mod transactions;

#[cfg(target_os = "linux")]
fn main() -> std::process::ExitCode {
    osm_testkit::trials::run()
}

#[cfg(not(target_os = "linux"))]
fn main() {}
