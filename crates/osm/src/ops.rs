//! What commands do, and return: one module for each subject.
//!
//! An operation takes an [`Invocation`](crate::Invocation) and a typed request and returns a typed
//! result or an error that implements [`Failure`](crate::Failure). It writes to no stream, asks
//! nothing and never exits; progress and questions go through an
//! [`Interaction`](crate::Interaction). So the terminal, JSON, a hook and a test call the same code.

pub mod agent;
pub mod claim;
pub(crate) mod completion;
pub mod config;
pub mod doctor;
pub mod goal;
pub mod identity;
mod path_text;
pub mod prime;
pub mod prompt;
pub(crate) mod server;
pub mod session;
pub mod status;
pub mod store;
pub mod trust;
