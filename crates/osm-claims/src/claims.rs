//! The operations on claims. Each is one transaction over the rules.

mod attempt;
mod list;
mod next;
mod registration;
mod request;
mod sweep;
mod wait;

use std::time::Duration;

pub use list::{Listed, Owned};
pub use request::{ClaimOptions, HeldBy, Requester};
pub use sweep::{SweepReport, SweptClaim};

use self::attempt::Attempt;
use crate::claim::{Claim, Hold, Worktree};
use crate::epoch::Token;
use crate::error::{Error, Result};
use crate::event::{Filter, Transition};
use crate::ledger::{Ledger, Transaction};
use crate::liveness::LivenessProbe;
use crate::notices::Notices;
use crate::refusal::Reason;
use crate::resource::Resource;
use crate::rules::{Change, Request};
use osm_identity::ProcessInstance;

/// The term of a lease, unless the request names another.
pub const DEFAULT_LEASE: Duration = Duration::from_mins(15);

/// The term of an offer, unless the request names another.
pub const DEFAULT_OFFER: Duration = Duration::from_hours(1);

/// The claims of a ledger.
pub struct Claims {
    ledger: Box<dyn Ledger>,
    probe: Box<dyn LivenessProbe>,
}

/// The result of an operation on one resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The claim, as it is now.
    pub claim: Claim,
    /// What was changed.
    pub change: Change,
    /// The claim that ended for it.
    pub ended: Option<Claim>,
    /// The claim of the session that left the work unfinished: the one that ended for this one, or
    /// one that was lost before.
    pub predecessor: Option<Claim>,
    /// Candidates that were passed over, and why.
    pub skipped: Vec<(Resource, Reason)>,
    /// What the caller must be told beside the result.
    pub notices: Notices,
}

impl Claims {
    /// The claims of a ledger, whose owners' processes are looked at with `probe`.
    #[must_use]
    pub fn new(ledger: Box<dyn Ledger>, probe: Box<dyn LivenessProbe>) -> Self {
        Self { ledger, probe }
    }

    /// Claims a resource.
    pub fn claim(
        &self,
        requester: &Requester,
        resource: &Resource,
        options: &ClaimOptions,
    ) -> Result<Outcome> {
        self.one(requester, resource, &options.request(), options)
    }

    /// Claims all of some resources, or none.
    pub fn claim_all(
        &self,
        requester: &Requester,
        resources: &[Resource],
        options: &ClaimOptions,
    ) -> Result<Vec<Outcome>> {
        self.write(|transaction| {
            let mut attempt = self.begin(transaction, requester)?;
            let mut outcomes = Vec::with_capacity(resources.len());
            for resource in resources {
                let answer = attempt.answer(resource, &options.request(), options);
                // An error undoes the claims before it.
                outcomes.push(attempt.with_notices(answer)?);
            }
            Ok(outcomes)
        })
    }

    /// Changes the note of a claim; an option without a note removes it.
    pub fn note(
        &self,
        requester: &Requester,
        resource: &Resource,
        token: Option<Token>,
        options: &ClaimOptions,
    ) -> Result<Outcome> {
        self.one(requester, resource, &Request::Note(token), options)
    }

    /// Where the owner of a claim worked when it got it.
    pub fn worktree(&self, claim: &Claim) -> Result<Option<Worktree>> {
        let (scope, resource) = (Some(claim.scope), Some(claim.resource.clone()));
        let filter = Filter { scope, resource, ..Filter::default() };
        self.read(|transaction| {
            let events = transaction.events(&filter)?;
            let granted = events.into_iter().find(|event| event.epoch == claim.epoch);
            Ok(match granted.map(|event| event.transition) {
                Some(Transition::Granted { worktree, .. }) => worktree,
                _ => None,
            })
        })
    }

    /// Checks that the caller holds a resource, by the grant that it names. Writes nothing.
    pub fn check(
        &self,
        requester: &Requester,
        resource: &Resource,
        token: Option<Token>,
    ) -> Result<Claim> {
        self.read(|transaction| {
            let mut attempt = self.look(transaction, requester)?.ok_or(Reason::NotHeld)?;
            let (claim, _) = attempt.decide(resource, &Request::Check(token))?;
            claim.ok_or_else(|| Reason::NotHeld.into())
        })
    }

    /// Restarts the lease of a claim.
    pub fn renew(
        &self,
        requester: &Requester,
        resource: &Resource,
        token: Option<Token>,
        options: &ClaimOptions,
    ) -> Result<Outcome> {
        self.one(requester, resource, &Request::Renew(token), options)
    }

    /// Makes a claim last as long as another process: one that was started to work under it.
    pub fn assign_process(
        &self,
        requester: &Requester,
        resource: &Resource,
        token: Token,
        process: &ProcessInstance,
    ) -> Result<()> {
        self.write(|transaction| {
            let mut attempt = self.begin(transaction, requester)?;
            let (claim, _) = attempt.decide(resource, &Request::Check(Some(token)))?;
            let claim = claim.ok_or(Reason::NotHeld)?;
            let transition = Transition::Renewed(Hold::Process(process.clone()));
            attempt.amend(&claim, &transition)
        })
    }

