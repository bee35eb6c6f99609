//! The rules: what a request changes, and why it is refused.
//!
//! [`decide`] is pure. Every ledger shows it the last claim of a resource and what is known of its
//! owner, inside the transaction that then makes the change; so no ledger has rules of its own,
//! and the model of the protocol checks these very lines. Which other claims a claim of paths
//! excludes is in [`collision`].
//!
//! A claim changes hands in exactly five ways: its owner releases it, its owner is proven dead, its
//! lease runs out, its owner hands it off, another session takes it with a reason.

pub mod collision;

use std::time::Duration;

use crate::claim::{Claim, End, Hold};
use crate::clock::{Left, Now};
use crate::epoch::Token;
use crate::owner::Owner;
use crate::refusal::Reason;
use osm_identity::{Liveness, UnknownReason};

/// What a caller asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request {
    /// To have it.
    Claim {
        /// Even if the work is done.
        reopen: bool,
        /// For a command that nothing else may run beside, not even of the same session.
        alone: bool,
    },
    /// To check that the caller still holds it.
    Check(Option<Token>),
    /// To have it for another term.
    Renew(Option<Token>),
    /// To release it.
    Release {
        /// The grant.
        token: Option<Token>,
        /// The work is done.
        done: bool,
    },
    /// To hand it to a session.
    Offer(Option<Token>),
    /// To change its note.
    Note(Option<Token>),
    /// To withdraw an offer.
    Withdraw(Option<Token>),
    /// To accept an offer.
    Accept,
    /// To take it over from an earlier process of the same session that died.
    Resume,
    /// To take it away.
    Take {
        /// Even from an owner that is proven alive.
        even_if_alive: bool,
    },
    /// To free it if its owner is gone.
    Sweep,
}

/// What the rules decide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// Nothing: it is so already.
    Nothing,
    /// A new grant to the caller; the old one, if it is still open, ends so.
    Grant(Option<End>),
    /// The claim ends.
    Close(End),
    /// The lease restarts.
    Renew,
    /// The claim is offered.
    Offer,
    /// The offer is withdrawn.
    Withdraw,
    /// Its note changes.
    Note,
    /// It excludes something else from now on.
    Alter,
    /// Nothing but that the caller knows that it lost the claim.
    Acknowledge,
}

/// What an open claim is to others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Its owner is alive, or its lease runs.
    Held,
    /// Its owner is stopped.
    Suspended,
    /// Nothing is known of its owner.
    Unknown(UnknownReason),
    /// Any session may claim it.
    Free(End),
}

/// What an open claim is to others now.
#[must_use]
pub fn standing(now: &Now, claim: &Claim, verdict: &Liveness) -> Standing {
    let lease = match (&claim.hold, verdict) {
        // The owner's machine knows that it died; no need to wait for the end of its lease.
        (Hold::SessionLease(_) | Hold::ProcessLease(..), Liveness::Dead(_))
        | (Hold::Session | Hold::Process(_), _) => None,
        // While it is used, the process decides.
        (Hold::WhileUsed(lease), _) => {
            let is_idle = lease.left(&now.moment) == Left::Nothing;
            Some(lease).filter(|_| is_idle && !matches!(verdict, Liveness::Dead(_)))
        }
        (Hold::Lease(lease) | Hold::SessionLease(lease) | Hold::ProcessLease(_, lease), _) => {
            Some(lease)
        }
    };
    if let Some(lease) = lease {
        return match lease.left(&now.moment) {
            Left::Some(_) => Standing::Held,
            Left::Nothing => Standing::Free(End::Expired),
            Left::Unknown => Standing::Unknown(UnknownReason::AnotherMachine),
        };
    }
    match verdict {
        Liveness::Alive => Standing::Held,
        Liveness::Suspended => Standing::Suspended,
        Liveness::Dead(_) => Standing::Free(End::Died),
        Liveness::Unknown(why) => Standing::Unknown(*why),
    }
}

