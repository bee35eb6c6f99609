//! Files, as a store needs them: folders that are safe to work in, locks that tell who holds them,
//! documents that are whole.
//!
//! | for | see |
//! |---|---|
//! | what is refused: links, FIFOs, the files of others | `folder.rs` |
//! | what a save promises | `atomic.rs` |
//! | why it is quick | `long.rs`, `leftovers.rs` |
//! | who may do what at the same time | `lock.rs` |
//! | who holds a lock | `roster.rs` |
//! | taking one from the dead | `eviction.rs` |
//! | which sessions are open | `activity.rs` |
//! | the list of all sessions | `listing.rs`, `summaries.rs` |
//! | what is set aside, what crashes left behind | `shelf.rs`, `litter.rs` |
//! | what happened | `audit.rs` |
//!
//! `backend/fs.rs` puts these together.

pub(crate) mod activity;
pub(crate) mod atomic;
pub(crate) mod audit;
pub(crate) mod eviction;
pub(crate) mod folder;
pub(crate) mod leftovers;
pub(crate) mod listing;
pub(crate) mod litter;
pub(crate) mod lock;
mod long;
pub(crate) mod place;
pub(crate) mod realm;
pub(crate) mod roster;
pub(crate) mod shelf;
pub(crate) mod summaries;
