//! JavaScript on QuickJS, knowing nothing of sessions or terminals.
//!
//! A [`Runtime`] runs scripts under [`Limits`]: it stops endless loops, unbounded recursion, runaway
//! regular expressions and excessive memory use, and can then run the next script. Scripts reach the
//! system only through a [`Host`]; values cross as JSON. Only `runtime.rs`, `globals.rs`,
//! `bytecode.rs` and `bridge.rs` depend on QuickJS.
//!
//! # Where to look
//!
//! | for | see |
//! |---|---|
//! | what a script can reach | [`Host`] |
//! | the modules of `require('osm:…')` | [`modules`], a file for each |
//! | how `require` finds files | `loader.rs` |
//! | modes and their commands | [`Modes`], `js/tui.js` |
//! | where the state of a script is stored | [`StateKey`], `js/state.js` |
//! | templates | [`template`] |
//! | how a line is split into words | [`words`] |
//! | promises and timers | `event_loop.rs`, `js/timers.js` |
//! | how a script's error is shown | [`ScriptError`] |
//! | the globals of every script | `js/`, compiled by `build.rs`, run by `globals.rs` |
//! | the globals of the web platform | `js/web.js`, `js/modules/web_*.js`, `text.rs` |
//! | types for editors | [`TYPES`]; example scripts: `examples/js/` |

#![deny(missing_docs)]

mod bridge;
mod bytecode;
mod error;
mod event_loop;
mod globals;
mod host;
mod limits;
mod loader;
mod memory;
mod modes;
pub mod modules;
mod runtime;
pub mod template;
mod text;
pub mod words;

pub use error::{Kind, Place, ScriptError};
pub use host::{Execution, Extension, Finished, Host, Level, StateKey, Writing};
pub use limits::{Interrupter, Limits, TimeLimit};
pub use loader::{module_files, required_names};
pub use modes::{CommandInfo, Dispatch, Document, FlagInfo, ModeInfo, Modes, Suggestion};
pub use modules::CONTEXT;
pub use runtime::{Options, Runtime};

/// The type declarations of all globals and modules: the text of `osm.d.ts`.
pub const TYPES: &str = include_str!("../types/osm.d.ts");
