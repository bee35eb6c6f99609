//! Many at once: nothing is lost, nothing that is open is removed.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};

use jiff::SignedDuration;
use osm_store::Error;
use osm_store::backend::{ArchiveKind, Backend};
use osm_store::metadata::Metadata;

use crate::child::{Child, visit};
use crate::harness::{Home, Single, get, id, increment, memory, myself, now};

/// Removes a session and sweeps its locks whenever that is possible; returns how often it was.
fn remove_until(backend: &dyn Backend, session: &str, done: &AtomicBool) -> u32 {
    let id = id(session);
    let mut removed = 0;
    while !done.load(Ordering::Relaxed) {
        match backend.remove_session(&id, false) {
            Ok(()) => removed += 1,
            Err(Error::Busy { .. } | Error::NotFound(_)) => {}
            Err(error) => panic!("{error}"),
        }
        // As though a minute had passed, so that a lock need not be old to be swept.
        backend.sweep(now() + SignedDuration::from_mins(1), false).unwrap();
    }
    removed
}

#[test]
fn a_removed_lock_keeps_no_process_out() {
    let home = Home::new();
    let (files, memory) = (home.open(), memory());
    let backends: [&dyn Backend; 2] = [&files, &memory];
    for backend in backends {
        let done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let remover = scope.spawn(|| remove_until(backend, "x", &done));
            let visitors: Vec<_> =
                (0..3).map(|_| scope.spawn(|| visit(backend, "x", 200))).collect();
            for visitor in visitors {
                visitor.join().unwrap();
            }
            done.store(true, Ordering::Relaxed);
            assert!(remover.join().unwrap() > 0, "nothing was ever removed");
        });
    }
}

#[test]
fn and_neither_between_processes() {
    let home = Home::new();
    let backend = home.open();
    let children: Vec<_> = (0..3).map(|_| Child::start("visit x 150", &home.root())).collect();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let remover = scope.spawn(|| remove_until(&backend, "x", &done));
        let each: Vec<_> =
            children.into_iter().map(|child| scope.spawn(|| child.finish())).collect();
        let ends: Vec<_> = each.into_iter().map(|child| child.join().is_ok()).collect();
        done.store(true, Ordering::Relaxed);
        assert_eq!(ends, [true; 3]);
        assert!(remover.join().unwrap() > 0, "nothing was ever removed");
    });
}

#[test]
fn changes_of_two_processes_are_all_there() {
    const EACH: u32 = 300;
    let home = Home::new();
    let (backend, x) = (home.open(), id("x"));
    let mut children: Vec<_> =
        (0..2).map(|_| Child::start(&format!("increment x {EACH}"), &home.root())).collect();
    for child in &mut children {
        child.expect("ready");
    }
    for child in &mut children {
        child.go_on();
    }
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        // A third who lists and cleans all the while disturbs neither.
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                backend.entries().unwrap();
                backend.sweep(now() + SignedDuration::from_mins(30), false).unwrap();
            }
        });
        for child in children {
            child.finish();
        }
        done.store(true, Ordering::Relaxed);
    });
    assert_eq!(get(&backend, &x), Some(format!("{:06}", 2 * EACH)));
}

#[test]
fn every_save_has_a_stamp_of_its_own() {
    let home = Home::new();
    let (backend, x, holder) = (home.open(), id("x"), myself("save"));
    let mut stamps = std::collections::HashSet::new();
    for _ in 0..300 {
        assert!(stamps.insert(increment(&backend, &x, &holder).0), "one came twice");
    }
}

#[test]
fn a_shelf_takes_from_many_at_once() {
    let home = Home::new();
    let backend = home.open();
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let backend = &backend;
            scope.spawn(move || {
                for turn in 0..10 {
                    let text = format!("{thread} {turn}");
                    let name =
                        backend.archive(ArchiveKind::Archive, "same", text.as_bytes()).unwrap();
                    assert_eq!(
                        backend.read_archived(ArchiveKind::Archive, &name).unwrap(),
                        text.as_bytes()
                    );
                }
            });
        }
    });
    let items = backend.archives_of(ArchiveKind::Archive).unwrap();
    assert_eq!(items.len(), 40);
    let mut contents: Vec<_> = items
        .iter()
        .map(|item| backend.read_archived(ArchiveKind::Archive, &item.name).unwrap())
        .collect();
    contents.sort();
    contents.dedup();
    assert_eq!(contents.len(), 40, "none replaced another");
}

/// A cleanup may take long; meanwhile others note their resets, and none is lost.
#[test]
fn records_behind_a_long_cleanup() {
    let home = Home::new();
    let backend = home.open();
    let _cleanup = backend.lock_cleanup(&myself("a long cleanup")).unwrap().unwrap();
    let mut children =
        ["a", "b", "c", "d"].map(|name| Child::start(&format!("note {name} 25"), &home.root()));
    for child in &mut children {
        child.expect("ready");
    }
    children.iter_mut().for_each(Child::go_on);
    children.into_iter().for_each(Child::finish);
    let resets = Metadata::read(&backend).unwrap().metadata.resets;
    let sessions: BTreeSet<_> = resets.into_iter().map(|record| record.session).collect();
    assert_eq!(sessions.len(), 100);
}
