//! A ledger that is a value: for tests, and for `--store memory`.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use jiff::Timestamp;
use osm_identity::{Liveness, ProcessInstance};

use super::{
    Grant, KnownOwners, Ledger, Loss, Presence, Transaction, Watch, Work, prefixes_above,
    prefixes_below, seal,
};
use crate::claim::Claim;
use crate::clock::{Clock, Left, Now};
use crate::epoch::Epoch;
use crate::error::Result;
use crate::event::{Event, Filter, Transition};
use crate::liveness::LivenessProbe;
use crate::message::{Draft, Message};
use crate::owner::{Caller, Owner, OwnerId};
use crate::path::ClaimedPath;
use crate::resource::Resource;
use crate::rules::collision::Waiter;
use crate::scope::{Scope, ScopeId};

/// How often a watch looks at processes: memory tells of changes, but not of deaths.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// A ledger in the memory of this process.
pub struct MemoryLedger {
    state: Mutex<State>,
    changed: Condvar,
    clock: Box<dyn Clock>,
    presence: Presence,
}

#[derive(Clone, Default)]
struct State {
    scopes: Vec<Scope>,
    owners: Vec<Arc<Owner>>,
    claims: Vec<Claim>,
    events: Vec<Event>,
    /// Losses that are not acknowledged, and whether their owner was told.
    losses: BTreeMap<Epoch, bool>,
    waiters: Vec<(ScopeId, Waiter)>,
    messages: Vec<Message>,
    /// Who knows which message.
    receipts: BTreeSet<(u64, String)>,
    writes: u64,
}

impl MemoryLedger {
    /// An empty ledger.
    #[must_use]
    pub fn new(clock: Box<dyn Clock>) -> Self {
        let presence = Presence::Process;
        Self { state: Mutex::default(), changed: Condvar::new(), clock, presence }
    }

    /// The same ledger as if several machines used it: session claims are leases of this term.
    #[must_use]
    pub fn with_session_leases(self, term: Duration) -> Self {
        Self { presence: Presence::Lease(term), ..self }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Work happens on a copy, so a panic leaves the state whole.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Ledger for MemoryLedger {
    fn write(&self, work: Work<'_>) -> Result<()> {
        let mut state = self.state();
        let mut next = MemoryTransaction { state: state.clone(), clock: &*self.clock };
        work(&mut next)?;
        *state = next.state;
        state.writes += 1;
        self.changed.notify_all();
        Ok(())
    }

    fn read(&self, work: Work<'_>) -> Result<()> {
        let state = self.state().clone();
        work(&mut MemoryTransaction { state, clock: &*self.clock })
    }

    fn presence(&self) -> Presence {
        self.presence
    }

    fn watch(&self) -> Result<Box<dyn Watch + '_>> {
        Ok(Box::new(MemoryWatch { ledger: self, seen: self.state().writes }))
    }
}

struct MemoryWatch<'a> {
    ledger: &'a MemoryLedger,
    seen: u64,
}

