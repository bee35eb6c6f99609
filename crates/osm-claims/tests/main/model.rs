//! The protocol, in all its states.
//!
//! A few processes claim, renew, release, offer, withdraw, accept, take, sweep and take up again;
//! they stop, continue, die, are renamed and come back as another process with the same name; leases
//! end; any of them may be blind to the others; and each does things with every epoch that it was
//! ever told. The steps are those of the real `Claims`, so the real `rules::decide` and
//! `owner::register` are what is checked. Whether a step was right is decided by [`flaw`], which
//! knows the truth about who lives and shares nothing with the rules.
//!
//! Claims of paths overlap, may be shared, and are asked for together. Who is refused may sleep until
//! what it was told of changes; the model knows who would be granted something now and sleeps on.
//!
//! A model that cannot fail shows nothing: each [`Break`] must be found.

mod world;

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use osm_claims::{
    ClaimOptions, Claims, End, Epoch, Error, LivenessProbe, Mode, Refused, Requester, Resource,
    Scope, Seal, Token,
};
use osm_identity::{Liveness, ProcessInstance, Proof, ReadError, UnknownReason};
use stateright::{Checker, HasDiscoveries, Model, Property};

use crate::harness::report;

use self::world::{
    ACTORS, BESIDE, FILE, FILE_ELSEWHERE, FOLDER, LEASEHOLDER, Life, PROCESSES, SESSIONS, Sleeper,
    World, WorldLedger, overlap, resource,
};

/// A world with so many actors, these resources and at most so many grants.
struct Protocol {
    actors: usize,
    resources: &'static [usize],
    grants: usize,
    /// Actors share paths and wait for them. Then none of them is stopped, renamed or blind, which the
    /// other worlds have, so that all states can be seen.
    sharing: bool,
    broken: Option<Break>,
    /// Several machines use the ledger.
    leases: bool,
    /// The ways in which claims ended, to know that the model gets everywhere.
    ends: Mutex<BTreeSet<&'static str>>,
}

/// Rules as they must not be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Break {
    /// A process that cannot be seen is dead.
    UnknownIsDead,
    /// A process that is stopped is dead.
    SuspendedIsDead,
    /// The epoch that is presented is not compared.
    EpochIsIgnored,
    /// A grant does not end the one before it.
    NothingEnds,
    /// Epochs are counted from the start again.
    EpochsStartAgain,
    /// An offer may be taken up by anybody.
    OfferIsForAll,
    /// Only a claim of the same path stops another.
    OverlapIsIgnored,
    /// Every claim looks shared.
    AllIsShared,
    /// A request for several resources that is refused keeps what it got until then.
    HalfIsKept,
    /// Readers do not see the writers that wait.
    WritersAreForgotten,
    /// Who waits does not watch the process that holds what it waits for.
    NothingIsWatched,
}

