//! Where claims are stored: the one seam between the rules and a database.
//!
//! A [`Ledger`] runs work as a [`Transaction`]: all of its changes are kept or none, and no other
//! writer comes in between. A ledger has no rules of its own but one, which its storage enforces: a
//! resource has at most one open claim, or one of each owner that shares it.
//!
//! A ledger may be a server on another machine. So time is read inside the transaction and can
//! fail, what is read of many resources is read in one call, an error can say that the fate of a
//! commit is unknown ([`Error::CommitUnknown`]), and
//! [`Ledger::presence`] says how the users of the ledger see that a session is alive.

pub mod memory;
pub mod postgres;
pub mod sqlite;
mod stored;

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use osm_identity::ProcessInstance;

use crate::claim::{Claim, Hold, Mode, Worktree};
use crate::clock::Now;
use crate::epoch::{Epoch, Seal};
use crate::error::{Error, Result};
use crate::event::{Event, Filter, Transition};
use crate::liveness::LivenessProbe;
use crate::message::{Draft, Message};
use crate::owner::{Caller, Owner, OwnerId};
use crate::resource::Resource;
use crate::rules::collision::Waiter;
use crate::scope::{Scope, ScopeId};

/// What runs inside a transaction.
///
/// A ledger may run it again, in a new transaction, after a conflict with another writer: work must
/// not act on anything but the transaction.
pub type Work<'a> = &'a mut dyn FnMut(&mut dyn Transaction) -> Result<()>;

/// A place where claims are stored.
pub trait Ledger: Send + Sync {
    /// Runs work that may write. After an error nothing was written, except that
    /// [`Error::CommitUnknown`] says that it may have been.
    fn write(&self, work: Work<'_>) -> Result<()>;

    /// Runs work that only reads, all of it from one point in time.
    fn read(&self, work: Work<'_>) -> Result<()>;

    /// Starts to watch for changes.
    fn watch(&self) -> Result<Box<dyn Watch + '_>>;

    /// How the users of this ledger see that a session is alive.
    fn presence(&self) -> Presence {
        Presence::Process
    }
}

/// How the users of a ledger see that the session which holds a claim is alive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    /// They all run on one machine and look at the session's process.
    Process,
    /// Some run on other machines. A session claim is a lease of this term, which the session's
    /// machine renews while the process lives; a proof of death on that machine ends it early.
    Lease(Duration),
}

/// Waits for changes of a ledger.
pub trait Watch {
    /// Returns when a change that another process committed since the watch started, or since the
    /// last return, can be read; when one of the processes ended; or when the time is over.
    fn wait(
        &mut self,
        processes: &[&ProcessInstance],
        probe: &dyn LivenessProbe,
        time: Duration,
    ) -> Result<()>;
}

/// A claim to be granted.
#[derive(Clone, Debug)]
pub struct Grant<'a> {
    /// The scope.
    pub scope: ScopeId,
    /// The resource.
    pub resource: &'a Resource,
    /// The new owner.
    pub owner: &'a Arc<Owner>,
    /// What the claim excludes.
    pub mode: Mode,
    /// What keeps the claim.
    pub hold: Hold,
    /// The wall clock, for people.
    pub at: Timestamp,
    /// The owner's note.
    pub note: Option<String>,
    /// The id of the request that it answers.
    pub request: Option<String>,
    /// Where the owner works; its event keeps it.
    pub worktree: Option<Worktree>,
}

impl Grant<'_> {
    /// The claim that it becomes.
    #[must_use]
    pub fn claim(&self, epoch: Epoch, seal: Seal) -> Claim {
        Claim {
            scope: self.scope,
            resource: self.resource.clone(),
            epoch,
            seal,
            owner: Arc::clone(self.owner),
            mode: self.mode,
            hold: self.hold.clone(),
            since: self.at,
            note: self.note.clone(),
            request: self.request.clone(),
            offer: None,
            ended: None,
        }
    }
}

/// A claim that ended without its owner's doing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loss {
    /// The claim, as it ended.
    pub claim: Claim,
    /// The owner was told.
    pub told: bool,
}

/// The owners that a caller may be.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KnownOwners {
    /// The last owner that has the caller's process.
    pub by_process: Option<Arc<Owner>>,
    /// The last owner that has the caller's session.
    pub by_session: Option<Arc<Owner>>,
}

/// What work sees of a ledger, and what it can change.
pub trait Transaction {
    /// The time by which leases run: the ledger's clock, not the caller's.
    fn now(&mut self) -> Result<Now>;

    /// The scope, if it was ever used.
    fn scope(&mut self, scope: &Scope) -> Result<Option<ScopeId>>;

    /// The scope, added if it is new.
    fn add_scope(&mut self, scope: &Scope) -> Result<ScopeId>;

    /// The scope with a number.
    fn scope_of(&mut self, id: ScopeId) -> Result<Option<Scope>>;

    /// The owners that have the caller's process and the caller's session.
    fn owners(&mut self, caller: &Caller) -> Result<KnownOwners>;

