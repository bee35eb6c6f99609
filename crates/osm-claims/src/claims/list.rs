//! Reading claims: lists, one resource, what concerns a session, the log.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::Duration;

use super::attempt::Attempt;
use super::{Claims, Requester, registration};
use crate::claim::{Claim, End, Mode};
use crate::clock::Now;
use crate::error::{Error, Result};
use crate::event::{Event, Filter};
use crate::ledger::{Loss, Transaction};
use crate::liveness::Verdicts;
use crate::notices::Notices;
use crate::owner::OwnerId;
use crate::resource::Resource;
use crate::rules::{self, Standing, collision};
use crate::scope::{Scope, ScopeId};
use osm_identity::Liveness;

/// A claim, with what is known of its owner.
#[derive(Clone, Debug)]
pub struct Listed {
    /// The claim.
    pub claim: Claim,
    /// Where it counts.
    pub scope: Scope,
    /// What is known of the process that keeps it.
    pub verdict: Liveness,
    /// Whether others may have it.
    pub standing: Standing,
    /// How long its lease still runs.
    pub left: Option<Duration>,
    /// It is the caller's.
    pub is_mine: bool,
    /// An earlier process of the caller's session has it.
    pub is_predecessors: bool,
    /// It is offered to a session.
    pub is_offered: bool,
}

impl Listed {
    /// The caller may resume it.
    fn is_resumable(&self) -> bool {
        self.is_predecessors && matches!(self.standing, Standing::Free(_))
    }
}

/// The claims that concern a session.
#[derive(Clone, Debug, Default)]
pub struct Owned {
    /// The claims that it holds.
    pub held: Vec<Listed>,
    /// The claims of an earlier process of it, which it may resume.
    pub resumable: Vec<Listed>,
    /// The claims that are offered to it.
    pub offered: Vec<Listed>,
    /// The claims that it lost and has not acknowledged.
    pub lost: Vec<Listed>,
}

/// What is the same for all claims of one list.
struct Viewer<'a> {
    requester: &'a Requester,
    me: OwnerId,
    now: Now,
    verdicts: Verdicts<'a>,
    /// A few scopes have many claims.
    scopes: HashMap<ScopeId, Scope>,
}

impl<'a> Viewer<'a> {
    fn new(
        claims: &'a Claims,
        requester: &'a Requester,
        transaction: &mut dyn Transaction,
    ) -> Result<Self> {
        // A caller without an identity may look, too.
        let me = match registration::find(
            transaction,
            &*claims.probe,
            claims.ledger.presence(),
            requester,
        ) {
            Ok(owner) => owner,
            Err(Error::Refused(_)) => requester.unregistered(),
            Err(error) => return Err(error),
        };
        Ok(Self {
            requester,
            me: me.id,
            now: transaction.now()?,
            verdicts: Verdicts::new(&*claims.probe),
            scopes: HashMap::new(),
        })
    }

    fn view(&mut self, claim: Claim, transaction: &mut dyn Transaction) -> Result<Listed> {
        let verdict = self.verdicts.of(&claim);
        let scope = match self.scopes.entry(claim.scope) {
            Entry::Occupied(known) => known.get().clone(),
            Entry::Vacant(place) => {
                let scope = transaction.scope_of(claim.scope)?;
                place.insert(scope.unwrap_or_else(|| Scope::named("?"))).clone()
            }
        };
        let is_mine = self.me == claim.owner.id;
        Ok(Listed {
            standing: rules::standing(&self.now, &claim, &verdict),
            left: rules::left(&self.now, &claim),
            is_offered: claim.is_open() && rules::is_reserved(&self.now, &claim),
            is_predecessors: !is_mine && claim.owner.session == self.requester.caller.session,
            is_mine,
            verdict,
            scope,
            claim,
        })
    }

    fn view_all(
        &mut self,
        claims: Vec<Claim>,
        transaction: &mut dyn Transaction,
    ) -> Result<Vec<Listed>> {
        claims.into_iter().map(|claim| self.view(claim, transaction)).collect()
    }
}

impl Claims {
    /// The open claims of the caller's scope, or of all scopes.
    pub fn list(&self, requester: &Requester, everywhere: bool) -> Result<Vec<Listed>> {
        self.read(|transaction| {
            let mut viewer = Viewer::new(self, requester, transaction)?;
            let open = open(transaction, requester, everywhere)?;
            viewer.view_all(open, transaction)
        })
    }