/// What must never happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Flaw {
    TwoOpenClaims,
    HalfGranted,
    ReaderOvertook,
    LostWakeUp,
    EpochDidNotGrow,
    StaleEpochAccepted,
    ChangedHandsWithoutCause,
    TakenFromTheLiving,
    TwoLiveOwnersOfOneSession,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    Die(usize),
    Stop(usize),
    Continue(usize),
    /// The unborn process begins with this session.
    Begin(usize),
    /// The conversation of a process gets another name.
    Rename(usize),
    /// All leases and offers that run are over.
    Tick,
    Ask {
        actor: usize,
        blind: bool,
        resource: usize,
        what: What,
    },
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum What {
    Claim,
    /// To share it.
    Share,
    /// All resources of the world, or none.
    All,
    /// To have it as soon as it is free, exclusively or shared.
    Wait {
        shared: bool,
    },
    /// Not to wait any more.
    GiveUp,
    Accept,
    Resume,
    Take {
        even_if_alive: bool,
    },
    Sweep,
    /// Something that names a grant.
    With(Token, With),
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum With {
    /// An effect: it happens if the check passes.
    Effect,
    Renew,
    Release,
    Offer {
        to: usize,
    },
    Withdraw,
}

/// What an actor sees of the others.
struct Eyes {
    lives: [Life; PROCESSES],
    actor: usize,
    blind: bool,
    broken: Option<Break>,
}

impl LivenessProbe for Eyes {
    fn look(&self, process: &ProcessInstance) -> Liveness {
        let dead = Liveness::Dead(Proof::Gone);
        let number = usize::try_from(process.pid.0).unwrap();
        if self.blind && number != self.actor {
            return match self.broken {
                Some(Break::UnknownIsDead) => dead,
                _ => Liveness::Unknown(UnknownReason::Unreadable(ReadError::Denied)),
            };
        }
        match (self.lives[number], self.broken) {
            (Life::Stopped, Some(Break::SuspendedIsDead)) | (Life::Dead, _) => dead,
            (Life::Stopped, _) => Liveness::Suspended,
            (Life::Runs | Life::Unborn, _) => Liveness::Alive,
        }
    }
}

impl Model for Protocol {
    type State = World;
    type Action = Step;

    fn init_states(&self) -> Vec<World> {
        vec![World::new()]
    }

    fn actions(&self, world: &World, steps: &mut Vec<Step>) {
        if world.flaw.is_some() {
            return;
        }
        for (process, life) in world.lives.iter().enumerate() {
            match life {
                Life::Runs if self.sharing => steps.push(Step::Die(process)),
                Life::Runs => steps.extend([Step::Die(process), Step::Stop(process)]),
                Life::Stopped => steps.extend([Step::Die(process), Step::Continue(process)]),
                // The session of the first process, or one of its own.
                Life::Unborn if self.sharing => steps.extend([0, 2].map(Step::Begin)),
                Life::Unborn => steps.extend((0..3).map(Step::Begin)),
                Life::Dead => {}
            }
        }
        let is_renamed = SESSIONS[world.names[0]] == "new";
        if world.lives[0] == Life::Runs && !is_renamed && !self.sharing {
            steps.push(Step::Rename(0));
        }
        let runs = |claim: &world::Kept| {
            claim.lease == Some(true) || claim.offer.is_some_and(|(_, stands)| stands)
        };
        if world.open().any(runs) {
            steps.push(Step::Tick);
        }
        for actor in 0..self.actors {
            if actor != LEASEHOLDER && world.lives[actor] != Life::Runs {
                continue;
            }
            for blind in [false, true].into_iter().filter(|blind| !(*blind && self.sharing)) {
                for &resource in self.resources {
                    let ask = |what| Step::Ask { actor, blind, resource, what };
                    steps.extend(self.wants(world, actor, resource).into_iter().map(ask));
                }
            }
        }
    }

    fn next_state(&self, before: &World, step: Step) -> Option<World> {
        let mut after = before.clone();
        match step.clone() {
            Step::Die(process) => after.lives[process] = Life::Dead,
            Step::Stop(process) => after.lives[process] = Life::Stopped,
            Step::Continue(process) => after.lives[process] = Life::Runs,
            Step::Begin(session) => {
                after.lives[PROCESSES - 1] = Life::Runs;
                after.names[PROCESSES - 1] = session;
            }
            Step::Rename(process) => after.names[process] = SESSIONS.len() - 1,
            Step::Tick => {
                for claim in &mut after.claims {
                    claim.lease = claim.lease.map(|_| false);
                    claim.offer = claim.offer.map(|(to, _)| (to, false));
                }
            }
            Step::Ask { actor, blind, resource, what } => {
                let answer;
                (after, answer) = self.ask(before, actor, blind, resource, &what);
                after.flaw = flaw(before, &after, actor, &what, answer.is_ok());
                self.sleep(&mut after, actor, resource, &what, answer.err());
                let ends = after.claims.iter().filter_map(|claim| claim.ended);
                self.ends.lock().unwrap().extend(ends.map(End::name));
                after.forget();
            }
        }
        self.wake(before, &mut after, &step);
        (after != *before).then_some(after)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        type Never = fn(&Protocol, &World) -> bool;
        let table: [(&'static str, Never); 9] = [
            ("no two open claims that exclude each other", |_, it| {
                it.is_without(Flaw::TwoOpenClaims)
            }),
            ("all or none", |_, it| it.is_without(Flaw::HalfGranted)),
            ("a waiting writer stops new readers", |_, it| it.is_without(Flaw::ReaderOvertook)),
            ("no wake-up is lost", |_, it| it.is_without(Flaw::LostWakeUp)),
            ("epochs grow", |_, it| it.is_without(Flaw::EpochDidNotGrow)),
            ("no effect with a stale epoch", |_, it| it.is_without(Flaw::StaleEpochAccepted)),
            ("no claim changes hands without a cause", |_, it| {
                it.is_without(Flaw::ChangedHandsWithoutCause)
            }),
            ("a live owner loses only by force", |_, it| it.is_without(Flaw::TakenFromTheLiving)),
            ("a session has one live owner", |_, it| {
                it.is_without(Flaw::TwoLiveOwnersOfOneSession)
            }),
        ];
        table.map(|(name, never)| Property::always(name, never)).into()
    }

    fn within_boundary(&self, world: &World) -> bool {
        world.told.len() <= self.grants
    }
}

impl Protocol {
    fn new(actors: usize, resources: &'static [usize], grants: usize) -> Self {
        let ends = Mutex::default();
        Self { actors, resources, grants, sharing: false, broken: None, leases: false, ends }
    }

    /// Two processes, and a third that begins later, in a worktree with a folder and a file in it.
    fn of_paths(grants: usize) -> Self {
        Self { sharing: true, ..Self::new(PROCESSES, &[FOLDER, FILE], grants) }
    }

    /// What an actor may ask for.
    fn wants(&self, world: &World, actor: usize, resource: usize) -> Vec<What> {
        if self.sharing {
            return self.wants_of_paths(world, actor, resource);
        }
        let mut wants = vec![
            What::Claim,
            What::Accept,
            What::Resume,
            What::Take { even_if_alive: false },
            What::Take { even_if_alive: true },
        ];
        // What is the same for all resources, or independent of the others, is asked of one.
        let is_first = resource == self.resources[0];
        if is_first {
            wants.push(What::Sweep);
        }
        for told in world.told.iter().filter(|it| it.actor == actor && it.resource == resource) {
            let token = Token { epoch: Epoch(told.epoch), seal: Some(Seal(told.seal)) };
            let mut transitions = vec![With::Effect, With::Renew, With::Release];
            if is_first {
                let to = world.names[(actor + 1) % self.actors];
                transitions.extend([With::Offer { to }, With::Withdraw]);
            }
            wants.extend(transitions.into_iter().map(|with| What::With(token, with)));
        }
        wants
    }

    /// The same of paths. Who sleeps asks for nothing else.
    fn wants_of_paths(&self, world: &World, actor: usize, resource: usize) -> Vec<What> {
        let is_first = resource == self.resources[0];
        if let Some(sleeper) = world.sleepers.iter().find(|it| it.actor == actor) {
            let is_its = sleeper.resource == resource;
            return if is_its { vec![What::GiveUp] } else { Vec::new() };
        }
        // One waits to write, the others to read.
        let mut wants = vec![What::Claim, What::Share, What::Wait { shared: actor != 1 }];
        if is_first {
            wants.extend([What::All, What::Sweep, What::Take { even_if_alive: true }]);
        }
        if actor == PROCESSES - 1 {
            wants.push(What::Resume);
        }
        for told in world.told.iter().filter(|it| it.actor == actor && it.resource == resource) {
            let token = Token { epoch: Epoch(told.epoch), seal: Some(Seal(told.seal)) };
            wants.push(What::With(token, With::Release));
        }
        wants
    }

    /// A process that waits and was refused sleeps.
    fn sleep(
        &self,
        after: &mut World,
        actor: usize,
        resource: usize,
        what: &What,
        refused: Option<Error>,
    ) {
        after.sleepers.retain(|it| it.actor != actor);
        let (What::Wait { shared }, Some(Error::Refused(refused))) = (what, refused) else {
            return;
        };
        if !refused.can_change() {
            return;
        }
        let Refused { holders, verdict, left, .. } = &*refused;
        let pid = |it: &ProcessInstance| usize::try_from(it.pid.0).unwrap();
        let is_dead = matches!(verdict, Some(Liveness::Dead(_)));
        let is_watched = !is_dead && self.broken != Some(Break::NothingIsWatched);
        after.sleepers.push(Sleeper {
            actor,
            resource,
            shared: *shared,
            watched: holders.iter().filter(|_| is_watched).map(pid).collect(),
            has_timer: left.is_some(),
        });
    }

    /// Wakes who is told of a step; one that sleeps on although it would be granted what it waits for
    /// was not woken.
    fn wake(&self, before: &World, after: &mut World, step: &Step) {
        let has_written = before.claims != after.claims
            || before.owners != after.owners
            || before.writers != after.writers;
        let by = match step {
            Step::Ask { actor, .. } => Some(*actor),
            _ => None,
        };
        let is_told = |it: &Sleeper| match step {
            Step::Die(process) => it.watched.contains(process),
            Step::Tick => it.has_timer,
            _ => has_written && by != Some(it.actor),
        };
        let lives = after.lives;
        after.sleepers.retain(|it| lives[it.actor] != Life::Dead && !is_told(it));
        if after.flaw.is_some() {
            return;
        }
        let is_free = |it: &&Sleeper| {
            let what = if it.shared { What::Share } else { What::Claim };
            lives[it.actor] == Life::Runs
                && self.ask(after, it.actor, false, it.resource, &what).1.is_ok()
        };
        if after.sleepers.iter().any(|it| is_free(&it)) {
            after.flaw = Some(Flaw::LostWakeUp);
        }
    }

    /// Asks the real thing.
    fn ask(
        &self,
        world: &World,
        actor: usize,
        blind: bool,
        number: usize,
        what: &What,
    ) -> (World, osm_claims::Result<()>) {
        let broken = self.broken;
        let shared = Arc::new(Mutex::new(world.clone()));
        let ledger = WorldLedger { world: Arc::clone(&shared), actor, broken, leases: self.leases };
        let eyes = Eyes { lives: world.lives, actor, blind, broken };
        let claims = Claims::new(Box::new(ledger), Box::new(eyes));
        let requester = Requester { scope: Scope::named("model"), caller: world.caller(actor) };
        let all: Vec<Resource> = self.resources.iter().map(|it| resource(*it)).collect();
        let (resource, options) = (resource(number), ClaimOptions::default());
        let sharing = |shared| Mode { shared, ..Mode::default() };
        let process = requester.caller.process.clone();
        let answer = match what {
            What::Claim => claims.claim(&requester, &resource, &options).map(drop),
            What::Share => {
                let options = ClaimOptions { mode: sharing(true), ..options };
                claims.claim(&requester, &resource, &options).map(drop)
            }
            What::All => claims.claim_all(&requester, &all, &options).map(drop),
            What::Wait { shared } => {
                let options = ClaimOptions { mode: sharing(*shared), waiting: process, ..options };
                claims.claim_all(&requester, &[resource], &options).map(drop)
            }
            What::GiveUp => process.map_or(Ok(()), |it| claims.stop_waiting(&it)),
            What::Accept => claims.accept(&requester, &resource, &options).map(drop),
            What::Resume => claims.resume(&requester, &resource, &options).map(drop),
            What::Take { even_if_alive } => {
                claims.take(&requester, &resource, *even_if_alive, &options).map(drop)
            }
            What::Sweep => claims.sweep(&requester, false, false).map(drop),
            What::With(token, with) => {
                let token = (broken != Some(Break::EpochIsIgnored)).then_some(*token);
                match with {
                    With::Effect => claims.check(&requester, &resource, token).map(drop),
                    With::Renew => claims.renew(&requester, &resource, token, &options).map(drop),
                    With::Release => claims.release(&requester, &resource, token, false).map(drop),
                    With::Offer { to } => {
                        let to = Some(SESSIONS[*to]);
                        claims.offer(&requester, &resource, token, to, &options).map(drop)
                    }
                    With::Withdraw => {
                        claims.offer(&requester, &resource, token, None, &options).map(drop)
                    }
                }
            }
        };
        drop(claims);
        (Arc::into_inner(shared).unwrap().into_inner().unwrap(), answer)
    }
}

/// What a step did wrong, judged by the truth.
fn flaw(before: &World, after: &World, actor: usize, what: &What, accepted: bool) -> Option<Flaw> {
    for (place, claim) in after.open().enumerate() {
        for other in after.open().skip(place + 1) {
            let is_shared = claim.mode.shared && other.mode.shared;
            let has_one_owner = claim.owner == other.owner && claim.resource != other.resource;
            if overlap(claim.resource, other.resource) && !is_shared && !has_one_owner {
                return Some(Flaw::TwoOpenClaims);
            }
            let (one, two) = (after.owners[claim.owner], after.owners[other.owner]);
            let lives =
                |process: Option<usize>| process.is_some_and(|it| after.lives[it] != Life::Dead);
            if one.0 == two.0 && one.1 != two.1 && lives(one.1) && lives(two.1) {
                return Some(Flaw::TwoLiveOwnersOfOneSession);
            }
        }
    }
    if !accepted && after.told != before.told {
        return Some(Flaw::HalfGranted);
    }
    if overtakes(before, after, actor) {
        return Some(Flaw::ReaderOvertook);
    }
    let (old, new) = after.told.split_at(before.told.len());
    for (granted, told) in new.iter().enumerate() {
        if old.iter().chain(&new[..granted]).any(|earlier| told.epoch <= earlier.epoch) {
            return Some(Flaw::EpochDidNotGrow);
        }
    }
    if let What::With(token, _) = what {
        let is_present = before.open().any(|claim| {
            claim.epoch == token.epoch.0
                && Some(Seal(claim.seal)) == token.seal
                && Some(claim.owner) == after.owner_of(actor)
        });
        if accepted && !is_present {
            return Some(Flaw::StaleEpochAccepted);
        }
    }
    for claim in before.open() {
        let now = after.claims.iter().find(|it| it.seal == claim.seal)?;
        if now.owner != claim.owner {
            return Some(Flaw::ChangedHandsWithoutCause);
        }
        let Some(how) = now.ended else { continue };
        let process = before.owners[claim.owner].1;
        let lives = process.is_some_and(|it| before.lives[it] != Life::Dead);
        let is_true = match how {
            End::Released | End::Completed => {
                matches!(what, What::With(_, With::Release))
                    && Some(claim.owner) == after.owner_of(actor)
            }
            End::Died => process.is_some() && !lives,
            End::Expired => claim.lease == Some(false),
            End::HandedOff => claim.offer == Some((after.names[actor], true)),
            End::Taken => matches!(what, What::Take { .. }),
        };
        if !is_true {
            let robbed = lives && how == End::Died;
            return Some(if robbed {
                Flaw::TakenFromTheLiving
            } else {
                Flaw::ChangedHandsWithoutCause
            });
        }
    }
    None
}

/// Whether an actor got a new shared claim while a writer waits for that, and held nothing of it before.
fn overtakes(before: &World, after: &World, actor: usize) -> bool {
    let owner = after.owner_of(actor);
    let waits = |&&(_, process): &&(usize, usize)| {
        before.lives[process] != Life::Dead && before.names[process] != before.names[actor]
    };
    let holds = |wanted: usize| {
        before.open().any(|it| Some(it.owner) == owner && overlap(it.resource, wanted))
    };
    let is_new = |claim: &&world::Kept| !before.claims.iter().any(|it| it.seal == claim.seal);
    let mut shared = after.open().filter(|it| it.mode.shared).filter(is_new);
    // One that was handed on, or resumed, was there before.
    let is_first = |claim: &world::Kept| {
        let ended = before.open().count() >= after.open().count();
        !(ended && before.open().any(|it| it.resource == claim.resource && it.mode.shared))
    };
    shared.any(|claim| {
        let mut writers = before.writers.iter().filter(waits);
        is_first(claim)
            && writers.any(|&(wanted, _)| overlap(wanted, claim.resource) && !holds(wanted))
    })
}

fn check(name: &str, protocol: Protocol, expected: &[&str]) {
    let checker = protocol.checker().threads(2).spawn_bfs().join();
    let (states, depth) = (checker.unique_state_count(), checker.max_depth());
    report(&format!("{name}: {states} states, {depth} steps deep"));
    checker.assert_properties();
    // It got everywhere: claims ended in all ways that this world has.
    let ends: Vec<_> = checker.model().ends.lock().unwrap().iter().copied().collect();
    assert_eq!(ends, expected);
    assert!(states > 10_000, "{states}");
}

#[test]
fn one_resource() {
    let ends = ["died", "expired", "handed_off", "released", "taken"];
    check("one resource", Protocol::new(ACTORS, &[0], 3), &ends);
}

#[test]
fn two_resources_of_processes() {
    let ends = ["died", "handed_off", "released", "taken"];
    check("two resources", Protocol::new(PROCESSES, &[0, 1], 2), &ends);
}

/// Owners on several machines: each is blind to the others' processes, and leases end.
#[test]
fn leases_of_sessions() {
    let ends = ["died", "expired", "handed_off", "released", "taken"];
    let protocol = Protocol { leases: true, ..Protocol::new(PROCESSES, &[0], 3) };
    check("leases of sessions", protocol, &ends);
}

/// A folder and a file in it, exclusively and shared, alone and together, with writers that wait.
#[test]
fn paths() {
    check("paths", Protocol::of_paths(2), &["died", "released", "taken"]);
}

/// The same file in two worktrees is two.
#[test]
fn worktrees() {
    let protocol = Protocol { resources: &[FILE, FILE_ELSEWHERE], ..Protocol::of_paths(2) };
    check("worktrees", protocol, &["died", "released", "taken"]);
}

/// That a broken rule is found, and by which property.
fn found(protocol: Protocol) -> BTreeSet<&'static str> {
    // One thread, so that it is always the same one that is found first.
    let checker = protocol.checker().finish_when(HasDiscoveries::AnyFailures).spawn_bfs().join();
    checker.discoveries().into_keys().collect()
}

#[test]
fn a_broken_rule_is_found() {
    for (broken, property) in [
        (Break::UnknownIsDead, "a live owner loses only by force"),
        (Break::SuspendedIsDead, "a live owner loses only by force"),
        (Break::EpochIsIgnored, "no effect with a stale epoch"),
        (Break::NothingEnds, "no two open claims that exclude each other"),
        (Break::EpochsStartAgain, "epochs grow"),
        (Break::OfferIsForAll, "no claim changes hands without a cause"),
    ] {
        let protocol = Protocol { broken: Some(broken), ..Protocol::new(ACTORS, &[0], 4) };
        assert_eq!(found(protocol), BTreeSet::from([property]), "{broken:?}");
    }
}

#[test]
fn a_broken_rule_of_paths_is_found() {
    for (broken, property) in [
        (Break::OverlapIsIgnored, "no two open claims that exclude each other"),
        (Break::AllIsShared, "no two open claims that exclude each other"),
        (Break::HalfIsKept, "all or none"),
        (Break::WritersAreForgotten, "a waiting writer stops new readers"),
        (Break::NothingIsWatched, "no wake-up is lost"),
    ] {
        let resources = if broken == Break::HalfIsKept { &[FILE, BESIDE] } else { &[FOLDER, FILE] };
        let protocol = Protocol { broken: Some(broken), resources, ..Protocol::of_paths(2) };
        assert_eq!(found(protocol), BTreeSet::from([property]), "{broken:?}");
    }
}