    /// Adds an owner.
    fn add_owner(&mut self, caller: &Caller) -> Result<Arc<Owner>>;

    /// Gives an owner's session its new name, with the messages of the old one.
    fn rename_owner(&mut self, id: OwnerId, caller: &Caller) -> Result<Arc<Owner>>;

    /// The last claim of each resource, open or ended, in the order of the resources.
    fn latest(&mut self, scope: ScopeId, resources: &[Resource]) -> Result<Vec<Option<Claim>>>;

    /// The last claim of a resource that this owner had.
    fn latest_of(
        &mut self,
        scope: ScopeId,
        resource: &Resource,
        owner: OwnerId,
    ) -> Result<Option<Claim>>;

    /// The claim that answered a request.
    fn answered(&mut self, scope: ScopeId, request: &str) -> Result<Option<Claim>>;

    /// The open claims of paths that may meet a resource of paths, in any worktree and in the order of
    /// their epochs: those whose prefix is above, at or below its own, and those of its link. What it
    /// costs does not grow with the claims of other paths.
    fn near(&mut self, scope: ScopeId, resource: &Resource) -> Result<Vec<Claim>>;

    /// The requests in a scope that wait.
    fn waiters(&mut self, scope: ScopeId) -> Result<Vec<Waiter>>;

    /// Adds a request that waits.
    fn add_waiter(&mut self, scope: ScopeId, waiter: &Waiter) -> Result<()>;

    /// Removes the requests of a process in all scopes.
    fn remove_waiters(&mut self, process: &ProcessInstance) -> Result<()>;

    /// The open claims of a scope, or of all scopes, in the order of their epochs.
    fn open(&mut self, scope: Option<ScopeId>) -> Result<Vec<Claim>>;

    /// The open claims of a session's other owners, in the order of their epochs.
    fn open_of_others(&mut self, session: &str, me: OwnerId) -> Result<Vec<Claim>>;

    /// The losses that an owner has not acknowledged.
    fn losses(&mut self, owner: OwnerId) -> Result<Vec<Loss>>;

    /// Records that an owner was told of all its losses.
    fn mark_told(&mut self, owner: OwnerId) -> Result<()>;

    /// Records that an owner knows that it lost a resource.
    fn acknowledge(&mut self, owner: OwnerId, scope: ScopeId, resource: &Resource) -> Result<()>;

    /// Grants a claim, with its event.
    fn grant(&mut self, grant: &Grant) -> Result<Claim>;

    /// Changes an open claim, with its event.
    fn amend(
        &mut self,
        claim: &Claim,
        by: &str,
        at: Timestamp,
        transition: &Transition,
    ) -> Result<()>;

    /// Adds a message.
    fn send(&mut self, draft: &Draft) -> Result<Message>;

    /// The messages of other sessions that a session has not acknowledged, in their order: those to it
    /// in any scope, and those to all sessions of `here` that were sent since then.
    fn unread(
        &mut self,
        session: &str,
        here: Option<ScopeId>,
        since: Timestamp,
    ) -> Result<Vec<Message>>;

    /// Records that a session knows messages. A number that no message has is no error.
    fn mark_read(&mut self, session: &str, messages: &[u64]) -> Result<()>;

    /// All messages of a scope, or those about a resource of it, in their order.
    fn messages(&mut self, scope: ScopeId, about: Option<&Resource>) -> Result<Vec<Message>>;

    /// Restarts the leases of an owner by which other machines know that its processes live, except
    /// those that are over. Nothing happened to its claims, so that it is no event. Returns how many were
    /// restarted; a ledger that one machine uses has none.
    fn renew_leases(&mut self, _owner: OwnerId) -> Result<usize> {
        Ok(0)
    }

    /// Events, in their order.
    fn events(&mut self, filter: &Filter) -> Result<Vec<Event>>;
}

/// The prefixes under which claims are stored that may contain a path with this prefix: the prefix
/// itself, and those of all folders above it.
fn prefixes_above(prefix: &str) -> impl Iterator<Item = &str> {
    let above = prefix.match_indices('/').map(|(place, _)| &prefix[..place]);
    let top = (!prefix.is_empty()).then_some("");
    top.into_iter().chain(above).chain([prefix])
}

/// The prefixes below a prefix: from the first one to before the second; `None` if all are below.
fn prefixes_below(prefix: &str) -> Option<(String, String)> {
    // The character behind a slash is a zero.
    (!prefix.is_empty()).then(|| (format!("{prefix}/"), format!("{prefix}0")))
}

/// A random seal for a grant.
fn seal() -> Result<Seal> {
    Ok(Seal(u32::from_ne_bytes(random()?)))
}

/// Random bytes of the system, which a sandbox may refuse.
fn random<const SIZE: usize>() -> Result<[u8; SIZE]> {
    let mut bytes = [0; SIZE];
    match getrandom::fill(&mut bytes) {
        Ok(()) => Ok(bytes),
        Err(error) => Err(Error::io("read random numbers for", error.into())),
    }
}
