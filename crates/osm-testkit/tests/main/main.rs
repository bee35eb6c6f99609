//! The testkit's own tests: what other tests stand on must stand itself.

#![expect(clippy::unwrap_used, reason = "in a test, the panic is the report")]

mod agents;
mod model;
mod trials;
