//! What can be done with claims: every operation is one transaction over the rules.

mod ask;
mod list;
mod sweep;
mod wait;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

pub use ask::{Asker, Keep, Wish};
pub use list::{Listed, Owned};
pub use sweep::{Swept, SweptClaim};

use crate::claim::{Claim, End, Ended};
use crate::clock::Now;
use crate::epoch::Token;
use crate::error::{Error, Result};
use crate::event::Deed;
use crate::ledger::{Book, Grant, Ledger};
use crate::liveness::{Remembered, Sight};
use crate::owner::{Owner, Registration, register};
use crate::refusal::{Reason, Refused};
use crate::resource::Resource;
use crate::rules::{self, Change, Request};
use crate::scope::ScopeId;
use osm_identity::{Liveness, ProcessInstance, UnknownReason};

/// How long a session without a process has what it claims, unless it says otherwise.
pub const USUAL_LEASE: Duration = Duration::from_mins(15);

/// How long an offer stands, unless it says otherwise.
pub const USUAL_OFFER: Duration = Duration::from_hours(1);

/// The claims of a ledger.
pub struct Claims {
    ledger: Box<dyn Ledger>,
    sight: Box<dyn Sight>,
}

/// What an operation on one resource came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The claim, as it is now.
    pub claim: Claim,
    /// What was done.
    pub change: Change,
    /// The claim that had to end for it.
    pub ended: Option<Claim>,
    /// Candidates that were passed over, and why.
    pub skipped: Vec<(Resource, Reason)>,
}

/// One request, with all that a change needs.
struct Act<'a> {
    scope: ScopeId,
    me: &'a Arc<Owner>,
    resource: &'a Resource,
    request: &'a Request,
    wish: &'a Wish,
    now: &'a Now,
    sight: &'a dyn Sight,
}

impl Claims {
    /// The claims of a ledger, whose owners are looked at with `sight`.
    #[must_use]
    pub fn new(ledger: Box<dyn Ledger>, sight: Box<dyn Sight>) -> Self {
        Self { ledger, sight }
    }

    /// Claims a resource.
    pub fn claim(&self, asker: &Asker, resource: &Resource, wish: &Wish) -> Result<Outcome> {
        self.one(asker, resource, &wish.claim(), wish)
    }

    /// Claims the first of several resources that is free.
    pub fn next(&self, asker: &Asker, candidates: &[Resource], wish: &Wish) -> Result<Outcome> {
        let request = wish.claim();
        self.write(|book| {
            let now = self.ledger.now();
            let (scope, me) = self.admit(book, asker)?;
            let seen = Remembered::new(&*self.sight);
            let before = answered(book, scope, &me, None, wish)?;
            let (wish, me) = (&wish.named_once(before.is_some()), &me);
            let act = |resource| Act {
                scope,
                me,
                resource,
                request: &request,
                wish,
                now: &now,
                sight: &seen,
            };
            if let Some(resource) = &before {
                return perform(book, &act(resource));
            }
            let (mut skipped, mut refusals) = (Vec::new(), Refusals::default());
            for resource in candidates {
                match perform(book, &act(resource)) {
                    Ok(outcome) if matches!(outcome.change, Change::Grant(_)) => {
                        return Ok(Outcome { skipped, ..outcome });
                    }
                    // It is the caller's already: it wants another one.
                    Ok(_) => skipped.push((resource.clone(), Reason::Held)),
                    Err(Error::Refused(refused)) => {
                        skipped.push((resource.clone(), refused.reason));
                        refusals.add(&refused);
                    }
                    Err(error) => return Err(error),
                }
            }
            Err(refusals.nothing_free(&skipped).into())
        })
    }

    /// Makes sure that the caller still has a resource, by the grant that it names. Writes nothing.
    pub fn check(&self, asker: &Asker, resource: &Resource, token: Option<Token>) -> Result<Claim> {
        self.read(|book| {
            let now = self.ledger.now();
            let me = self.find(book, asker)?;
            let scope = book.scope(&asker.scope)?.ok_or(Reason::NotHeld)?;
            let wish = Wish::default();
            let request = Request::Check(token);
            let (sight, request) = (&*self.sight, &request);
            let act = Act { scope, me: &me, resource, request, wish: &wish, now: &now, sight };
            let (claim, _) = decide(book, &act)?;
            claim.ok_or_else(|| Reason::NotHeld.into())
        })
    }

