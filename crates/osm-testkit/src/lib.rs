//! What osm's tests stand on: terminals, servers and agents that are real.
//!
//! Nothing here is shipped. A [`lab::Lab`] is a folder and a clean environment; a
//! [`terminal::Terminal`] is a pty, and [`tmux`], [`screen`] and [`ssh`] are the real programs with
//! nothing of the user's; [`model`] is a scripted language model on loopback, and [`agents`] drives
//! real coding agents against it. [`stops`] ends a program at every system call, and `power_loss` lets the power
//! of its `disk` fail there; `seccomp` refuses a call. `postgres` is a private server, with a proxy that loses requests
//! and replies. [`picture`] draws a terminal's screen. [`tools`] says what is
//! missing, [`trials`] is the harness that reports such tests as ignored, and [`mod@bench`] is what
//! benchmarks have in common.

pub mod agents;
pub mod bench;
#[cfg(target_os = "linux")]
pub mod disk;
pub mod lab;
pub mod model;
pub mod modules;
pub mod page;
pub mod picture;
#[cfg(target_os = "linux")]
pub mod postgres;
#[cfg(target_os = "linux")]
pub mod power_loss;
pub mod program;
#[cfg(unix)]
pub mod screen;
#[cfg(target_os = "linux")]
pub mod seccomp;
#[cfg(unix)]
pub mod shell;
#[cfg(unix)]
pub mod ssh;
pub mod stops;
pub mod terminal;
#[cfg(unix)]
pub mod tmux;
pub mod tools;
pub mod trials;

pub use osm_testkit_macros::test;
