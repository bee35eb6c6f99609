//! Two machines that share a ledger: neither sees the other's processes, so that a session claim is
//! a lease.

use std::sync::Arc;
use std::time::Duration;

use osm_claims::ledger::{Presence, Watch, Work};
use osm_claims::rules::{Change, Standing};
use osm_claims::{
    ClaimOptions, Claims, End, Filter, HeldBy, Hold, Ledger, MemoryLedger, Reason, Result,
};
use osm_identity::{Liveness, Proof, UnknownReason};

use crate::harness::{Nature, refused, replayed, resource, with_process, without_process};
#[cfg(target_os = "linux")]
use crate::postgres;

pub(crate) const TERM: Duration = Duration::from_secs(30);

#[test]
fn in_memory() {
    each(|here| {
        let ledger = MemoryLedger::new(Box::new(here.clone())).with_session_leases(TERM);
        let ledger = Shared(Arc::new(ledger));
        [Box::new(ledger.clone()), Box::new(ledger)]
    });
}

#[cfg(target_os = "linux")]
#[test]
fn in_postgres() {
    each(postgres::two_connections);
}

fn each(ledger: impl Fn(&Nature) -> [Box<dyn Ledger>; 2]) {
    a_lease_is_seen_from_another_machine(&two_machines(&ledger));
    a_proof_of_death_ends_a_lease_early(&two_machines(&ledger));
    a_stopped_process_keeps_its_lease_and_no_more(&two_machines(&ledger));
    a_session_without_a_process_has_its_own_term(&two_machines(&ledger));
    a_machine_keeps_the_claims_of_its_processes(&two_machines(&ledger));
    a_lease_that_is_over_is_not_kept(&two_machines(&ledger));
    a_session_goes_on_where_its_machine_is_lost(&two_machines(&ledger));
}

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

/// Two machines and what is true on each.
type Machines = ([Claims; 2], [Nature; 2]);

/// A ledger as the machine of the processes 1 to 9 and the machine of all others see it.
fn two_machines(ledger: &impl Fn(&Nature) -> [Box<dyn Ledger>; 2]) -> Machines {
    let here = Nature::default();
    let there = here.elsewhere();
    for pid in 1..10 {
        there.set(pid, Liveness::Unknown(UnknownReason::AnotherMachine));
    }
    for pid in 10..20 {
        here.set(pid, Liveness::Unknown(UnknownReason::AnotherMachine));
    }
    let [one, other] = ledger(&here);
    let claims = |ledger, nature: &Nature| Claims::new(ledger, Box::new(nature.clone()));
    ([claims(one, &here), claims(other, &there)], [here, there])
}

fn a_lease_is_seen_from_another_machine(([here, there], [nature, _]): &Machines) {
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
    replayed(there, &ben);
}

