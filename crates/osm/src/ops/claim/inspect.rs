//! Reading claims and their log, and freeing those of dead owners.

use std::ffi::OsString;

use jiff::Timestamp;
use osm_claims::event::{Event, Filter, Transition, replay};
use osm_claims::ledger::Presence;
use osm_claims::{Epoch, Listed, Message, Notices, Owned, Resource, Scope, SweepReport};

use super::Error;
use super::client::Client;
use crate::interaction::Interaction;
use crate::invocation::Invocation;

/// Open claims, or finished work.
#[derive(Clone, Debug)]
pub struct ClaimList {
    /// The claims, by scope and resource.
    pub claims: Vec<Listed>,
    /// The caller's scope.
    pub scope: Scope,
    /// The server, if other machines use the same ledger.
    pub server: Option<String>,
    /// What the session must be told.
    pub notices: Notices,
}

/// The claims that concern this session, in all scopes.
#[derive(Clone, Debug)]
pub struct Mine {
    /// The session.
    pub session: String,
    /// Its claims.
    pub owned: Owned,
    /// What the session must be told.
    pub notices: Notices,
}

/// The last claim of a resource.
#[derive(Clone, Debug)]
pub struct Status {
    /// The claim, open or ended; `None` if it was never claimed.
    pub claim: Option<Listed>,
    /// The caller's scope.
    pub scope: Scope,
    /// What the session must be told.
    pub notices: Notices,
}

/// Which events to return.
#[derive(Clone, Debug, Default)]
pub struct HistoryRequest {
    /// The events; their scope is the caller's.
    pub filter: Filter,
    /// The name of the session that caused them.
    pub by: Option<OsString>,
    /// Of all scopes.
    pub everywhere: bool,
    /// The scope, instead of the repository around the folder.
    pub scope: Option<String>,
}

/// Events, in their order.
#[derive(Clone, Debug)]
pub struct History {
    /// The events.
    pub events: Vec<Event>,
    /// Messages of the same time about the same resources, if events of all kinds are asked for.
    pub messages: Vec<Message>,
    /// What the session must be told.
    pub notices: Notices,
}

/// The owner of a resource at a time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owner {
    /// The session.
    pub session: String,
    /// When it was granted.
    pub since: Timestamp,
    /// The grant.
    pub epoch: Epoch,
}

/// What a sweep did.
#[derive(Debug)]
pub struct Sweep {
    /// The claims that it examined.
    pub report: SweepReport,
    /// What the session must be told.
    pub notices: Notices,
}

/// Lists open claims of the scope, or of all scopes.
pub fn list(
    invocation: &Invocation,
    scope: Option<&str>,
    everywhere: bool,
    interaction: &mut dyn Interaction,
) -> Result<ClaimList, Error> {
    let client = open(invocation, scope, everywhere, interaction)?;
    let claims = client.answer(client.claims.list(&client.requester, everywhere))?;
    Ok(listed(client, claims))
}

/// Lists the work of the scope, or of all scopes, that is done and was not claimed again.
pub fn done(
    invocation: &Invocation,
    scope: Option<&str>,
    everywhere: bool,
    interaction: &mut dyn Interaction,
) -> Result<ClaimList, Error> {
    let client = open(invocation, scope, everywhere, interaction)?;
    let claims = client.answer(client.claims.completed(&client.requester, everywhere))?;
    Ok(listed(client, claims))
}

fn listed(client: Client, mut claims: Vec<Listed>) -> ClaimList {
    claims.sort_by(|one, other| {
        let key = |it: &Listed| (it.scope.key.clone(), it.claim.resource.clone());
        key(one).cmp(&key(other))
    });
    let notices = client.notices();
    let is_shared = client.claims.presence() != Presence::Process;
    let server = is_shared.then(|| client.invocation.ledger_place());
    ClaimList { claims, scope: client.requester.scope, server, notices }
}

/// Lists the claims that concern this session, in all scopes.
pub fn mine(
    invocation: &Invocation,
    scope: Option<&str>,
    interaction: &mut dyn Interaction,
) -> Result<Mine, Error> {
    let client = Client::open_anywhere(invocation, scope, interaction)?;
    let owned = client.answer(client.claims.mine(&client.requester))?;
    let notices = client.notices();
    Ok(Mine { session: client.requester.caller.session, owned, notices })
}

/// Looks at one resource.
pub fn why(
    invocation: &Invocation,
    scope: Option<&str>,
    resource: &Resource,
    interaction: &mut dyn Interaction,
) -> Result<Status, Error> {
    let client = Client::open(invocation, scope, interaction)?;
    let claim = client.answer(client.claims.status(&client.requester, resource))?;
    let notices = client.notices();
    Ok(Status { claim, scope: client.requester.scope, notices })
}

/// Reads the log.
pub fn log(
    invocation: &Invocation,
    request: &HistoryRequest,
    interaction: &mut dyn Interaction,
) -> Result<History, Error> {
    let HistoryRequest { filter, by, everywhere, scope } = request;
    let client = open(invocation, scope.as_deref(), *everywhere, interaction)?;
    let mut filter = filter.clone();
    if let Some(by) = by {
        filter.session = Some(client.session_named(by)?.to_string());
    }
    let events = client.answer(client.claims.log(&client.requester, *everywhere, &filter))?;
    let is_wanted = !everywhere && filter.kind.is_none();
    let mut messages = if is_wanted {
        client.answer(client.claims.messages(&client.requester, filter.resource.as_ref()))?
    } else {
        Vec::new()
    };
    // The last events are shown with the messages since the first of them.
    let first = events.first().filter(|_| filter.last.is_some()).map(|event| event.at);
    let since = filter.since.max(first);
    messages.retain(|it| {
        since.is_none_or(|since| it.at >= since)
            && filter.until.is_none_or(|until| it.at <= until)
            && filter.session.as_ref().is_none_or(|by| it.from == *by || it.to.as_ref() == Some(by))
    });
    Ok(History { events, messages, notices: client.notices() })
}

/// The owners of a resource when the last of these events, which are all of it, had happened: several
/// if they shared it.
pub fn owners_at(events: &[Event]) -> Result<Vec<Owner>, Error> {
    let open = replay(events)?;
    let owner = |epoch: &Epoch| {
        // A claim begins with its grant.
        let granted = events.iter().find(|event| event.epoch == *epoch)?;
        match &granted.transition {
            Transition::Granted { session, .. } => {
                let (session, since) = (session.clone(), granted.at);
                Some(Owner { session, since, epoch: granted.epoch })
            }
            _ => None,
        }
    };
    Ok(open.keys().filter_map(owner).collect())
}

/// Frees the claims of dead owners, or tells which it would free.
pub fn sweep(
    invocation: &Invocation,
    scope: Option<&str>,
    everywhere: bool,
    dry_run: bool,
    interaction: &mut dyn Interaction,
) -> Result<Sweep, Error> {
    let client = open(invocation, scope, everywhere, interaction)?;
    let report = client.answer(client.claims.sweep(&client.requester, everywhere, dry_run))?;
    Ok(Sweep { report, notices: client.notices() })
}

fn open<'a>(
    invocation: &'a Invocation<'a>,
    scope: Option<&str>,
    everywhere: bool,
    interaction: &mut dyn Interaction,
) -> Result<Client<'a>, Error> {
    if everywhere {
        Client::open_anywhere(invocation, scope, interaction)
    } else {
        Client::open(invocation, scope, interaction)
    }
}
