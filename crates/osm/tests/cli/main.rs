//! The program as a user meets it: what it prints, what it refuses, how it ends.

#[macro_use]
extern crate osm_testkit; // Its #[test]: a test without its tool is ignored.

mod completion;
mod config;
#[cfg(target_os = "linux")]
mod doctor;
mod documents;
mod handles;
mod harness;
mod identity;
mod links;
mod manual;
#[cfg(target_os = "linux")]
mod memory;
#[cfg(target_os = "linux")]
mod not_saved;
mod one_writer;
mod ops;
mod output;
#[cfg(target_os = "linux")]
mod postgres;
#[cfg(target_os = "linux")]
mod power_loss;
mod prose;
mod questions;
#[cfg(target_os = "linux")]
mod readme;
mod reference;
#[cfg(target_os = "linux")]
mod renamed;
mod repair;
#[cfg(target_os = "linux")]
mod retention;
#[cfg(target_os = "linux")]
mod sandboxes;
mod security;
mod session;
#[cfg(target_os = "linux")]
mod shells;
mod sources;
#[cfg(target_os = "linux")]
mod status;
mod threads;
#[cfg(unix)]
mod umasks;
#[cfg(target_os = "linux")]
#[cfg(target_os = "linux")]
mod unlisted_agents;
mod upstream;

fn main() -> std::process::ExitCode {
    osm_testkit::trials::run()
}
