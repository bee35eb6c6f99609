//! The operations on claims. Each is one transaction over the rules.

mod attempt;
mod decision;
mod keep;
mod list;
mod messages;
mod next;
mod registration;
mod request;
mod sweep;
mod wait;

use std::time::Duration;

pub use keep::Kept;
pub use list::{Listed, Owned};
pub use request::{ClaimOptions, HeldBy, Requester};
pub use sweep::{SweepReport, SweptClaim};

use self::attempt::Attempt;
use self::decision::Decision;
use crate::claim::{Claim, Mode, Worktree};
use crate::epoch::Token;
use crate::error::{Error, Result};
use crate::event::{Filter, Transition};
use crate::ledger::{Ledger, Presence, Transaction};
use crate::liveness::LivenessProbe;
use crate::notices::Notices;
use crate::refusal::Reason;
use crate::resource::Resource;
use crate::rules::{Change, Request, collision};
use osm_identity::ProcessInstance;

/// The term of a lease, unless the request names another.
pub const DEFAULT_LEASE: Duration = Duration::from_mins(15);

/// How long an automatic claim may be idle before any session may have it.
pub const DEFAULT_IDLE: Duration = Duration::from_mins(15);

/// The term of the lease by which other machines know a session's claim, unless the ledger has another.
pub const DEFAULT_PRESENCE: Duration = Duration::from_mins(2);

/// How long after its last use an automatic claim counts as just used, so that using it writes nothing.
const JUST_USED: Duration = Duration::from_mins(1);

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
    /// Further claims that ended for it, of paths that overlap.
    pub also_ended: Vec<Claim>,
    /// Claims of the same paths in other worktrees of the repository, whose work is to be merged.
    pub elsewhere: Vec<Claim>,
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

    /// How the users of the ledger see that a session is alive.
    #[must_use]
    pub fn presence(&self) -> Presence {
        self.ledger.presence()
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
        // A request that waits is recorded together with its refusal, which is therefore a value.
        let answer = self.write(|transaction| {
            let mut attempt = self.begin(transaction, requester)?;
            match attempt.precheck(resources, options) {
                Err(Error::Refused(refused)) if options.waiting.is_some() => {
                    attempt.wait_for(resources, options)?;
                    return Ok(Err(attempt.notify(refused)?));
                }
                checked => checked?,
            }
            let mut outcomes = Vec::with_capacity(resources.len());
            for resource in resources {
                let answer = attempt.answer(resource, &options.request(), options);
                // An error undoes the claims before it.
                outcomes.push(attempt.with_notices(answer)?);
            }
            attempt.stop_waiting(options)?;
            Ok(Ok(outcomes))
        })?;
        answer.map_err(Error::Refused)
    }

    /// Forgets that a process waits for claims.
    pub fn stop_waiting(&self, process: &ProcessInstance) -> Result<()> {
        self.write(|transaction| transaction.remove_waiters(process))
    }

    /// The caller's claims that each of some files is already under, if every one of them is: claims of
    /// the file itself, of a folder or of a glob. Writes nothing; `None` if one is not, or if it was not
    /// used for so long that its use must be recorded.
    pub fn holding(&self, requester: &Requester, files: &[Resource]) -> Result<Option<Vec<Claim>>> {
        self.read(|transaction| {
            let Some(mut attempt) = self.look(transaction, requester)? else { return Ok(None) };
            let mut holding = Vec::with_capacity(files.len());
            for file in files {
                match attempt.covering(file)? {
                    Some(claim) if collision::is_fresh(&attempt.now, &claim, JUST_USED) => {
                        holding.push(claim);
                    }
                    _ => return Ok(None),
                }
            }
            Ok(Some(holding))
        })
    }

    /// Refuses if another session holds one of some files, so that the caller must not change it. A caller
    /// without an identity is refused like any other. Writes nothing.
    pub fn check_free(&self, requester: &Requester, files: &[Resource]) -> Result<()> {
        self.read(|transaction| {
            let Some(scope) = transaction.scope(&requester.scope)? else { return Ok(()) };
            let me = match registration::find(
                transaction,
                &*self.probe,
                self.ledger.presence(),
                requester,
            ) {
                Err(Error::Refused(_)) => requester.unregistered(),
                found => found?,
            };
            let presence = self.ledger.presence();
            let mut attempt = Attempt::new(transaction, &*self.probe, presence, scope, me)?;
            let claim = ClaimOptions::default();
            for file in files {
                attempt.decide(file, &claim.request(), claim.mode)?;
            }
            Ok(())
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
            let mode = Mode::default();
            let decision = attempt.decide(resource, &Request::Check(token), mode)?;
            decision.subject.ok_or_else(|| Reason::NotHeld.into())
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
            let mode = Mode::default();
            let decision = attempt.decide(resource, &Request::Check(Some(token)), mode)?;
            let claim = decision.subject.ok_or(Reason::NotHeld)?;
            let held_by = HeldBy::Process(process.clone());
            let options = ClaimOptions { held_by, ..ClaimOptions::default() };
            let hold = options.hold(&attempt.me, &attempt.now, self.ledger.presence());
            attempt.amend(&claim, &Transition::Renewed(hold))
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
                            let known = Decision::of(Some(lost), Change::Acknowledge);
                            let known = attempt.apply(resource, known, &none);
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

    /// What a request would do, and to which claim; of several that overlap, the first. Writes nothing.
    pub fn preview(
        &self,
        requester: &Requester,
        resource: &Resource,
        request: &Request,
    ) -> Result<(Option<Claim>, Change)> {
        self.read(|transaction| match self.look(transaction, requester)? {
            Some(mut attempt) => {
                let decision = attempt.decide(resource, request, Mode::default())?;
                let first = decision.displaced.into_iter().map(|(claim, _)| claim).next();
                Ok((first.or(decision.subject), decision.change))
            }
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
        let me = registration::admit(transaction, &*self.probe, self.ledger.presence(), requester)?;
        let scope = transaction.add_scope(&requester.scope)?;
        Attempt::new(transaction, &*self.probe, self.ledger.presence(), scope, me)
    }

    /// The attempt of a caller that writes nothing; `None` if its scope was never used.
    fn look<'a>(
        &'a self,
        transaction: &'a mut (dyn Transaction + 'a),
        requester: &Requester,
    ) -> Result<Option<Attempt<'a>>> {
        let me = registration::find(transaction, &*self.probe, self.ledger.presence(), requester)?;
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
