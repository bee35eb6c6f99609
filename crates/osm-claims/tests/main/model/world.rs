//! A world that is small enough to be looked at in all its states, and the ledger in it.
//!
//! The ledger is one more implementation of [`Transaction`], over values that can be hashed; so the model
//! runs the real [`Claims`](osm_claims::Claims) with the real rules, and copies none of them.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use jiff::Timestamp;
use osm_claims::claim::{Ended, Offer};
use osm_claims::clock::{Lease, Moment, Now};
use osm_claims::event::{Event, Filter, Transition};
use osm_claims::ledger::{Grant, KnownOwners, Presence, Transaction, Watch, Work};
use osm_claims::rules::collision::Waiter;
use osm_claims::{
    Caller, Case, Claim, ClaimedPath, Draft, End, Epoch, Hold, Ledger, Loss, Message, Mode, Owner,
    OwnerId, PathKind, Resource, Result, Scope, ScopeId, Seal,
};
use osm_identity::{Pid, ProcessInstance, StartTime};

use super::Break;

/// Who acts: processes, and after them a session that no process stands behind.
pub(super) const PROCESSES: usize = 3;
pub(super) const LEASEHOLDER: usize = PROCESSES;
pub(super) const ACTORS: usize = PROCESSES + 1;

/// The names of sessions.
pub(super) const SESSIONS: [&str; 4] = ["a", "b", "leased", "new"];

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Life {
    Unborn,
    Runs,
    Stopped,
    Dead,
}

/// Everything that can differ between two moments.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct World {
    pub(super) lives: [Life; PROCESSES],
    /// The session that each actor says it is, as an index of [`SESSIONS`].
    pub(super) names: [usize; ACTORS],
    /// The owners that the ledger knows: session and process.
    pub(super) owners: Vec<(usize, Option<usize>)>,
    /// The open claims, and for each resource without one the last that ended.
    pub(super) claims: Vec<Kept>,
    /// Every grant that was ever told to anybody, who may still present it.
    pub(super) told: Vec<Told>,
    /// The writers that the ledger knows to be waiting: the resource and the process.
    pub(super) writers: Vec<(usize, usize)>,
    /// Who sleeps until something changes.
    pub(super) sleepers: Vec<Sleeper>,
    /// What went wrong in the last step.
    pub(super) flaw: Option<super::Flaw>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Kept {
    pub(super) resource: usize,
    pub(super) epoch: u64,
    pub(super) seal: u32,
    pub(super) owner: usize,
    pub(super) mode: Mode,
    /// It hangs on a lease, and whether that still runs.
    pub(super) lease: Option<bool>,
    /// To which session it is offered, and whether the offer still stands.
    pub(super) offer: Option<(usize, bool)>,
    pub(super) ended: Option<End>,
}

/// An actor that was refused, and sleeps until what it watches changes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Sleeper {
    pub(super) actor: usize,
    pub(super) resource: usize,
    pub(super) shared: bool,
    /// The processes whose end wakes it.
    pub(super) watched: Vec<usize>,
    /// It was told of a lease or an offer that ends.
    pub(super) has_timer: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Told {
    pub(super) actor: usize,
    pub(super) resource: usize,
    pub(super) epoch: u64,
    pub(super) seal: u32,
}

impl World {
    pub(super) fn new() -> Self {
        Self {
            lives: [Life::Runs, Life::Runs, Life::Unborn],
            names: [0, 1, 0, 2],
            owners: Vec::new(),
            claims: Vec::new(),
            told: Vec::new(),
            writers: Vec::new(),
            sleepers: Vec::new(),
            flaw: None,
        }
    }

    pub(super) fn caller(&self, actor: usize) -> Caller {
        caller(self.names[actor], (actor != LEASEHOLDER).then_some(actor))
    }

    /// The owner that the ledger takes an actor for.
    pub(super) fn owner_of(&self, actor: usize) -> Option<usize> {
        self.owners.iter().rposition(|(session, process)| match actor {
            LEASEHOLDER => (*session, *process) == (self.names[actor], None),
            // By its process: the ledger learns of another name with the next thing it writes.
            _ => *process == Some(actor),
        })
    }

    pub(super) fn is_without(&self, flaw: super::Flaw) -> bool {
        self.flaw != Some(flaw)
    }

    pub(super) fn open(&self) -> impl Iterator<Item = &Kept> {
        self.claims.iter().filter(|claim| claim.ended.is_none())
    }

