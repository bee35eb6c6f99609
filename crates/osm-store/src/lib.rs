//! Sessions at rest: never torn, shared live, kept and cleaned.
//!
//! A [`Store`] keeps sessions on a [`Backend`](backend::Backend): files, memory, or a server. A
//! [`Session`] is an open one: its state is changed in memory and saved after every command, by
//! several processes at once if need be. What is promised:
//!
//! - After a crash at any moment a document is the old one or the new one, whole, and on disk.
//! - An acknowledged change is never overwritten by another process, and never carried out twice.
//! - No session is removed while a process has it open.
//! - A document that cannot be read is quarantined and reported; one of a newer version is not
//!   touched.
//!
//! Errors are typed reasons. Advice, exit codes and the names of commands are the program's.
//!
//! # Where to look
//!
//! | for | see |
//! |---|---|
//! | what a document holds, and its bytes | `document.rs`, `zone.rs`, `values.rs`, `pieces.rs`, `upgrade.rs` |
//! | the result when two processes change the same key | `merge.rs` |
//! | every file name | [`layout`] |
//! | what "atomic" means, and locks | `fs/atomic.rs`, `fs/lock.rs` |
//! | the seam for other backends | [`backend`] |
//! | a store on a server | [`backend::postgres`] |
//! | a lost reply, a lost lease | `backend/settle.rs`, `session/save.rs` |
//! | when a session is old | [`retention`] |
//! | how it is removed | [`cleanup`] |
//! | when the store cannot be used | [`fallback`] |
//! | when a server is away for a while | `journal.rs`, `session/away.rs` |
//! | from one store to another | [`copy`] |

#![deny(missing_docs)]

pub mod audit;
mod author;
pub mod backend;
pub mod cleanup;
pub mod copy;
pub mod diff;
mod document;
mod error;
pub mod fallback;
mod fs;
mod gzip;
mod journal;
mod key;
pub mod layout;
mod merge;
pub mod metadata;
mod pieces;
pub mod retention;
mod session;
mod spread;
mod store;
mod stored_value;
mod unique;
mod upgrade;
mod values;
mod zone;

pub use author::Author;
pub use backend::Clock;
pub use backend::fs::FsBackend;
pub use backend::memory::MemoryBackend;
pub use backend::postgres::PostgresBackend;
pub use document::{HistoryEntry, LastUsed, MOST_HISTORY, Origin, Summary, Usage, VERSION};
pub use error::{Cause, Damage, Damaged, Error, ErrorKind, Result, Unsafe};
pub use journal::{JournalEntry, Journals};
pub use key::Key;
pub use pieces::Pieces;
pub use session::{Journaled, Kept, Notice, Observer, Session};
pub use spread::spread;
pub use store::{Export, Import, Snapshot, Store};
pub use stored_value::{Shape, StoredValue};
