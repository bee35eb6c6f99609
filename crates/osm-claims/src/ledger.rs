//! Where claims are written down: the one seam between the rules and how they are kept.
//!
//! A ledger runs pieces of work, each as one transaction over a [`Book`]: all of it is kept or
//! nothing, and nobody else writes in between. It has no rules of its own but one, which it
//! enforces by itself: a resource has at most one open claim.

pub mod memory;
pub mod sqlite;

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;

use crate::claim::{Claim, Hold};
use crate::clock::Now;
use crate::epoch::{Epoch, Seal};
use crate::error::Result;
use crate::event::{Deed, Event, Filter};
use crate::liveness::Sight;
use crate::owner::{Caller, Owner, OwnerId};
use crate::resource::Resource;
use crate::scope::{Scope, ScopeId};
use osm_identity::ProcessInstance;

/// A place where claims are written down.
pub trait Ledger: Send + Sync {
    /// Runs work that may write. If it returns an error, nothing was written.
    fn write(&self, work: &mut dyn FnMut(&mut dyn Book) -> Result<()>) -> Result<()>;

    /// Runs work that only reads, all of it from one moment.
    fn read(&self, work: &mut dyn FnMut(&mut dyn Book) -> Result<()>) -> Result<()>;

    /// The time by which leases run.
    fn now(&self) -> Now;

    /// Begins to watch for changes.
    fn watch(&self) -> Result<Box<dyn Watch + '_>>;
}

/// Sees that something may have changed.
pub trait Watch {
    /// Returns when anything was written since the watch began or last returned, when one of the
    /// processes is no longer what it was, or when the time is over.
    fn wait(
        &mut self,
        processes: &[&ProcessInstance],
        sight: &dyn Sight,
        time: Duration,
    ) -> Result<()>;
}

/// A claim that is to be granted.
#[derive(Clone, Debug)]
pub struct Grant<'a> {
    /// Where.
    pub scope: ScopeId,
    /// What.
    pub resource: &'a Resource,
    /// To whom.
    pub owner: &'a Arc<Owner>,
    /// Kept by what.
    pub hold: Hold,
    /// When, for people.
    pub at: Timestamp,
    /// What the owner said about it.
    pub note: Option<String>,
    /// The request that it answers.
    pub request: Option<String>,
}

impl Grant<'_> {
    /// The claim that it becomes.
    fn claim(&self, epoch: Epoch, seal: Seal) -> Claim {
        Claim {
            scope: self.scope,
            resource: self.resource.clone(),
            epoch,
            seal,
            owner: Arc::clone(self.owner),
            hold: self.hold.clone(),
            since: self.at,
            note: self.note.clone(),
            request: self.request.clone(),
            offer: None,
            ended: None,
        }
    }
}

/// A claim that its owner did not end itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loss {
    /// The claim, as it ended.
    pub claim: Claim,
    /// The owner was told.
    pub told: bool,
}

/// What work sees of a ledger.
pub trait Book {
    /// The scope, if it was ever used.
    fn scope(&mut self, scope: &Scope) -> Result<Option<ScopeId>>;

    /// The scope, made known.
    fn add_scope(&mut self, scope: &Scope) -> Result<ScopeId>;

    /// What a number stands for.
    fn scope_of(&mut self, id: ScopeId) -> Result<Option<Scope>>;

    /// The owner that hangs on a process.
    fn owner_of_process(&mut self, process: &ProcessInstance) -> Result<Option<Arc<Owner>>>;

    /// The last owner of a session.
    fn owner_of_session(&mut self, session: &str) -> Result<Option<Arc<Owner>>>;

    /// Makes a new owner known.
    fn add_owner(&mut self, caller: &Caller) -> Result<Arc<Owner>>;

    /// Gives an owner's session its new name.
    fn rename_owner(&mut self, id: OwnerId, caller: &Caller) -> Result<Arc<Owner>>;

    /// The last claim of a resource.
    fn latest(&mut self, scope: ScopeId, resource: &Resource) -> Result<Option<Claim>>;

    /// The last claim of a resource that this owner had.
    fn latest_of(
        &mut self,
        scope: ScopeId,
        resource: &Resource,
        owner: OwnerId,
    ) -> Result<Option<Claim>>;

    /// The claim that answered a request.
    fn answered(&mut self, scope: ScopeId, request: &str) -> Result<Option<Claim>>;

    /// The open claims of a scope, or of all, in the order of their epochs.
    fn open(&mut self, scope: Option<ScopeId>) -> Result<Vec<Claim>>;

    /// The open claims of a session's owners but this one, in the order of their epochs.
    fn open_of_others(&mut self, session: &str, me: OwnerId) -> Result<Vec<Claim>>;

    /// What an owner lost and has not acknowledged.
    fn losses(&mut self, owner: OwnerId) -> Result<Vec<Loss>>;

    /// Notes that an owner was told of all that it lost.
    fn tell(&mut self, owner: OwnerId) -> Result<()>;

    /// Notes that an owner knows that it lost a resource, and goes on.
    fn acknowledge(&mut self, owner: OwnerId, scope: ScopeId, resource: &Resource) -> Result<()>;

    /// Grants a claim, with its event.
    fn grant(&mut self, grant: &Grant) -> Result<Claim>;

    /// Does something to an open claim, with its event.
    fn amend(&mut self, claim: &Claim, by: &str, at: Timestamp, deed: &Deed) -> Result<()>;

    /// Events, in their order.
    fn events(&mut self, filter: &Filter) -> Result<Vec<Event>>;
}

/// A seal for a grant.
fn seal() -> Seal {
    let mut bytes = [0; 4];
    getrandom::fill(&mut bytes).expect("the system gives random numbers");
    Seal(u32::from_ne_bytes(bytes))
}
