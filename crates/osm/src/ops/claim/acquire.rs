//! Getting, keeping and releasing claims.

use std::time::Duration;

use osm_claims::rules::Change;
use osm_claims::{
    Claim, ClaimOptions, Mode, Notices, Outcome, Reason, Refused, Resource, Token, Worktree,
};

use super::client::Client;
use super::legacy::{self, Legacy};
use super::run::process;
use super::{Error, keeper, words};
use crate::interaction::Interaction;
use crate::invocation::Invocation;

/// The options of a new claim.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GrantOptions {
    /// How long to wait until it is free.
    pub wait: Option<Duration>,
    /// The term of the lease, if the session has no process.
    pub ttl: Option<Duration>,
    /// A note for others.
    pub note: Option<String>,
    /// The id of the request: a retry with the same id gets the same claim.
    pub request_id: Option<String>,
    /// Claim it even if the work is done.
    pub reopen: bool,
    /// What the claim excludes, if it is one of paths.
    pub mode: Mode,
}

/// A request for one resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClaimRequest {
    /// The resource.
    pub resource: Resource,
    /// The options.
    pub options: GrantOptions,
    /// The scope, instead of the repository around the folder.
    pub scope: Option<String>,
}

/// A request for all of some resources.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClaimAllRequest {
    /// The resources.
    pub resources: Vec<Resource>,
    /// The options.
    pub options: GrantOptions,
    /// The scope, instead of the repository around the folder.
    pub scope: Option<String>,
}

/// A request for the first of several resources that is free.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NextRequest {
    /// The resources, in the order of preference.
    pub candidates: Vec<Resource>,
    /// The options.
    pub options: GrantOptions,
    /// The scope, instead of the repository around the folder.
    pub scope: Option<String>,
}

/// A claim that the session should hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeldRequest {
    /// The resource.
    pub resource: Resource,
    /// The grant; the current one if none is named.
    pub epoch: Option<Token>,
    /// The scope, instead of the repository around the folder.
    pub scope: Option<String>,
}

/// Claims to release.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReleaseRequest {
    /// The resources.
    pub resources: Resources,
    /// The grant; the current one if none is named.
    pub epoch: Option<Token>,
    /// The work is done.
    pub done: bool,
    /// The scope, instead of the repository around the folder.
    pub scope: Option<String>,
}

/// Some resources, or all that the session holds in the scope.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Resources {
    /// These.
    Named(Vec<Resource>),
    /// All.
    All,
}

/// What a request for a claim got.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claimed {
    /// The claim and what changed.
    pub outcome: Outcome,
    /// The key of its scope.
    pub scope: String,
    /// What the session before it left of the work.
    pub legacy: Option<Legacy>,
    /// Claims of the same paths in other worktrees.
    pub elsewhere: Vec<Elsewhere>,
}

/// A claim of the same paths in another worktree, whose work is to be merged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Elsewhere {
    /// The claim.
    pub claim: Claim,
    /// Where its owner works.
    pub worktree: Option<Worktree>,
}

/// A claim that the session holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checked {
    /// The claim.
    pub claim: Claim,
    /// What the session must be told.
    pub notices: Notices,
}

/// What several requests came to. One that is refused stops no other.
#[derive(Debug)]
pub struct Batch {
    /// The claims that were changed.
    pub outcomes: Vec<Claimed>,
    /// The first error.
    pub failed: Option<Error>,
    /// What the session must be told.
    pub notices: Notices,
}

/// Claims a resource.
pub fn claim(
    invocation: &Invocation,
    request: &ClaimRequest,
    interaction: &mut dyn Interaction,
) -> Result<Claimed, Error> {
    let ClaimRequest { resource, options, scope } = request.clone();
    let all = ClaimAllRequest { resources: vec![resource], options, scope };
    let claimed = claim_all(invocation, &all, interaction)?.pop();
    // Every resource of a request has its outcome.
    claimed.ok_or(Error::Refused(Box::new(Refused::because(Reason::NotHeld))))
}

