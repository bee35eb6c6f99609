//! The program `osm`: captures the world once and runs.

#[cfg(target_env = "musl")]
mod c_allocator;

use std::mem::ManuallyDrop;
use std::process::ExitCode;

use osm_script::template::Metered;

/// musl's own allocator maps and unmaps memory all the time, and starting a mode cost 300 of each. This
/// one needs no initialisation, so that `osm session id` does not pay for it.
#[cfg(target_env = "musl")]
type Allocator = dlmalloc::GlobalDlmalloc;
#[cfg(not(target_env = "musl"))]
type Allocator = std::alloc::System;

/// Counts the memory of templates, which is limited.
#[global_allocator]
static ALLOCATOR: Metered<Allocator> = Metered(Allocator {});

fn main() -> ExitCode {
    // The process ends: to give back a hundred variables one by one would only make `osm session id` slower.
    let world = ManuallyDrop::new(osm::World::capture());
    osm::run(&world).end()
}
