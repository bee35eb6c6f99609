//! Who holds which piece of work: exactly one owner, and never a dead one.
//!
//! Several agents and people in one repository take pieces of work without collision, and a crash
//! frees at once what the dead one held. Four things make that so:
//!
//! - A claim is a resource and an *epoch*, a number that only grows. Whatever is done with a claim
//!   names its epoch, so an owner that comes back late is refused wherever epochs are checked.
//! - A claim is granted by one transaction of a [`Ledger`], which has at most one open claim for
//!   each resource, whoever writes.
//! - The owner is a session in one *incarnation*: an exact process. Its death is proven or it is
//!   not known ([`Liveness`]); nothing is guessed from silence, and no heartbeat is needed.
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
//! | why something is refused, and its codes | [`refusal`] |
//! | what can be done | [`Claims`] |
//! | how it is kept | [`ledger`], `ledger/sqlite/schema.sql` |
//! | what happened | [`event`] |
//! | where claims count | [`scope`] |

#![deny(missing_docs)]

pub mod claim;
mod claims;
pub mod clock;
pub mod epoch;
pub mod error;
pub mod event;
pub mod ledger;
pub mod liveness;
pub mod owner;
pub mod plain;
pub mod refusal;
mod resource;
pub mod rules;
pub mod scope;
#[cfg(test)]
mod testing;

pub use claim::{Claim, End, Hold};
pub use claims::{
    Asker, Claims, Keep, Listed, Outcome, Owned, Swept, SweptClaim, USUAL_LEASE, USUAL_OFFER, Wish,
};
pub use epoch::{Epoch, Seal, Token};
pub use error::{Error, Result};
pub use event::{Event, Filter};
pub use ledger::memory::MemoryLedger;
pub use ledger::sqlite::SqliteLedger;
pub use ledger::{Ledger, Loss};
pub use liveness::{Sight, SystemSight};
pub use owner::{Caller, Owner, OwnerId};
pub use refusal::{Reason, Refused};
pub use resource::{InvalidResource, Resource};
pub use scope::{Scope, ScopeId};