/// Claims all of some resources, or none.
pub fn claim_all(
    invocation: &Invocation,
    request: &ClaimAllRequest,
    interaction: &mut dyn Interaction,
) -> Result<Vec<Claimed>, Error> {
    let client = Client::open(invocation, request.scope.as_deref(), interaction)?;
    let (mut outcomes, mut wanted) = (Vec::new(), Vec::new());
    for resource in &request.resources {
        // A process that lost the claim it was started under may ask for it again.
        match client.under(resource) {
            Ok(Some(claim)) => outcomes.push(unchanged(&client, claim)),
            _ => wanted.push(resource.clone()),
        }
    }
    if !wanted.is_empty() {
        let mut options = client.options(&request.options, interaction);
        // A request that waits is known to the holder, and a writer to readers, by its process. Where that
        // cannot be seen, the holder is not told, and a writer waits as readers do.
        if request.options.wait.is_some() {
            options.waiting = process(std::process::id()).ok();
        }
        let granted = waiting(&client, request.options.wait, interaction, || {
            client.claims.claim_all(&client.requester, &wanted, &options)
        });
        if let (Err(_), Some(process)) = (&granted, &options.waiting) {
            // If this fails, the end of the process tells the same.
            drop(client.claims.stop_waiting(process));
        }
        let granted = granted?;
        let kept = |it: &&Outcome| options.note.is_some() && it.claim.note != options.note;
        for outcome in granted.iter().filter(kept) {
            let name = words::quoted(&outcome.claim.resource);
            interaction.warn(&format!(
                "{name} keeps its earlier note; change it with: osm claim note {name} TEXT"
            ));
        }
        outcomes.extend(granted);
    }
    Ok(outcomes.into_iter().map(|outcome| claimed(&client, outcome, interaction)).collect())
}

/// The outcome of a request for what the caller has.
fn unchanged(client: &Client, claim: Claim) -> Outcome {
    Outcome {
        claim,
        change: Change::Nothing,
        ended: None,
        also_ended: Vec::new(),
        elsewhere: Vec::new(),
        predecessor: None,
        skipped: Vec::new(),
        notices: client.notices(),
    }
}

/// Changes the note of a claim; an empty text removes it.
pub fn note(
    invocation: &Invocation,
    request: &HeldRequest,
    text: &str,
    interaction: &mut dyn Interaction,
) -> Result<Claimed, Error> {
    let client = Client::open(invocation, request.scope.as_deref(), interaction)?;
    let token = request.epoch.or_else(|| client.given(&request.resource));
    let note = Some(text.to_owned()).filter(|text| !text.is_empty());
    let options = ClaimOptions { note, ..ClaimOptions::default() };
    let noted = client.claims.note(&client.requester, &request.resource, token, &options);
    Ok(claimed(&client, client.answer(noted)?, interaction))
}

/// Claims the first resource that is free.
pub fn next(
    invocation: &Invocation,
    request: &NextRequest,
    interaction: &mut dyn Interaction,
) -> Result<Claimed, Error> {
    let client = Client::open(invocation, request.scope.as_deref(), interaction)?;
    let options = client.options(&request.options, interaction);
    let outcome = waiting(&client, request.options.wait, interaction, || {
        client.claims.next(&client.requester, &request.candidates, &options)
    })?;
    Ok(claimed(&client, outcome, interaction))
}

/// Checks that the session holds a claim.
pub fn check(
    invocation: &Invocation,
    request: &HeldRequest,
    interaction: &mut dyn Interaction,
) -> Result<Checked, Error> {
    let client = Client::open(invocation, request.scope.as_deref(), interaction)?;
    let token = request.epoch.or_else(|| client.given(&request.resource));
    let claim = client.claims.check(&client.requester, &request.resource, token);
    Ok(Checked { claim: client.answer(claim)?, notices: client.notices() })
}

