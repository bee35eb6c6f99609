//! Moving claims from one owner to another.

use std::ffi::OsString;
use std::time::Duration;

use osm_claims::rules::{Change, Request};
use osm_claims::{Claim, ClaimOptions, Notices, Resource};
use osm_identity::SessionId;

use super::Error;
use super::acquire::{Batch, ClaimRequest, Claimed, HeldRequest, batch, claimed, waiting};
use super::client::Client;
use crate::interaction::Interaction;
use crate::invocation::Invocation;

/// An offer of a claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OfferRequest {
    /// The claim.
    pub held: HeldRequest,
    /// The name of the session that may accept it; `None` withdraws the offer.
    pub to: Option<OsString>,
    /// How long it may.
    pub term: Option<Duration>,
    /// A note for that session.
    pub note: Option<String>,
}

/// Claims of an earlier process of this session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResumeRequest {
    /// The resources; all if none is named.
    pub resources: Vec<Resource>,
    /// The scope, instead of the repository around the folder.
    pub scope: Option<String>,
}

/// A claim to take away from its holder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TakeRequest {
    /// The resource.
    pub resource: Resource,
    /// Why: the holder is told, and it stays in the log.
    pub reason: String,
    /// Even if the holder is proven alive.
    pub even_if_alive: bool,
    /// Only tell what would be done.
    pub dry_run: bool,
    /// The scope, instead of the repository around the folder.
    pub scope: Option<String>,
}

/// What taking a claim came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Taken {
    /// It was done.
    Done(Box<Claimed>),
    /// It would be done.
    Preview {
        /// The open claim that would end.
        claim: Option<Box<Claim>>,
        /// The change.
        change: Change,
        /// What the session must be told.
        notices: Notices,
    },
}

/// Offers a claim to another session, or withdraws the offer.
pub fn offer(
    invocation: &Invocation,
    request: &OfferRequest,
    interaction: &mut dyn Interaction,
) -> Result<Claimed, Error> {
    let held = &request.held;
    let client = Client::open(invocation, held.scope.as_deref(), interaction)?;
    let options =
        ClaimOptions { term: request.term, note: request.note.clone(), ..ClaimOptions::default() };
    let token = held.epoch.or_else(|| client.given(&held.resource));
    let to = request.to.as_deref().map(|to| client.session_named(to)).transpose()?;
    let to = to.as_ref().map(SessionId::as_str);
    let offered = client.claims.offer(&client.requester, &held.resource, token, to, &options);
    Ok(claimed(&client, client.answer(offered)?, interaction))
}

/// Accepts an offer.
pub fn accept(
    invocation: &Invocation,
    request: &ClaimRequest,
    interaction: &mut dyn Interaction,
) -> Result<Claimed, Error> {
    let client = Client::open(invocation, request.scope.as_deref(), interaction)?;
    let options = client.options(&request.options, interaction);
    let outcome = waiting(&client, request.options.wait, interaction, || {
        client.claims.accept(&client.requester, &request.resource, &options)
    })?;
    Ok(claimed(&client, outcome, interaction))
}

/// Takes over what an earlier process of this session held when it died.
pub fn resume(
    invocation: &Invocation,
    request: &ResumeRequest,
    interaction: &mut dyn Interaction,
) -> Result<Batch, Error> {
    let client = Client::open(invocation, request.scope.as_deref(), interaction)?;
    let mut resources = request.resources.clone();
    if resources.is_empty() {
        let here = client.answer(client.claims.list(&client.requester, false))?;
        let earlier = here.into_iter().filter(|it| it.is_predecessors);
        resources.extend(earlier.map(|it| it.claim.resource));
    }
    let options = client.plain_options();
    let answers = resources
        .iter()
        .map(|resource| client.claims.resume(&client.requester, resource, &options));
    Ok(batch(&client, answers, interaction))
}

/// Takes a claim away from its holder.
pub fn take(
    invocation: &Invocation,
    request: &TakeRequest,
    interaction: &mut dyn Interaction,
) -> Result<Taken, Error> {
    let client = Client::open(invocation, request.scope.as_deref(), interaction)?;
    let (resource, even_if_alive) = (&request.resource, request.even_if_alive);
    if request.dry_run {
        let take = Request::Take { even_if_alive };
        let preview = client.claims.preview(&client.requester, resource, &take);
        let (claim, change) = client.answer(preview)?;
        let claim = claim.filter(Claim::is_open).map(Box::new);
        let notices = client.notices();
        return Ok(Taken::Preview { claim, change, notices });
    }
    let options = ClaimOptions { reason: Some(request.reason.clone()), ..client.plain_options() };
    let taken = client.claims.take(&client.requester, resource, even_if_alive, &options);
    Ok(Taken::Done(Box::new(claimed(&client, client.answer(taken)?, interaction))))
}
