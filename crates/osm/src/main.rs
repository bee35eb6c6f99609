//! The program `osm`: captures the world once and runs.

use std::process::ExitCode;

fn main() -> ExitCode {
    osm::run(&osm::World::capture()).into()
}
