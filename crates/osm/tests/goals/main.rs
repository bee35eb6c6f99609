//! Modes, goals and trust as a user meets them: every command, typed into the real program.

mod flow;
mod goals;
mod harness;
mod review;
mod sharing;
mod trust;