    /// Releases a claim. The release of a lost claim acknowledges the loss, once; it is refused if it
    /// names a grant, or says that the work is done.
    pub fn release(
        &self,
        requester: &Requester,
        resource: &Resource,
        token: Option<Token>,
        done: bool,
    ) -> Result<Outcome> {
        let request = Request::Release { token, done };
        // A refusal is kept together with the acknowledgement, so it is a value of this transaction.
        self.write(|transaction| {
            let mut attempt = self.begin(transaction, requester)?;
            match attempt.answer(resource, &request, &ClaimOptions::default()) {
                Err(Error::Refused(refused)) => {
                    let lost = attempt.unacknowledged(resource)?;
                    attempt.acknowledge(resource)?;
                    match lost.filter(|_| token.is_none() && !done) {
                        Some(lost) => {
                            let none = ClaimOptions::default();
                            let known =
                                attempt.apply(resource, Some(lost), Change::Acknowledge, &none);
                            Ok(Ok(attempt.with_notices(known)?))
                        }
                        None => Ok(Err(attempt.notify(refused)?)),
                    }
                }
                answer => Ok(Ok(attempt.with_notices(answer)?)),
            }
        })?
        .map_err(Error::Refused)
    }

    /// Offers a claim to a session; `None` withdraws an offer.
    pub fn offer(
        &self,
        requester: &Requester,
        resource: &Resource,
        token: Option<Token>,
        to: Option<&str>,
        options: &ClaimOptions,
    ) -> Result<Outcome> {
        let request = match to {
            Some(_) => Request::Offer(token),
            None => Request::Withdraw(token),
        };
        let options = ClaimOptions { to: to.map(str::to_owned), ..options.clone() };
        self.one(requester, resource, &request, &options)
    }

    /// Accepts an offer.
    pub fn accept(
        &self,
        requester: &Requester,
        resource: &Resource,
        options: &ClaimOptions,
    ) -> Result<Outcome> {
        self.one(requester, resource, &Request::Accept, options)
    }

    /// Takes over the claim that an earlier process of the caller's session held when it died.
    pub fn resume(
        &self,
        requester: &Requester,
        resource: &Resource,
        options: &ClaimOptions,
    ) -> Result<Outcome> {
        self.one(requester, resource, &Request::Resume, options)
    }

    /// Takes a resource away from its holder. The options say why.
    pub fn take(
        &self,
        requester: &Requester,
        resource: &Resource,
        even_if_alive: bool,
        options: &ClaimOptions,
    ) -> Result<Outcome> {
        self.one(requester, resource, &Request::Take { even_if_alive }, options)
    }

    /// What a request would do, and to which claim. Writes nothing.
    pub fn preview(
        &self,
        requester: &Requester,
        resource: &Resource,
        request: &Request,
    ) -> Result<(Option<Claim>, Change)> {
        self.read(|transaction| match self.look(transaction, requester)? {
            Some(mut attempt) => attempt.decide(resource, request),
            None => Ok((None, Change::Grant(None))),
        })
    }

    fn one(
        &self,
        requester: &Requester,
        resource: &Resource,
        request: &Request,
        options: &ClaimOptions,
    ) -> Result<Outcome> {
        self.write(|transaction| {
            let mut attempt = self.begin(transaction, requester)?;
            let answer = attempt.answer(resource, request, options);
            attempt.with_notices(answer)
        })
    }

    /// The attempt of a caller, which is made known with its scope.
    fn begin<'a>(
        &'a self,
        transaction: &'a mut (dyn Transaction + 'a),
        requester: &Requester,
    ) -> Result<Attempt<'a>> {
        let me = registration::admit(transaction, &*self.probe, requester)?;
        let scope = transaction.add_scope(&requester.scope)?;
        Attempt::new(transaction, &*self.probe, self.ledger.presence(), scope, me)
    }

    /// The attempt of a caller that writes nothing; `None` if its scope was never used.
    fn look<'a>(
        &'a self,
        transaction: &'a mut (dyn Transaction + 'a),
        requester: &Requester,
    ) -> Result<Option<Attempt<'a>>> {
        let me = registration::find(transaction, &*self.probe, requester)?;
        let Some(scope) = transaction.scope(&requester.scope)? else { return Ok(None) };
        Attempt::new(transaction, &*self.probe, self.ledger.presence(), scope, me).map(Some)
    }

    fn write<T>(&self, mut work: impl FnMut(&mut dyn Transaction) -> Result<T>) -> Result<T> {
        let mut result = None;
        self.ledger.write(&mut |transaction| {
            result = Some(work(transaction)?);
            Ok(())
        })?;
        Ok(result.expect("a ledger runs the work or returns an error"))
    }

    fn read<T>(&self, mut work: impl FnMut(&mut dyn Transaction) -> Result<T>) -> Result<T> {
        let mut result = None;
        self.ledger.read(&mut |transaction| {
            result = Some(work(transaction)?);
            Ok(())
        })?;
        Ok(result.expect("a ledger runs the work or returns an error"))
    }
}
