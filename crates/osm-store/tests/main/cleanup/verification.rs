//! The four tests that document 004 asks for, on every store.

use std::sync::Barrier;
use std::sync::atomic::{AtomicUsize, Ordering};

use osm_identity::SessionId;
use osm_store::Error;
use osm_store::backend::{ArchiveKind, Wait};
use osm_store::cleanup::Options;
use osm_store::retention::{Mode, Policy, Reason};

use super::{
    assert_clean, clean, cleaner, cleaner_after, everywhere, holder, is_there, lasting, removed,
    save,
};
use crate::harness::{Home, Single, id};

#[test]
fn verification_a_session_in_use_is_not_removed() {
    everywhere(|backend| {
        for name in ["session-A", "session-B", "mine"] {
            save(backend, &id(name), "x");
        }
        let presence = backend.share(&id("session-A"), &holder(), Wait::NONE).unwrap();
        let report = clean(backend, 365, Mode::Clean, &Options::default());
        assert_clean(&report);
        assert_eq!(removed(&report), [&id("session-B")]);
        assert!(is_there(backend, &id("session-A")));
        assert!(is_there(backend, &id("mine")));
        // Nor if all shall go.
        let report = clean(backend, 365, Mode::Purge, &Options::default());
        assert_eq!(removed(&report), Vec::<&SessionId>::new());
        drop(presence);
        let report = clean(backend, 365, Mode::Clean, &Options::default());
        assert_eq!(removed(&report), [&id("session-A")]);
        assert!(is_there(backend, &id("mine")));
    });
}

#[test]
fn verification_what_is_365_days_old_goes() {
    everywhere(|backend| {
        let names: Vec<SessionId> = (0..10).map(|n| id(&format!("dummy-{n}"))).collect();
        for name in &names {
            save(backend, name, "a document");
        }
        // These documents make no sense, and would go for that.
        let policy = Policy { quarantine_days: 0, ..Policy::default() };
        let report = cleaner(backend, 89, &policy, |cleaner| {
            cleaner.clean_up(Mode::Clean, &Options::default(), &mut |_| {}).unwrap()
        });
        assert!(report.is_empty(), "{report:?}");
        let mut steps = Vec::new();
        let report = cleaner(backend, 365, &Policy::default(), |cleaner| {
            let progress = &mut |progress| steps.push(progress);
            cleaner.clean_up(Mode::Clean, &Options::default(), progress).unwrap()
        });
        assert_clean(&report);
        assert_eq!(report.removed.len(), 10);
        for removal in &report.removed {
            assert!(matches!(removal.reason, Reason::Age { days: 364 | 365, limit: 90 }));
            assert_eq!(removal.size, 10);
        }
        assert!(backend.entries().unwrap().is_empty());
        assert_eq!((report.bytes_trashed, report.bytes_freed), (100, 0));
        assert_eq!(steps.len(), 10);
        assert_eq!((steps[9].done, steps[9].total, steps[9].bytes), (10, 10, 100));

        // They can be brought back.
        let trash = backend.archives_of(ArchiveKind::Trash).unwrap();
        assert_eq!(trash.len(), 10);
        for item in &trash {
            assert_eq!(
                backend.read_archived(ArchiveKind::Trash, &item.name).unwrap(),
                b"a document"
            );
        }
        // For a week, whatever the clock of the machine says.
        let jumped = |days_up| {
            cleaner_after(backend, 465, days_up, &Policy::default(), |cleaner| {
                cleaner.clean_up(Mode::Clean, &Options::default(), &mut |_| {}).unwrap()
            })
        };
        for _ in 0..3 {
            assert!(jumped(365).leap.is_some());
            assert_eq!(backend.archives_of(ArchiveKind::Trash).unwrap().len(), 10);
        }
        let report = jumped(366);
        assert_eq!((report.leap, report.discarded.len()), (None, 10));
        assert!(report.bytes_freed > 0);
        assert!(backend.archives_of(ArchiveKind::Trash).unwrap().is_empty());
    });
}

#[test]
fn verification_two_cleanups_at_once() {
    everywhere(|backend| {
        let count = 40;
        for n in 0..count {
            save(backend, &id(&n.to_string()), "x");
        }
        let barrier = Barrier::new(2);
        let gone = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for wait in [Wait::NONE, Wait::USUAL] {
                let (barrier, gone) = (&barrier, &gone);
                scope.spawn(move || {
                    cleaner(backend, 365, &lasting(), |cleaner| {
                        barrier.wait();
                        let options = Options { wait, ..Options::default() };
                        match cleaner.clean_up(Mode::Clean, &options, &mut |_| {}) {
                            Ok(report) => {
                                assert_clean(&report);
                                gone.fetch_add(report.removed.len(), Ordering::Relaxed);
                            }
                            Err(Error::CleanupRunning) => assert_eq!(wait, Wait::NONE),
                            Err(error) => panic!("{error}"),
                        }
                    });
                });
            }
        });
        assert_eq!(gone.into_inner(), count, "each went once");
        assert!(backend.entries().unwrap().is_empty());
        assert_eq!(backend.archives_of(ArchiveKind::Trash).unwrap().len(), count);
    });
}

#[test]
fn verification_orphaned_locks_go() {
    let home = Home::new();
    let (backend, sessions) = (home.open(), home.sessions());
    save(&backend, &id("living"), "x");
    let zombie = sessions.join(id("zombie").file_name("session.lock"));
    let others = ["zombie.lock", "zombie.session.lock"].map(|name| sessions.join(name));
    let stranger = sessions.join("stranger.pid");
    for file in others.iter().chain([&zombie, &stranger]) {
        std::fs::write(file, "").unwrap();
    }

    let dry = clean(&backend, 1, Mode::Clean, &Options { dry_run: true, ..Options::default() });
    assert_eq!(dry.stray_files, 3, "{dry:?}");
    assert!(zombie.exists());
    let report = clean(&backend, 1, Mode::Clean, &Options::default());
    assert_clean(&report);
    assert_eq!(report.stray_files, 3);
    assert!(!zombie.exists() && others.iter().all(|file| !file.exists()));
    assert!(stranger.exists(), "it is not ours");
    assert!(is_there(&backend, &id("living")));

    // A lock that a process holds is in use, even if there is no document yet.
    let presence = backend.share(&id("zombie"), &holder(), Wait::NONE).unwrap();
    let report = clean(&backend, 2, Mode::Clean, &Options::default());
    assert_eq!(report.stray_files, 0);
    drop(presence);
}
