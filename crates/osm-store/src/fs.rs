//! Files, as a store needs them: safe folders, locks that name their holders, whole documents.
//!
//! | for | see |
//! |---|---|
//! | what is refused: links, FIFOs, files of other users | `folder.rs`, `lazy_folder.rs` |
//! | what a save promises | `atomic.rs` |
//! | why it is fast | `large_file.rs`, `delayed_close.rs` |
//! | which processes exclude each other | `lock.rs` |
//! | in which order they wait | `queue.rs` |
//! | which processes hold a lock | `holder_list.rs` |
//! | breaking the lock of a dead process | `eviction.rs` |
//! | which sessions are open | `activity.rs` |
//! | the list of all sessions | `listing.rs`, `summaries.rs` |
//! | archives, stray files of crashed processes | `archive.rs`, `stray.rs` |
//! | the audit log | `audit.rs` |
//!
//! `backend/fs.rs` puts these together.

pub(crate) mod activity;
pub(crate) mod archive;
pub(crate) mod atomic;
pub(crate) mod audit;
pub(crate) mod delayed_close;
pub(crate) mod eviction;
pub(crate) mod folder;
pub(crate) mod holder_list;
mod large_file;
pub(crate) mod lazy_folder;
pub(crate) mod listing;
pub(crate) mod lock;
pub(crate) mod pid_space;
pub(crate) mod queue;
pub(crate) mod stray;
pub(crate) mod summaries;
