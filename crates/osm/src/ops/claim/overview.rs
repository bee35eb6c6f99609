//! All claims that a person or an agent sees at a glance: this session's, and those of the others in the
//! repository, by owner, with the place where each works.
//!
//! The ledger is opened once, and not at all before the first claim: a look creates nothing.

use std::collections::BTreeMap;

use osm_claims::rules::Standing;
use osm_claims::{Hold, Listed, Owned, OwnerId, Scope, SqliteLedger, Worktree};
use osm_identity::Pid;

use super::client::Client;
use super::{Error, Legacy, legacy};
use crate::interaction::Silence;
use crate::invocation::{Invocation, StoreName};

/// How many worktrees of owners that are gone Git is asked about: each takes some milliseconds.
const MOST_LEFT: usize = 2;

/// Claims at a glance.
#[derive(Clone, Debug, Default)]
pub struct Overview {
    /// What concerns this session, in all scopes.
    pub owned: Owned,
    /// The other owners of open claims in the scope; those that are gone first, then the newest.
    pub others: Vec<OtherOwner>,
}

/// Another session with open claims.
#[derive(Clone, Debug)]
pub struct OtherOwner {
    /// Its claims, in the order of their grants. There is at least one.
    pub claims: Vec<Listed>,
    /// Where it worked when it got the last of them.
    pub worktree: Option<Worktree>,
    /// What it left there, if it is gone.
    pub left: Option<Legacy>,
}

impl OtherOwner {
    /// Whether its process is proven dead, or its leases are over: any session may continue its work.
    #[must_use]
    pub fn is_gone(&self) -> bool {
        self.claims.iter().all(|it| matches!(it.standing, Standing::Free(_)))
    }

    /// The state of its process in one word; of a lease, whether it runs.
    #[must_use]
    pub fn state(&self) -> &'static str {
        let Some(last) = self.claims.last() else { return "unknown" };
        match (&last.claim.hold, last.standing) {
            (Hold::Lease(_), Standing::Held) => "lease",
            (Hold::Lease(_), Standing::Free(_)) => "lease over",
            (_, Standing::Free(_)) if !last.verdict.is_dead() => "idle",
            _ => match last.verdict.name() {
                "suspended" => "stopped",
                name => name,
            },
        }
    }
}

/// Looks at all claims; `None` if the ledger has not been created.
pub fn overview(invocation: &Invocation) -> Result<Option<Overview>, Error> {
    if !exists(invocation)? {
        return Ok(None);
    }
    let client = Client::open_anywhere(invocation, None, &mut Silence)?;
    let owned = owned(&client)?;
    let listed = client.answer(client.claims.list(&client.requester, false))?;
    let mut by_owner: BTreeMap<OwnerId, Vec<Listed>> = BTreeMap::new();
    for claim in listed.into_iter().filter(|it| !it.is_mine && !it.is_predecessors) {
        by_owner.entry(claim.claim.owner.id).or_default().push(claim);
    }
    let mut others: Vec<OtherOwner> = by_owner
        .into_values()
        .map(|claims| OtherOwner { worktree: None, left: None, claims })
        .collect();
    others.sort_by_key(|it| {
        (!it.is_gone(), std::cmp::Reverse(it.claims.last().map(|it| it.claim.epoch)))
    });
    Ok(Some(Overview { owned, others: located(others, &client) }))
}

/// What concerns this session, in all scopes; `None` if the ledger has not been created.
pub fn concerns(invocation: &Invocation) -> Result<Option<Owned>, Error> {
    // It is the same in every scope, and to find the repository takes time.
    let open =
        exists(invocation)?.then(|| Client::open_in(invocation, Scope::nowhere(), None, None));
    open.map(|client| owned(&client?)).transpose()
}

/// The processes that hold paths in the repository.
pub fn path_holders(invocation: &Invocation) -> Result<Vec<Pid>, Error> {
    if !exists(invocation)? {
        return Ok(Vec::new());
    }
    let client = Client::open_anywhere(invocation, None, &mut Silence)?;
    let listed = client.answer(client.claims.list(&client.requester, false))?;
    let paths = listed.iter().filter(|it| it.claim.resource.path().is_some());
    Ok(paths.filter_map(|it| it.claim.process().map(|process| process.pid)).collect())
}

/// Whether the ledger has been created.
fn exists(invocation: &Invocation) -> Result<bool, Error> {
    Ok(match invocation.ledger_folder()? {
        Some(folder) => SqliteLedger::file(&folder).exists(),
        // A server makes its tables when they are first used.
        None => invocation.store_name()? == StoreName::Postgres,
    })
}

fn owned(client: &Client) -> Result<Owned, Error> {
    match client.answer(client.claims.mine(&client.requester)) {
        // A session without an identity has no claims, and sees those of others.
        Err(Error::Refused(_)) => Ok(Owned::default()),
        owned => owned,
    }
}

/// Adds where each of them worked, and what those that are gone left there.
fn located(mut others: Vec<OtherOwner>, client: &Client) -> Vec<OtherOwner> {
    for other in others.iter_mut().take(super::SHOWN_OWNERS) {
        let last = other.claims.last().map(|it| &it.claim);
        other.worktree = last.and_then(|claim| client.claims.worktree(claim).ok()?);
    }
    let gone = others.iter_mut().filter(|it| it.is_gone() && it.worktree.is_some());
    for other in gone.take(MOST_LEFT) {
        other.left = other.worktree.clone().map(legacy::left_in);
    }
    others
}
