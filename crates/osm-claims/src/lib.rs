//! Claims: each resource has at most one owner, and never a dead one. Paths are resources that overlap, and
//! several owners may share one.
//!
//! Several agents and people in one repository divide their work without collisions, and a crash
//! frees the claims of the dead session at once. Four things make that so:
//!
//! - A claim is a resource and an *epoch*, a number that only grows. Every request
//!   about a claim names its epoch, so that an owner which comes back late is refused.
//! - A claim is granted by one transaction of a [`Ledger`], which has no two open claims that exclude
//!   each other, for every writer.
//! - The owner is a session in one *incarnation*: an exact process. Its death is proven or unknown
//!   ([`Liveness`](osm_identity::Liveness)); no heartbeat and no timeout is needed.
//! - All rules are one pure function, [`rules::decide`], which every ledger uses and a model
//!   checks.
//!
//! # Where to look
//!
//! | for | see |
//! |---|---|
//! | who may have a claim, and when | [`rules`] |
//! | who a caller is | [`owner`] |
//! | when an owner is dead | [`liveness`] |
//! | why a request is refused | [`refusal`] |
//! | the operations | [`Claims`] |
//! | how claims are stored | [`ledger`], `ledger/sqlite/schema.sql` |
//! | the log | [`event`] |
//! | messages between sessions | [`message`] |
//! | where claims count | [`scope`] |
//! | which paths overlap | [`path`], [`rules::collision`] |

#![deny(missing_docs)]

pub mod claim;
mod claims;
pub mod clock;
pub mod epoch;
pub mod error;
pub mod event;
pub mod ledger;
pub mod liveness;
pub mod message;
mod notices;
pub mod owner;
pub mod path;
pub mod refusal;
mod resource;
pub mod rules;
pub mod scope;
#[cfg(test)]
mod testing;

pub use claim::{Claim, End, Hold, Mode, Worktree};
pub use claims::{
    ClaimOptions, Claims, DEFAULT_IDLE, DEFAULT_LEASE, DEFAULT_OFFER, DEFAULT_PRESENCE, HeldBy,
    Kept, Listed, Outcome, Owned, Requester, SweepReport, SweptClaim,
};
pub use epoch::{Epoch, Seal, Token};
pub use error::{Error, Result};
pub use event::{Event, Filter};
pub use ledger::memory::MemoryLedger;
pub use ledger::postgres::PostgresLedger;
pub use ledger::sqlite::{SqliteLedger, repair};
pub use ledger::{Ledger, Loss, Presence};
pub use liveness::{Ends, LivenessProbe, SystemProbe};
pub use message::{Draft, Message, MessageKind};
pub use notices::Notices;
pub use owner::{Caller, Owner, OwnerId};
pub use path::{Case, ClaimedPath, InvalidPattern, PathKind};
pub use refusal::{Reason, Refused};
pub use resource::{InvalidResource, Link, Resource};
pub use scope::{Folder, Scope, ScopeId, SharedScope, SharedScopeError};