    /// The claims of the caller's scope, or of all scopes, that ended with the work done, if the resource was
    /// not claimed again.
    pub fn completed(&self, requester: &Requester, everywhere: bool) -> Result<Vec<Listed>> {
        self.read(|transaction| {
            let here = transaction.scope(&requester.scope)?;
            if here.is_none() && !everywhere {
                return Ok(Vec::new());
            }
            let scope = here.filter(|_| !everywhere);
            let kind = Some(End::Completed.name().to_owned());
            let events = transaction.events(&Filter { scope, kind, ..Filter::default() })?;
            let mut ended: BTreeMap<ScopeId, BTreeSet<Resource>> = BTreeMap::new();
            for event in events {
                ended.entry(event.scope).or_default().insert(event.resource);
            }
            let mut viewer = Viewer::new(self, requester, transaction)?;
            let mut completed = Vec::new();
            for (scope, resources) in ended {
                let resources: Vec<Resource> = resources.into_iter().collect();
                let latest = transaction.latest(scope, &resources)?.into_iter().flatten();
                completed.extend(latest.filter(|claim| rules::is_completed(Some(claim))));
            }
            viewer.view_all(completed, transaction)
        })
    }

    /// The last claim of a resource, open or ended; of paths, if they are not claimed themselves, the
    /// first open claim that excludes others from them.
    pub fn status(&self, requester: &Requester, resource: &Resource) -> Result<Option<Listed>> {
        self.read(|transaction| {
            let Some(scope) = transaction.scope(&requester.scope)? else { return Ok(None) };
            let mut near = transaction.near(scope, resource)?;
            let wanted = (resource, Mode::default());
            near.retain(|it| collision::collide((&it.resource, it.mode), wanted));
            near.sort_by_key(|it| it.resource != *resource);
            let latest = transaction.latest(scope, std::slice::from_ref(resource))?.pop();
            let Some(claim) = near.into_iter().next().or(latest.flatten()) else { return Ok(None) };
            Viewer::new(self, requester, transaction)?.view(claim, transaction).map(Some)
        })
    }

    /// The claims that concern the caller, in all scopes.
    pub fn mine(&self, requester: &Requester) -> Result<Owned> {
        self.read(|transaction| {
            let me =
                registration::find(transaction, &*self.probe, self.ledger.presence(), requester)?;
            let mut viewer = Viewer::new(self, requester, transaction)?;
            let mut owned = Owned::default();
            let open = transaction.open(None)?;
            for listed in viewer.view_all(open, transaction)? {
                let offered = listed.claim.offer.as_ref().map(|offer| &offer.to);
                if listed.is_mine {
                    owned.held.push(listed);
                } else if listed.is_resumable() {
                    owned.resumable.push(listed);
                } else if listed.is_offered && offered == Some(&requester.caller.session) {
                    owned.offered.push(listed);
                }
            }
            let lost = transaction.losses(me.id)?.into_iter().map(|loss| loss.claim).collect();
            owned.lost = viewer.view_all(lost, transaction)?;
            Ok(owned)
        })
    }

    /// What the caller must be told, for requests whose answer does not carry it.
    pub fn notices(&self, requester: &Requester) -> Result<Notices> {
        self.read(|transaction| {
            let me =
                registration::find(transaction, &*self.probe, self.ledger.presence(), requester)?;
            let presence = self.ledger.presence();
            // Claims and messages to a session are told of in every scope; one that was never used has
            // no others.
            let scope = transaction.scope(&requester.scope)?.unwrap_or(ScopeId(0));
            Attempt::new(transaction, &*self.probe, presence, scope, me)?.notices()
        })
    }

    /// The losses that the caller has not acknowledged, in its scope or in all.
    pub fn losses(&self, requester: &Requester, everywhere: bool) -> Result<Vec<Loss>> {
        self.read(|transaction| {
            let me =
                registration::find(transaction, &*self.probe, self.ledger.presence(), requester)?;
            let mut losses = transaction.losses(me.id)?;
            if !everywhere {
                let here = transaction.scope(&requester.scope)?;
                losses.retain(|loss| Some(loss.claim.scope) == here);
            }
            Ok(losses)
        })
    }

    /// Records that the caller was told of its losses.
    pub fn mark_told(&self, requester: &Requester) -> Result<()> {
        self.write(|transaction| {
            let me =
                registration::find(transaction, &*self.probe, self.ledger.presence(), requester)?;
            transaction.mark_told(me.id)
        })
    }

    /// The events of the caller's scope, or of all scopes.
    pub fn log(
        &self,
        requester: &Requester,
        everywhere: bool,
        filter: &Filter,
    ) -> Result<Vec<Event>> {
        self.read(|transaction| {
            let mut filter = filter.clone();
            if !everywhere {
                match transaction.scope(&requester.scope)? {
                    Some(scope) => filter.scope = Some(scope),
                    None => return Ok(Vec::new()),
                }
            }
            transaction.events(&filter)
        })
    }
}

/// The open claims of the caller's scope, or of all scopes.
pub(super) fn open(
    transaction: &mut dyn Transaction,
    requester: &Requester,
    everywhere: bool,
) -> Result<Vec<Claim>> {
    if everywhere {
        return transaction.open(None);
    }
    match transaction.scope(&requester.scope)? {
        Some(scope) => transaction.open(Some(scope)),
        None => Ok(Vec::new()),
    }
}