/// How long the lease of a claim still runs.
#[must_use]
pub fn left(now: &Now, claim: &Claim) -> Option<Duration> {
    claim.hold.lease()?.left(&now.moment).known()
}

/// How long the lease or the offer for which a claim was refused still runs.
#[must_use]
pub fn time_left(now: &Now, claim: &Claim, reason: Reason) -> Option<Duration> {
    match reason {
        Reason::Reserved => claim.offer.as_ref()?.lease.left(&now.moment).known(),
        _ => left(now, claim),
    }
}

/// Decides on a request.
///
/// `claim` is the last claim of the resource, open or ended, `verdict` what is known of the process
/// that it hangs on.
pub fn decide(
    now: &Now,
    claim: Option<&Claim>,
    by: &Owner,
    request: &Request,
    verdict: &Liveness,
) -> Result<Change, Reason> {
    let open = claim.filter(|claim| claim.is_open());
    let standing = open.map(|claim| (claim, standing(now, claim, verdict)));
    match request {
        Request::Claim { reopen, alone } => match standing {
            Some((claim, standing)) if is_own(claim, by) && !(*alone && is_of_a_process(claim)) => {
                Ok(again(claim, standing))
            }
            Some((claim, standing)) => acquire(now, claim, by, standing),
            None if is_completed(claim) && !reopen => Err(Reason::Completed),
            None => Ok(Change::Grant(None)),
        },
        Request::Check(token) => {
            own_or_given(claim, by, *token)?;
            match standing {
                Some((_, Standing::Free(End::Expired))) => Err(Reason::LeaseOver),
                Some((_, Standing::Free(_))) => Err(Reason::ProcessOver),
                _ => Ok(Change::Nothing),
            }
        }
        Request::Renew(token) | Request::Offer(token) => {
            let claim = own(claim, by, *token)?;
            match (request, standing) {
                (_, Some((_, Standing::Free(End::Died)))) => Err(Reason::ProcessOver),
                (Request::Renew(_), Some((_, Standing::Free(_)))) if is_of_a_process(claim) => {
                    Err(Reason::LeaseOver)
                }
                (Request::Renew(_), Some((_, standing))) => Ok(again(claim, standing)),
                _ => Ok(Change::Offer),
            }
        }
        Request::Note(token) => {
            own_or_given(claim, by, *token)?;
            match standing {
                Some((_, Standing::Free(End::Died))) => Err(Reason::ProcessOver),
                _ => Ok(Change::Note),
            }
        }
        Request::Release { token, done } => {
            let end = if *done { End::Completed } else { End::Released };
            own_or_given(claim, by, *token).map(|_| Change::Close(end))
        }
        Request::Withdraw(token) => match own(claim, by, *token)?.offer {
            Some(_) => Ok(Change::Withdraw),
            None => Err(Reason::NotOffered),
        },
        Request::Accept => match open {
            Some(claim) if is_offered_to(now, claim, by) => Ok(Change::Grant(Some(End::HandedOff))),
            _ => Err(Reason::NotOffered),
        },
        Request::Resume => match standing {
            Some((claim, standing)) if is_own(claim, by) => Ok(again(claim, standing)),
            Some((claim, standing)) if claim.owner.session == by.session => {
                acquire(now, claim, by, standing)
            }
            _ => Err(Reason::NotHeld),
        },
        Request::Take { even_if_alive } => match standing {
            Some((claim, standing)) if is_own(claim, by) => Ok(again(claim, standing)),
            Some((claim, standing)) => match acquire(now, claim, by, standing) {
                Err(Reason::Held) if !even_if_alive => Err(Reason::HolderAlive),
                Err(_) => Ok(Change::Grant(Some(End::Taken))),
                granted => granted,
            },
            None if is_completed(claim) => Err(Reason::Completed),
            None => Ok(Change::Grant(None)),
        },
        Request::Sweep => match standing {
            Some((claim, standing)) => match acquire(now, claim, by, standing)? {
                Change::Grant(Some(end)) if end.is_loss() => Ok(Change::Close(end)),
                _ => Err(Reason::Reserved),
            },
            None => Err(Reason::NotHeld),
        },
    }
}

