//! The program as a user meets it: what it prints, what it refuses, how it ends.

mod completion;
mod config;
mod harness;
mod identity;
mod output;
mod reference;
mod session;
