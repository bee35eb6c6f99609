//! Claims: the protocol as a model, every ledger, several processes, and disks that fail.

#![expect(clippy::unwrap_used, reason = "in a test, the panic is the report")]

mod claimant;
#[cfg(target_os = "linux")] // strace.
mod crash;
#[cfg(target_os = "linux")] // Mounts, and who has a lock.
mod faults;
mod harness;
#[cfg(target_os = "linux")] // Signals, namespaces and /proc.
mod liveness;
mod model;
mod random;
mod story;
mod wait;

/// A file that is not listed above would never be compiled.
#[test]
fn every_file_is_a_module() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/main");
    let Ok(files) = folder.read_dir() else {
        return; // Another machine than the one that compiled this.
    };
    let listed = include_str!("main.rs");
    for file in files {
        let name = file.unwrap().file_name().into_string().unwrap();
        let Some(module) = name.strip_suffix(".rs").filter(|module| *module != "main") else {
            continue;
        };
        assert!(listed.contains(&format!("mod {module};")), "{name} is not a module");
    }
}
