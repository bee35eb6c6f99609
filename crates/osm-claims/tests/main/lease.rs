//! Two machines that share a ledger: neither sees the other's processes, so that a session claim is
//! a lease.

use std::sync::Arc;
use std::time::Duration;

use osm_claims::ledger::{Presence, Watch, Work};
use osm_claims::rules::{Change, Standing};
use osm_claims::{ClaimOptions, Claims, End, Hold, Ledger, MemoryLedger, Reason, Result};
use osm_identity::{Liveness, Proof, UnknownReason};

use crate::harness::{Nature, refused, replayed, resource, with_process, without_process};

const TERM: Duration = Duration::from_secs(30);

/// A ledger that several machines reach.
#[derive(Clone)]
struct Shared(Arc<MemoryLedger>);

impl Ledger for Shared {
    fn write(&self, work: Work<'_>) -> Result<()> {
        self.0.write(work)
    }

    fn read(&self, work: Work<'_>) -> Result<()> {
        self.0.read(work)
    }

    fn watch(&self) -> Result<Box<dyn Watch + '_>> {
        self.0.watch()
    }

    fn presence(&self) -> Presence {
        self.0.presence()
    }
}

/// A ledger as the machine of the processes 1 to 9 and the machine of all others see it.
fn two_machines() -> ([Claims; 2], [Nature; 2]) {
    let here = Nature::default();
    let there = here.elsewhere();
    for pid in 1..10 {
        there.set(pid, Liveness::Unknown(UnknownReason::AnotherMachine));
    }
    for pid in 10..20 {
        here.set(pid, Liveness::Unknown(UnknownReason::AnotherMachine));
    }
    let ledger = MemoryLedger::new(Box::new(here.clone())).with_session_leases(TERM);
    let ledger = Shared(Arc::new(ledger));
    let claims = |nature: &Nature| Claims::new(Box::new(ledger.clone()), Box::new(nature.clone()));
    ([claims(&here), claims(&there)], [here, there])
}

#[test]
fn a_lease_is_seen_from_another_machine() {
    let ([here, there], [nature, _]) = two_machines();
    let (ann, ben) = (with_process("ann", 1), with_process("ben", 11));
    let (task, options) = (resource("task"), ClaimOptions::default());
    let claim = here.claim(&ann, &task, &options).unwrap().claim;
    assert!(matches!(&claim.hold, Hold::SessionLease(lease) if lease.term == TERM));
    let error = there.claim(&ben, &task, &options).unwrap_err();
    let no = error.refusal().unwrap();
    assert_eq!((no.reason, no.left), (Reason::Held, Some(TERM)), "it is held, not unknown");

    // It is renewed in time, by its owner's machine.
    nature.pass(TERM / 2);
    let token = Some(claim.token());
    assert_eq!(here.renew(&ann, &task, token, &options).unwrap().change, Change::Renew);
    nature.pass(TERM / 2);
    assert_eq!(refused(there.claim(&ben, &task, &options)), Reason::Held);
    assert!(here.check(&ann, &task, token).is_ok());

    // A machine that is cut off does not renew: the other may have it, and the first is fenced.
    nature.pass(TERM);
    assert_eq!(refused(here.check(&ann, &task, token)), Reason::LeaseOver);
    let granted = there.claim(&ben, &task, &options).unwrap();
    assert_eq!(granted.change, Change::Grant(Some(End::Expired)));
    assert!(granted.claim.epoch > claim.epoch);
    assert_eq!(refused(here.check(&ann, &task, token)), Reason::Stale);
    assert_eq!(refused(here.renew(&ann, &task, token, &options)), Reason::Stale);
    replayed(&there, &ben);
}

#[test]
fn a_proof_of_death_ends_a_lease_early() {
    let ([here, there], [nature, _]) = two_machines();
    let (ann, eve, ben) = (with_process("ann", 1), with_process("eve", 2), with_process("ben", 11));
    let (task, options) = (resource("task"), ClaimOptions::default());
    here.claim(&ann, &task, &options).unwrap();
    nature.set(1, Liveness::Dead(Proof::Gone));
    assert_eq!(refused(there.claim(&ben, &task, &options)), Reason::Held, "it sees no proof");
    let standing = here.status(&eve, &task).unwrap().unwrap().standing;
    assert_eq!(standing, Standing::Free(End::Died));
    assert_eq!(here.sweep(&eve, false, false).unwrap().freed(), 1);
    assert_eq!(there.claim(&ben, &task, &options).unwrap().change, Change::Grant(None));
}

#[test]
fn a_stopped_process_keeps_its_lease_and_no_more() {
    let ([here, there], [nature, _]) = two_machines();
    let (ann, eve, ben) = (with_process("ann", 1), with_process("eve", 2), with_process("ben", 11));
    let (task, options) = (resource("task"), ClaimOptions::default());
    here.claim(&ann, &task, &options).unwrap();
    nature.set(1, Liveness::Suspended);
    assert_eq!(refused(here.claim(&eve, &task, &options)), Reason::Held);
    nature.pass(TERM);
    let granted = there.claim(&ben, &task, &options).unwrap();
    assert_eq!(granted.change, Change::Grant(Some(End::Expired)));
}

#[test]
fn a_session_without_a_process_has_its_own_term() {
    let ([here, _], _) = two_machines();
    let options = ClaimOptions { term: Some(TERM * 7), ..ClaimOptions::default() };
    let claim = here.claim(&without_process("named"), &resource("task"), &options).unwrap().claim;
    assert!(matches!(claim.hold, Hold::Lease(lease) if lease.term == TERM * 7));
}
