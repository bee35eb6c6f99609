//! Claiming the first candidate that is free.

use std::collections::{BTreeMap, HashSet};
use std::time::Duration;

use super::attempt::Attempt;
use super::decision::Decision;
use super::{ClaimOptions, Claims, Outcome, Requester};
use crate::claim::Claim;
use crate::error::{Error, Result};
use crate::owner::OwnerId;
use crate::refusal::{Reason, Refused};
use crate::resource::Resource;
use crate::rules::{self, Change, Request};
use osm_identity::{Liveness, ProcessInstance};

/// Candidates are read in batches that grow up to this: often one of the first is free, and a
/// server is asked a few times for a hundred thousand.
const LARGEST_BATCH: usize = 1024;

impl Claims {
    /// Claims the first of several resources that is free.
    pub fn next(
        &self,
        requester: &Requester,
        candidates: &[Resource],
        options: &ClaimOptions,
    ) -> Result<Outcome> {
        self.write(|transaction| {
            let mut attempt = self.begin(transaction, requester)?;
            let answer = first_free(&mut attempt, candidates, options);
            attempt.with_notices(answer)
        })
    }
}

fn first_free(
    attempt: &mut Attempt,
    candidates: &[Resource],
    options: &ClaimOptions,
) -> Result<Outcome> {
    let request = options.request();
    if let Some(resource) = attempt.answered(None, options)? {
        return attempt.perform(&resource, &request, &options.without_request_id());
    }
    let mut passed = Passed::default();
    let (mut rest, mut size) = (candidates, 1);
    while !rest.is_empty() {
        let (batch, later) = rest.split_at(size.min(rest.len()));
        let latest = attempt.transaction.latest(attempt.scope, batch)?;
        for (resource, latest) in batch.iter().zip(latest) {
            if let Some(outcome) = passed.consider(attempt, resource, latest, &request, options)? {
                return Ok(Outcome { skipped: passed.skipped, ..outcome });
            }
        }
        (rest, size) = (later, LARGEST_BATCH.min(size * 4));
    }
    Err(passed.nothing_free().into())
}

/// The candidates that were passed over.
#[derive(Default)]
struct Passed {
    skipped: Vec<(Resource, Reason)>,
    /// The processes whose end could free one.
    holders: BTreeMap<String, ProcessInstance>,
    /// The owners whose process is in `holders`: a few owners have many claims.
    owners: HashSet<OwnerId>,
    /// When the first lease or offer ends.
    left: Option<Duration>,
}

impl Passed {
    /// Claims a candidate if it is free.
    fn consider(
        &mut self,
        attempt: &mut Attempt,
        resource: &Resource,
        latest: Option<Claim>,
        request: &Request,
        options: &ClaimOptions,
    ) -> Result<Option<Outcome>> {
        let decided = match resource.path() {
            // What it meets is not what was read.
            Some(_) => match attempt.decide(resource, request, options.mode) {
                Err(Error::Refused(refused)) => Err((refused.reason, refused.claim.map(|it| *it))),
                decided => Ok(decided?),
            },
            None => match attempt.judge(latest.as_ref(), request) {
                Ok(change) => Ok(Decision::of(latest, change)),
                Err(reason) => Err((reason, latest)),
            },
        };
        let reason = match decided {
            Ok(decision) if matches!(decision.change, Change::Grant(_)) => {
                return attempt.apply(resource, decision, options).map(Some);
            }
            // The caller holds it, and wants another one.
            Ok(Decision { change: Change::Nothing, .. }) => Reason::Held,
            Ok(decision) => {
                attempt.apply(resource, decision, options)?;
                Reason::Held
            }
            Err((reason, holder)) => {
                self.note_holder(attempt, holder.as_ref(), reason);
                reason
            }
        };
        self.skipped.push((resource.clone(), reason));
        Ok(None)
    }

    /// Remembers what could free a candidate.
    fn note_holder(&mut self, attempt: &mut Attempt, latest: Option<&Claim>, reason: Reason) {
        let Some(claim) = latest.filter(|_| Refused::because(reason).can_change()) else { return };
        let left = rules::time_left(&attempt.now, claim, reason);
        self.left = [self.left, left].into_iter().flatten().min();
        let is_known = claim.hold.started().is_none() && !self.owners.insert(claim.owner.id);
        if let Some(process) = claim.process().filter(|_| !is_known)
            && !matches!(attempt.verdicts.of(claim), Liveness::Dead(_))
        {
            self.holders.insert(process.key(), process.clone());
        }
    }

    fn nothing_free(self) -> Refused {
        let mut tally: Vec<(Reason, usize)> = Vec::new();
        for (_, reason) in &self.skipped {
            match tally.iter_mut().find(|(it, _)| it == reason) {
                Some((_, count)) => *count += 1,
                None => tally.push((*reason, 1)),
            }
        }
        let holders = self.holders.into_values().collect();
        Refused { tally, holders, left: self.left, ..Refused::because(Reason::NothingFree) }
    }
}
