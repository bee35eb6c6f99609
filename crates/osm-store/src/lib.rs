//! Sessions at rest: never torn, shared live, kept and cleaned.
//!
//! A [`Store`] keeps sessions on a [`Backend`](backend::Backend): files, or memory. A [`Session`]
//! is one that is open: its state is changed in memory and saved after every command, by several
//! processes at once if need be. What is promised:
//!
//! - After a crash at any moment a document is the old one or the new one, whole, and on disk.
//! - A change that was acknowledged is never lost to somebody else's.
//! - Nothing removes a session that somebody has open.
//! - What cannot be read is set aside and said so; what is newer than this code is left alone.
//!
//! # Where to look
//!
//! | for | see |
//! |---|---|
//! | what a document holds, and its bytes | `document.rs`, `zone.rs`, `values.rs`, `pieces.rs`, `upgrade.rs` |
//! | who wins when two change the same key | `merge.rs` |
//! | every file name | [`layout`] |
//! | what "atomic" means, and locks | `fs/atomic.rs`, `fs/lock.rs` |
//! | the seam for other stores | [`backend`] |
//! | when a session is old | [`retention`] |
//! | how it is removed | [`cleanup`] |
//! | when the store cannot be used | [`fallback`] |

#![deny(missing_docs)]

pub mod audit;
pub mod backend;
pub mod cleanup;
pub mod diff;
mod document;
mod error;
pub mod fallback;
mod fs;
mod gzip;
mod key;
pub mod layout;
mod merge;
pub mod metadata;
mod pieces;
pub mod retention;
mod session;
mod spread;
mod store;
mod unique;
mod upgrade;
mod values;
mod zone;

pub use backend::fs::FsBackend;
pub use backend::memory::MemoryBackend;
pub use document::{HistoryEntry, LastUsed, MOST_HISTORY, Origin, Summary, Usage, VERSION};
pub use error::{Damaged, Error, Result};
pub use key::Key;
pub use pieces::Pieces;
pub use session::{Clock, Notice, Observer, Session};
pub use spread::spread;
pub use store::{Snapshot, Store};
