//! When a process is alive, dead or unknown, and the forms in which it was and is stored.

use super::*;
use crate::process::{BootClock, FixedTable};

fn host() -> Host {
    Host { boot: "boot".into(), namespace: "pid:[1]".into(), contained: false }
}

fn process(state: State) -> Process {
    Process {
        pid: Pid(7),
        parent: Pid(1),
        start: StartTime(50),
        name: "x".into(),
        terminal: None,
        session: None,
        state,
    }
}

fn instance() -> ProcessInstance {
    ProcessInstance {
        inode: Some(900),
        ..ProcessInstance::of(&process(State::Active), &host(), &FixedTable::new(host()))
    }
}

/// A table on a named machine with a clock of its own.
struct Named {
    table: FixedTable,
    machine: Option<&'static str>,
    clock: Option<&'static str>,
    /// When the machine started.
    started: Option<u64>,
}

impl ProcessSource for Named {
    fn host(&self) -> Result<Host, ReadError> {
        self.table.host()
    }
    fn process(&self, pid: Pid) -> Result<Process, ReadError> {
        self.table.process(pid)
    }
    fn arguments(&self, pid: Pid) -> Result<Vec<std::ffi::OsString>, ReadError> {
        self.table.arguments(pid)
    }
    fn executable(&self, pid: Pid) -> Result<std::path::PathBuf, ReadError> {
        self.table.executable(pid)
    }
    fn variable(&self, pid: Pid, name: &str) -> Result<Option<std::ffi::OsString>, ReadError> {
        self.table.variable(pid, name)
    }
    fn inode(&self, pid: Pid) -> Option<u64> {
        self.table.inode(pid)
    }
    fn exists(&self, pid: Pid) -> Option<bool> {
        self.table.exists(pid)
    }
    fn machine(&self) -> Option<String> {
        self.machine.map(str::to_owned)
    }
    fn boot_clock(&self) -> Option<BootClock> {
        self.started.map(|started| BootClock { started, now: started + 1000 })
    }
    fn clock(&self) -> Option<String> {
        self.clock.map(str::to_owned)
    }
}

#[test]
fn states() {
    for (state, expected) in [
        (State::Active, Liveness::Alive),
        (State::Suspended, Liveness::Suspended),
        (State::Zombie, Liveness::Dead(Proof::Zombie)),
    ] {
        let table = FixedTable::new(host()).with(process(state), &[]);
        assert_eq!(instance().liveness(&table), expected);
    }
}

#[test]
fn a_reused_pid_is_another_process() {
    let mut other = process(State::Active);
    other.start = StartTime(51);
    let table = FixedTable::new(host()).with(other, &[]);
    assert_eq!(instance().liveness(&table), Liveness::Dead(Proof::AnotherStart));
    assert_eq!(
        instance().judge(&process(State::Active), Some(901), &table),
        Liveness::Dead(Proof::AnotherInode),
        "also within one clock tick"
    );
    let mut shifted = process(State::Active);
    shifted.start = StartTime(10_050);
    assert_eq!(
        instance().judge(&shifted, Some(900), &table),
        Liveness::Alive,
        "seen from another time namespace"
    );
}

#[test]
fn start_times_of_two_clocks_prove_nothing() {
    let mut other = process(State::Active);
    other.start = StartTime(51);
    let machine = |clock| Named {
        table: FixedTable::new(host()).with(other.clone(), &[]),
        machine: None,
        clock,
        started: None,
    };
    let recorded = instance().with_clock(&machine(Some("time:[1]")));
    let unknown = Liveness::Unknown(UnknownReason::AnotherClock);
    for (clock, expected) in [
        (Some("time:[1]"), Liveness::Dead(Proof::AnotherStart)),
        (Some("time:[2]"), unknown),
        (None, unknown),
    ] {
        assert_eq!(recorded.liveness(&machine(clock)), expected, "{clock:?}");
    }
    assert_eq!(instance().liveness(&machine(Some("time:[1]"))), unknown, "none was recorded");
}

