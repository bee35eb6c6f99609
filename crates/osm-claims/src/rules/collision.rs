//! Claims that exclude each other, and a new one among them.
//!
//! A name has one claim, which [`decide`](super::decide) is shown. Paths overlap: a new claim of
//! `src/auth/` must be possible beside every open claim that meets it. All of these functions are
//! pure, too; a ledger only finds the claims that may meet.

use std::time::Duration;

use super::{Change, Request, Standing, acquire, is_of_a_process, is_offered_to, is_own, standing};
use crate::claim::{Claim, End, Hold, Mode};
use crate::clock::Now;
use crate::owner::Owner;
use crate::refusal::Reason;
use crate::resource::Resource;
use osm_identity::{Liveness, ProcessInstance};

/// A request for a claim that waits until it is granted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiter {
    /// What it wants.
    pub resource: Resource,
    /// What the claim would exclude.
    pub mode: Mode,
    /// The session that waits.
    pub session: String,
    /// The process that waits.
    pub process: ProcessInstance,
}

/// Whether two claims of one scope exclude each other, if two sessions have them.
#[must_use]
pub fn collide(one: (&Resource, Mode), other: (&Resource, Mode)) -> bool {
    let counts_everywhere = one.1.everywhere || other.1.everywhere;
    let ((one, mode), (other, others)) = (one, other);
    if mode.shared && others.shared {
        return false;
    }
    if one == other || is_same_file(one, other) {
        return true;
    }
    let same_worktree = |one: &str, other: &str| counts_everywhere || one == other;
    one.path().zip(other.path()).is_some_and(|(one, other)| {
        same_worktree(&one.worktree, &other.worktree) && one.meets(other)
    })
}

/// Whether two claims are of the same paths in two worktrees, so that both may be held and the work of
/// both must be merged.
#[must_use]
pub fn meets_at_merge(one: (&Resource, Mode), other: (&Resource, Mode)) -> bool {
    let everywhere = |it: Mode| Mode { everywhere: true, ..it };
    !collide(one, other) && collide((one.0, everywhere(one.1)), other)
}

fn is_same_file(one: &Resource, other: &Resource) -> bool {
    one.link().is_some() && one.link() == other.link()
}

/// Which of the open claims of a resource of paths a request is about; they are in the order of their
/// epochs, and several if they are shared.
#[must_use]
pub fn subject<'a>(
    now: &Now,
    open: &'a [Claim],
    by: &Owner,
    request: &Request,
) -> Option<&'a Claim> {
    let own = open.iter().find(|claim| is_own(claim, by));
    let find = |is_it: &dyn Fn(&Claim) -> bool| own.or_else(|| open.iter().find(|it| is_it(it)));
    match request {
        // Another holder is a rival.
        Request::Claim { .. } | Request::Take { .. } => own,
        Request::Accept => find(&|claim| is_offered_to(now, claim, by)),
        Request::Resume => find(&|claim| claim.owner.session == by.session),
        Request::Sweep => open.last(),
        Request::Check(token)
        | Request::Renew(token)
        | Request::Offer(token)
        | Request::Note(token)
        | Request::Withdraw(token)
        | Request::Release { token, .. } => {
            let named = |claim: &&Claim| token.is_some_and(|it| it.epoch == claim.epoch);
            open.iter().find(named).or(own).or(open.last())
        }
    }
}

/// What the mode of the caller's own claim becomes, if a request for it asks for another one. An
/// automatic claim takes nothing back that the session asked for, but an edit needs the file alone.
#[must_use]
pub fn altered(own: Mode, asked: Mode) -> Option<Mode> {
    let edited = Mode { shared: own.shared && asked.shared, ..own };
    let next = if asked.automatic { edited } else { asked };
    (next != own).then_some(next)
}

/// The own claim that an automatic one is not needed beside: it has the file already.
#[must_use]
pub fn covering<'a>(
    now: &Now,
    near: &'a [(Claim, Liveness)],
    by: &Owner,
    resource: &Resource,
) -> Option<&'a Claim> {
    let mode = Mode::default();
    let covers = |(claim, verdict): &&(Claim, Liveness)| {
        is_own(claim, by)
            && !is_of_a_process(claim)
            && !claim.mode.shared
            && collide(
                (&claim.resource, Mode { everywhere: false, ..claim.mode }),
                (resource, mode),
            )
            && matches!(standing(now, claim, verdict), Standing::Held)
    };
    near.iter().find(covers).map(|(claim, _)| claim)
}

/// How the claims end that a new one collides with, in their order; or the place of the one that
/// stops it, and why.
pub fn displace(
    now: &Now,
    by: &Owner,
    request: &Request,
    rivals: &[(Claim, Liveness)],
) -> Result<Vec<End>, (usize, Reason)> {
    let end = |(place, (claim, verdict)): (usize, &(Claim, Liveness))| {
        let free = match acquire(now, claim, by, standing(now, claim, verdict)) {
            Ok(Change::Grant(Some(end))) => Ok(end),
            Ok(_) => Err(Reason::Held),
            Err(reason) => Err(reason),
        };
        match (free, request) {
            (Err(Reason::Held), Request::Take { even_if_alive: false }) => {
                Err((place, Reason::HolderAlive))
            }
            (Err(_), Request::Take { .. }) => Ok(End::Taken),
            (free, _) => free.map_err(|reason| (place, reason)),
        }
    };
    rivals.iter().enumerate().map(end).collect()
}

/// Whether an open claim is a rival of a new one that the caller asks for. What it holds itself is not,
/// unless a command must not run beside another.
#[must_use]
pub fn is_rival(claim: &Claim, by: &Owner, request: &Request, wanted: (&Resource, Mode)) -> bool {
    let alone = matches!(request, Request::Claim { alone: true, .. });
    let own = is_own(claim, by) && !(alone && is_of_a_process(claim));
    !own && collide((&claim.resource, claim.mode), wanted)
}

/// The waiter that a new reader must let through: one that wants to change what the caller only wants
/// to share. A session whose claim the waiter waits for is no new reader.
#[must_use]
pub fn goes_first<'a>(
    waiters: &'a [(Waiter, Liveness)],
    near: &[(Claim, Liveness)],
    by: &Owner,
    wanted: (&Resource, Mode),
) -> Option<&'a Waiter> {
    let waits_for_caller = |waiter: &Waiter| {
        let wanted = (&waiter.resource, waiter.mode);
        near.iter().any(|(it, _)| is_own(it, by) && collide((&it.resource, it.mode), wanted))
    };
    let is_first = |(waiter, verdict): &&(Waiter, Liveness)| {
        !matches!(verdict, Liveness::Dead(_))
            && !waiter.mode.shared
            && waiter.session != by.session
            && collide((&waiter.resource, waiter.mode), wanted)
            && !waits_for_caller(waiter)
    };
    waiters.iter().filter(|_| wanted.1.shared).find(is_first).map(|(waiter, _)| waiter)
}

/// Whether a claim that is kept while it is used has been used so recently that nothing need be
/// written.
#[must_use]
pub fn is_fresh(now: &Now, claim: &Claim, within: Duration) -> bool {
    match &claim.hold {
        Hold::WhileUsed(lease) => {
            let left = lease.left(&now.moment).known();
            left.is_some_and(|left| left + within >= lease.term)
        }
        _ => true,
    }
}
