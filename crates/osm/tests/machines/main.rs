//! Claims of several machines on one PostgreSQL server.
//!
//! A machine is a network, a host name, a process table and a machine id of its own (namespaces), joined to the
//! server by a veth pair, which can be cut. The program, the owners and the server are real.

#![expect(clippy::unwrap_used, reason = "in a test, the panic is the report")]

#[cfg(target_os = "linux")]
#[macro_use]
extern crate osm_testkit; // Its #[test]: a test without its tool is ignored.

#[cfg(target_os = "linux")]
mod claims;
#[cfg(target_os = "linux")]
mod machine;

#[cfg(target_os = "linux")]
fn main() -> std::process::ExitCode {
    osm_testkit::trials::run()
}

/// Elsewhere there are no namespaces.
#[cfg(not(target_os = "linux"))]
fn main() {}
