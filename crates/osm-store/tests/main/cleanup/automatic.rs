//! Cleanups that run by themselves, and the record that they share.

use std::sync::atomic::{AtomicBool, Ordering};

use osm_store::audit::Event;
use osm_store::backend::{ArchiveKind, Backend, Wait};
use osm_store::cleanup::{Options, Progress, Turn, Warning};
use osm_store::metadata::{Metadata, ResetRecord};
use osm_store::retention::{Mode, Policy};
use serde_json::json;

use super::refusing::Refusing;
use super::{clean, cleaner, everywhere, holder, is_there, save};
use crate::harness::{Single, change_record, id, now, set_metadata};

#[test]
fn a_cleanup_that_is_told_to_stop_is_finished_by_the_next() {
    everywhere(|backend| {
        for n in 0..10 {
            save(backend, &id(&n.to_string()), "x");
        }
        let stop = AtomicBool::new(false);
        let watched = Refusing::new(backend, &[]);
        let report = cleaner(&watched, 365, &Policy::default(), |cleaner| {
            let options = Options { stop: Some(&stop), ..Options::default() };
            let mut progress = |progress: Progress| {
                stop.store(progress.done == 3, Ordering::Relaxed);
            };
            cleaner.clean_up(Mode::Clean, &options, &mut progress).unwrap()
        });
        assert!(report.stopped);
        assert_eq!(report.removed.len(), 3);
        assert_eq!(backend.entries().unwrap().len(), 7);
        assert_eq!(Metadata::read(backend).unwrap().metadata.last_cleanup, None);
        // What it did is in the audit nonetheless.
        let event = Event::parse(&watched.audit()[0]).unwrap();
        assert_eq!((&event.after["removed"], &event.after["stopped"]), (&json!(3), &json!(true)));

        let turn = cleaner(backend, 365, &Policy::default(), |cleaner| {
            // Told so from the start, an automatic one does nothing at all.
            let Ok(Turn::Ran(report)) = cleaner.run_if_due(&stop) else { panic!() };
            assert!(report.stopped && report.removed.is_empty());
            cleaner.run_if_due(&AtomicBool::new(false)).unwrap()
        });
        let Turn::Ran(report) = turn else { panic!("{turn:?}") };
        assert_eq!(report.removed.len(), 7);
        assert!(Metadata::read(backend).unwrap().metadata.last_cleanup.is_some());
    });
}

#[test]
fn automatic_cleanups_keep_to_their_interval() {
    everywhere(|backend| {
        let never = AtomicBool::new(false);
        let run = |days, policy: &Policy| {
            cleaner(backend, days, policy, |cleaner| cleaner.run_if_due(&never).unwrap())
        };
        let policy = Policy::default();
        save(backend, &id("a"), "x");
        let off = Policy { auto_cleanup_enabled: false, ..Policy::default() };
        assert!(matches!(run(0, &off), Turn::NotDue));
        let other = backend.lock_cleanup(&holder()).unwrap().unwrap();
        assert!(matches!(run(0, &policy), Turn::Taken));
        drop(other);
        assert!(matches!(run(0, &policy), Turn::Ran(_)));
        assert!(matches!(run(0, &policy), Turn::NotDue));
        assert!(matches!(run(2, &policy), Turn::Ran(_)));
        // The clock was two days ahead: that does not hold up the next one.
        assert!(matches!(run(0, &policy), Turn::Ran(_)));
        assert!(is_there(backend, &id("a")));
    });
}

#[test]
fn a_cleanup_that_another_process_just_ended_is_not_run_again() {
    everywhere(|backend| {
        save(backend, &id("a"), "x");
        let run = |backend: &dyn Backend| {
            let stop = AtomicBool::new(false);
            cleaner(backend, 100, &Policy::default(), |cleaner| cleaner.run_if_due(&stop).unwrap())
        };
        let slow = Refusing::new(backend, &[]).before_lock(|| {
            assert!(matches!(run(backend), Turn::Ran(_)));
        });
        assert!(matches!(run(&slow), Turn::NotDue));
        assert!(!is_there(backend, &id("a")));
    });
}

#[test]
fn a_damaged_record_is_set_aside_once() {
    everywhere(|backend| {
        set_metadata(backend, b"{ damaged").unwrap();
        assert!(Metadata::read(backend).unwrap().damage.is_some());
        let report = clean(backend, 0, Mode::Clean, &Options::default());
        let quarantine = backend.archives_of(ArchiveKind::Quarantine).unwrap();
        assert_eq!(quarantine.len(), 1);
        let name = &quarantine[0].name;
        assert_eq!(
            report.warnings.iter().map(ToString::to_string).collect::<Vec<_>>(),
            [format!("the shared record was damaged and is now quarantine/{name}")]
        );
        assert_eq!(backend.read_archived(ArchiveKind::Quarantine, name).unwrap(), b"{ damaged");
        let found = Metadata::read(backend).unwrap();
        assert_eq!(found.damage, None);
        assert!(found.metadata.last_cleanup.is_some());
        assert!(clean(backend, 0, Mode::Clean, &Options::default()).is_empty());
        assert_eq!(backend.archives_of(ArchiveKind::Quarantine).unwrap().len(), 1);

        // Without room to set it aside it stays as it is.
        set_metadata(backend, b"damaged").unwrap();
        let full = Refusing::new(backend, &["archive metadata"]);
        let report = clean(&full, 0, Mode::Clean, &Options::default());
        assert!(matches!(report.warnings[..], [Warning::NotRecorded(_)]), "{report:?}");
        assert_eq!(backend.metadata().unwrap().unwrap(), b"damaged");
    });
}

#[test]
fn records_of_resets_are_bounded_and_none_is_lost() {
    everywhere(|backend| {
        set_metadata(backend, br#"{"theme":"dark"}"#).unwrap();
        let (threads, each) = (4, 10);
        std::thread::scope(|scope| {
            for thread in 0..threads {
                scope.spawn(move || {
                    for n in 0..each {
                        let record = ResetRecord::new(
                            &id(&format!("{thread}-{n}")),
                            now(),
                            Some("archive".into()),
                            &holder(),
                        );
                        let done = change_record(backend, Wait::USUAL, |it| {
                            it.resets.push(record.clone());
                        });
                        assert_eq!(done.unwrap(), None);
                    }
                });
            }
        });
        let metadata = Metadata::read(backend).unwrap().metadata;
        assert_eq!(metadata.resets.len(), threads * each);
        assert_eq!(metadata.other["theme"], "dark");
        let last = metadata.resets.last().unwrap().clone();
        change_record(backend, Wait::USUAL, |it| {
            it.resets.extend((0..90).map(|_| last.clone()));
        })
        .unwrap();
        assert_eq!(Metadata::read(backend).unwrap().metadata.resets.len(), 100);

        // A long cleanup does not delay a reset.
        let other = backend.lock_cleanup(&holder()).unwrap().unwrap();
        change_record(backend, Wait::NONE, |it| it.resets.clear()).unwrap();
        drop(other);
        assert!(Metadata::read(backend).unwrap().metadata.resets.is_empty());
    });
}
