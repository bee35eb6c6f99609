//! A ledger that is far away: each transaction takes time, and requests and replies get lost.
//!
//! A caller whose reply is lost does not know whether its change was committed. The same request
//! with the same id must then give the answer, and change nothing twice.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use osm_claims::event::{Filter, Transition};
use osm_claims::ledger::{Presence, Watch, Work};
use osm_claims::rules::Change;
use osm_claims::{
    ClaimOptions, Claims, End, Error, Ledger, MemoryLedger, Outcome, Reason, Requester, Result,
};

use crate::harness::{Fixture, Nature, replayed, resource, with_process};

/// What happens to a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    None,
    /// It never arrives.
    RequestLost,
    /// It is committed, and the caller does not hear of it.
    ReplyLost,
}

#[derive(Clone)]
struct Network {
    ledger: Arc<MemoryLedger>,
    latency: Duration,
    /// What happens to the next writes, the last first; then nothing.
    faults: Arc<Mutex<Vec<Fault>>>,
    writes: Arc<AtomicUsize>,
    reads: Arc<AtomicUsize>,
}

impl Network {
    fn new(nature: &Nature, latency: Duration) -> Self {
        Self {
            ledger: Arc::new(MemoryLedger::new(Box::new(nature.clone()))),
            latency,
            faults: Arc::default(),
            writes: Arc::default(),
            reads: Arc::default(),
        }
    }

    fn fail(&self, faults: &[Fault]) {
        *self.faults.lock().unwrap() = faults.iter().rev().copied().collect();
    }

    /// How many transactions there were since the last time.
    fn transactions(&self) -> (usize, usize) {
        (self.writes.swap(0, Ordering::SeqCst), self.reads.swap(0, Ordering::SeqCst))
    }
}

impl Ledger for Network {
    fn write(&self, work: Work<'_>) -> Result<()> {
        std::thread::sleep(self.latency);
        self.writes.fetch_add(1, Ordering::SeqCst);
        let fault = self.faults.lock().unwrap().pop().unwrap_or(Fault::None);
        if fault == Fault::RequestLost {
            // Work ran on what was read before the connection broke.
            self.ledger.read(work)?;
        } else {
            self.ledger.write(work)?;
        }
        match fault {
            Fault::None => Ok(()),
            _ => Err(Error::CommitUnknown("the connection was closed".into())),
        }
    }

    fn read(&self, work: Work<'_>) -> Result<()> {
        std::thread::sleep(self.latency);
        self.reads.fetch_add(1, Ordering::SeqCst);
        self.ledger.read(work)
    }

    fn watch(&self) -> Result<Box<dyn Watch + '_>> {
        self.ledger.watch()
    }

    fn presence(&self) -> Presence {
        self.ledger.presence()
    }
}

/// Claims in a ledger that is slow and loses nothing.
pub(crate) fn with_latency() -> Fixture {
    let nature = Nature::default();
    let network = Network::new(&nature, Duration::from_millis(1));
    Fixture::new(&nature, network)
}

fn unreliable() -> (Fixture, Network) {
    let nature = Nature::default();
    let network = Network::new(&nature, Duration::ZERO);
    (Fixture::new(&nature, network.clone()), network)
}

/// Repeats a request until it is answered; how often its fate was unknown.
fn retried<T>(mut request: impl FnMut() -> Result<T>) -> (Result<T>, usize) {
    for unknown in 0.. {
        match request() {
            Err(Error::CommitUnknown(_)) => {}
            answer => return (answer, unknown),
        }
    }
    unreachable!("the faults end")
}

fn named(id: &str) -> ClaimOptions {
    ClaimOptions { request: Some(id.into()), ..ClaimOptions::default() }
}

/// How often anything was granted.
fn grants(claims: &Claims, requester: &Requester) -> usize {
    let events = claims.log(requester, true, &Filter::default()).unwrap();
    events.iter().filter(|it| matches!(it.transition, Transition::Granted { .. })).count()
}

#[test]
fn a_retry_with_the_same_id_returns_the_same_epoch_once() {
    let (fixture, network) = unreliable();
    let (claims, ann) = (&fixture.claims, with_process("ann", 1));
    let before = claims.claim(&ann, &resource("other"), &ClaimOptions::default()).unwrap().claim;

    network.fail(&[Fault::ReplyLost]);
    let task = resource("task");
    let (answer, unknown) = retried(|| claims.claim(&ann, &task, &named("one")));
    let claim = answer.unwrap().claim;
    assert_eq!((unknown, claim.epoch.0), (1, before.epoch.0 + 1));
    assert_eq!(grants(claims, &ann), 2);
    assert_eq!(claims.claim(&ann, &task, &named("one")).unwrap().claim, claim);

    network.fail(&[Fault::RequestLost, Fault::RequestLost]);
    let (answer, unknown) = retried(|| claims.claim(&ann, &resource("third"), &named("two")));
    assert_eq!((answer.unwrap().change, unknown), (Change::Grant(None), 2));
    assert_eq!(grants(claims, &ann), 3);
    replayed(claims, &ann);
}

