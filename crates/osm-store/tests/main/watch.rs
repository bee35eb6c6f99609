//! Changes that other processes make are reported, on every backend.

use std::time::{Duration, Instant};

use osm_store::backend::{Backend, Wait};

use crate::child::Child;
use crate::harness::{Home, Single, clock, id, memory, put};
use crate::lossy::Lossy;

const SOON: Wait = Wait(Duration::from_secs(20));

fn everywhere(test: impl Fn(&dyn Backend)) {
    test(&Home::new().open());
    test(&memory());
    test(&Lossy::new(clock()));
    #[cfg(target_os = "linux")]
    if let Some(server) = crate::postgres::shared() {
        test(&server);
    }
}

#[test]
fn a_change_is_reported_once() {
    everywhere(|backend| {
        let (x, other) = (id("x"), id("other"));
        let mut watch = backend.watch(&x).unwrap();
        assert!(!watch.changed(Wait::NONE).unwrap());
        put(backend, &x, "first").unwrap();
        assert!(watch.changed(Wait::NONE).unwrap());
        assert!(!watch.changed(Wait::NONE).unwrap());
        put(backend, &other, "of another session").unwrap();
        assert!(!watch.changed(Wait(Duration::from_millis(50))).unwrap());
        put(backend, &x, "second").unwrap();
        put(backend, &x, "third").unwrap();
        assert!(watch.changed(Wait::NONE).unwrap());
        assert!(!watch.changed(Wait::NONE).unwrap());
        backend.remove_session(&x, false).unwrap();
        assert!(watch.changed(Wait::NONE).unwrap());
    });
}

#[test]
fn a_watcher_wakes_when_another_thread_saves() {
    everywhere(|backend| {
        let x = id("x");
        put(backend, &x, "old").unwrap();
        let mut watch = backend.watch(&x).unwrap();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(Duration::from_millis(50));
                put(backend, &x, "new").unwrap();
            });
            assert!(watch.changed(SOON).unwrap());
        });
    });
}

/// By a report of the system, not by looking again after a while.
#[test]
fn a_watcher_wakes_when_another_process_saves() {
    let home = Home::new();
    let (backend, x) = (home.open(), id("x"));
    put(&backend, &x, "old").unwrap();
    let mut watch = backend.watch(&x).unwrap();
    let mut child = Child::start("change x", &home.root());
    child.expect("changing");
    std::thread::scope(|scope| {
        let watcher = scope.spawn(move || {
            assert!(watch.changed(SOON).unwrap());
            Instant::now()
        });
        std::thread::sleep(Duration::from_millis(100));
        child.go_on();
        child.finish();
        watcher.join().unwrap();
    });
}

#[test]
fn a_store_that_appears_later_is_watched() {
    let home = Home::new();
    let backend = home.open();
    let mut watch = backend.watch(&id("x")).unwrap();
    assert!(!watch.changed(Wait::NONE).unwrap());
    put(&backend, &id("x"), "first").unwrap();
    assert!(watch.changed(SOON).unwrap());
    if cfg!(unix) {
        std::fs::remove_dir_all(home.root()).unwrap();
        assert!(watch.changed(SOON).unwrap());
        put(&backend, &id("x"), "again").unwrap();
        assert!(watch.changed(SOON).unwrap());
    }
}