/// Restarts the lease of a claim.
pub fn renew(
    invocation: &Invocation,
    request: &HeldRequest,
    ttl: Option<Duration>,
    interaction: &mut dyn Interaction,
) -> Result<Claimed, Error> {
    let client = Client::open(invocation, request.scope.as_deref(), interaction)?;
    client.mention_term(ttl.is_some(), interaction);
    let token = request.epoch.or_else(|| client.given(&request.resource));
    let options = ClaimOptions { term: ttl, ..ClaimOptions::default() };
    let renewed = client.claims.renew(&client.requester, &request.resource, token, &options);
    Ok(claimed(&client, client.answer(renewed)?, interaction))
}

/// Releases claims.
pub fn release(
    invocation: &Invocation,
    request: &ReleaseRequest,
    interaction: &mut dyn Interaction,
) -> Result<Batch, Error> {
    let client = Client::open(invocation, request.scope.as_deref(), interaction)?;
    let resources: Vec<(Resource, Option<Token>)> = match &request.resources {
        Resources::All => {
            let held = client.answer(client.claims.list(&client.requester, false))?;
            held.into_iter().filter(|it| it.is_mine).map(|it| (it.claim.resource, None)).collect()
        }
        Resources::Named(named) => {
            let token = |it: &Resource| request.epoch.or_else(|| client.given(it));
            named.iter().map(|it| (it.clone(), token(it))).collect()
        }
    };
    let outcomes = resources.iter().map(|(resource, token)| {
        client.claims.release(&client.requester, resource, *token, request.done)
    });
    Ok(batch(&client, outcomes, interaction))
}

/// Collects what several requests came to.
pub(super) fn batch(
    client: &Client,
    answers: impl Iterator<Item = osm_claims::Result<Outcome>>,
    interaction: &mut dyn Interaction,
) -> Batch {
    let (mut outcomes, mut failed) = (Vec::new(), None);
    for answer in answers {
        match answer {
            Ok(outcome) => outcomes.push(claimed(client, outcome, interaction)),
            Err(error) => failed = failed.or(Some(error)),
        }
    }
    let failed = failed.and_then(|error| client.answer::<()>(Err(error)).err());
    Batch { outcomes, failed, notices: client.notices() }
}

pub(super) fn claimed(
    client: &Client,
    outcome: Outcome,
    interaction: &mut dyn Interaction,
) -> Claimed {
    if outcome.claim.is_open() {
        keeper::start(client, &outcome.claim, interaction);
    }
    let legacy = outcome.predecessor.as_ref().and_then(|it| legacy::of(client, it));
    let elsewhere = outcome.elsewhere.iter().map(|claim| Elsewhere {
        claim: claim.clone(),
        worktree: client.claims.worktree(claim).ok().flatten(),
    });
    let elsewhere = elsewhere.collect();
    Claimed { outcome, scope: client.requester.scope.key.clone(), legacy, elsewhere }
}

/// Tries, and tries again while there is time. The front end shows who is waited for.
pub(super) fn waiting<T>(
    client: &Client,
    time: Option<Duration>,
    interaction: &mut dyn Interaction,
    mut attempt: impl FnMut() -> osm_claims::Result<T>,
) -> Result<T, Error> {
    let Some(time) = time else { return client.answer(attempt()) };
    let shown = interaction.begin("waiting for a claim");
    let answer = client.claims.wait(time, || {
        if shown.is_stopped() {
            return Err(osm_claims::Error::Interrupted);
        }
        let answer = attempt();
        if let Some(refused) = answer.as_ref().err().and_then(osm_claims::Error::refusal) {
            shown.at(&words::waiting(refused));
        }
        answer
    });
    match answer {
        Err(osm_claims::Error::Interrupted) => Err(shown.interrupted().into()),
        answer => client.answer(answer),
    }
}

/// Whether a refusal means that the claim is gone already.
pub(super) fn is_gone(error: &osm_claims::Error) -> bool {
    error.refusal().is_some_and(|it| matches!(it.reason, Reason::NotHeld | Reason::Stale))
}
