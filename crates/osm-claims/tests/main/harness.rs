//! What the tests of claims have in common: callers, a clock and eyes that do as they are told.

use std::any::Any;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use jiff::Timestamp;
use osm_claims::clock::{Clock, Moment, Now};
use osm_claims::event::{self, Filter};
use osm_claims::{
    Caller, Claims, Error, Ledger, LivenessProbe, MemoryLedger, Reason, Requester, Resource,
    Result, Scope, SqliteLedger,
};
use osm_identity::{Liveness, Pid, ProcessInstance, StartTime};

/// The truth about processes and time, shared by the clock and the probe.
#[derive(Clone, Default)]
pub(crate) struct Nature {
    uptime: Arc<Mutex<Duration>>,
    verdicts: Arc<Mutex<BTreeMap<u32, Liveness>>>,
}

impl Nature {
    /// Lets time go by.
    pub(crate) fn pass(&self, time: Duration) {
        *self.uptime.lock().unwrap() += time;
    }

    /// The same time on another machine, which sees other processes.
    pub(crate) fn elsewhere(&self) -> Self {
        Self { uptime: Arc::clone(&self.uptime), verdicts: Arc::default() }
    }

    /// Says what is known of a process from now on; all others are alive.
    pub(crate) fn set(&self, pid: u32, verdict: Liveness) {
        self.verdicts.lock().unwrap().insert(pid, verdict);
    }
}

impl Clock for Nature {
    fn now(&self) -> osm_claims::Result<Now> {
        let uptime = *self.uptime.lock().unwrap();
        let moment =
            Moment { machine: Some("machine".into()), boot: "boot".into(), uptime, wall: None };
        let seconds = i64::try_from(uptime.as_secs()).unwrap();
        Ok(Now { moment, wall: Timestamp::from_second(seconds).unwrap() })
    }
}

impl LivenessProbe for Nature {
    fn look(&self, process: &ProcessInstance) -> Liveness {
        self.verdicts.lock().unwrap().get(&process.pid.0).copied().unwrap_or(Liveness::Alive)
    }
}

/// Claims in a ledger of one kind, in a nature of its own.
pub(crate) struct Fixture {
    pub(crate) claims: Claims,
    pub(crate) nature: Nature,
    /// What the ledger needs for as long as it is used: its folder, its pooler.
    needed: Vec<Box<dyn Any>>,
}

impl Fixture {
    pub(crate) fn new(nature: &Nature, ledger: impl Ledger + 'static) -> Self {
        let claims = Claims::new(Box::new(ledger), Box::new(nature.clone()));
        Self { claims, nature: nature.clone(), needed: Vec::new() }
    }

    /// The same, with what its ledger needs.
    pub(crate) fn with(mut self, need: impl Any) -> Self {
        self.needed.push(Box::new(need));
        self
    }
}

/// Claims in an empty ledger in memory.
pub(crate) fn in_memory() -> Fixture {
    let nature = Nature::default();
    Fixture::new(&nature, MemoryLedger::new(Box::new(nature.clone())))
}

/// Claims in an empty ledger on disk.
pub(crate) fn in_sqlite() -> Fixture {
    let nature = Nature::default();
    let folder = tempfile::tempdir().unwrap();
    let ledger = SqliteLedger::open_with_clock(folder.path(), Box::new(nature.clone())).unwrap();
    Fixture::new(&nature, ledger).with(folder)
}

/// A session whose process does not exist.
pub(crate) fn with_process(session: &str, pid: u32) -> Requester {
    let process = ProcessInstance {
        pid: Pid(pid),
        start: StartTime(1),
        boot: "boot".into(),
        namespace: "pid:[1]".into(),
        inode: Some(u64::from(pid)),
        machine: Some("machine".into()),
        seen: None,
        clock: None,
        name: "agent".into(),
    };
    requester(session, Some(process))
}

/// A session without a process.
pub(crate) fn without_process(session: &str) -> Requester {
    requester(session, None)
}

pub(crate) fn requester(session: &str, process: Option<ProcessInstance>) -> Requester {
    let caller = Caller {
        session: session.into(),
        process,
        agent: Some("agent".into()),
        host: "here".into(),
        is_random: false,
        is_sole: true,
        is_process: false,
    };
    Requester { scope: Scope::named("test"), caller }
}

pub(crate) fn resource(name: &str) -> Resource {
    Resource::new(name).unwrap()
}

/// The reason for which something was refused.
#[track_caller]
pub(crate) fn refused<T>(result: Result<T>) -> Reason {
    match result {
        Ok(_) => panic!("it was not refused"),
        Err(Error::Refused(refused)) => refused.reason,
        Err(error) => panic!("{error}"),
    }
}

/// That doing all events again gives the open claims.
#[track_caller]
pub(crate) fn replayed(claims: &Claims, requester: &Requester) {
    let events = claims.log(requester, true, &Filter::default()).unwrap();
    let told = event::replay(&events).unwrap();
    let kept = claims.list(requester, true).unwrap().into_iter().map(|listed| {
        let claim = listed.claim;
        let standing = event::Standing {
            scope: claim.scope,
            resource: claim.resource,
            owner: claim.owner.id,
            mode: claim.mode,
            hold: claim.hold,
            offer: claim.offer,
        };
        (claim.epoch, standing)
    });
    assert_eq!(told, kept.collect());
}

/// Says something that is worth knowing of a test that passes.
pub(crate) fn report(text: &str) {
    use std::io::Write;

    writeln!(std::io::stderr().lock(), "{text}").unwrap();
}
