//! Modes and scripts as people and programs use them: lines from everywhere, real terminals, and all
//! the ways in which it can end.
//!
//! What is tested is the loop: most of it runs `probe.js`. The modes of the program are played in
//! `every_command.rs`, at a terminal, and in the tests next door, without one.

#[macro_use]
extern crate osm_testkit; // Its #[test]: a test without its tool is ignored.

mod builtins;
mod clipboard;
mod editor;
#[cfg(target_os = "linux")]
mod every_command;
mod harness;
mod hostile;
mod input;
#[cfg(target_os = "linux")]
mod interrupt;
mod limits;
mod log;
mod notes;
mod saving;
mod script;
mod switching;
#[cfg(target_os = "linux")]
mod terminal;
#[cfg(target_os = "linux")]
mod together;

fn main() -> std::process::ExitCode {
    osm_testkit::trials::run()
}
