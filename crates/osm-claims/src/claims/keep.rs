//! Keeping the claims of a session where other machines know it by leases.

use std::sync::Arc;
use std::time::Duration;

use super::attempt::Attempt;
use super::{ClaimOptions, Claims};
use crate::claim::Claim;
use crate::error::{Error, Result};
use crate::ledger::{KnownOwners, Transaction};
use crate::owner::{Caller, Owner, OwnerId};
use crate::rules::Request;
use osm_identity::{Liveness, ProcessInstance};

/// What is left to keep for an owner.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Kept {
    /// The processes whose claims have a new term.
    pub processes: Vec<ProcessInstance>,
    /// The shortest term.
    pub term: Option<Duration>,
    /// The claims whose process was proven dead: they have ended.
    pub ended: Vec<Claim>,
}

impl Claims {
    /// Restarts the leases by which other machines know that the processes of a session live, and ends
    /// the claims of those that are proven dead. A lease that is over stays so: the session is told, and
    /// renews it by an explicit step.
    pub fn keep(&self, caller: &Caller) -> Result<Kept> {
        self.write(|transaction| {
            let Some(owner) = owner(transaction, caller)? else { return Ok(Kept::default()) };
            let mut kept = Kept::default();
            for claim in open(transaction, &owner)? {
                match self.keep_one(transaction, &owner, &claim)? {
                    Some(ended) => kept.ended.push(ended),
                    None => kept.watch(&claim),
                }
            }
            if transaction.renew_leases(owner.id)? == 0 {
                return Ok(Kept { ended: kept.ended, ..Kept::default() });
            }
            Ok(kept)
        })
    }

    /// Ends a claim if its process is proven dead.
    fn keep_one(
        &self,
        transaction: &mut dyn Transaction,
        owner: &Arc<Owner>,
        claim: &Claim,
    ) -> Result<Option<Claim>> {
        let (scope, presence) = (claim.scope, self.ledger.presence());
        let mut attempt =
            Attempt::new(transaction, &*self.probe, presence, scope, Arc::clone(owner))?;
        if !matches!(attempt.verdicts.of(claim), Liveness::Dead(_)) {
            return Ok(None);
        }
        match attempt.decide_on(claim, &Request::Sweep) {
            Ok(decision) => {
                let options = ClaimOptions::default();
                attempt.apply(&claim.resource, decision, &options).map(|it| Some(it.claim))
            }
            // It is reserved for another session, and stays as it is.
            Err(Error::Refused(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

impl Kept {
    fn watch(&mut self, claim: &Claim) {
        let Some(lease) = claim.hold.presence() else { return };
        self.term = Some(self.term.map_or(lease.term, |term| term.min(lease.term)));
        let known = |it: &ProcessInstance| self.processes.iter().any(|at| at.key() == it.key());
        self.processes.extend(claim.process().filter(|it| !known(it)).cloned());
    }
}

/// The owner that a caller is. Its process may have ended: that is what its claims are looked at for.
fn owner(transaction: &mut dyn Transaction, caller: &Caller) -> Result<Option<Arc<Owner>>> {
    let KnownOwners { by_process, by_session } = transaction.owners(caller)?;
    let key = caller.process.as_ref().map(ProcessInstance::key);
    let is_same = |it: &Arc<Owner>| it.process.as_ref().map(ProcessInstance::key) == key;
    Ok(by_session.filter(is_same).or(by_process))
}

/// The open claims of an owner that other machines know by a lease.
fn open(transaction: &mut dyn Transaction, owner: &Owner) -> Result<Vec<Claim>> {
    let mut open = transaction.open_of_others(&owner.session, OwnerId(0))?;
    open.retain(|claim| claim.owner.id == owner.id && claim.hold.presence().is_some());
    Ok(open)
}
