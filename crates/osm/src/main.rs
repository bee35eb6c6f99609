//! The program `osm`: captures the world once and runs.

use std::process::ExitCode;

/// musl's own allocator maps and unmaps memory all the time, and starting a mode cost 300 of each. This
/// one needs no initialisation, so that `osm session id` does not pay for it.
#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: dlmalloc::GlobalDlmalloc = dlmalloc::GlobalDlmalloc;

fn main() -> ExitCode {
    osm::run(&osm::World::capture()).into()
}
