//! Which terminal or coding-agent session is this process part of?
//!
//! People open terminals, agents run commands, and a tool that keeps state for them must know
//! whose command it serves. [`detect()`] answers with one [`SessionId`] that stays the same for
//! everything that belongs together and differs for everything that does not; [`explain`] also
//! tells why.
//!
//! ```
//! use osm_identity::{Catalogue, Environment, Request, System, detect};
//!
//! # #[allow(clippy::disallowed_methods, reason = "a program captures its environment once")]
//! let environment = Environment::new(std::process::id(), std::env::vars_os());
//! let detection = detect(&Request {
//!     explicit: None,
//!     environment: &environment,
//!     source: &System::new(),
//!     catalogue: &Catalogue::new(),
//! });
//! println!("{} ({})", detection.id, detection.source);
//! ```
//!
//! # Where to look
//!
//! | for | see |
//! |---|---|
//! | the grammar of an id | [`SessionId`], `id.rs` |
//! | two words for an id | [`Handle`] |
//! | which signal wins, in what order | [`detect()`], `detect.rs` and a file for each detector |
//! | names of agents, shells, wrappers, roots | [`catalogue`] |
//! | the walk up the process tree | [`ancestry`] |
//! | what a process is to identity | [`Role`], `scene.rs` |
//! | whether an exact process still lives | [`ProcessInstance`] |
//! | which repository a folder belongs to | [`Repository`] |
//! | what an unknown agent looks like | [`UnlistedAgent`] |
//! | how a platform is read, and how its bytes look | `platform/`, [`parse`] |
//!
//! # Limits
//!
//! A session id is a name, not a secret, and grants no access: any user can run a process with the
//! name `claude`. A command that a person types into a terminal and one that an
//! agent types into the same terminal are one session, since nothing tells them apart.

#![deny(missing_docs)]

pub mod ancestry;
pub mod catalogue;
mod detect;
mod detection;
mod digest;
mod environment;
mod handle;
mod id;
mod instance;
mod likeness;
pub mod parse;
mod platform;
mod process;
mod repository;
mod scene;
mod script;
mod shell;

pub use catalogue::Catalogue;
pub use detect::{Request, detect, explain, identify};
pub use detection::{AgentFound, Ancestor, Confidence, Detection, Finding, Outcome, Source};
pub use environment::{Environment, VARIABLES};
pub use handle::{Handle, InvalidHandle};
pub use id::{InvalidId, MAX_LENGTH, SessionId};
pub use instance::{Liveness, ProcessInstance, Proof, UnknownReason};
pub use likeness::UnlistedAgent;
pub use platform::System;
pub use process::{
    BootClock, Census, FixedTable, Host, Pid, Process, ProcessSource, ReadError, StartTime, State,
    Terminal,
};
pub use repository::Repository;
pub use scene::Role;