    /// Forgets what no rule asks for any more.
    pub(super) fn forget(&mut self) {
        let claims = self.claims.clone();
        let mut place = 0;
        self.claims.retain(|claim| {
            place += 1;
            let is_last = claims[place..].iter().all(|later| later.resource != claim.resource);
            claim.ended.is_none() || is_last
        });
    }

    fn claim(&self, kept: &Kept) -> Claim {
        let (session, process) = self.owners[kept.owner];
        Claim {
            scope: ScopeId(1),
            resource: resource(kept.resource),
            epoch: Epoch(kept.epoch),
            seal: Seal(kept.seal),
            owner: Arc::new(Owner { id: id(kept.owner), who: caller(session, process) }),
            mode: kept.mode,
            hold: match (kept.lease, process) {
                (None, _) => Hold::Session,
                (Some(runs), None) => Hold::Lease(lease(runs)),
                (Some(runs), Some(_)) => Hold::SessionLease(lease(runs)),
            },
            since: Timestamp::UNIX_EPOCH,
            note: None,
            request: None,
            offer: kept.offer.map(|(to, stands)| Offer {
                to: SESSIONS[to].into(),
                lease: lease(stands),
                note: None,
            }),
            ended: kept.ended.map(|how| Ended {
                how,
                at: Timestamp::UNIX_EPOCH,
                by: String::new(),
                evidence: None,
            }),
        }
    }

    fn last(&self, wanted: impl Fn(&Kept) -> bool) -> Option<Claim> {
        self.claims.iter().rev().find(|kept| wanted(kept)).map(|kept| self.claim(kept))
    }

    fn owner(&self, wanted: impl Fn(&(usize, Option<usize>)) -> bool) -> Option<Arc<Owner>> {
        let place = self.owners.iter().rposition(wanted)?;
        let (session, process) = self.owners[place];
        Some(Arc::new(Owner { id: id(place), who: caller(session, process) }))
    }
}

/// The term of every lease.
const TERM: Duration = Duration::from_mins(1);

/// All times of the model: what began now still runs, what began at boot is over.
pub(super) fn now() -> Now {
    let uptime = Duration::from_hours(100);
    let moment =
        Moment { machine: Some("machine".into()), boot: "boot".into(), uptime, wall: None };
    Now { moment, wall: Timestamp::UNIX_EPOCH }
}

fn lease(runs: bool) -> Lease {
    let mut since = now().moment;
    if !runs {
        since.uptime = Duration::ZERO;
    }
    Lease { term: TERM, since }
}

/// The resources: two names, a folder, a file in it, the same file in another worktree, and a file
/// beside the folder.
const RESOURCES: [(&str, Option<(&str, PathKind)>); 6] = [
    ("name", None),
    ("other", None),
    ("d", Some(("", PathKind::Folder))),
    ("d/f", Some(("", PathKind::File))),
    ("d/f", Some(("second", PathKind::File))),
    ("e", Some(("", PathKind::File))),
];

/// The numbers of the folder, of the file in it, of the same file in another worktree, and of the file
/// beside the folder.
pub(super) const FOLDER: usize = 2;
pub(super) const FILE: usize = 3;
pub(super) const FILE_ELSEWHERE: usize = 4;
pub(super) const BESIDE: usize = 5;

/// Whether two resources have a path in common, as the table says and not as the rules do.
pub(super) fn overlap(one: usize, other: usize) -> bool {
    one == other || matches!((one, other), (FOLDER, FILE) | (FILE, FOLDER))
}

pub(super) fn resource(number: usize) -> Resource {
    match RESOURCES[number] {
        (name, None) => Resource::new(name).unwrap(),
        (text, Some((worktree, kind))) => {
            let path = ClaimedPath::new(worktree, kind, text, Case::Distinct).unwrap();
            Resource::of_path(path, None)
        }
    }
}

fn number(wanted: &Resource) -> usize {
    (0..RESOURCES.len()).find(|it| resource(*it) == *wanted).unwrap()
}

fn id(owner: usize) -> OwnerId {
    OwnerId(i64::try_from(owner).unwrap() + 1)
}

fn place(owner: OwnerId) -> usize {
    usize::try_from(owner.0 - 1).unwrap()
}

fn session(name: &str) -> usize {
    SESSIONS.iter().position(|it| *it == name).unwrap()
}

fn caller(session: usize, process: Option<usize>) -> Caller {
    Caller {
        session: SESSIONS[session].into(),
        process: process.map(|number| ProcessInstance {
            pid: Pid(u32::try_from(number).unwrap()),
            start: StartTime(1),
            boot: "boot".into(),
            namespace: String::new(),
            inode: Some(number as u64),
            machine: None,
            seen: None,
            clock: None,
            name: String::new(),
        }),
        agent: None,
        host: String::new(),
        is_random: false,
        is_sole: true,
        is_process: false,
    }
}