    /// Begins the lease of a claim anew.
    pub fn renew(
        &self,
        asker: &Asker,
        resource: &Resource,
        token: Option<Token>,
        wish: &Wish,
    ) -> Result<Outcome> {
        self.one(asker, resource, &Request::Renew(token), wish)
    }

    /// Lets a claim hang on another process: one that was started to work under it.
    pub fn entrust(
        &self,
        asker: &Asker,
        resource: &Resource,
        token: Token,
        process: &ProcessInstance,
    ) -> Result<()> {
        self.write(|book| {
            let now = self.ledger.now();
            let (scope, me) = self.admit(book, asker)?;
            let (request, wish) = (Request::Check(Some(token)), Wish::default());
            let (sight, request) = (&*self.sight, &request);
            let act = Act { scope, me: &me, resource, request, wish: &wish, now: &now, sight };
            let (claim, _) = decide(book, &act)?;
            let claim = claim.ok_or(Reason::NotHeld)?;
            let deed = Deed::Renewed(crate::Hold::Process(process.clone()));
            book.amend(&claim, &me.session, now.wall, &deed)
        })
    }

    /// Lets go of a claim. Of one that the caller lost, it takes note.
    pub fn release(
        &self,
        asker: &Asker,
        resource: &Resource,
        token: Option<Token>,
        done: bool,
    ) -> Result<Outcome> {
        let request = Request::Release { token, done };
        let released = self.one(asker, resource, &request, &Wish::default());
        if matches!(&released, Err(error) if error.refusal().is_some()) {
            self.write(|book| {
                let (scope, me) = self.admit(book, asker)?;
                book.acknowledge(me.id, scope, resource)
            })?;
        }
        released
    }

    /// Offers a claim to a session; `None` takes an offer back.
    pub fn offer(
        &self,
        asker: &Asker,
        resource: &Resource,
        token: Option<Token>,
        to: Option<&str>,
        wish: &Wish,
    ) -> Result<Outcome> {
        let request = match to {
            Some(_) => Request::Offer(token),
            None => Request::Withdraw(token),
        };
        let wish = Wish { to: to.map(str::to_owned), ..wish.clone() };
        self.one(asker, resource, &request, &wish)
    }

    /// Takes up an offer.
    pub fn accept(&self, asker: &Asker, resource: &Resource, wish: &Wish) -> Result<Outcome> {
        self.one(asker, resource, &Request::Accept, wish)
    }

    /// Takes up what an incarnation of the caller's session had when it died.
    pub fn resume(&self, asker: &Asker, resource: &Resource, wish: &Wish) -> Result<Outcome> {
        self.one(asker, resource, &Request::Resume, wish)
    }

    /// Takes a resource away from whoever has it. The wish says why.
    pub fn take(
        &self,
        asker: &Asker,
        resource: &Resource,
        even_if_alive: bool,
        wish: &Wish,
    ) -> Result<Outcome> {
        self.one(asker, resource, &Request::Take { even_if_alive }, wish)
    }

    /// What a request would come to, without doing it, and on which claim.
    pub fn foresee(
        &self,
        asker: &Asker,
        resource: &Resource,
        request: &Request,
    ) -> Result<(Option<Claim>, Change)> {
        self.read(|book| {
            let now = self.ledger.now();
            let me = self.find(book, asker)?;
            let Some(scope) = book.scope(&asker.scope)? else {
                return Ok((None, Change::Grant(None)));
            };
            let wish = Wish::default();
            let sight = &*self.sight;
            let act = Act { scope, me: &me, resource, request, wish: &wish, now: &now, sight };
            decide(book, &act)
        })
    }

    fn one(
        &self,
        asker: &Asker,
        resource: &Resource,
        request: &Request,
        wish: &Wish,
    ) -> Result<Outcome> {
        self.write(|book| {
            let now = self.ledger.now();
            let (scope, me) = self.admit(book, asker)?;
            let before = answered(book, scope, &me, Some(resource), wish)?;
            let request = if before.is_some() { &wish.claim() } else { request };
            let wish = &wish.named_once(before.is_some());
            let sight = &*self.sight;
            perform(book, &Act { scope, me: &me, resource, request, wish, now: &now, sight })
        })
    }

