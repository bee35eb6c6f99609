//! Who asks, and what they wish.

use std::sync::Arc;
use std::time::Duration;

use super::{USUAL_LEASE, USUAL_OFFER};
use crate::claim::{Claim, Hold, Offer};
use crate::clock::{Lease, Now};
use crate::owner::{Caller, Owner, OwnerId};
use crate::rules::Request;
use crate::scope::Scope;
use osm_identity::ProcessInstance;

/// Somebody who asks, somewhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asker {
    /// Where claims count.
    pub scope: Scope,
    /// Who asks.
    pub caller: Caller,
}

impl Asker {
    /// The caller as an owner that no ledger knows, and that owns nothing.
    pub(super) fn stranger(&self) -> Arc<Owner> {
        Arc::new(Owner { id: OwnerId(0), who: self.caller.clone() })
    }
}

/// What shall keep a claim.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Keep {
    /// The process of the session, or time if it has none.
    #[default]
    Session,
    /// A process that was started to hold it.
    Process(ProcessInstance),
}

/// What goes with a request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wish {
    /// What shall keep the claim.
    pub keep: Keep,
    /// The term of the lease or of the offer.
    pub term: Option<Duration>,
    /// What to remember about the claim.
    pub note: Option<String>,
    /// The name of the request: a retry with the same name is answered with the same claim.
    pub request: Option<String>,
    /// Claim it even if the work is done.
    pub reopen: bool,
    /// Why it is taken away.
    pub reason: Option<String>,
    /// To whom it is offered.
    pub to: Option<String>,
}

impl Wish {
    /// What is asked for by whoever wants to have something.
    pub(super) fn claim(&self) -> Request {
        Request::Claim { reopen: self.reopen, alone: matches!(self.keep, Keep::Process(_)) }
    }

    /// The wish without the name of its request if that was answered: no two claims have it.
    pub(super) fn named_once(&self, is_answered: bool) -> Self {
        let request = if is_answered { None } else { self.request.clone() };
        Self { request, ..self.clone() }
    }

    /// What keeps a claim of this owner.
    pub(super) fn hold(&self, owner: &Owner, now: &Now) -> Hold {
        match &self.keep {
            Keep::Process(process) => Hold::Process(process.clone()),
            Keep::Session if owner.process.is_some() => Hold::Session,
            Keep::Session => Hold::Lease(self.lease(USUAL_LEASE, now)),
        }
    }

    /// What keeps a claim whose lease begins anew, for its old term unless a new one is wished.
    pub(super) fn renewed(&self, claim: &Claim, now: &Now) -> Hold {
        match &claim.hold {
            Hold::Lease(lease) => Hold::Lease(self.lease(lease.term, now)),
            other => other.clone(),
        }
    }

    pub(super) fn offer(&self, now: &Now) -> Offer {
        Offer {
            to: self.to.clone().unwrap_or_default(),
            lease: self.lease(USUAL_OFFER, now),
            note: self.note.clone(),
        }
    }

    fn lease(&self, usual: Duration, now: &Now) -> Lease {
        Lease { term: self.term.unwrap_or(usual), since: now.moment.clone() }
    }
}