/// The ledger of a world, with whatever is broken about it.
pub(super) struct WorldLedger {
    pub(super) world: Arc<Mutex<World>>,
    pub(super) actor: usize,
    pub(super) broken: Option<Break>,
    /// Several machines use it: session claims are leases.
    pub(super) leases: bool,
}

struct WorldTransaction {
    world: World,
    actor: usize,
    broken: Option<Break>,
}

impl Ledger for WorldLedger {
    fn write(&self, work: Work<'_>) -> Result<()> {
        let mut world = self.world.lock().unwrap();
        let mut transaction =
            WorldTransaction { world: world.clone(), actor: self.actor, broken: self.broken };
        let answer = work(&mut transaction);
        if answer.is_ok() || self.broken == Some(Break::HalfIsKept) {
            *world = transaction.world;
        }
        answer
    }

    fn read(&self, work: Work<'_>) -> Result<()> {
        let world = self.world.lock().unwrap().clone();
        work(&mut WorldTransaction { world, actor: self.actor, broken: self.broken })
    }

    fn watch(&self) -> Result<Box<dyn Watch + '_>> {
        unreachable!("no actor of the model waits")
    }

    fn presence(&self) -> Presence {
        if self.leases { Presence::Lease(TERM) } else { Presence::Process }
    }
}

impl Transaction for WorldTransaction {
    fn now(&mut self) -> Result<Now> {
        Ok(now())
    }

    fn scope(&mut self, _scope: &Scope) -> Result<Option<ScopeId>> {
        Ok(Some(ScopeId(1)))
    }

    fn add_scope(&mut self, _scope: &Scope) -> Result<ScopeId> {
        Ok(ScopeId(1))
    }

    fn scope_of(&mut self, _id: ScopeId) -> Result<Option<Scope>> {
        Ok(Some(Scope::named("model")))
    }

    fn owners(&mut self, caller: &Caller) -> Result<KnownOwners> {
        let process = caller.process.as_ref().map(|it| usize::try_from(it.pid.0).unwrap());
        Ok(KnownOwners {
            by_process: process.and_then(|wanted| self.world.owner(|it| it.1 == Some(wanted))),
            by_session: self.world.owner(|it| it.0 == session(&caller.session)),
        })
    }

    fn add_owner(&mut self, who: &Caller) -> Result<Arc<Owner>> {
        let process = who.process.as_ref().map(|it| usize::try_from(it.pid.0).unwrap());
        self.world.owners.push((session(&who.session), process));
        Ok(Arc::new(Owner { id: id(self.world.owners.len() - 1), who: who.clone() }))
    }

    fn rename_owner(&mut self, id: OwnerId, who: &Caller) -> Result<Arc<Owner>> {
        self.world.owners[place(id)].0 = session(&who.session);
        Ok(Arc::new(Owner { id, who: who.clone() }))
    }

    fn latest(&mut self, _scope: ScopeId, resources: &[Resource]) -> Result<Vec<Option<Claim>>> {
        let latest = |resource: &Resource| {
            let mut latest = self.world.last(|kept| kept.resource == number(resource));
            let offer = latest.as_mut().and_then(|claim| claim.offer.as_mut());
            if let Some(offer) = offer.filter(|_| self.broken == Some(Break::OfferIsForAll)) {
                offer.to = SESSIONS[self.world.names[self.actor]].into();
            }
            latest
        };
        Ok(resources.iter().map(latest).collect())
    }

    fn latest_of(
        &mut self,
        _scope: ScopeId,
        resource: &Resource,
        owner: OwnerId,
    ) -> Result<Option<Claim>> {
        let is_it = |kept: &Kept| kept.resource == number(resource) && id(kept.owner) == owner;
        Ok(self.world.last(is_it))
    }

    fn answered(&mut self, _scope: ScopeId, _request: &str) -> Result<Option<Claim>> {
        Ok(None)
    }

    fn near(&mut self, _scope: ScopeId, wanted: &Resource) -> Result<Vec<Claim>> {
        let is_path = |kept: &&Kept| RESOURCES[kept.resource].1.is_some();
        let mut near: Vec<Claim> =
            self.world.open().filter(is_path).map(|kept| self.world.claim(kept)).collect();
        match self.broken {
            Some(Break::OverlapIsIgnored) => near.retain(|it| it.resource == *wanted),
            Some(Break::AllIsShared) => near.iter_mut().for_each(|it| it.mode.shared = true),
            _ => {}
        }
        Ok(near)
    }

