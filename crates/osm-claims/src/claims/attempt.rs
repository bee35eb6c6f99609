//! One request of one caller inside one transaction: what the rules decide, and doing it.

use std::sync::Arc;

use super::decision::Decision;
use super::{ClaimOptions, Outcome};
use crate::claim::{Claim, End, Ended};
use crate::clock::Now;
use crate::error::{Error, Result};
use crate::event::Transition;
use crate::ledger::{Grant, Presence, Transaction};
use crate::liveness::{LivenessProbe, Verdicts};
use crate::notices::Notices;
use crate::owner::Owner;
use crate::refusal::{Reason, Refused};
use crate::resource::Resource;
use crate::rules::{self, Change, Request, Standing};
use crate::scope::ScopeId;
use osm_identity::{Liveness, UnknownReason};

pub(super) struct Attempt<'a> {
    pub(super) transaction: &'a mut (dyn Transaction + 'a),
    pub(super) scope: ScopeId,
    pub(super) me: Arc<Owner>,
    pub(super) now: Now,
    pub(super) verdicts: Verdicts<'a>,
    presence: Presence,
}

impl<'a> Attempt<'a> {
    pub(super) fn new(
        transaction: &'a mut (dyn Transaction + 'a),
        probe: &'a dyn LivenessProbe,
        presence: Presence,
        scope: ScopeId,
        me: Arc<Owner>,
    ) -> Result<Self> {
        let now = transaction.now()?;
        Ok(Self { transaction, scope, me, now, verdicts: Verdicts::new(probe), presence })
    }

    /// Does what is asked, or what the same request got before.
    pub(super) fn answer(
        &mut self,
        resource: &Resource,
        request: &Request,
        options: &ClaimOptions,
    ) -> Result<Outcome> {
        match self.answered(Some(resource), options)? {
            Some(_) => self.perform(resource, &options.request(), &options.without_request_id()),
            None => self.perform(resource, request, options),
        }
    }

    /// The resource that a request got before: it may have that again, by the rules, and no other.
    pub(super) fn answered(
        &mut self,
        resource: Option<&Resource>,
        options: &ClaimOptions,
    ) -> Result<Option<Resource>> {
        let Some(request) = &options.request else { return Ok(None) };
        let Some(claim) = self.transaction.answered(self.scope, request)? else { return Ok(None) };
        let same = resource.is_none_or(|resource| *resource == claim.resource);
        if !same || claim.owner.id != self.me.id || !claim.is_open() {
            return Err(Refused {
                resource: Some(claim.resource.clone()),
                claim: Some(Box::new(claim)),
                ..Refused::because(Reason::RequestReused)
            }
            .into());
        }
        Ok(Some(claim.resource))
    }

    /// Decides on a request, and does it.
    pub(super) fn perform(
        &mut self,
        resource: &Resource,
        request: &Request,
        options: &ClaimOptions,
    ) -> Result<Outcome> {
        let decision = self.decide(resource, request, options.mode)?;
        self.apply(resource, decision, options)
    }

    /// What the rules say to a claim that was read.
    pub(super) fn judge(
        &mut self,
        latest: Option<&Claim>,
        request: &Request,
    ) -> Result<Change, Reason> {
        let verdict = self.verdict(latest).unwrap_or(Liveness::Unknown(UnknownReason::NoProcess));
        rules::decide(&self.now, latest, &self.me, request, &verdict)
    }

    pub(super) fn verdict(&mut self, latest: Option<&Claim>) -> Option<Liveness> {
        latest.filter(|it| it.is_open()).map(|it| self.verdicts.of(it))
    }

    pub(super) fn refusal(
        &mut self,
        resource: &Resource,
        latest: Option<Claim>,
        reason: Reason,
    ) -> Result<Refused> {
        let verdict = self.verdict(latest.as_ref());
        let (reason, claim) = self.loss(resource, reason, latest)?;
        Ok(Refused {
            resource: Some(resource.clone()),
            left: claim.as_ref().and_then(|claim| rules::time_left(&self.now, claim, reason)),
            holders: claim.as_ref().and_then(|it| it.process()).cloned().into_iter().collect(),
            verdict,
            claim: claim.map(Box::new),
            ..Refused::because(reason)
        })
    }

    /// An owner that lost a claim learns how, instead of that it has none.
    fn loss(
        &mut self,
        resource: &Resource,
        reason: Reason,
        latest: Option<Claim>,
    ) -> Result<(Reason, Option<Claim>)> {
        if !matches!(reason, Reason::NotHeld | Reason::Stale) {
            return Ok((reason, latest));
        }
        let mine = self.transaction.latest_of(self.scope, resource, self.me.id)?;
        Ok(match mine {
            Some(mine) if mine.is_lost() || mine.is_handed_off() => (Reason::Stale, Some(mine)),
            _ => (reason, latest),
        })
    }

    /// Makes a change that was decided on.
    pub(super) fn apply(
        &mut self,
        resource: &Resource,
        decision: Decision,
        options: &ClaimOptions,
    ) -> Result<Outcome> {
        let Decision { subject: latest, change, mode, displaced, elsewhere } = decision;
        let mut ended = None;
        let unfinished = matches!(change, Change::Grant(None))
            .then(|| latest.clone().filter(|it| it.is_lost() && it.owner.id != self.me.id))
            .flatten();
        let mut also_ended = Vec::with_capacity(displaced.len());
        for (claim, how) in displaced {
            also_ended.push(self.end(claim, how, options)?);
        }
        let claim = match (change, latest) {
            (Change::Grant(how), latest) => {
                if let (Some(how), Some(latest)) = (how, latest) {
                    ended = Some(self.end(latest, how, options)?);
                } else if !also_ended.is_empty() {
                    let same = also_ended.iter().position(|it| it.resource == *resource);
                    ended = Some(also_ended.remove(same.unwrap_or(0)));
                }
                if self.unacknowledged(resource)?.is_some() {
                    self.acknowledge(resource)?;
                }
                let kept = ended.as_ref().and_then(|it| self.kept_note(it));
                self.transaction.grant(&Grant {
                    scope: self.scope,
                    resource,
                    owner: &self.me,
                    mode,
                    hold: options.hold(&self.me, &self.now, self.presence),
                    at: self.now.wall,
                    note: options.note.clone().or(kept),
                    request: options.request.clone(),
                    worktree: options.worktree.clone(),
                })?
            }
            // The rules decide nothing else on a resource that was never claimed.
            (_, None) => return Err(Reason::NotHeld.into()),
            (Change::Close(how), Some(claim)) => self.end(claim, how, options)?,
            (Change::Nothing | Change::Acknowledge, Some(claim)) => claim,
            (change, Some(mut claim)) => {
                let transition = match change {
                    Change::Renew => Transition::Renewed(options.renewed(&claim, &self.now)),
                    Change::Offer => Transition::Offered(options.offer(&self.now)),
                    Change::Note => Transition::Noted(options.note.clone()),
                    // What an edit makes of a claim that was asked for is kept as it was.
                    Change::Alter if options.mode.automatic => {
                        Transition::Altered(mode, claim.hold.clone())
                    }
                    Change::Alter => {
                        Transition::Altered(mode, options.hold(&self.me, &self.now, self.presence))
                    }
                    _ => Transition::Withdrawn,
                };
                self.amend(&claim, &transition)?;
                transition.apply(&mut claim);
                claim
            }
        };
        let predecessor = ended.clone().or(unfinished);
        let (skipped, notices) = (Vec::new(), Notices::default());
        Ok(Outcome { claim, change, ended, also_ended, elsewhere, predecessor, skipped, notices })
    }

    /// The note that stays with the work: a session that it was handed to, or that resumes its own
    /// work, continues where the note was made. Another session is shown the note of its
    /// predecessor, and starts without one.
    fn kept_note(&self, ended: &Claim) -> Option<String> {
        let offered = ended.offer.as_ref().filter(|_| ended.is_handed_off());
        let is_continued = ended.is_handed_off() || ended.owner.session == self.me.session;
        let note = ended.note.as_ref().or_else(|| offered?.note.as_ref());
        note.filter(|_| is_continued).cloned()
    }

    fn end(&mut self, claim: Claim, how: End, options: &ClaimOptions) -> Result<Claim> {
        let evidence = self.evidence(&claim, how, options);
        let ended = Ended { how, at: self.now.wall, by: self.me.session.clone(), evidence };
        self.amend(&claim, &Transition::Ended(ended.clone()))?;
        Ok(Claim { ended: Some(ended), ..claim })
    }

    /// What the end of a claim rests on.
    fn evidence(&mut self, claim: &Claim, how: End, options: &ClaimOptions) -> Option<String> {
        let mut verdict = || {
            let verdict = self.verdicts.of(claim);
            let process = claim.process().map(|it| format!("{it}: ")).unwrap_or_default();
            format!("{process}{}", verdict.evidence())
        };
        match how {
            End::Died => Some(verdict()),
            End::Taken => {
                let reason = options.reason.as_deref().unwrap_or("no reason given");
                Some(format!("{reason}; {}", verdict()))
            }
            End::Expired | End::Released | End::Completed | End::HandedOff => None,
        }
    }

    pub(super) fn amend(&mut self, claim: &Claim, transition: &Transition) -> Result<()> {
        self.transaction.amend(claim, &self.me.session, self.now.wall, transition)
    }

    /// The caller's last claim of a resource, if it lost that and has not acknowledged it.
    pub(super) fn unacknowledged(&mut self, resource: &Resource) -> Result<Option<Claim>> {
        let lost = self.transaction.losses(self.me.id)?.into_iter().map(|loss| loss.claim);
        Ok(lost.filter(|it| it.scope == self.scope && it.resource == *resource).last())
    }

    pub(super) fn acknowledge(&mut self, resource: &Resource) -> Result<()> {
        self.transaction.acknowledge(self.me.id, self.scope, resource)
    }

    /// The answer with what the caller must be told beside it.
    pub(super) fn with_notices(&mut self, answer: Result<Outcome>) -> Result<Outcome> {
        match answer {
            Ok(outcome) => Ok(Outcome { notices: self.notices()?, ..outcome }),
            Err(Error::Refused(refused)) => Err(Error::Refused(self.notify(refused)?)),
            Err(error) => Err(error),
        }
    }

    /// A refusal with what the caller must be told beside it.
    pub(super) fn notify(&mut self, refused: Box<Refused>) -> Result<Box<Refused>> {
        let mut refused = refused;
        refused.notices = self.notices()?;
        Ok(refused)
    }

    /// What the caller must be told.
    pub(super) fn notices(&mut self) -> Result<Notices> {
        let mut losses = self.transaction.losses(self.me.id)?;
        losses.retain(|loss| !loss.told);
        let mut resumable = self.transaction.open_of_others(&self.me.session, self.me.id)?;
        resumable.retain(|claim| {
            let verdict = self.verdicts.of(claim);
            matches!(rules::standing(&self.now, claim, &verdict), Standing::Free(_))
        });
        let (messages, waiting) = (self.unread()?, self.waiting_for_me()?);
        Ok(Notices { losses, resumable, messages, waiting })
    }
}
