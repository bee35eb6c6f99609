//! Cleanups of real stores: what goes, what stays, and what happens when several want to.
//!
//! The tests that begin with `verification_` are the four of document 004, some of them twice: within
//! a process, and between processes.

mod automatic;
mod processes;
mod refusing;
mod verification;

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use osm_identity::{Pid, ProcessInstance, ProcessSource, SessionId, System};
use osm_store::audit::{Action, Event};
use osm_store::backend::{ArchiveKind, Backend, Holder, Wait};
use osm_store::cleanup::{Cleaner, Item, Options, Report, Skip, Warning, apply};
use osm_store::retention::{Candidate, Mode, Policy, Reason, Survey, Uptime, plan};
use osm_store::{Error, retention};
use serde_json::json;

use crate::harness::{Home, Single, get, id, memory, myself, now, put};
use refusing::Refusing;

fn holder() -> Holder {
    myself("a test")
}

fn save(backend: &dyn Backend, id: &SessionId, document: &str) {
    put(backend, id, document).unwrap();
}

fn is_there(backend: &dyn Backend, id: &SessionId) -> bool {
    get(backend, id).is_some()
}

fn in_days(days: i64) -> Timestamp {
    now() + SignedDuration::from_hours(24 * days)
}

/// Runs a test on every store.
fn everywhere(test: impl Fn(&dyn Backend)) {
    test(&memory());
    test(&Home::new().open());
}

/// The usual limits; but what goes into the trash today is not thrown away by the next cleanup of a
/// test that plays in the future.
fn lasting() -> Policy {
    Policy { trash_days: 0, ..Policy::default() }
}

/// Cleans as a command would, at a time so many days from now.
fn clean(backend: &dyn Backend, days: i64, mode: Mode, options: &Options) -> Report {
    cleaner(backend, days, &Policy::default(), |cleaner| {
        cleaner.clean_up(mode, options, &mut |_| {}).unwrap()
    })
}

/// A machine that was up all the time until then.
fn cleaner<T>(
    backend: &dyn Backend,
    days: i64,
    policy: &Policy,
    run: impl FnOnce(Cleaner) -> T,
) -> T {
    cleaner_after(backend, days, days, policy, run)
}

/// The same on a machine that was up for so many days since now.
fn cleaner_after<T>(
    backend: &dyn Backend,
    days: i64,
    days_up: i64,
    policy: &Policy,
    run: impl FnOnce(Cleaner) -> T,
) -> T {
    let up = u64::try_from(10_000 + days_up).unwrap();
    let uptime = Uptime { boot: "a boot".into(), elapsed: Duration::from_hours(24 * up) };
    let later = Refusing::new(backend, &[]).ahead(days);
    run(Cleaner {
        backend: &later,
        policy,
        holder: &holder(),
        current: &[id("mine")],
        processes: &System::new(),
        uptime: &uptime,
    })
}

fn removed(report: &Report) -> Vec<&SessionId> {
    report.removed.iter().map(|removal| &removal.id).collect()
}

fn assert_clean(report: &Report) {
    assert!(report.failed.is_empty(), "{report:?}");
    assert!(report.skipped.is_empty(), "{report:?}");
    assert!(report.warnings.is_empty(), "{report:?}");
}

#[test]
fn the_oldest_go_first_and_the_number_holds() {
    everywhere(|backend| {
        for n in 0..8 {
            save(backend, &id(&format!("{n}")), "x");
            std::thread::sleep(Duration::from_millis(15)); // Clocks of files tick slowly.
        }
        let policy = Policy { max_count: 5, ..Policy::default() };
        let report = cleaner(backend, 0, &policy, |cleaner| {
            cleaner.clean_up(Mode::Clean, &Options::default(), &mut |_| {}).unwrap()
        });
        assert_clean(&report);
        assert_eq!(removed(&report), [&id("0"), &id("1"), &id("2")]);
        assert_eq!(backend.entries().unwrap().len(), 5);
    });
}

#[test]
fn a_dry_run_does_nothing_and_tells_the_truth() {
    everywhere(|backend| {
        for n in 0..5 {
            save(backend, &id(&format!("{n}")), "x");
        }
        let refusing = Refusing::new(backend, &["note", "audit"]);
        let options = Options { dry_run: true, ..Options::default() };
        let before = backend.entries().unwrap();
        let dry = clean(&refusing, 365, Mode::Clean, &options);
        assert_clean(&dry);
        assert!(dry.dry_run);
        assert_eq!(backend.entries().unwrap(), before);
        assert!(backend.archives_of(ArchiveKind::Trash).unwrap().is_empty());
        assert_eq!(backend.metadata().unwrap(), None);
        // It does not mind another cleanup either.
        let turn = backend.lock_cleanup(&holder()).unwrap().unwrap();
        assert_eq!(clean(backend, 365, Mode::Clean, &options).removed.len(), 5);
        drop(turn);
        let real = clean(backend, 365, Mode::Clean, &Options::default());
        assert_eq!(removed(&real), removed(&dry));
        assert_eq!(real.bytes_trashed, dry.bytes_trashed);
    });
}