    fn waiters(&mut self, _scope: ScopeId) -> Result<Vec<Waiter>> {
        if self.broken == Some(Break::WritersAreForgotten) {
            return Ok(Vec::new());
        }
        let waiter = |&(number, process): &(usize, usize)| Waiter {
            resource: resource(number),
            mode: Mode::default(),
            session: SESSIONS[self.world.names[process]].into(),
            process: caller(self.world.names[process], Some(process)).process.unwrap(),
        };
        Ok(self.world.writers.iter().map(waiter).collect())
    }

    fn add_waiter(&mut self, _scope: ScopeId, waiter: &Waiter) -> Result<()> {
        // A reader that waits is only news for the holder.
        if waiter.mode.shared {
            return Ok(());
        }
        let process = usize::try_from(waiter.process.pid.0).unwrap();
        self.world.writers.push((number(&waiter.resource), process));
        Ok(())
    }

    fn remove_waiters(&mut self, process: &ProcessInstance) -> Result<()> {
        self.world.writers.retain(|it| it.1 != usize::try_from(process.pid.0).unwrap());
        Ok(())
    }

    fn open(&mut self, _scope: Option<ScopeId>) -> Result<Vec<Claim>> {
        Ok(self.world.open().map(|kept| self.world.claim(kept)).collect())
    }

    fn open_of_others(&mut self, session: &str, me: OwnerId) -> Result<Vec<Claim>> {
        let wanted = |it: &Claim| it.owner.session == session && it.owner.id != me;
        Ok(self.open(None)?.into_iter().filter(wanted).collect())
    }

    fn losses(&mut self, _owner: OwnerId) -> Result<Vec<Loss>> {
        Ok(Vec::new())
    }

    fn mark_told(&mut self, _owner: OwnerId) -> Result<()> {
        Ok(())
    }

    fn acknowledge(&mut self, _: OwnerId, _: ScopeId, _: &Resource) -> Result<()> {
        Ok(())
    }

    fn grant(&mut self, grant: &Grant) -> Result<Claim> {
        let granted = self.world.told.len();
        let epoch = match self.broken {
            Some(Break::EpochsStartAgain) => self.world.open().count() as u64 + 1,
            _ => granted as u64 + 1,
        };
        let kept = Kept {
            resource: number(grant.resource),
            epoch,
            seal: u32::try_from(granted).unwrap(),
            owner: place(grant.owner.id),
            mode: grant.mode,
            lease: matches!(grant.hold, Hold::Lease(_) | Hold::SessionLease(_)).then_some(true),
            offer: None,
            ended: None,
        };
        self.world.told.push(Told {
            actor: self.actor,
            resource: kept.resource,
            epoch,
            seal: kept.seal,
        });
        self.world.claims.push(kept.clone());
        Ok(self.world.claim(&kept))
    }

    fn amend(
        &mut self,
        claim: &Claim,
        _by: &str,
        _at: Timestamp,
        transition: &Transition,
    ) -> Result<()> {
        let is_it = |it: &&mut Kept| it.seal == claim.seal.0 && it.ended.is_none();
        let kept = self.world.claims.iter_mut().find(is_it).unwrap();
        match transition {
            Transition::Granted { .. } => unreachable!("a grant amends nothing"),
            Transition::Renewed(_) => kept.lease = Some(true),
            Transition::Altered(mode, _) => kept.mode = *mode,
            Transition::Offered(offer) => kept.offer = Some((session(&offer.to), true)),
            Transition::Withdrawn => kept.offer = None,
            Transition::Noted(_) => {}
            Transition::Ended(_) if self.broken == Some(Break::NothingEnds) => {}
            Transition::Ended(ended) => kept.ended = Some(ended.how),
        }
        Ok(())
    }

    fn send(&mut self, _draft: &Draft) -> Result<Message> {
        unreachable!("no actor of the model sends a message")
    }

    fn unread(&mut self, _: &str, _: Option<ScopeId>, _: Timestamp) -> Result<Vec<Message>> {
        Ok(Vec::new())
    }

    fn mark_read(&mut self, _session: &str, _messages: &[u64]) -> Result<()> {
        Ok(())
    }

    fn messages(&mut self, _scope: ScopeId, _about: Option<&Resource>) -> Result<Vec<Message>> {
        Ok(Vec::new())
    }

    fn events(&mut self, _filter: &Filter) -> Result<Vec<Event>> {
        Ok(Vec::new())
    }
}
