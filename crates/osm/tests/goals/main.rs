//! Modes, goals and trust as a user meets them: every command, typed into the real program.

#[macro_use]
extern crate osm_testkit; // Its #[test]: a test without its tool is ignored.

mod flow;
#[cfg(unix)]
mod foreign;
mod goals;
mod harness;
mod loading;
mod review;
mod sharing;
mod templates;
mod trust;

fn main() -> std::process::ExitCode {
    osm_testkit::trials::run()
}
