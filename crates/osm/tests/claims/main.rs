//! The failure modes of claims, each shown handled by real processes or named impossible.
//!
//! Every row has the id of a failure that systems of this kind really had, what must hold instead,
//! and the test that shows it: real owners (shells on terminals, processes called like agents) that
//! are killed, stopped, replaced, moved into namespaces, and the real program. The page
//! `docs/claims-failure-modes.md` is made from the rows and checked against them.
//!
//! `cargo test -p osm --test claims -- sweep` runs what has "sweep" in its name.

#[cfg(target_os = "linux")]
mod linux;

#[cfg(target_os = "linux")]
fn main() -> std::process::ExitCode {
    linux::main()
}

/// Elsewhere there are neither the namespaces nor the signals that the rows need.
#[cfg(not(target_os = "linux"))]
fn main() {}
