//! What reaches a terminal: printable text, and the sequences that osm itself emits, whatever is in the
//! files, repositories, sessions, variables and arguments that osm shows.
//!
//! Each row of [`surfaces`] puts hostile text into an input, runs the program on a real pseudo terminal,
//! and reads what arrives there. A row also names what it must see there, so that none of them passes
//! because its input is no longer shown.

#[macro_use]
extern crate osm_testkit; // Its #[test]: a test without its tool is ignored.

#[cfg(target_os = "linux")]
mod hostile;
#[cfg(target_os = "linux")]
mod progress;
#[cfg(target_os = "linux")]
mod reading;
#[cfg(target_os = "linux")]
mod site;
#[cfg(target_os = "linux")]
mod surfaces;

#[cfg(not(target_os = "linux"))]
#[test]
fn terminals_of_other_platforms_are_not_tested() {}

fn main() -> std::process::ExitCode {
    osm_testkit::trials::run()
}
