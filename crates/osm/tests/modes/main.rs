//! Modes and scripts as people and programs use them: lines from everywhere, real terminals, and all
//! the ways in which it can end.
//!
//! What is tested is the loop, not the modes of the program: most of it runs `probe.js`.

mod builtins;
mod clipboard;
mod editor;
mod harness;
mod input;
mod limits;
mod log;
mod saving;
mod script;
#[cfg(target_os = "linux")]
mod terminal;
