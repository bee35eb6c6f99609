//! Files, notes, diffs and command output as one prompt that nothing in it can break out of.
//!
//! An [`Item`] is what a user put together, as it stands in a session. [`build()`] makes a [`Prompt`] of
//! items: files are read and diffs taken only then. What is promised:
//!
//! - No content and no name can close its fence or look like a section; [`parse()`] gives back exactly
//!   what was rendered.
//! - Nothing is left out in silence, and an item is never dropped because its file is gone.
//! - Only regular files are opened; a FIFO, a device or a file without end costs nothing.
//! - Links in a folder lead to nothing outside of it, nor do links that a diff names out of the
//!   repository.
//! - What a command prints, and how long it takes, has a limit, and so has everything else.
//!
//! Nothing here reads variables or asks where we are: a [`Setting`] tells. Programs that are started
//! (git, and the commands of items) get the variables of this process.
//!
//! # Example
//!
//! ```
//! use osm_context::{Item, Section, Setting, build, parse, resolve};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let folder = tempfile::tempdir()?;
//! std::fs::write(folder.path().join("a.rs"), "fn main() {}\n")?;
//!
//! let setting = Setting::new(folder.path());
//! let found = resolve("*.rs", &setting)?.found.remove(0);
//! let items =
//!     [Item::file(1, &found.label, &found.path), Item::note(2, "note", "Is this ``` right?")];
//! let prompt = build(&items, &setting)?.within("Review this.\n\n", "");
//!
//! assert_eq!(
//!     prompt.to_string(),
//!     [
//!         "Review this.\n\n",
//!         "### File: a.rs\n\n```rust\nfn main() {}\n```\n\n",
//!         "### Note: note\n\n````text no-eol\nIs this ``` right?\n````\n",
//!     ]
//!     .concat(),
//! );
//! assert_eq!(prompt.stats(&setting, None)?.files, 1);
//! let sections = parse(&prompt.clone().within("", "").to_string())?;
//! assert_eq!(sections, prompt.sections());
//! # Ok(())
//! # }
//! ```
//!
//! # Where to look
//!
//! | for | see |
//! |---|---|
//! | what an item is, and what survives | `item.rs` |
//! | what was typed: `~`, patterns, labels | `resolve.rs` |
//! | which files a folder stands for | `walk.rs` |
//! | where a file really is, and which comes up twice | `plan.rs`, `build.rs` |
//! | how a file is opened without following a link | `open.rs` |
//! | what is no text | `read.rs`; by many threads: `files.rs`, `huge_pages.rs` |
//! | why something is left out | `reason.rs` |
//! | what git is asked, and what it is refused | [`git`] |
//! | how a command is stopped | `run.rs` |
//! | how long work tells how far it is | `progress.rs` |
//! | how a prompt looks | `render.rs`, `fence.rs`, `label.rs`, `language.rs`; back: `parse.rs` |
//! | archives as text | [`txtar`] |
//! | tokens | [`tokens`] |

#![deny(missing_docs)]

mod body;
mod build;
mod describe;
mod error;
mod fence;
mod files;
pub mod git;
mod huge_pages;
mod item;
mod label;
mod language;
mod open;
mod parse;
mod plan;
mod progress;
mod read;
mod reason;
mod render;
mod resolve;
mod run;
mod section;
mod setting;
mod stats;
pub mod tokens;
pub mod txtar;
mod walk;

pub use body::Body;
pub use build::build;
pub use describe::{Description, FileOf, describe, files, missing};
pub use error::{Error, Result};
pub use item::{Item, Kind, Place};
pub use label::shown_lines;
pub use parse::{Malformed, parse};
pub use progress::{Progress, Step};
pub use read::read_text;
pub use reason::Reason;
pub use render::{Pieces, Prompt};
pub use resolve::{Found, Resolved, label_of, resolve};
pub use run::{End, Ran, RanApart, run, run_apart};
pub use section::{Block, Outcome, Section, Skipped, Subject};
pub use setting::{Interrupted, Limits, Setting};
pub use stats::Stats;
pub use tokens::Encoding;
