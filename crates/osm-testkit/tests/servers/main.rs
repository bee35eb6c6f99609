//! The testkit's own servers. A test without its server is ignored.

#![cfg_attr(
    target_os = "linux",
    expect(clippy::unwrap_used, reason = "in a test, the panic is the report")
)]

#[cfg(target_os = "linux")]
#[macro_use]
extern crate osm_testkit;

#[cfg(target_os = "linux")]
mod postgres;

#[cfg(target_os = "linux")]
fn main() -> std::process::ExitCode {
    osm_testkit::trials::run()
}

#[cfg(not(target_os = "linux"))]
fn main() {}
