//! Force: only locks of dead processes are broken.
//!
//! The dead leave a process behind that has their lock open, as a shell leaves its background jobs.

use std::os::unix::fs::MetadataExt;
use std::process::{Command, Stdio};
use std::sync::Arc;

use osm_identity::SessionId;
use osm_store::audit::{Action, Event};
use osm_store::backend::{ArchiveKind, Backend, HolderState, Wait};
use osm_store::{Error, FsBackend, Key, Result, Store};
use rustix::process::{PidfdFlags, PidfdGetfdFlags, Signal};
use serde_json::json;

use crate::child::{Child, pause, say};
use crate::harness::{Home, Single, entry, id, myself, names};

/// The locks that a holder can leave behind.
const LOCKS: [&str; 2] = ["presence", "write"];

/// What the child does: takes a lock, starts a process that inherits it, and says who that is.
pub(crate) fn errand(backend: &FsBackend, lock: &str, session: &str) {
    let (id, holder) = (id(session), myself("the owner"));
    match lock {
        "presence" => {
            let _presence = backend.share(&id, &holder, Wait::NONE).unwrap();
            leave_behind(".session.lock");
        }
        "write" => {
            let mut next = |_| {
                leave_behind(".session.write.lock");
                Ok(None)
            };
            backend.update(&id, None, &holder, Wait::NONE, &mut next).unwrap();
        }
        _ => panic!("no such lock: {lock}"),
    }
}

/// Starts a process that has our lock open and ends with the test.
#[expect(clippy::zombie_processes, reason = "it is to outlive us")]
fn leave_behind(extension: &str) {
    let is_lock = |number: &String| {
        let target = std::fs::read_link(format!("/proc/self/fd/{number}"));
        target.is_ok_and(|target| target.to_str().unwrap().ends_with(extension))
    };
    let number = names("/proc/self/fd".as_ref()).into_iter().find(is_lock).unwrap();
    let myself = rustix::process::getpid();
    let pidfd = rustix::process::pidfd_open(myself, PidfdFlags::empty()).unwrap();
    let flags = PidfdGetfdFlags::empty();
    let lock = rustix::process::pidfd_getfd(pidfd, number.parse().unwrap(), flags).unwrap();
    let test = rustix::process::getppid().unwrap();
    let orphan = Command::new("tail")
        .arg(format!("--pid={}", test.as_raw_nonzero()))
        .args(["-f", "/dev/null"])
        .stdin(Stdio::from(lock))
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    say(&orphan.id().to_string());
    pause();
}

/// A process that inherited a lock.
struct Orphan(rustix::process::Pid);

impl Drop for Orphan {
    fn drop(&mut self) {
        let _ended = rustix::process::kill_process(self.0, Signal::KILL);
    }
}

/// An owner that holds a lock, and the process that it will leave behind.
fn owner(home: &Home, lock: &str) -> (Child, Orphan) {
    let mut owner = Child::start(&format!("orphan {lock} x"), &home.root());
    let orphan: i32 = owner.hear().unwrap().parse().unwrap();
    (owner, Orphan(rustix::process::Pid::from_raw(orphan).unwrap()))
}

fn signal(child: &Child, signal: Signal) {
    let pid = rustix::process::Pid::from_raw(child.pid().cast_signed()).unwrap();
    rustix::process::kill_process(pid, signal).unwrap();
}

/// A store with a session `x`, and an archive of it.
fn stage() -> (Home, Arc<FsBackend>, Store, String) {
    let home = Home::new();
    let backend = Arc::new(home.open());
    let shared = Arc::clone(&backend) as Arc<dyn Backend>;
    let store = Store::new(shared, myself("force"));
    for value in ["archived", "old"] {
        let mut session = store.open(&id("x"), Wait::NONE).unwrap();
        session.set(Key::parse("k"), json!(value)).unwrap();
        session.record("test", "set").unwrap();
        if value == "archived" {
            session.reset(true).unwrap();
        }
    }
    let archived = backend.archives_of(ArchiveKind::Archive).unwrap()[0].name.clone();
    (home, backend, store, archived)
}

const OPERATIONS: [&str; 3] = ["restore", "reset", "delete"];