/// What another session that wants an open claim gets.
fn acquire(now: &Now, claim: &Claim, by: &Owner, standing: Standing) -> Result<Change, Reason> {
    if is_offered_to(now, claim, by) {
        return Ok(Change::Grant(Some(End::HandedOff)));
    }
    match standing {
        Standing::Held => Err(Reason::Held),
        Standing::Suspended => Err(Reason::Suspended),
        Standing::Unknown(_) => Err(Reason::Unknown),
        Standing::Free(_) if is_reserved(now, claim) => Err(Reason::Reserved),
        Standing::Free(end) => Ok(Change::Grant(Some(end))),
    }
}

/// The caller's own open claim, if `token` is the present one.
fn own<'a>(
    claim: Option<&'a Claim>,
    by: &Owner,
    token: Option<Token>,
) -> Result<&'a Claim, Reason> {
    let claim = claim.ok_or(Reason::NotHeld)?;
    if let Some(token) = token {
        let other_seal = token.seal.is_some_and(|seal| seal != claim.seal);
        if token.epoch > claim.epoch || (token.epoch == claim.epoch && other_seal) {
            return Err(Reason::UnknownEpoch);
        }
        if token.epoch < claim.epoch {
            return Err(Reason::Stale);
        }
    }
    match &claim.ended {
        // The epoch was the caller's, and is over.
        Some(_) if token.is_some() || is_own(claim, by) => Err(Reason::Stale),
        None if is_own(claim, by) => Ok(claim),
        _ => Err(Reason::NotHeld),
    }
}

/// The same, also for what a command starts that runs under a claim: it was given the token, and
/// may be another session.
fn own_or_given<'a>(
    claim: Option<&'a Claim>,
    by: &Owner,
    token: Option<Token>,
) -> Result<&'a Claim, Reason> {
    let given =
        |claim: &&Claim| is_of_a_process(claim) && claim.is_open() && token == Some(claim.token());
    match claim.filter(given) {
        Some(claim) => Ok(claim),
        None => own(claim, by, token),
    }
}

/// A request for what the caller holds: a lease restarts, and a claim whose process ended needs a
/// new grant.
fn again(claim: &Claim, standing: Standing) -> Change {
    match (&claim.hold, standing) {
        (Hold::Lease(_) | Hold::SessionLease(_) | Hold::WhileUsed(_), _) => Change::Renew,
        (Hold::Process(_) | Hold::ProcessLease(..), Standing::Free(end)) => {
            Change::Grant(Some(end))
        }
        _ => Change::Nothing,
    }
}

fn is_of_a_process(claim: &Claim) -> bool {
    claim.hold.started().is_some()
}

fn is_own(claim: &Claim, by: &Owner) -> bool {
    claim.owner.id == by.id
}

/// Whether the last claim of a resource ended with the work done.
pub(crate) fn is_completed(claim: Option<&Claim>) -> bool {
    let ended = claim.and_then(|claim| claim.ended.as_ref());
    ended.is_some_and(|ended| ended.how == End::Completed)
}

fn is_offered_to(now: &Now, claim: &Claim, by: &Owner) -> bool {
    is_reserved(now, claim) && claim.offer.as_ref().is_some_and(|it| it.to == by.session)
}

/// Whether an offer still reserves the claim. One whose clock cannot be read does.
pub(crate) fn is_reserved(now: &Now, claim: &Claim) -> bool {
    claim.offer.as_ref().is_some_and(|offer| offer.lease.left(&now.moment) != Left::Nothing)
}

#[cfg(test)]
mod tests;
