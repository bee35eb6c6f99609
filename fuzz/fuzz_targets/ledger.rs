//! The files of a ledger of claims: whatever the bytes, opening, reading, claiming and repairing end
//! in an answer, and what was held is not granted again as long as the mark still says that it is.

#![no_main]

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use jiff::Timestamp;
use libfuzzer_sys::fuzz_target;
use osm_claims::clock::{Clock, Moment, Now};
use osm_claims::{
    Caller, ClaimOptions, Claims, LivenessProbe, Requester, Resource, Result, Scope, SqliteLedger,
    repair,
};
use osm_identity::{Liveness, Pid, ProcessInstance, Proof, StartTime};

const FILES: [&str; 3] = ["claims.db", "claims.db-wal", "claims.mark"];
const MARK: usize = 2;
const HELD: usize = 24;

/// The bytes of a whole ledger, by the order of [`FILES`].
struct Whole([Vec<u8>; 3]);

fuzz_target!(|input: &[u8]| {
    static WHOLE: OnceLock<Whole> = OnceLock::new();
    let whole = WHOLE.get_or_init(Whole::new);
    let Some((changed, files)) = whole.changed(input) else { return };
    let folder = folder("changed");
    for (name, bytes) in FILES.iter().zip(&files) {
        std::fs::write(folder.join(name), bytes).expect("it can be written");
    }
    let mut last = 0;
    for number in [0, 1, HELD / 2, HELD - 1] {
        let task = task(number);
        let outcome =
            open(&folder).and_then(|it| it.claim(&session("rival", 8), &task, &options()));
        if let Ok(outcome) = outcome {
            // A changed mark may say less, but nothing else is to grant what is held.
            assert!(changed[MARK], "{task} was granted again: {outcome:?}");
        }
    }
    if let Ok(listed) = open(&folder).and_then(|it| it.list(&session("rival", 8), true)) {
        last = listed.iter().map(|it| it.claim.epoch.0).max().unwrap_or(0);
    }
    let Ok(repaired) = repair::repair(&folder, Arc::new(Still)) else { return };
    if repaired.copy.is_some() {
        let new = open(&folder).and_then(|it| {
            it.claim(&session("rival", 8), &resource("after the repair"), &options())
        });
        let epoch = new.expect("a ledger that was repaired can be used").claim.epoch.0;
        let known = if changed[MARK] { last } else { HELD as u64 };
        assert!(epoch > known, "epoch {epoch} after {known}");
    }
});

impl Whole {
    /// A ledger with claims in its file and in its log.
    fn new() -> Self {
        let folder = folder("whole");
        for numbers in [0..HELD / 2, HELD / 2..HELD - 4, HELD - 4..HELD] {
            let claims = open(&folder).expect("an empty folder gets a ledger");
            for number in numbers {
                let owner = session("owner", 7);
                claims.claim(&owner, &task(number), &options()).expect("it is free");
            }
        }
        Self(FILES.map(|name| std::fs::read(folder.join(name)).unwrap_or_default()))
    }

    /// The files after the changes that an input asks for, and which of them are others than before.
    fn changed(&self, mut input: &[u8]) -> Option<([bool; 3], [Vec<u8>; 3])> {
        let mut files = self.0.clone();
        while let Some((head, rest)) = input.split_first_chunk::<6>() {
            let [which, how, place @ ..] = *head;
            let file = &mut files[usize::from(which) % FILES.len()];
            let place = usize::try_from(u32::from_le_bytes(place)).unwrap_or(0);
            let place = place % (file.len() + 1);
            let length = rest.len().min(usize::from(how >> 2));
            let (bytes, rest) = rest.split_at(length);
            input = rest;
            match how % 4 {
                0 => file.truncate(place),
                1 => drop(file.splice(place..place, bytes.iter().copied())),
                2 => {
                    for (at, byte) in (place..).zip(bytes) {
                        file.get_mut(at).into_iter().for_each(|it| *it ^= byte);
                    }
                }
                _ => {
                    let end = file.len().min(place + bytes.len());
                    file[place..end].copy_from_slice(&bytes[..end - place]);
                }
            }
        }
        let changed = [0, 1, 2].map(|file| files[file] != self.0[file]);
        (changed != [false; 3]).then_some((changed, files))
    }
}

/// An empty folder of this process.
fn folder(name: &str) -> PathBuf {
    let root = Path::new(if Path::new("/dev/shm").exists() { "/dev/shm" } else { "/tmp" });
    let folder = root.join(format!("osm-fuzz-ledger-{}", std::process::id())).join(name);
    drop(std::fs::remove_dir_all(&folder));
    std::fs::create_dir_all(&folder).expect("it can be created");
    folder
}

fn open(folder: &Path) -> Result<Claims> {
    let ledger = SqliteLedger::open_with_clock(folder, Box::new(Still))?;
    Ok(Claims::new(Box::new(ledger), Box::new(Exact)))
}

fn options() -> ClaimOptions {
    ClaimOptions::default()
}

fn task(number: usize) -> Resource {
    resource(&format!("task {number}"))
}

fn resource(name: &str) -> Resource {
    Resource::new(name).expect("it has a name")
}

fn session(name: &str, pid: u32) -> Requester {
    let process = ProcessInstance {
        pid: Pid(pid),
        start: StartTime(50),
        boot: "boot".into(),
        namespace: "pid:[1]".into(),
        inode: Some(u64::from(pid)),
        machine: None,
        seen: None,
        clock: None,
        name: name.into(),
    };
    let caller = Caller {
        session: name.into(),
        process: Some(process),
        agent: None,
        host: "fuzz".into(),
        is_random: false,
        is_sole: false,
        is_process: false,
    };
    Requester { scope: Scope::named("fuzz"), caller }
}

/// A clock that stands.
struct Still;

impl Clock for Still {
    fn now(&self) -> Result<Now> {
        let uptime = Duration::from_secs(1000);
        let moment = Moment { machine: None, boot: "boot".into(), uptime, wall: Some(1000) };
        Ok(Now { moment, wall: Timestamp::from_second(1000).expect("it is in 1970") })
    }
}

/// Two processes run: one with other numbers is dead.
struct Exact;

impl LivenessProbe for Exact {
    fn look(&self, process: &ProcessInstance) -> Liveness {
        let pid = process.pid.0;
        if (7..=8).contains(&pid) && process.inode == Some(u64::from(pid)) {
            return Liveness::Alive;
        }
        Liveness::Dead(Proof::Gone)
    }
}
