//! Freeing what the dead hold, on proof alone.

use super::list::open;
use super::{Act, Asker, Claims, Wish, decide, perform};
use crate::claim::{Claim, End};
use crate::error::{Error, Result};
use crate::ledger::Book;
use crate::refusal::Reason;
use crate::rules::{Change, Request};

/// What a sweep examined, and what came of it.
#[derive(Clone, Debug, Default)]
pub struct Swept {
    /// Every open claim that was looked at.
    pub examined: Vec<SweptClaim>,
}

/// What came of one claim.
#[derive(Clone, Debug)]
pub struct SweptClaim {
    /// The claim, as it was.
    pub claim: Claim,
    /// How it ended, or why it did not.
    pub outcome: std::result::Result<End, Reason>,
    /// What failed, if it could not be decided.
    pub failure: Option<String>,
}

impl Swept {
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
    pub fn sweep(&self, asker: &Asker, everywhere: bool, dry_run: bool) -> Result<Swept> {
        let open = self.read(|book| open(book, asker, everywhere))?;
        let mut swept = Swept::default();
        for claim in open {
            let (outcome, failure) = match self.sweep_one(asker, &claim, dry_run) {
                Ok(end) => (Ok(end), None),
                Err(Error::Refused(refused)) => (Err(refused.reason), None),
                Err(error) => (Err(Reason::Unknown), Some(error.to_string())),
            };
            swept.examined.push(SweptClaim { claim, outcome, failure });
        }
        Ok(swept)
    }

    /// Looks first, and writes only if there is something to free; what is decided then counts.
    fn sweep_one(&self, asker: &Asker, claim: &Claim, dry_run: bool) -> Result<End> {
        let (me, wish) = (asker.stranger(), Wish::default());
        let mut change = None;
        for write in [false, true] {
            let run = |book: &mut dyn Book| {
                let now = self.ledger.now();
                let act = Act {
                    scope: claim.scope,
                    me: &me,
                    resource: &claim.resource,
                    request: &Request::Sweep,
                    wish: &wish,
                    now: &now,
                    sight: &*self.sight,
                };
                if write { Ok(perform(book, &act)?.change) } else { Ok(decide(book, &act)?.1) }
            };
            change = Some(if write { self.write(run)? } else { self.read(run)? });
            if dry_run {
                break;
            }
        }
        match change {
            Some(Change::Close(end)) => Ok(end),
            _ => Err(Reason::NotHeld.into()),
        }
    }
}
