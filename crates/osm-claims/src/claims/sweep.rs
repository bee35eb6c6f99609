//! Freeing the claims of dead owners, on proof alone.

use super::attempt::Attempt;
use super::list::open;
use super::{ClaimOptions, Claims, Requester};
use crate::claim::{Claim, End};
use crate::error::{Error, Result};
use crate::ledger::Transaction;
use crate::refusal::Reason;
use crate::rules::{Change, Request};

/// The claims that a sweep examined, and the result for each.
#[derive(Debug, Default)]
pub struct SweepReport {
    /// Every open claim that was looked at.
    pub examined: Vec<SweptClaim>,
}

/// The result for one claim.
#[derive(Debug)]
pub struct SweptClaim {
    /// The claim, as it was.
    pub claim: Claim,
    /// How it ended, or why it did not.
    pub outcome: std::result::Result<End, Reason>,
    /// The error, if it could not be decided.
    pub failure: Option<Error>,
}

impl SweepReport {
    /// How many were freed.
    #[must_use]
    pub fn freed(&self) -> usize {
        self.examined.iter().filter(|it| it.outcome.is_ok()).count()
    }

    /// How many were kept for a reason.
    #[must_use]
    pub fn kept(&self, reason: Reason) -> usize {
        let same = |it: &&SweptClaim| it.failure.is_none() && it.outcome == Err(reason);
        self.examined.iter().filter(same).count()
    }

    /// How many could not be decided.
    #[must_use]
    pub fn failed(&self) -> usize {
        self.examined.iter().filter(|it| it.failure.is_some()).count()
    }
}

impl Claims {
    /// Frees every claim whose owner is proven dead or whose lease is over.
    ///
    /// Each claim is decided in a transaction of its own, on what is known at that moment, so one
    /// that cannot be decided stops no other.
    pub fn sweep(
        &self,
        requester: &Requester,
        everywhere: bool,
        dry_run: bool,
    ) -> Result<SweepReport> {
        let open = self.read(|transaction| open(transaction, requester, everywhere))?;
        let mut swept = SweepReport::default();
        for claim in open {
            let (outcome, failure) = match self.sweep_one(requester, &claim, dry_run) {
                Ok(end) => (Ok(end), None),
                Err(Error::Refused(refused)) => (Err(refused.reason), None),
                Err(error) => (Err(Reason::Unknown), Some(error)),
            };
            swept.examined.push(SweptClaim { claim, outcome, failure });
        }
        Ok(swept)
    }

    /// Looks first, and writes only if there is a claim to free; the second look decides.
    fn sweep_one(&self, requester: &Requester, claim: &Claim, dry_run: bool) -> Result<End> {
        let options = ClaimOptions::default();
        let run = |transaction: &mut dyn Transaction, write: bool| {
            let (scope, presence) = (claim.scope, self.ledger.presence());
            let me = requester.unregistered();
            let mut attempt = Attempt::new(transaction, &*self.probe, presence, scope, me)?;
            let decision = attempt.decide_on(claim, &Request::Sweep)?;
            let change = decision.change;
            if write {
                attempt.apply(&claim.resource, decision, &options)?;
            }
            Ok(change)
        };
        let mut change = self.read(|transaction| run(transaction, false))?;
        if !dry_run {
            change = self.write(|transaction| run(transaction, true))?;
        }
        match change {
            Change::Close(end) => Ok(end),
            _ => Err(Reason::NotHeld.into()),
        }
    }
}
