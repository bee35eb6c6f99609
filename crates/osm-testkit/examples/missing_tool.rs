//! A test program in which one test can run and another cannot; `tests/main/trials.rs` runs it.

#[macro_use]
extern crate osm_testkit;

use osm_testkit::{tools, trials};

fn main() -> std::process::ExitCode {
    trials::run()
}

#[test]
fn needs_nothing() {}

#[test]
fn needs_a_tool() {
    trials::need(tools::program("a-program-that-does-not-exist"));
}