    /// The caller's scope and owner, made known.
    fn admit(&self, book: &mut dyn Book, asker: &Asker) -> Result<(ScopeId, Arc<Owner>)> {
        let me = match self.registration(book, asker)? {
            (Registration::Known(_), Some(owner)) => owner,
            (Registration::Renamed(id), _) => book.rename_owner(id, &asker.caller)?,
            _ => book.add_owner(&asker.caller)?,
        };
        Ok((book.add_scope(&asker.scope)?, me))
    }

    /// The caller's owner, without making it known.
    fn find(&self, book: &mut dyn Book, asker: &Asker) -> Result<Arc<Owner>> {
        Ok(match self.registration(book, asker)? {
            (Registration::Known(_), Some(owner)) => owner,
            (Registration::Renamed(id), _) => Arc::new(Owner { id, who: asker.caller.clone() }),
            _ => asker.stranger(),
        })
    }

    fn registration(
        &self,
        book: &mut dyn Book,
        asker: &Asker,
    ) -> Result<(Registration, Option<Arc<Owner>>)> {
        let caller = &asker.caller;
        let own = match &caller.process {
            Some(process) if matches!(self.sight.look(process), Liveness::Dead(_)) => {
                return Err(Reason::AnchorGone.into());
            }
            Some(process) => book.owner_of_process(process)?,
            None => None,
        };
        let last = book.owner_of_session(&caller.session)?;
        // An anchor may have several sessions: then the session tells which owner is meant.
        let same = last.clone().filter(|it| {
            it.process.as_ref().map(ProcessInstance::key)
                == caller.process.as_ref().map(ProcessInstance::key)
        });
        let own = same.or(own);
        let rival = last.as_ref().and_then(|it| it.process.as_ref());
        let verdict =
            rival.map_or(Liveness::Unknown(UnknownReason::NoProcess), |it| self.sight.look(it));
        match register(caller, own.as_deref(), last.as_deref(), &verdict) {
            Ok(known) => {
                let owner = [own, last]
                    .into_iter()
                    .flatten()
                    .find(|it| matches!(known, Registration::Known(id) if id == it.id));
                Ok((known, owner))
            }
            Err(reason) => Err(Refused {
                holders: rival.cloned().into_iter().collect(),
                verdict: rival.map(|_| verdict),
                ..Refused::because(reason)
            }
            .into()),
        }
    }

    fn write<T>(&self, mut work: impl FnMut(&mut dyn Book) -> Result<T>) -> Result<T> {
        let mut result = None;
        self.ledger.write(&mut |book| {
            result = Some(work(book)?);
            Ok(())
        })?;
        Ok(result.expect("a ledger runs the work or returns an error"))
    }

    fn read<T>(&self, mut work: impl FnMut(&mut dyn Book) -> Result<T>) -> Result<T> {
        let mut result = None;
        self.ledger.read(&mut |book| {
            result = Some(work(book)?);
            Ok(())
        })?;
        Ok(result.expect("a ledger runs the work or returns an error"))
    }
}

/// Decides on a request, and does it.
fn perform(book: &mut dyn Book, act: &Act) -> Result<Outcome> {
    let (latest, change) = decide(book, act)?;
    let (by, at) = (&act.me.session, act.now.wall);
    let mut end = |claim: &Claim, how| -> Result<Claim> {
        let evidence = evidence(claim, how, act);
        let ended = Ended { how, at, by: by.clone(), evidence };
        book.amend(claim, by, at, &Deed::Ended(ended.clone()))?;
        Ok(Claim { ended: Some(ended), ..claim.clone() })
    };
    let mut ended = None;
    let claim = match (change, latest) {
        (Change::Grant(how), latest) => {
            if let (Some(how), Some(latest)) = (how, &latest) {
                ended = Some(end(latest, how)?);
            }
            book.acknowledge(act.me.id, act.scope, act.resource)?;
            book.grant(&Grant {
                scope: act.scope,
                resource: act.resource,
                owner: act.me,
                hold: act.wish.hold(act.me, act.now),
                at,
                note: act.wish.note.clone(),
                request: act.wish.request.clone(),
            })?
        }
        // Nothing else is decided on a resource that was never claimed.
        (_, None) => return Err(Reason::NotHeld.into()),
        (Change::Close(how), Some(claim)) => end(&claim, how)?,
        (Change::Nothing, Some(claim)) => claim,
        (change, Some(mut claim)) => {
            let deed = match change {
                Change::Renew => Deed::Renewed(act.wish.renewed(&claim, act.now)),
                Change::Offer => Deed::Offered(act.wish.offer(act.now)),
                _ => Deed::Withdrawn,
            };
            book.amend(&claim, by, at, &deed)?;
            deed.apply(&mut claim);
            claim
        }
    };
    Ok(Outcome { claim, change, ended, skipped: Vec::new() })
}

