//! The protocol, in all its states.
//!
//! A few processes claim, renew, release, offer, withdraw, accept, take, sweep and take up again;
//! they stop, continue, die, are renamed and come back as another process with the same name; leases
//! end; any of them may be blind to the others; and each does things with every epoch that it was
//! ever told. The steps are those of the real `Claims`, so the real `rules::decide` and
//! `owner::register` are what is checked. Whether a step was right is decided by [`flaw`], which
//! knows the truth about who lives and shares nothing with the rules.
//!
//! A model that cannot fail shows nothing: each [`Break`] must be found.

mod world;

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use osm_claims::{ClaimOptions, Claims, End, Epoch, LivenessProbe, Requester, Scope, Seal, Token};
use osm_identity::{Liveness, ProcessInstance, Proof, ReadError, UnknownReason};
use stateright::{Checker, HasDiscoveries, Model, Property};

use crate::harness::report;

use self::world::{ACTORS, LEASEHOLDER, Life, PROCESSES, SESSIONS, World, WorldLedger, resource};

/// A world with so many actors, so many resources and at most so many grants.
struct Protocol {
    actors: usize,
    resources: usize,
    grants: usize,
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
}

/// What must never happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Flaw {
    TwoOpenClaims,
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
                Life::Runs => steps.extend([Step::Die(process), Step::Stop(process)]),
                Life::Stopped => steps.extend([Step::Die(process), Step::Continue(process)]),
                Life::Unborn => steps.extend((0..3).map(Step::Begin)),
                Life::Dead => {}
            }
        }
        if world.lives[0] == Life::Runs && SESSIONS[world.names[0]] != "new" {
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
            for blind in [false, true] {
                for resource in 0..self.resources {
                    let ask = |what| Step::Ask { actor, blind, resource, what };
                    steps.extend(self.wants(world, actor, resource).into_iter().map(ask));
                }
            }
        }
    }

    fn next_state(&self, before: &World, step: Step) -> Option<World> {
        let mut after = before.clone();
        match step {
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
                let accepted;
                (after, accepted) = self.ask(before, actor, blind, resource, &what);
                after.flaw = flaw(before, &after, actor, &what, accepted);
                let ends = after.claims.iter().filter_map(|claim| claim.ended);
                self.ends.lock().unwrap().extend(ends.map(End::name));
                after.forget();
            }
        }
        (after != *before).then_some(after)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        type Never = fn(&Protocol, &World) -> bool;
        let table: [(&'static str, Never); 6] = [
            ("at most one open claim for a resource", |_, it| it.is_without(Flaw::TwoOpenClaims)),
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
    fn new(actors: usize, resources: usize, grants: usize) -> Self {
        Self { actors, resources, grants, broken: None, leases: false, ends: Mutex::default() }
    }

    /// What an actor may ask for.
    fn wants(&self, world: &World, actor: usize, resource: usize) -> Vec<What> {
        let mut wants = vec![
            What::Claim,
            What::Accept,
            What::Resume,
            What::Take { even_if_alive: false },
            What::Take { even_if_alive: true },
        ];
        // What is the same for all resources, or independent of the others, is asked of one.
        if resource == 0 {
            wants.push(What::Sweep);
        }
        for told in world.told.iter().filter(|it| it.actor == actor && it.resource == resource) {
            let token = Token { epoch: Epoch(told.epoch), seal: Some(Seal(told.seal)) };
            let mut transitions = vec![With::Effect, With::Renew, With::Release];
            if resource == 0 {
                let to = world.names[(actor + 1) % self.actors];
                transitions.extend([With::Offer { to }, With::Withdraw]);
            }
            wants.extend(transitions.into_iter().map(|with| What::With(token, with)));
        }
        wants
    }

    /// Asks the real thing. Says whether it did what was asked.
    fn ask(
        &self,
        world: &World,
        actor: usize,
        blind: bool,
        number: usize,
        what: &What,
    ) -> (World, bool) {
        let broken = self.broken;
        let shared = Arc::new(Mutex::new(world.clone()));
        let ledger = WorldLedger { world: Arc::clone(&shared), actor, broken, leases: self.leases };
        let eyes = Eyes { lives: world.lives, actor, blind, broken };
        let claims = Claims::new(Box::new(ledger), Box::new(eyes));
        let requester = Requester { scope: Scope::named("model"), caller: world.caller(actor) };
        let (resource, options) = (resource(number), ClaimOptions::default());
        let accepted = match what {
            What::Claim => claims.claim(&requester, &resource, &options).is_ok(),
            What::Accept => claims.accept(&requester, &resource, &options).is_ok(),
            What::Resume => claims.resume(&requester, &resource, &options).is_ok(),
            What::Take { even_if_alive } => {
                claims.take(&requester, &resource, *even_if_alive, &options).is_ok()
            }
            What::Sweep => claims.sweep(&requester, false, false).is_ok(),
            What::With(token, with) => {
                let token = (broken != Some(Break::EpochIsIgnored)).then_some(*token);
                match with {
                    With::Effect => claims.check(&requester, &resource, token).is_ok(),
                    With::Renew => claims.renew(&requester, &resource, token, &options).is_ok(),
                    With::Release => claims.release(&requester, &resource, token, false).is_ok(),
                    With::Offer { to } => {
                        let to = Some(SESSIONS[*to]);
                        claims.offer(&requester, &resource, token, to, &options).is_ok()
                    }
                    With::Withdraw => {
                        claims.offer(&requester, &resource, token, None, &options).is_ok()
                    }
                }
            }
        };
        drop(claims);
        (Arc::into_inner(shared).unwrap().into_inner().unwrap(), accepted)
    }
}

/// What a step did wrong, judged by the truth.
fn flaw(before: &World, after: &World, actor: usize, what: &What, accepted: bool) -> Option<Flaw> {
    for (place, claim) in after.open().enumerate() {
        for other in after.open().skip(place + 1) {
            if claim.resource == other.resource {
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
    check("one resource", Protocol::new(ACTORS, 1, 3), &ends);
}

#[test]
fn two_resources_of_processes() {
    let ends = ["died", "handed_off", "released", "taken"];
    check("two resources", Protocol::new(PROCESSES, 2, 2), &ends);
}

/// Owners on several machines: each is blind to the others' processes, and leases end.
#[test]
fn leases_of_sessions() {
    let ends = ["died", "expired", "handed_off", "released", "taken"];
    let protocol = Protocol { leases: true, ..Protocol::new(PROCESSES, 1, 3) };
    check("leases of sessions", protocol, &ends);
}

/// That a broken rule is found, and by which property.
fn found(broken: Break) -> BTreeSet<&'static str> {
    let protocol = Protocol { broken: Some(broken), ..Protocol::new(ACTORS, 1, 4) };
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
        (Break::NothingEnds, "at most one open claim for a resource"),
        (Break::EpochsStartAgain, "epochs grow"),
        (Break::OfferIsForAll, "no claim changes hands without a cause"),
    ] {
        assert_eq!(found(broken), BTreeSet::from([property]), "{broken:?}");
    }
}