#[test]
fn absence_is_proven_only_where_it_could_be_seen() {
    let look = |host| instance().liveness(&FixedTable::new(host));
    assert_eq!(look(host()), Liveness::Dead(Proof::Gone));
    let elsewhere = Host { namespace: "pid:[2]".into(), ..host() };
    assert_eq!(look(elsewhere), Liveness::Unknown(UnknownReason::AnotherNamespace));
    let later = Host { boot: "other".into(), ..host() };
    assert_eq!(look(later), Liveness::Unknown(UnknownReason::AnotherMachine));
    assert_eq!(
        ProcessInstance::unread(Pid(7)).liveness(&FixedTable::new(host())),
        Liveness::Unknown(UnknownReason::AnotherMachine)
    );
}

#[test]
fn another_boot_is_a_proof_only_on_the_same_machine() {
    let named = |machine, started| Named {
        table: FixedTable::new(Host { boot: "later".into(), ..host() }),
        machine,
        clock: None,
        started,
    };
    let later = |machine| named(machine, Some(5000));
    let recorded = instance().with_machine(&named(Some("m"), Some(500)));
    let unknown = Liveness::Unknown(UnknownReason::AnotherMachine);
    assert_eq!(recorded.liveness(&later(Some("m"))), Liveness::Dead(Proof::Rebooted));
    assert_eq!(recorded.liveness(&later(Some("n"))), unknown);
    assert_eq!(recorded.liveness(&later(None)), unknown);
    assert_eq!(instance().liveness(&later(None)), unknown, "two machines without an id");

    // It was seen at 1500.
    let unknown = Liveness::Unknown(UnknownReason::AnotherBoot);
    for (started, expected) in [
        (Some(1501), Liveness::Dead(Proof::Rebooted)),
        (Some(1500), unknown),
        (Some(500), unknown),
        (None, unknown),
    ] {
        assert_eq!(recorded.liveness(&named(Some("m"), started)), expected, "{started:?}");
    }
    let earlier = ProcessInstance { seen: None, ..recorded.clone() };
    assert_eq!(earlier.liveness(&later(Some("m"))), unknown, "an earlier version's record");
    let granted = |at| earlier.clone().seen_at(at).liveness(&later(Some("m")));
    assert_eq!(granted(4999), Liveness::Dead(Proof::Rebooted));
    assert_eq!(recorded.seen_at(5000).liveness(&later(Some("m"))), unknown, "seen again");
}

#[test]
fn stored_forms_of_earlier_versions_are_read() {
    let full =
        ProcessInstance { machine: Some("m".into()), clock: Some("time:[1]".into()), ..instance() };
    let bare = ProcessInstance { inode: None, name: String::new(), ..instance() };
    for (text, expected) in [
        // The claims ledger.
        (
            r#"{"pid":7,"start":50,"boot":"boot","namespace":"pid:[1]","inode":900,"machine":"m","clock":"time:[1]","name":"x"}"#,
            &full,
        ),
        (
            r#"{"pid":7,"start":50,"boot":"boot","namespace":"pid:[1]","inode":900,"machine":null,"clock":null,"name":"x"}"#,
            &instance(),
        ),
        // A session document, and `session id --json`.
        (
            r#"{"pid":7,"start":50,"boot":"boot","namespace":"pid:[1]","inode":900,"name":"x"}"#,
            &instance(),
        ),
        (r#"{"pid":7,"start":50,"boot":"boot","namespace":"pid:[1]"}"#, &bare),
    ] {
        assert_eq!(serde_json::from_str::<ProcessInstance>(text).unwrap(), *expected, "{text}");
    }
    for text in [r#"{"pid":7,"start":50,"boot":"boot"}"#, r#"{"pid":-7}"#, "[]"] {
        assert!(serde_json::from_str::<ProcessInstance>(text).is_err(), "{text}");
    }
}

#[test]
fn the_stored_form_keeps_its_keys() {
    assert_eq!(
        serde_json::to_string(&instance()).unwrap(),
        r#"{"pid":7,"start":50,"boot":"boot","namespace":"pid:[1]","inode":900,"name":"x"}"#
    );
    let bare = ProcessInstance { inode: None, clock: Some("c".into()), ..instance() };
    assert_eq!(
        serde_json::to_string(&bare).unwrap(),
        r#"{"pid":7,"start":50,"boot":"boot","namespace":"pid:[1]","inode":null,"clock":"c","name":"x"}"#
    );
}

#[test]
fn keys_are_those_of_the_ledger() {
    assert_eq!(instance().key(), "boot:900");
    let bare = ProcessInstance { inode: None, ..instance() };
    assert_eq!(bare.key(), "boot:pid:[1]:7:50");
}
