//! Scripts, run for real.
#![expect(clippy::unwrap_used, reason = "a harness that fails is a failed test")]

#[macro_use]
extern crate osm_testkit; // Its #[test]: a test without its tool is ignored.

mod context;
mod contracts;
mod errors;
mod globals;
mod harness;
mod limits;
mod loading;
mod modes;
mod modules;
mod pages;
mod project;
mod robust;
mod state;
mod types;
mod upstream;
mod web;

fn main() -> std::process::ExitCode {
    osm_testkit::trials::run()
}