/// Does something that a lock refuses.
fn operate(store: &Store, operation: &str, archived: &str) -> Result<()> {
    let x = id("x");
    match operation {
        "restore" => store.restore(ArchiveKind::Archive, archived, &x).map(drop),
        "reset" => store.reset(&x, true).map(drop),
        "delete" => store.delete(&x),
        _ => panic!("no such operation: {operation}"),
    }
}

fn put_without_waiting(backend: &dyn Backend) -> Result<()> {
    let mut never = |_| panic!("another process has the lock");
    backend.update(&id("x"), None, &myself("me"), Wait::NONE, &mut never).map(drop)
}

fn evict(backend: &dyn Backend, id: &SessionId) -> Result<bool> {
    backend.evict(id, &mut |_| Ok(()))
}

/// A record of another pid namespace, whose process nothing can tell from others: it has no inode, and
/// its start was counted by another clock.
fn elsewhere(record: &str) -> String {
    let record = record.replace("pid:[", "pid:[9").replace("time:[", "time:[9");
    record.replace("\"inode\":", "\"inode\":null,\"other\":")
}

#[test]
fn the_living_the_suspended_and_the_unknown_keep_their_locks() {
    for lock in LOCKS {
        let (home, backend, store, _) = stage();
        let (owner, _orphan) = owner(&home, lock);
        let refused = |evidence: &str| {
            let error = evict(backend.as_ref(), &id("x")).unwrap_err();
            assert!(matches!(&error, Error::Unproven { .. }), "{error}");
            assert!(error.to_string().contains(evidence), "{evidence}: {error}");
            assert_eq!(store.read(&id("x")).unwrap().state.value().unwrap()["shared"]["k"], "old");
        };
        let pid = owner.pid().to_string();
        refused(&format!("process {pid} on here (`the owner`"));
        refused("is alive");
        signal(&owner, Signal::STOP);
        refused("is suspended");
        signal(&owner, Signal::CONT);

        // The same record, but no process that can be observed.
        let extension = if lock == "presence" { "session.lock" } else { "session.write.lock" };
        let file = home.sessions().join(format!("{}.{extension}", id("x")));
        let record = std::fs::read_to_string(&file).unwrap();
        owner.kill();
        let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap();
        for (record, evidence) in [
            (record.replace(boot.trim(), "another"), "another boot"),
            (elsewhere(&record), "another pid namespace"),
            (String::new(), "the lock does not name its holder"),
            (format!("{record}\n{{\"torn"), "the lock does not name its holder"),
            (format!("{record}{}", "\n".repeat(1 << 16)), "the lock does not name its holder"),
        ] {
            std::fs::write(&file, &record).unwrap();
            refused(evidence);
        }
        let before = file.metadata().unwrap().ino();
        std::fs::write(&file, record).unwrap();
        assert!(evict(backend.as_ref(), &id("x")).unwrap());
        assert_ne!(file.metadata().unwrap().ino(), before);
    }
}

#[test]
fn nothing_is_done_to_what_is_alive() {
    let (home, _, store, archived) = stage();
    let (_owner, _orphan) = owner(&home, "presence");
    for operation in OPERATIONS {
        let busy = operate(&store, operation, &archived);
        assert!(matches!(busy, Err(Error::Busy { .. })), "{operation}: {busy:?}");
        let forced = operate(&store.clone().forcing(true), operation, &archived);
        assert!(matches!(forced, Err(Error::Unproven { .. })), "{operation}: {forced:?}");
    }
    assert_eq!(store.read(&id("x")).unwrap().state.value().unwrap()["shared"]["k"], "old");
}