#[test]
fn a_choice_that_is_repeated_chooses_once() {
    let (fixture, network) = unreliable();
    let (claims, ann) = (&fixture.claims, with_process("ann", 1));
    let candidates = ["a", "b", "c"].map(resource);
    network.fail(&[Fault::ReplyLost, Fault::ReplyLost]);
    let (answer, _) = retried(|| claims.next(&ann, &candidates, &named("choice")));
    assert_eq!(answer.unwrap().claim.resource, candidates[0]);
    assert_eq!(claims.mine(&ann).unwrap().held.len(), 1);
}

#[test]
fn what_changes_hands_does_so_once() {
    let (fixture, network) = unreliable();
    let (claims, nature) = (&fixture.claims, &fixture.nature);
    let (ann, ben) = (with_process("ann", 1), with_process("ben", 2));
    let task = resource("task");
    claims.claim(&ann, &task, &ClaimOptions::default()).unwrap();
    claims.offer(&ann, &task, None, Some("ben"), &ClaimOptions::default()).unwrap();
    let epoch = |answer: Result<Outcome>| answer.unwrap().claim.epoch.0;

    network.fail(&[Fault::ReplyLost]);
    let (accepted, _) = retried(|| claims.accept(&ben, &task, &named("accept")));
    assert_eq!(epoch(accepted), 2);
    network.fail(&[Fault::ReplyLost]);
    let (taken, _) = retried(|| claims.take(&ann, &task, true, &named("take")));
    assert_eq!(epoch(taken), 3);
    nature.set(1, osm_identity::Liveness::Dead(osm_identity::Proof::Gone));
    let again = with_process("ann", 3);
    network.fail(&[Fault::ReplyLost]);
    let (resumed, _) = retried(|| claims.resume(&again, &task, &named("resume")));
    assert_eq!(epoch(resumed), 4);

    // A release needs no id: the second one tells that the first was made.
    network.fail(&[Fault::ReplyLost]);
    let (released, unknown) = retried(|| claims.release(&again, &task, None, false));
    let error = released.unwrap_err();
    let no = error.refusal().unwrap();
    let how = no.claim.as_ref().and_then(|it| it.ended.as_ref()).map(|it| it.how);
    assert_eq!((unknown, no.reason, how), (1, Reason::Stale, Some(End::Released)));
    assert_eq!(grants(claims, &ann), 4);
    replayed(claims, &again);
}

/// Every way in which six writes can fail, with two callers that want the same resources.
#[test]
fn nothing_is_granted_twice_whatever_is_lost() {
    const FAULTS: [Fault; 3] = [Fault::None, Fault::RequestLost, Fault::ReplyLost];
    for mut code in 0..3_usize.pow(6) {
        let (fixture, network) = unreliable();
        let claims = &fixture.claims;
        let faults: Vec<Fault> = (0..6)
            .map(|_| {
                let fault = FAULTS[code % 3];
                code /= 3;
                fault
            })
            .collect();
        network.fail(&faults);
        let callers = [with_process("ann", 1), with_process("ben", 2)];
        let mut epochs = Vec::new();
        for (number, name) in ["a", "b", "a"].into_iter().enumerate() {
            for (who, caller) in callers.iter().enumerate() {
                let options = named(&format!("{who}-{number}"));
                let (answer, _) = retried(|| claims.claim(caller, &resource(name), &options));
                match answer {
                    Ok(outcome) => epochs.push(outcome.claim.epoch),
                    Err(error) => {
                        assert_eq!(error.refusal().unwrap().reason, Reason::Held, "{faults:?}");
                    }
                }
            }
        }
        assert_eq!(epochs.iter().map(|it| it.0).collect::<Vec<_>>(), [1, 2, 1], "{faults:?}");
        assert_eq!(grants(claims, &callers[0]), 2, "{faults:?}");
    }
}

/// On a server each transaction is a round trip, or several.
#[test]
fn a_claim_is_one_transaction_with_all_that_it_tells() {
    let (fixture, network) = unreliable();
    let (claims, nature) = (&fixture.claims, &fixture.nature);
    let (ann, ben) = (with_process("ann", 1), with_process("ben", 2));
    let options = ClaimOptions::default();
    claims.claim(&ann, &resource("lost"), &options).unwrap();
    claims.claim(&ann, &resource("left"), &options).unwrap();
    claims.take(&ben, &resource("lost"), true, &options).unwrap();
    network.transactions();
    let outcome = claims.claim(&ann, &resource("new"), &options).unwrap();
    assert_eq!(network.transactions(), (1, 0));
    assert_eq!(outcome.notices.losses.len(), 1);

    nature.set(1, osm_identity::Liveness::Dead(osm_identity::Proof::Gone));
    let after = with_process("ann", 3);
    let error = claims.claim(&after, &resource("lost"), &options).unwrap_err();
    assert_eq!(network.transactions(), (1, 0));
    assert_eq!(error.refusal().unwrap().notices.resumable.len(), 2, "with a refusal, too");
    claims.release(&after, &resource("left"), None, false).unwrap_err();
    assert_eq!(network.transactions(), (1, 0));
    let many: Vec<_> = (0..3000).map(|number| resource(&number.to_string())).collect();
    claims.next(&after, &many, &options).unwrap();
    assert_eq!(network.transactions(), (1, 0));
}
