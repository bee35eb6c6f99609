//! What the rules say to a request: about a name, its last claim; about paths, all claims that meet.

use super::ClaimOptions;
use super::attempt::Attempt;
use crate::claim::{Claim, End, Mode};
use crate::error::Result;
use crate::refusal::{Reason, Refused};
use crate::resource::Resource;
use crate::rules::collision::{self, Waiter};
use crate::rules::{Change, Request};
use osm_identity::Liveness;

/// What is to be done.
pub(super) struct Decision {
    /// The claim that the request is about: the open one, or the last that ended.
    pub(super) subject: Option<Claim>,
    pub(super) change: Change,
    /// What a new claim excludes.
    pub(super) mode: Mode,
    /// Other claims that end for a new one, and how.
    pub(super) displaced: Vec<(Claim, End)>,
    /// Claims of the same paths in other worktrees.
    pub(super) elsewhere: Vec<Claim>,
}

impl Decision {
    /// A decision about one claim.
    pub(super) fn of(subject: Option<Claim>, change: Change) -> Self {
        let (mode, displaced, elsewhere) = (Mode::default(), Vec::new(), Vec::new());
        Self { subject, change, mode, displaced, elsewhere }
    }
}

impl Attempt<'_> {
    /// What the rules say.
    pub(super) fn decide(
        &mut self,
        resource: &Resource,
        request: &Request,
        mode: Mode,
    ) -> Result<Decision> {
        if resource.path().is_some() {
            return self.decide_on_paths(resource, request, mode);
        }
        let subject = self.latest(resource)?;
        match self.judge(subject.as_ref(), request) {
            Ok(change) => Ok(Decision::of(subject, change)),
            Err(reason) => Err(self.refusal(resource, subject, reason)?.into()),
        }
    }

    /// What the rules say to a request about one open claim, whatever else is claimed.
    pub(super) fn decide_on(&mut self, claim: &Claim, request: &Request) -> Result<Decision> {
        let resource = &claim.resource;
        let same = |it: &Claim| it.epoch == claim.epoch;
        let subject = match resource.path() {
            Some(_) => self.transaction.near(self.scope, resource)?.into_iter().find(same),
            None => self.latest(resource)?,
        };
        match self.judge(subject.as_ref(), request) {
            Ok(change) => Ok(Decision::of(subject, change)),
            Err(reason) => Err(self.refusal(resource, subject, reason)?.into()),
        }
    }

    fn decide_on_paths(
        &mut self,
        resource: &Resource,
        request: &Request,
        mode: Mode,
    ) -> Result<Decision> {
        let near = self.near(resource)?;
        let is_claim = matches!(request, Request::Claim { .. });
        if let Some(own) = collision::covering(&self.now, &near, &self.me, resource)
            && is_claim
            && mode.automatic
        {
            let change = self.judge(Some(own), request)?;
            return Ok(Decision::of(Some(own.clone()), change));
        }
        let open = near.iter().map(|(claim, _)| claim).filter(|it| it.resource == *resource);
        let open: Vec<Claim> = open.cloned().collect();
        let subject = collision::subject(&self.now, &open, &self.me, request).cloned();
        // A path is never finished, so that what ended before counts for nothing but the reason of a
        // refusal and what is left of the work.
        let ended = match subject {
            Some(_) => None,
            None => self.latest(resource)?.filter(|it| !it.is_open()),
        };
        let is_new = is_claim || matches!(request, Request::Take { .. });
        let judged = subject.as_ref().or(ended.as_ref().filter(|_| !is_new));
        let mut change = match self.judge(judged, request) {
            Ok(change) => change,
            Err(reason) => {
                let about = subject.or(ended).or(open.into_iter().next());
                return Err(self.refusal(resource, about, reason)?.into());
            }
        };
        let mode = match (&subject, request) {
            (Some(own), Request::Claim { .. }) => match collision::altered(own.mode, mode) {
                Some(mode) if matches!(change, Change::Nothing | Change::Renew) => {
                    change = Change::Alter;
                    mode
                }
                Some(mode) => mode,
                None => own.mode,
            },
            (Some(kept), Request::Accept | Request::Resume) => kept.mode,
            _ => mode,
        };
        let mut decision = Decision { mode, ..Decision::of(subject.or(ended), change) };
        if matches!(change, Change::Grant(_) | Change::Alter) {
            self.make_room(resource, request, near, &mut decision)?;
        }
        Ok(decision)
    }

    /// What must end for a new claim, or why it is refused.
    fn make_room(
        &mut self,
        resource: &Resource,
        request: &Request,
        near: Vec<(Claim, Liveness)>,
        decision: &mut Decision,
    ) -> Result<()> {
        let wanted = (resource, decision.mode);
        let waiters = if decision.mode.shared { self.waiters()? } else { Vec::new() };
        if let Some(first) = collision::goes_first(&waiters, &near, &self.me, wanted) {
            return Err(Refused {
                resource: Some(resource.clone()),
                holders: vec![first.process.clone()],
                ..Refused::because(Reason::WriterWaits)
            }
            .into());
        }
        let subject = decision.subject.as_ref().map(|it| it.epoch);
        let (rivals, others): (Vec<_>, Vec<_>) = near.into_iter().partition(|(claim, _)| {
            Some(claim.epoch) != subject && collision::is_rival(claim, &self.me, request, wanted)
        });
        let ends = match collision::displace(&self.now, &self.me, request, &rivals) {
            Ok(ends) => ends,
            Err((place, reason)) => {
                let rival = rivals.into_iter().nth(place).map(|(claim, _)| claim);
                return Err(self.refusal(resource, rival, reason)?.into());
            }
        };
        let rivals = rivals.into_iter().map(|(claim, _)| claim);
        decision.displaced = rivals.zip(ends).collect();
        let at_merge = |claim: &Claim| {
            claim.owner.id != self.me.id
                && collision::meets_at_merge((&claim.resource, claim.mode), wanted)
        };
        let others = others
            .into_iter()
            .filter(|(it, verdict)| at_merge(it) && !matches!(verdict, Liveness::Dead(_)));
        decision.elsewhere = others.map(|(claim, _)| claim).collect();
        Ok(())
    }

    /// The caller's claim that a file is under.
    pub(super) fn covering(&mut self, file: &Resource) -> Result<Option<Claim>> {
        let near = self.near(file)?;
        Ok(collision::covering(&self.now, &near, &self.me, file).cloned())
    }

    /// Whether all of some resources can be claimed, before any of them is.
    pub(super) fn precheck(
        &mut self,
        resources: &[Resource],
        options: &ClaimOptions,
    ) -> Result<()> {
        if options.waiting.is_none() {
            return Ok(());
        }
        for resource in resources {
            if self.answered(Some(resource), options)?.is_none() {
                self.decide(resource, &options.request(), options.mode)?;
            }
        }
        Ok(())
    }

    /// Records that the caller waits: the holder is told of it, and new readers let one through that
    /// wants to change something.
    pub(super) fn wait_for(
        &mut self,
        resources: &[Resource],
        options: &ClaimOptions,
    ) -> Result<()> {
        let Some(process) = &options.waiting else { return Ok(()) };
        let known = self.waiters()?;
        for (waiter, _) in known.iter().filter(|(_, it)| matches!(it, Liveness::Dead(_))) {
            self.transaction.remove_waiters(&waiter.process)?;
        }
        for resource in resources {
            let waiter = Waiter {
                resource: resource.clone(),
                mode: options.mode,
                session: self.me.session.clone(),
                process: process.clone(),
            };
            if !known.iter().any(|(it, _)| *it == waiter) {
                self.transaction.add_waiter(self.scope, &waiter)?;
            }
        }
        Ok(())
    }

    /// Records that a request which waited is granted.
    pub(super) fn stop_waiting(&mut self, options: &ClaimOptions) -> Result<()> {
        match &options.waiting {
            Some(process) => self.transaction.remove_waiters(process),
            None => Ok(()),
        }
    }

    fn latest(&mut self, resource: &Resource) -> Result<Option<Claim>> {
        let latest = self.transaction.latest(self.scope, std::slice::from_ref(resource))?.pop();
        Ok(latest.flatten())
    }

    /// The open claims that may meet paths, with what is known of their owners.
    fn near(&mut self, resource: &Resource) -> Result<Vec<(Claim, Liveness)>> {
        let near = self.transaction.near(self.scope, resource)?;
        let seen = |claim: Claim| (claim.clone(), self.verdicts.of(&claim));
        Ok(near.into_iter().map(seen).collect())
    }

    pub(super) fn waiters(&mut self) -> Result<Vec<(Waiter, Liveness)>> {
        let waiters = self.transaction.waiters(self.scope)?;
        let seen = |it: Waiter| (it.clone(), self.verdicts.look(&it.process));
        Ok(waiters.into_iter().map(seen).collect())
    }
}