/// What the rules say, with the last claim of the resource.
fn decide(book: &mut dyn Book, act: &Act) -> Result<(Option<Claim>, Change)> {
    let latest = book.latest(act.scope, act.resource)?;
    let verdict = latest.as_ref().filter(|it| it.is_open()).map(|it| it.verdict(act.sight));
    let known = verdict.unwrap_or(Liveness::Unknown(UnknownReason::NoProcess));
    match rules::decide(act.now, latest.as_ref(), act.me, act.request, &known) {
        Ok(change) => Ok((latest, change)),
        Err(reason) => {
            let (reason, claim) = loss(book, act, reason, latest)?;
            Err(Refused {
                reason,
                resource: Some(act.resource.clone()),
                left: claim.as_ref().and_then(|claim| match reason {
                    Reason::Reserved => rules::kept(act.now, claim),
                    _ => rules::left(act.now, claim),
                }),
                holders: claim.as_ref().and_then(|it| it.process()).cloned().into_iter().collect(),
                verdict,
                claim: claim.map(Box::new),
                tally: Vec::new(),
            }
            .into())
        }
    }
}

/// What the end of a claim rests on.
fn evidence(claim: &Claim, how: End, act: &Act) -> Option<String> {
    let verdict = || {
        let verdict = claim.verdict(act.sight);
        let process = claim.process().map(|it| format!("{it}: ")).unwrap_or_default();
        format!("{process}{}", verdict.evidence())
    };
    match how {
        End::Died => Some(verdict()),
        End::Taken => {
            let reason = act.wish.reason.as_deref().unwrap_or("no reason given");
            Some(format!("{reason}; {}", verdict()))
        }
        End::Expired | End::Released | End::Completed | End::HandedOff => None,
    }
}

/// Whoever lost a claim learns that, and how, instead of that it has none.
fn loss(
    book: &mut dyn Book,
    act: &Act,
    reason: Reason,
    latest: Option<Claim>,
) -> Result<(Reason, Option<Claim>)> {
    if !matches!(reason, Reason::NotHeld | Reason::Stale) {
        return Ok((reason, latest));
    }
    let mine = book.latest_of(act.scope, act.resource, act.me.id)?;
    Ok(match mine {
        Some(mine) if mine.is_lost() || mine.is_handed_off() => (Reason::Stale, Some(mine)),
        _ => (reason, latest),
    })
}

/// What a request got before: it may have that again, by the rules, and nothing else.
fn answered(
    book: &mut dyn Book,
    scope: ScopeId,
    me: &Arc<Owner>,
    resource: Option<&Resource>,
    wish: &Wish,
) -> Result<Option<Resource>> {
    let Some(request) = &wish.request else { return Ok(None) };
    let Some(claim) = book.answered(scope, request)? else { return Ok(None) };
    let same = resource.is_none_or(|resource| *resource == claim.resource);
    if !same || claim.owner.id != me.id || !claim.is_open() {
        return Err(Refused {
            resource: Some(claim.resource.clone()),
            claim: Some(Box::new(claim)),
            ..Refused::because(Reason::RequestReused)
        }
        .into());
    }
    Ok(Some(claim.resource))
}

/// What stands in the way of several resources at once.
#[derive(Default)]
struct Refusals {
    holders: BTreeMap<String, ProcessInstance>,
    left: Option<Duration>,
}

impl Refusals {
    fn add(&mut self, refused: &Refused) {
        if !wait::can_change(refused) {
            return;
        }
        let living = refused.living().iter().map(|it| (it.key(), it.clone()));
        self.holders.extend(living);
        self.left = [self.left, refused.left].into_iter().flatten().min();
    }

    fn nothing_free(self, skipped: &[(Resource, Reason)]) -> Refused {
        let mut tally: Vec<(Reason, usize)> = Vec::new();
        for (_, reason) in skipped {
            match tally.iter_mut().find(|(it, _)| it == reason) {
                Some((_, count)) => *count += 1,
                None => tally.push((*reason, 1)),
            }
        }
        let holders = self.holders.into_values().collect();
        Refused { tally, holders, left: self.left, ..Refused::because(Reason::NothingFree) }
    }
}
