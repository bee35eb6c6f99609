//! Prompts from real folders, repositories and commands.

#![expect(clippy::unwrap_used, reason = "in a test, the panic is the report")]

mod describing;
mod folders;
mod harness;
#[cfg(unix)]
mod hostile_repositories;
#[cfg(unix)]
mod prompts;
#[cfg(unix)]
mod repositories;
mod resolving;
#[cfg(unix)]
mod special_files;
#[cfg(target_os = "linux")]
mod swapped_folders;

/// A file that is not listed above would never be compiled.
#[test]
fn every_file_is_a_module() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/main");
    osm_testkit::modules::every_file_is_listed(&folder, include_str!("main.rs"));
}