#[test]
fn purge_is_for_good() {
    everywhere(|backend| {
        for name in ["a", "b", "mine"] {
            save(backend, &id(name), "x");
        }
        backend.archive(ArchiveKind::Trash, "old", b"x").unwrap();
        backend.archive(ArchiveKind::Archive, "kept", b"x").unwrap();
        let watched = Refusing::new(backend, &[]);
        let report = clean(&watched, 0, Mode::Purge, &Options::default());
        assert_clean(&report);
        assert_eq!(report.removed.len(), 2);
        assert!(report.removed.iter().all(|removal| removal.reason == Reason::Purged));
        assert!(is_there(backend, &id("mine")));
        assert!(backend.archives_of(ArchiveKind::Trash).unwrap().is_empty());
        assert_eq!(backend.archives_of(ArchiveKind::Archive).unwrap().len(), 1);
        assert_eq!(report.bytes_trashed, 0);
        assert!(report.bytes_freed > 2);
        assert_eq!(Event::parse(&watched.audit()[0]).unwrap().what, Action::Purge);
    });
}

/// A plan that removes these sessions as they are now.
fn plan_to_remove(backend: &dyn Backend, names: &[&str]) -> retention::Plan {
    let entries = backend.entries().unwrap().into_iter();
    let sessions = entries.filter(|entry| names.iter().any(|name| entry.id == id(name)));
    let survey = Survey {
        sessions: sessions
            .map(|entry| Candidate {
                id: entry.id,
                size: entry.size,
                modified: entry.modified,
                last_used: None,
                active: false,
                readable: true,
                damaged: false,
                anchor: retention::AnchorLife::Unknown,
                stamp: entry.stamp,
            })
            .collect(),
        archived: Vec::new(),
        current: Vec::new(),
        leap: None,
        now: in_days(365),
    };
    plan(&survey, &Policy::default(), Mode::Clean)
}

#[test]
fn what_moved_after_the_plan_stays() {
    everywhere(|backend| {
        for name in ["changed", "opened", "gone", "same"] {
            save(backend, &id(name), "x");
        }
        let plan = plan_to_remove(backend, &["changed", "opened", "gone", "same"]);
        assert_eq!(plan.removals.len(), 4);
        std::thread::sleep(Duration::from_millis(15));
        save(backend, &id("changed"), "y");
        let presence = backend.share(&id("opened"), &holder(), Wait::NONE).unwrap();
        backend.remove_session(&id("gone"), false).unwrap();

        let report = apply(backend, &holder(), &plan, &Options::default(), &mut |_| {}).unwrap();
        assert!(report.failed.is_empty(), "{report:?}");
        assert_eq!(removed(&report), [&id("same")]);
        let skip = |name: &str| {
            let item = Item::Session(id(name));
            report.skipped.iter().find(|it| it.item == item).map(|it| it.why.clone()).unwrap()
        };
        assert_eq!(skip("changed"), Skip::Changed);
        assert_eq!(skip("gone"), Skip::Gone);
        let Skip::InUse(holders) = skip("opened") else { panic!("{report:?}") };
        assert!(
            holders.iter().all(|holder| holder.process.pid.0 == std::process::id()),
            "{holders:?}"
        );
        assert!(is_there(backend, &id("changed")) && is_there(backend, &id("opened")));
        drop(presence);
    });
}

#[test]
fn one_failure_does_not_stop_the_rest() {
    everywhere(|backend| {
        for name in ["a", "b", "c"] {
            save(backend, &id(name), "x");
        }
        let stuck = backend.archive(ArchiveKind::Archive, "stuck", b"x").unwrap();
        backend.archive(ArchiveKind::Archive, "loose", b"x").unwrap();
        let refused = [
            format!("remove {}", id("b")),
            format!("discard {stuck}"),
            "archived recovered".to_owned(),
            "sweep".to_owned(),
            "audit".to_owned(),
            "note".to_owned(),
        ];
        let refused: Vec<&str> = refused.iter().map(String::as_str).collect();
        let report =
            clean(&Refusing::new(backend, &refused), 365, Mode::Clean, &Options::default());
        assert_eq!(removed(&report), [&id("a"), &id("c")]);
        assert_eq!(report.discarded.len(), 1);
        let failed: Vec<String> = report.failed.iter().map(|it| it.item.to_string()).collect();
        let mut expected =
            vec!["recovered/".to_owned(), format!("archive/{stuck}"), id("b").to_string()];
        expected.extend(backend.files().map(|_| "stray files of crashed processes".to_owned()));
        assert_eq!(failed, expected);
        assert_eq!(report.warnings.len(), 2, "{report:?}");
        assert!(matches!(report.warnings[0], Warning::NotAudited(_)), "{report:?}");
        assert!(matches!(report.warnings[1], Warning::NotRecorded(_)), "{report:?}");
        let json = serde_json::to_value(&report).unwrap();
        assert_eq!(json["failed"][2]["item"], id("b").as_str());

        // If there is nothing to go by, nothing is done.
        let blind = Refusing::new(backend, &["list"]);
        cleaner(&blind, 365, &Policy::default(), |cleaner| {
            let result = cleaner.clean_up(Mode::Clean, &Options::default(), &mut |_| {});
            assert!(matches!(result, Err(Error::Io { .. })));
        });
        assert!(is_there(backend, &id("b")));
    });
}

