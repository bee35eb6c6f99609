//! Who a caller is to the ledger.

use std::sync::Arc;

use super::Requester;
use crate::error::Result;
use crate::ledger::{KnownOwners, Presence, Transaction};
use crate::liveness::LivenessProbe;
use crate::owner::{Owner, OwnerId, Registration, register};
use crate::refusal::{Reason, Refused};
use crate::rules::{self, Standing};
use osm_identity::{Liveness, ProcessInstance, UnknownReason};

/// The caller's owner, added to the ledger if it is new.
pub(super) fn admit(
    transaction: &mut dyn Transaction,
    probe: &dyn LivenessProbe,
    presence: Presence,
    requester: &Requester,
) -> Result<Arc<Owner>> {
    match recognise(transaction, probe, presence, requester)? {
        (Registration::Known(_), Some(owner)) => Ok(owner),
        (Registration::Renamed(id), _) => transaction.rename_owner(id, &requester.caller),
        _ => transaction.add_owner(&requester.caller),
    }
}

/// The caller's owner, without adding it.
pub(super) fn find(
    transaction: &mut dyn Transaction,
    probe: &dyn LivenessProbe,
    presence: Presence,
    requester: &Requester,
) -> Result<Arc<Owner>> {
    Ok(match recognise(transaction, probe, presence, requester)? {
        (Registration::Known(_), Some(owner)) => owner,
        (Registration::Renamed(id), _) => Arc::new(Owner { id, who: requester.caller.clone() }),
        _ => requester.unregistered(),
    })
}

fn recognise(
    transaction: &mut dyn Transaction,
    probe: &dyn LivenessProbe,
    presence: Presence,
    requester: &Requester,
) -> Result<(Registration, Option<Arc<Owner>>)> {
    let caller = &requester.caller;
    let key = caller.process.as_ref().map(ProcessInstance::key);
    let alive = caller.process.as_ref().map(|process| probe.look(process));
    if let Some(Liveness::Dead(_)) = alive {
        return Err(Reason::AnchorGone.into());
    }
    let KnownOwners { by_process, by_session } = transaction.owners(caller)?;
    let rival = by_session.as_ref().and_then(|it| it.process.clone());
    let is_same = rival.as_ref().map(ProcessInstance::key) == key;
    // A process may have several sessions: then the session tells which owner is meant.
    let own = by_session.clone().filter(|_| is_same).or(by_process);
    let verdict = match (&rival, alive) {
        (None, _) => Liveness::Unknown(UnknownReason::NoProcess),
        // It was looked at a moment ago.
        (Some(_), Some(verdict)) if is_same => verdict,
        (Some(rival), _) => probe.look(rival),
    };
    // Where machines know each other's sessions by their leases, one without a lease excludes no other.
    let is_gone = match (&by_session, presence, verdict) {
        (Some(rival), Presence::Lease(_), Liveness::Unknown(_)) => {
            holds_nothing(transaction, rival, &verdict)?
        }
        _ => false,
    };
    let by_session = by_session.filter(|_| !is_gone);
    match register(caller, own.as_deref(), by_session.as_deref(), &verdict) {
        Ok(known) => {
            let is_it = |it: &Arc<Owner>| known == Registration::Known(it.id);
            Ok((known, [own, by_session].into_iter().flatten().find(is_it)))
        }
        Err(reason) => Err(Refused {
            verdict: rival.as_ref().map(|_| verdict),
            holders: rival.into_iter().collect(),
            ..Refused::because(reason)
        }
        .into()),
    }
}

/// Whether an owner has no claim, or only claims that others may have.
fn holds_nothing(
    transaction: &mut dyn Transaction,
    owner: &Owner,
    verdict: &Liveness,
) -> Result<bool> {
    let now = transaction.now()?;
    let mut open = transaction.open_of_others(&owner.session, OwnerId(0))?;
    open.retain(|claim| claim.owner.id == owner.id);
    let is_free = |standing| matches!(standing, Standing::Free(_));
    Ok(open.iter().all(|claim| is_free(rules::standing(&now, claim, verdict))))
}
