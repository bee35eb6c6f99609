//! Who a caller is to the ledger.

use std::sync::Arc;

use super::Requester;
use crate::error::Result;
use crate::ledger::{KnownOwners, Transaction};
use crate::liveness::LivenessProbe;
use crate::owner::{Owner, Registration, register};
use crate::refusal::{Reason, Refused};
use osm_identity::{Liveness, ProcessInstance, UnknownReason};

/// The caller's owner, added to the ledger if it is new.
pub(super) fn admit(
    transaction: &mut dyn Transaction,
    probe: &dyn LivenessProbe,
    requester: &Requester,
) -> Result<Arc<Owner>> {
    match recognise(transaction, probe, requester)? {
        (Registration::Known(_), Some(owner)) => Ok(owner),
        (Registration::Renamed(id), _) => transaction.rename_owner(id, &requester.caller),
        _ => transaction.add_owner(&requester.caller),
    }
}

/// The caller's owner, without adding it.
pub(super) fn find(
    transaction: &mut dyn Transaction,
    probe: &dyn LivenessProbe,
    requester: &Requester,
) -> Result<Arc<Owner>> {
    Ok(match recognise(transaction, probe, requester)? {
        (Registration::Known(_), Some(owner)) => owner,
        (Registration::Renamed(id), _) => Arc::new(Owner { id, who: requester.caller.clone() }),
        _ => requester.unregistered(),
    })
}

fn recognise(
    transaction: &mut dyn Transaction,
    probe: &dyn LivenessProbe,
    requester: &Requester,
) -> Result<(Registration, Option<Arc<Owner>>)> {
    let caller = &requester.caller;
    let key = caller.process.as_ref().map(ProcessInstance::key);
    let alive = caller.process.as_ref().map(|process| probe.look(process));
    if let Some(Liveness::Dead(_)) = alive {
        return Err(Reason::AnchorGone.into());
    }
    let KnownOwners { by_process, by_session } = transaction.owners(caller)?;
    let rival = by_session.as_ref().and_then(|it| it.process.as_ref());
    let is_same = rival.map(ProcessInstance::key) == key;
    // A process may have several sessions: then the session tells which owner is meant.
    let own = by_session.clone().filter(|_| is_same).or(by_process);
    let verdict = match (rival, alive) {
        (None, _) => Liveness::Unknown(UnknownReason::NoProcess),
        // It was looked at a moment ago.
        (Some(_), Some(verdict)) if is_same => verdict,
        (Some(rival), _) => probe.look(rival),
    };
    match register(caller, own.as_deref(), by_session.as_deref(), &verdict) {
        Ok(known) => {
            let is_it = |it: &Arc<Owner>| known == Registration::Known(it.id);
            Ok((known, [own, by_session].into_iter().flatten().find(is_it)))
        }
        Err(reason) => Err(Refused {
            holders: rival.cloned().into_iter().collect(),
            verdict: rival.map(|_| verdict),
            ..Refused::because(reason)
        }
        .into()),
    }
}
