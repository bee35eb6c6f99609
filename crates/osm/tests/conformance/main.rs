//! The conformance matrix: which situations are one session, and which are two.
//!
//! Every row is a real situation: real terminals, shells, multiplexers, logins, containers and
//! agents, in which the real program is asked. A row gives a list of ids; rows of `same` and
//! `not_fooled` must give one id, rows of `differ` as many as they ask for. The page
//! `docs/conformance.md` is made from the rows and their results, and checked against them.
//!
//! `OSM_BIN` names another program to test; `-- smoke` runs the rows that need nothing installed.

#[cfg(target_os = "linux")]
mod linux;

#[cfg(target_os = "linux")]
fn main() -> std::process::ExitCode {
    linux::main()
}

/// Elsewhere there are neither the programs nor the namespaces that the rows need.
#[cfg(not(target_os = "linux"))]
fn main() {}