#[test]
fn locks_of_the_dead_are_broken_by_force_only() {
    for lock in LOCKS {
        for operation in OPERATIONS {
            let (home, backend, store, archived) = stage();
            let (owner, _orphan) = owner(&home, lock);
            let pid = owner.pid().to_string();
            owner.kill();
            let error = match lock {
                "presence" => operate(&store, operation, &archived).unwrap_err(),
                // The same, without the usual wait for a save.
                _ => put_without_waiting(backend.as_ref()).unwrap_err(),
            };
            assert!(matches!(&error, Error::Orphaned { .. }), "{operation}: {error}");
            assert!(error.to_string().contains(&format!("process {pid} ")), "{error}");
            assert!(error.to_string().contains("dead: no process has its pid"), "{error}");
            assert_eq!(entry(backend.as_ref(), &id("x")).unwrap().active, lock == "presence");
            assert_eq!(store.read(&id("x")).unwrap().state.value().unwrap()["shared"]["k"], "old");

            operate(&store.forcing(true), operation, &archived).unwrap();
            let stray_files =
                names(&home.sessions()).into_iter().find(|name| name.starts_with(".tmp"));
            assert_eq!(stray_files, None);
            let audit = std::fs::read_to_string(home.root().join("audit.jsonl")).unwrap();
            let forced: Vec<_> =
                audit.lines().filter_map(Event::parse).filter(|event| event.forced).collect();
            assert_eq!(forced.len(), 2, "{audit}");
            assert_eq!(forced[0].what, Action::Force);
            assert!(forced[0].before["holders"][0].as_str().unwrap().contains(&pid));
            assert_eq!(forced[1].what, Action::named(operation));
        }
    }
}

#[test]
fn a_free_lock_is_not_broken() {
    let (home, backend, store, _) = stage();
    let mut never = |_: &[HolderState]| -> Result<()> { panic!("the lock is free") };
    assert!(!backend.evict(&id("x"), &mut never).unwrap());
    assert!(!backend.evict(&id("never"), &mut never).unwrap());
    store.forcing(true).reset(&id("x"), true).unwrap();
    let audit = std::fs::read_to_string(home.root().join("audit.jsonl")).unwrap();
    assert!(audit.lines().filter_map(Event::parse).all(|event| !event.forced), "{audit}");
}

#[test]
fn a_refusal_prevents_it() {
    let (home, backend, ..) = stage();
    let (owner, _orphan) = owner(&home, "presence");
    owner.kill();
    let mut no = |_: &[HolderState]| Err(Error::NoFreeName("no room for the audit".into()));
    assert!(matches!(backend.evict(&id("x"), &mut no), Err(Error::NoFreeName(_))));
    assert!(entry(backend.as_ref(), &id("x")).unwrap().active, "nothing was changed");
}

/// Whether a session can be removed, which it cannot while it is open.
fn is_honoured(backend: &dyn Backend) -> bool {
    let removed = backend.remove_session(&id("x"), false);
    matches!(removed, Err(Error::Busy { .. }))
}

#[test]
fn who_comes_between_the_look_and_the_deed_stays() {
    let (home, backend, ..) = stage();
    let (owner, _orphan) = owner(&home, "presence");
    owner.kill();
    let mut newcomer = None;
    let mut agree = |_: &[HolderState]| {
        newcomer = Some(backend.share(&id("x"), &myself("newcomer"), Wait::NONE)?);
        Ok(())
    };
    let refused = backend.evict(&id("x"), &mut agree).unwrap_err();
    assert!(refused.to_string().contains("`newcomer`"), "{refused}");
    assert!(is_honoured(backend.as_ref()));
    drop(newcomer);
    assert!(evict(backend.as_ref(), &id("x")).unwrap());
    let next = backend.share(&id("x"), &myself("next"), Wait::NONE).unwrap();
    assert!(is_honoured(backend.as_ref()));
    drop(next);
    backend.remove_session(&id("x"), false).unwrap();
}

#[test]
fn who_comes_at_the_very_moment_stays() {
    let (home, backend, ..) = stage();
    for _ in 0..10 {
        let (owner, _orphan) = owner(&home, "presence");
        owner.kill();
        std::thread::scope(|scope| {
            let mut newcomer = None;
            let come = || {
                let presence = backend.share(&id("x"), &myself("new"), Wait::USUAL).unwrap();
                assert!(is_honoured(backend.as_ref()));
                drop(presence);
            };
            let mut agree = |_: &[HolderState]| {
                newcomer = Some(scope.spawn(come));
                Ok(())
            };
            let evicted = backend.evict(&id("x"), &mut agree);
            assert!(matches!(evicted, Ok(true) | Err(Error::Unproven { .. })), "{evicted:?}");
            let newcomer = newcomer.unwrap_or_else(|| panic!("not asked: {evicted:?}"));
            newcomer.join().unwrap();
        });
    }
}
