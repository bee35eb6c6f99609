//! Who makes a request, and its options.

use std::sync::Arc;
use std::time::Duration;

use super::{DEFAULT_IDLE, DEFAULT_LEASE, DEFAULT_OFFER};
use crate::claim::{Claim, Hold, Mode, Offer, Worktree};
use crate::clock::{Lease, Now};
use crate::ledger::Presence;
use crate::owner::{Caller, Owner, OwnerId};
use crate::rules::Request;
use crate::scope::Scope;
use osm_identity::ProcessInstance;

/// A caller in a scope.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Requester {
    /// Where its claims count.
    pub scope: Scope,
    /// The session that makes the request.
    pub caller: Caller,
}

impl Requester {
    /// The caller as an owner that no ledger has, and that owns nothing.
    pub(super) fn unregistered(&self) -> Arc<Owner> {
        Arc::new(Owner { id: OwnerId(0), who: self.caller.clone() })
    }
}

/// What keeps a claim.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum HeldBy {
    /// The session's process, or a lease if no process is seen.
    #[default]
    Session,
    /// A process that was started to hold it.
    Process(ProcessInstance),
}

/// The options of a request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClaimOptions {
    /// What keeps the claim.
    pub held_by: HeldBy,
    /// The term of the lease or of the offer.
    pub term: Option<Duration>,
    /// A note to store with the claim.
    pub note: Option<String>,
    /// The id of the request: a retry with the same id is answered with the same claim.
    pub request: Option<String>,
    /// What the claim excludes, if it is one of paths.
    pub mode: Mode,
    /// The process that waits for the claim, so that its holder is told, and a waiting writer is granted it
    /// before new readers.
    pub waiting: Option<ProcessInstance>,
    /// Claim it even if the work is done.
    pub reopen: bool,
    /// Why it is taken away.
    pub reason: Option<String>,
    /// The session that it is offered to.
    pub to: Option<String>,
    /// Where the caller works.
    pub worktree: Option<Worktree>,
}

impl ClaimOptions {
    /// The request for a claim with these options.
    pub(super) fn request(&self) -> Request {
        Request::Claim { reopen: self.reopen, alone: matches!(self.held_by, HeldBy::Process(_)) }
    }

    /// The options for a request that was answered before: no two claims have one request id.
    pub(super) fn without_request_id(&self) -> Self {
        Self { request: None, ..self.clone() }
    }

    /// What keeps a new claim of this owner.
    pub(super) fn hold(&self, owner: &Owner, now: &Now, presence: Presence) -> Hold {
        match (&self.held_by, presence) {
            (HeldBy::Process(process), Presence::Process) => Hold::Process(process.clone()),
            (HeldBy::Process(process), Presence::Lease(term)) => {
                Hold::ProcessLease(process.clone(), Lease { term, since: now.moment.clone() })
            }
            (HeldBy::Session, _) if owner.process.is_none() => {
                Hold::Lease(self.lease(DEFAULT_LEASE, now))
            }
            (HeldBy::Session, Presence::Process) if self.mode.automatic => {
                Hold::WhileUsed(self.lease(DEFAULT_IDLE, now))
            }
            (HeldBy::Session, Presence::Process) => Hold::Session,
            (HeldBy::Session, Presence::Lease(term)) => {
                Hold::SessionLease(Lease { term, since: now.moment.clone() })
            }
        }
    }

    /// What keeps a claim whose lease restarts, for its old term unless the options name one.
    pub(super) fn renewed(&self, claim: &Claim, now: &Now) -> Hold {
        match &claim.hold {
            Hold::Lease(lease) => Hold::Lease(self.lease(lease.term, now)),
            other => other.restarted(&now.moment),
        }
    }

    pub(super) fn offer(&self, now: &Now) -> Offer {
        Offer {
            to: self.to.clone().unwrap_or_default(),
            lease: self.lease(DEFAULT_OFFER, now),
            note: self.note.clone(),
        }
    }

    fn lease(&self, default: Duration, now: &Now) -> Lease {
        Lease { term: self.term.unwrap_or(default), since: now.moment.clone() }
    }
}
