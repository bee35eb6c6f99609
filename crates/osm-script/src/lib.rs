//! JavaScript on QuickJS, knowing nothing of sessions or terminals.
//!
//! A [`Runtime`] runs scripts under [`Limits`]: an endless loop, a memory bomb, a bottomless
//! recursion and a regular expression that never comes to its end are all stopped, and the runtime
//! goes on. Scripts reach the world through a [`Host`] and nothing else; values cross as JSON. That
//! the engine is QuickJS is known to `runtime.rs`, `globals.rs` and `bridge.rs` alone.
//!
//! # Where to look
//!
//! | for | see |
//! |---|---|
//! | what a script may reach | [`Host`] |
//! | what `require('osm:…')` gives | [`modules`], a file for each |
//! | how `require` finds files | `loader.rs` |
//! | modes and their commands | [`Modes`], `js/tui.js` |
//! | where the state of a script lives | [`StateKey`], `js/state.js` |
//! | templates | [`template`] |
//! | how a line is split into words | [`words`] |
//! | promises and timers | `event_loop.rs`, `js/timers.js` |
//! | what a script error looks like | [`ScriptError`] |
//! | globals that every script has | `js/`, made by `globals.rs` |
//! | all of it, typed for editors | [`TYPES`]; scripts that use it: `examples/js/` |

#![deny(missing_docs)]

mod bridge;
mod error;
mod event_loop;
mod globals;
mod host;
mod limits;
mod loader;
mod modes;
pub mod modules;
mod runtime;
pub mod template;
pub mod words;

pub use error::{Kind, Place, ScriptError};
pub use host::{Execution, Extension, Finished, Host, Level, StateKey, Writing};
pub use limits::{Interrupter, Limits};
pub use modes::{CommandInfo, Dispatch, Document, FlagInfo, ModeInfo, Modes, Suggestion};
pub use modules::CONTEXT;
pub use runtime::{Options, Runtime};

/// What scripts find, typed for editors: the text of `osm.d.ts`.
pub const TYPES: &str = include_str!("../types/osm.d.ts");