#[test]
fn the_audit_tells_who_removed_what_and_why() {
    let backend = &memory();
    let count = 1100;
    for n in 0..count {
        save(backend, &id(&n.to_string()), "x");
    }
    let options = Options { reason: Some("asked"), ..Options::default() };
    let report = clean(backend, 365, Mode::Clean, &options);
    assert_eq!(report.removed.len(), count);
    let events: Vec<Event> =
        backend.audit_lines().iter().map(|line| Event::parse(line).unwrap()).collect();
    assert_eq!(events.len(), 3, "500 to a line");
    let mut told = Vec::new();
    for event in &events {
        assert_eq!(event.what, Action::Clean);
        assert_eq!(event.who.pid, std::process::id());
        assert_eq!(event.who.session, Some(id("mine")));
        assert_eq!(event.reason.as_deref(), Some("asked"));
        assert!(!event.forced);
        for removed in event.before["removed"].as_array().unwrap() {
            assert_eq!(removed["reason"]["rule"], "age");
            assert_eq!(removed["size"], 1);
            told.push(removed["id"].as_str().unwrap().to_owned());
        }
    }
    let gone: Vec<String> = removed(&report).iter().map(ToString::to_string).collect();
    assert_eq!(told, gone);
    assert!(events[0].after.is_null());
    assert_eq!(events[2].after["removed"], count);
    assert_eq!(events[2].after["bytes_trashed"], count);
}

#[test]
fn opening_a_session_keeps_it_from_being_idle() {
    everywhere(|backend| {
        let used = json!({"at": in_days(5)});
        save(backend, &id("opened"), &format!("{{\"last_used\":{used},\n\"version\":\"1.0.0\"}}"));
        save(backend, &id("left"), "x");
        let policy = Policy { max_idle_days: 7, ..Policy::default() };
        let clean = |days| {
            cleaner(backend, days, &policy, |cleaner| {
                cleaner.clean_up(Mode::Clean, &Options::default(), &mut |_| {}).unwrap()
            })
        };
        let report = clean(10);
        assert_eq!(removed(&report), [&id("left")]);
        assert!(matches!(report.removed[0].reason, Reason::Idle { limit: 7, .. }));
        assert_eq!(removed(&clean(13)), [&id("opened")]);
    });
}

#[test]
fn sessions_of_the_dead_go_sooner() {
    let mut child = processes::sleeper();
    let system = System::new();
    let process = system.process(Pid(child.id())).unwrap();
    let instance = ProcessInstance::of(&process, &system.host().unwrap(), &system);
    let document = |source: &str| {
        let origin = json!({"source": source, "host": "here", "anchor": {
            "pid": instance.pid.0, "start": instance.start.0, "boot": instance.boot,
            "namespace": instance.namespace, "inode": instance.inode, "name": "sleeper",
        }});
        format!("{{\"version\":\"1.0.0\",\"origin\":{origin},\"head\":1,\n\"shared_state\":{{}}}}")
    };
    let home = Home::new();
    let (memory, files) = (memory(), home.open());
    let stores: [&dyn Backend; 2] = [&memory, &files];
    for backend in stores {
        save(backend, &id("process"), &document("agent-process"));
        save(backend, &id("conversation"), &document("agent-conversation"));
        let report = clean(backend, 20, Mode::Clean, &Options::default());
        assert!(report.removed.is_empty(), "it lives: {report:?}");
    }
    child.kill().unwrap();
    child.wait().unwrap();
    for backend in stores {
        assert!(clean(backend, 13, Mode::Clean, &Options::default()).removed.is_empty());
        let report = clean(backend, 20, Mode::Clean, &Options::default());
        assert_eq!(removed(&report), [&id("process")], "a conversation can be resumed");
        assert!(matches!(report.removed[0].reason, Reason::Defunct { limit: 14, .. }));
    }
}