fn a_proof_of_death_ends_a_lease_early(([here, there], [nature, _]): &Machines) {
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

fn a_stopped_process_keeps_its_lease_and_no_more(([here, there], [nature, _]): &Machines) {
    let (ann, eve, ben) = (with_process("ann", 1), with_process("eve", 2), with_process("ben", 11));
    let (task, options) = (resource("task"), ClaimOptions::default());
    here.claim(&ann, &task, &options).unwrap();
    nature.set(1, Liveness::Suspended);
    assert_eq!(refused(here.claim(&eve, &task, &options)), Reason::Held);
    nature.pass(TERM);
    let granted = there.claim(&ben, &task, &options).unwrap();
    assert_eq!(granted.change, Change::Grant(Some(End::Expired)));
}

fn a_session_without_a_process_has_its_own_term(([here, _], _): &Machines) {
    let options = ClaimOptions { term: Some(TERM * 7), ..ClaimOptions::default() };
    let claim = here.claim(&without_process("named"), &resource("task"), &options).unwrap().claim;
    assert!(matches!(claim.hold, Hold::Lease(lease) if lease.term == TERM * 7));
}

fn a_machine_keeps_the_claims_of_its_processes(([here, there], [nature, _]): &Machines) {
    let (ann, ben) = (with_process("ann", 1), with_process("ben", 11));
    let (task, run, options) = (resource("task"), resource("run"), ClaimOptions::default());
    let command = with_process("command", 2).caller.process;
    let held_by = HeldBy::Process(command.clone().unwrap());
    let for_command = ClaimOptions { held_by, ..options.clone() };
    let token = Some(here.claim(&ann, &task, &options).unwrap().claim.token());
    let held = here.claim(&ann, &run, &for_command).unwrap().claim;
    assert!(matches!(&held.hold, Hold::ProcessLease(_, lease) if lease.term == TERM));
    let events = here.log(&ann, true, &Filter::default()).unwrap().len();
    for _ in 0..3 {
        nature.pass(TERM * 2 / 3);
        let kept = here.keep(&ann.caller).unwrap();
        assert_eq!((kept.term, kept.processes.len(), kept.ended.len()), (Some(TERM), 2, 0));
        for name in [&task, &run] {
            let error = there.claim(&ben, name, &options).unwrap_err();
            let no = error.refusal().unwrap();
            assert_eq!((no.reason, no.left), (Reason::Held, Some(TERM)));
        }
    }
    assert_eq!(here.log(&ann, true, &Filter::default()).unwrap().len(), events, "no event");
    assert!(here.check(&ann, &task, token).is_ok());

    // The command ends, and then the session.
    nature.set(2, Liveness::Dead(Proof::Gone));
    let kept = here.keep(&ann.caller).unwrap();
    assert_eq!((kept.processes.len(), kept.ended.len()), (1, 1));
    assert_eq!(there.claim(&ben, &run, &options).unwrap().change, Change::Grant(None));
    nature.set(1, Liveness::Dead(Proof::Gone));
    let kept = here.keep(&ann.caller).unwrap();
    assert_eq!((kept.processes.len(), kept.ended.len()), (0, 1));
    let evidence = kept.ended[0].ended.as_ref().unwrap().evidence.clone().unwrap();
    assert!(evidence.contains("pid 1"), "{evidence}");
    assert_eq!(there.claim(&ben, &task, &options).unwrap().change, Change::Grant(None));
    replayed(there, &ben);
}

fn a_lease_that_is_over_is_not_kept(([here, there], [nature, _]): &Machines) {
    let (ann, ben) = (with_process("ann", 1), with_process("ben", 11));
    let (task, options) = (resource("task"), ClaimOptions::default());
    let token = Some(here.claim(&ann, &task, &options).unwrap().claim.token());
    nature.pass(TERM);
    assert_eq!(here.keep(&ann.caller).unwrap().processes, [], "not in silence");
    assert_eq!(refused(here.check(&ann, &task, token)), Reason::LeaseOver);
    assert_eq!(here.renew(&ann, &task, token, &options).unwrap().change, Change::Renew);
    assert_eq!(here.keep(&ann.caller).unwrap().processes.len(), 1);
    nature.pass(TERM);
    there.claim(&ben, &task, &options).unwrap();
    assert_eq!(here.keep(&ann.caller).unwrap().processes, []);
    assert_eq!(refused(here.check(&ann, &task, token)), Reason::Stale);
}

/// A conversation that is resumed on another machine: its first process cannot be seen from there.
fn a_session_goes_on_where_its_machine_is_lost(([here, there], [nature, _]): &Machines) {
    let (before, after) = (with_process("talk", 1), with_process("talk", 11));
    let (task, options) = (resource("task"), ClaimOptions::default());
    let token = here.claim(&before, &task, &options).unwrap().claim.token();
    assert_eq!(refused(there.claim(&after, &task, &options)), Reason::SessionUnknown);
    nature.pass(TERM);
    let resumed = there.resume(&after, &task, &options).unwrap();
    assert_eq!(resumed.change, Change::Grant(Some(End::Expired)));
    assert!(resumed.claim.epoch > token.epoch);
    assert_eq!(refused(here.check(&before, &task, Some(token))), Reason::Stale);
}