impl Watch for MemoryWatch<'_> {
    fn wait(
        &mut self,
        processes: &[&ProcessInstance],
        probe: &dyn LivenessProbe,
        time: Duration,
    ) -> Result<()> {
        let until = std::time::Instant::now() + time;
        let before: Vec<Liveness> = processes.iter().map(|process| probe.look(process)).collect();
        let mut state = self.ledger.state();
        loop {
            let left = until.saturating_duration_since(std::time::Instant::now());
            let moved =
                processes.iter().zip(&before).any(|(it, verdict)| probe.look(it) != *verdict);
            if state.writes != self.seen || moved || left.is_zero() {
                self.seen = state.writes;
                return Ok(());
            }
            let waited = self.ledger.changed.wait_timeout(state, left.min(LOOK_EVERY));
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

/// A copy of the state, which takes the state's place when the work succeeded.
struct MemoryTransaction<'a> {
    state: State,
    clock: &'a dyn Clock,
}

impl State {
    fn last(&self, wanted: impl Fn(&Claim) -> bool) -> Option<Claim> {
        self.claims.iter().rev().find(|claim| wanted(claim)).cloned()
    }

    fn record(&mut self, claim: &Claim, by: &str, at: Timestamp, transition: Transition) {
        self.events.push(Event {
            number: self.events.len() as u64 + 1,
            at,
            scope: claim.scope,
            resource: claim.resource.clone(),
            epoch: claim.epoch,
            by: by.to_owned(),
            transition,
        });
    }
}

impl Transaction for MemoryTransaction<'_> {
    fn now(&mut self) -> Result<Now> {
        self.clock.now()
    }

    fn scope(&mut self, scope: &Scope) -> Result<Option<ScopeId>> {
        let same = |it: &Scope| scope.has_folder_of(it);
        let namesake = |it: &Scope| it.key == scope.key && scope.may_be(it);
        let find = |is_it: &dyn Fn(&Scope) -> bool| self.state.scopes.iter().rposition(is_it);
        Ok(find(&same).or_else(|| find(&namesake)).map(|place| ScopeId(ordinal(place) + 1)))
    }

    fn add_scope(&mut self, scope: &Scope) -> Result<ScopeId> {
        let id = self.scope(scope)?;
        let known = id.map(|id| self.scope_of(id)).transpose()?.flatten();
        let next = known.map_or_else(|| scope.clone(), |it| scope.known_as(&it));
        for (place, other) in self.state.scopes.iter_mut().enumerate() {
            if other.key == next.key && Some(ScopeId(ordinal(place) + 1)) != id {
                other.key = other.retired();
            }
        }
        let place =
            id.and_then(|id| usize::try_from(id.0 - 1).ok()).unwrap_or(self.state.scopes.len());
        match self.state.scopes.get_mut(place) {
            Some(known) => *known = next,
            None => self.state.scopes.push(next),
        }
        Ok(ScopeId(ordinal(place) + 1))
    }

    fn scope_of(&mut self, id: ScopeId) -> Result<Option<Scope>> {
        let place = usize::try_from(id.0 - 1).ok();
        Ok(place.and_then(|place| self.state.scopes.get(place)).cloned())
    }

    fn owners(&mut self, caller: &Caller) -> Result<KnownOwners> {
        let process = caller.process.as_ref().map(ProcessInstance::key);
        let find = |is_it: &dyn Fn(&Owner) -> bool| {
            self.state.owners.iter().rev().find(|owner| is_it(owner)).cloned()
        };
        Ok(KnownOwners {
            by_process: find(&|owner| {
                process.is_some() && owner.process.as_ref().map(ProcessInstance::key) == process
            }),
            by_session: find(&|owner| owner.session == caller.session),
        })
    }

    fn add_owner(&mut self, caller: &Caller) -> Result<Arc<Owner>> {
        let id = OwnerId(ordinal(self.state.owners.len()) + 1);
        let owner = Arc::new(Owner { id, who: caller.clone() });
        self.state.owners.push(Arc::clone(&owner));
        Ok(owner)
    }

    fn rename_owner(&mut self, id: OwnerId, caller: &Caller) -> Result<Arc<Owner>> {
        let owner = Arc::new(Owner { id, who: caller.clone() });
        let before = self.state.owners.iter().find(|it| it.id == id).map(|it| it.session.clone());
        let rename = |session: &mut String| {
            if before.as_ref() == Some(&*session) {
                session.clone_from(&caller.session);
            }
        };
        for message in &mut self.state.messages {
            rename(&mut message.draft.from);
            if let Some(to) = &mut message.draft.to {
                rename(to);
            }
        }
        let receipts = std::mem::take(&mut self.state.receipts).into_iter();
        let renamed = receipts.map(|(message, mut session)| {
            rename(&mut session);
            (message, session)
        });
        self.state.receipts = renamed.collect();
        for known in self.state.owners.iter_mut().filter(|it| it.id == id) {
            *known = Arc::clone(&owner);
        }
        for claim in self.state.claims.iter_mut().filter(|it| it.owner.id == id) {
            claim.owner = Arc::clone(&owner);
        }
        Ok(owner)
    }

    fn latest(&mut self, scope: ScopeId, resources: &[Resource]) -> Result<Vec<Option<Claim>>> {
        let latest = |resource: &Resource| {
            self.state.last(|claim| claim.scope == scope && claim.resource == *resource)
        };
        Ok(resources.iter().map(latest).collect())
    }

    fn latest_of(
        &mut self,
        scope: ScopeId,
        resource: &Resource,
        owner: OwnerId,
    ) -> Result<Option<Claim>> {
        Ok(self.state.last(|claim| {
            claim.scope == scope && claim.resource == *resource && claim.owner.id == owner
        }))
    }

    fn answered(&mut self, scope: ScopeId, request: &str) -> Result<Option<Claim>> {
        Ok(self
            .state
            .last(|claim| claim.scope == scope && claim.request.as_deref() == Some(request)))
    }

    fn near(&mut self, scope: ScopeId, resource: &Resource) -> Result<Vec<Claim>> {
        let Some(prefix) = resource.path().map(ClaimedPath::prefix) else { return Ok(Vec::new()) };
        let below = prefixes_below(&prefix);
        let is_near = |claim: &Claim| {
            let of_link =
                claim.resource.link().is_some() && claim.resource.link() == resource.link();
            let by_prefix = |other: &ClaimedPath| {
                let other = other.prefix();
                let is_below =
                    below.as_ref().is_none_or(|(from, to)| *from <= other && other < *to);
                is_below || prefixes_above(&prefix).any(|it| it == other)
            };
            of_link || claim.resource.path().is_some_and(by_prefix)
        };
        let wanted = |it: &&Claim| it.is_open() && it.scope == scope && is_near(it);
        Ok(self.state.claims.iter().filter(wanted).cloned().collect())
    }

    fn waiters(&mut self, scope: ScopeId) -> Result<Vec<Waiter>> {
        let here = self.state.waiters.iter().filter(|it| it.0 == scope);
        Ok(here.map(|(_, waiter)| waiter.clone()).collect())
    }

    fn add_waiter(&mut self, scope: ScopeId, waiter: &Waiter) -> Result<()> {
        self.state.waiters.push((scope, waiter.clone()));
        Ok(())
    }

    fn remove_waiters(&mut self, process: &ProcessInstance) -> Result<()> {
        self.state.waiters.retain(|(_, waiter)| waiter.process.key() != process.key());
        Ok(())
    }

    fn open(&mut self, scope: Option<ScopeId>) -> Result<Vec<Claim>> {
        let wanted = |it: &&Claim| it.is_open() && scope.is_none_or(|scope| it.scope == scope);
        Ok(self.state.claims.iter().filter(wanted).cloned().collect())
    }

    fn open_of_others(&mut self, session: &str, me: OwnerId) -> Result<Vec<Claim>> {
        let wanted = |it: &&Claim| it.is_open() && it.owner.session == session && it.owner.id != me;
        Ok(self.state.claims.iter().filter(wanted).cloned().collect())
    }

    fn losses(&mut self, owner: OwnerId) -> Result<Vec<Loss>> {
        let loss = |claim: &Claim| {
            let told = *self.state.losses.get(&claim.epoch)?;
            Some(Loss { claim: claim.clone(), told })
        };
        Ok(self.state.claims.iter().filter(|it| it.owner.id == owner).filter_map(loss).collect())
    }

    fn mark_told(&mut self, owner: OwnerId) -> Result<()> {
        for claim in self.state.claims.iter().filter(|claim| claim.owner.id == owner) {
            if let Some(told) = self.state.losses.get_mut(&claim.epoch) {
                *told = true;
            }
        }
        Ok(())
    }

    fn acknowledge(&mut self, owner: OwnerId, scope: ScopeId, resource: &Resource) -> Result<()> {
        for claim in &self.state.claims {
            if claim.owner.id == owner && claim.scope == scope && claim.resource == *resource {
                self.state.losses.remove(&claim.epoch);
            }
        }
        Ok(())
    }

    fn grant(&mut self, grant: &Grant) -> Result<Claim> {
        let epoch = Epoch(self.state.claims.len() as u64 + 1);
        let claim = grant.claim(epoch, seal()?);
        self.state.claims.push(claim.clone());
        self.state.record(
            &claim,
            &grant.owner.session,
            grant.at,
            Transition::granted(&claim, grant.worktree.clone()),
        );
        Ok(claim)
    }

    fn amend(
        &mut self,
        claim: &Claim,
        by: &str,
        at: Timestamp,
        transition: &Transition,
    ) -> Result<()> {
        let is_it = |it: &&mut Claim| it.epoch == claim.epoch && it.is_open();
        let kept =
            self.state.claims.iter_mut().find(is_it).expect("the claim was just read as open");
        transition.apply(kept);
        if kept.is_lost() {
            self.state.losses.insert(claim.epoch, false);
        }
        self.state.record(claim, by, at, transition.clone());
        Ok(())
    }

    fn send(&mut self, draft: &Draft) -> Result<Message> {
        let number = self.state.messages.len() as u64 + 1;
        let message = Message { number, draft: draft.clone() };
        self.state.messages.push(message.clone());
        Ok(message)
    }

    fn unread(
        &mut self,
        session: &str,
        here: Option<ScopeId>,
        since: Timestamp,
    ) -> Result<Vec<Message>> {
        let wanted = |it: &&Message| {
            let is_for_it = match &it.to {
                Some(to) => to == session,
                None => it.from != session && Some(it.scope) == here && it.at >= since,
            };
            is_for_it && !self.state.receipts.contains(&(it.number, session.to_owned()))
        };
        Ok(self.state.messages.iter().filter(wanted).cloned().collect())
    }

    fn mark_read(&mut self, session: &str, messages: &[u64]) -> Result<()> {
        let known = |number: &&u64| self.state.messages.iter().any(|it| it.number == **number);
        let known: Vec<u64> = messages.iter().filter(known).copied().collect();
        self.state.receipts.extend(known.into_iter().map(|number| (number, session.to_owned())));
        Ok(())
    }

    fn messages(&mut self, scope: ScopeId, about: Option<&Resource>) -> Result<Vec<Message>> {
        let wanted = |it: &&Message| {
            it.scope == scope && about.is_none_or(|about| it.about.as_ref() == Some(about))
        };
        Ok(self.state.messages.iter().filter(wanted).cloned().collect())
    }

    fn renew_leases(&mut self, owner: OwnerId) -> Result<usize> {
        let now = self.clock.now()?.moment;
        let wanted = |it: &&mut Claim| {
            let lease = it.hold.presence();
            let runs = lease.is_some_and(|lease| matches!(lease.left(&now), Left::Some(_)));
            it.is_open() && it.owner.id == owner && runs
        };
        let renew = |claim: &mut Claim| claim.hold = claim.hold.restarted(&now);
        Ok(self.state.claims.iter_mut().filter(wanted).map(renew).count())
    }

    fn events(&mut self, filter: &Filter) -> Result<Vec<Event>> {
        let mut events: Vec<Event> =
            self.state.events.iter().filter(|event| filter.admits(event)).cloned().collect();
        if let Some(last) = filter.last {
            events.drain(..events.len().saturating_sub(last));
        }
        Ok(events)
    }
}

fn ordinal(place: usize) -> i64 {
    i64::try_from(place).expect("memory is smaller than that")
}
