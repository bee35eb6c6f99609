//! Locks across processes: who is in the way, for how long, and what a kill leaves behind.

use std::sync::Barrier;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use jiff::SignedDuration;
use osm_store::Error;
use osm_store::backend::{Backend, Wait};

use crate::child::Child;
use crate::harness::{Home, Single, entry, get, id, myself, names, now, put};

#[test]
fn presence_ends_with_the_process_however_it_ends() {
    let home = Home::new();
    let (backend, x) = (home.open(), id("x"));
    put(&backend, &x, "{}").unwrap();
    let mut killed = Child::start("attend x", &home.root());
    killed.expect("attending");
    let mut leaving = Child::start("attend x", &home.root());
    leaving.expect("attending");

    assert!(entry(&backend, &x).unwrap().active);
    let pids = || -> Vec<_> {
        backend.holders(&x).unwrap().into_iter().map(|holder| holder.process.pid.0).collect()
    };
    assert_eq!(pids(), [killed.pid(), leaving.pid()]);
    let refused = backend.remove_session(&x, false).unwrap_err();
    assert!(refused.to_string().contains(&killed.pid().to_string()), "{refused}");

    killed.kill();
    assert_eq!(pids(), [leaving.pid()], "the dead are left out");
    leaving.go_on();
    leaving.expect("left");
    assert!(pids().is_empty(), "who left while it lives is left out, too");
    assert!(!entry(&backend, &x).unwrap().active);
    backend.remove_session(&x, false).unwrap();
    leaving.go_on();
    leaving.finish();
}

#[test]
fn waiting_is_bounded_and_names_the_holder() {
    let home = Home::new();
    let (backend, x) = (home.open(), id("x"));
    put(&backend, &x, "old").unwrap();
    let mut child = Child::start("change x", &home.root());
    child.expect("changing");

    let began = Instant::now();
    let wait = Wait(Duration::from_millis(400));
    let mut never = |_| panic!("another process is changing it");
    let refused = backend.update(&x, None, &myself("me"), wait, &mut never).unwrap_err();
    let took = began.elapsed();
    assert!(took >= wait.0 && took < wait.0 * 10, "{took:?}");
    assert!(
        matches!(&refused, Error::Busy { holders, .. }
            if holders.len() == 1 && holders[0].process.pid.0 == child.pid()),
        "{refused}"
    );
    assert!(refused.to_string().contains("`change`"), "{refused}");
    assert_eq!(get(&backend, &x).as_deref(), Some("old"), "reading needs no lock");

    child.kill();
    put(&backend, &x, "new").unwrap();
    assert_eq!(get(&backend, &x).as_deref(), Some("new"), "a kill frees at once");
}

#[test]
fn one_cleanup_at_a_time() {
    let home = Home::new();
    let backend = home.open();
    let mut child = Child::start("clean 60", &home.root());
    child.expect("cleaning");
    assert!(backend.lock_cleanup(&myself("me")).unwrap().is_none());
    child.kill();
    assert!(backend.lock_cleanup(&myself("me")).unwrap().is_some());
}

#[test]
fn looking_never_makes_opening_fail() {
    let home = Home::new();
    let (backend, x) = (home.open(), id("x"));
    put(&backend, &x, "{}").unwrap();
    let done = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while !done.load(std::sync::atomic::Ordering::Relaxed) {
                    // This takes the lock for a moment, to see whether anybody has it.
                    backend.holders(&x).unwrap();
                }
            });
        }
        for _ in 0..300 {
            drop(backend.share(&x, &myself("me"), Wait::NONE).unwrap());
        }
        done.store(true, std::sync::atomic::Ordering::Relaxed);
    });
}

/// A list is made from the system's list of locks, which it hands out piece by piece while other
/// locks come and go. No other system has such a list.
#[cfg(target_os = "linux")]
#[test]
fn an_open_session_is_listed_while_other_locks_come_and_go() {
    let home = Home::new();
    let (backend, x) = (home.open(), id("x"));
    put(&backend, &x, "{}").unwrap();
    let file = |number| std::fs::File::create(home.root().join(format!("other-{number}"))).unwrap();
    // More than the system tells in one piece.
    let others: Vec<_> = (0..300).map(file).collect();
    for other in &others {
        other.lock_shared().unwrap();
    }
    let _presence = backend.share(&x, &myself("me"), Wait::NONE).unwrap();
    let done = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(std::sync::atomic::Ordering::Relaxed) {
                for other in &others {
                    other.unlock().unwrap();
                    other.lock_shared().unwrap();
                }
            }
        });
        let seen = (0..300).filter(|_| entry(&backend, &x).unwrap().active).count();
        done.store(true, std::sync::atomic::Ordering::Relaxed);
        assert_eq!(seen, 300);
    });
}

#[test]
fn a_roster_is_tidied_and_never_grows_for_ever() {
    let home = Home::new();
    let (backend, x) = (home.open(), id("x"));
    let longest = || {
        let folder = home.sessions();
        let sizes = names(&folder).into_iter().filter(|name| name.contains(".session.lock"));
        sizes.map(|name| folder.join(name).metadata().unwrap().len()).max().unwrap()
    };
    for _ in 0..200 {
        drop(backend.share(&x, &myself("one of many"), Wait::NONE).unwrap());
    }
    assert!(longest() < 20_000, "{} bytes", longest());

    let stays = backend.share(&x, &myself("stays"), Wait::NONE).unwrap();
    for _ in 0..400 {
        drop(backend.share(&x, &myself("one of many"), Wait::NONE).unwrap());
    }
    assert!(longest() < 70_000, "{} bytes", longest());
    assert_eq!(backend.holders(&x).unwrap().len(), 1);
    drop(stays);
    let next = backend.share(&x, &myself("next"), Wait::NONE).unwrap();
    assert_eq!(backend.holders(&x).unwrap()[0].command, "next");
    assert!(longest() < 1000, "emptied when the lock was free");
    drop(next);
}

#[test]
fn records_of_another_machine_in_a_free_lock_are_told() {
    let home = Home::new();
    let (backend, x) = (home.open(), id("x"));
    let foreign = |since| {
        let mut holder = myself("elsewhere");
        holder.process.boot = "another boot".into();
        holder.host = "there".into();
        holder.since = since;
        holder
    };
    drop(backend.share(&x, &myself("me"), Wait::NONE).unwrap());
    let extension = if cfg!(windows) { "session.lock.holders" } else { "session.lock" };
    let file = home.sessions().join(format!("{x}.{extension}"));
    let line = |holder| serde_json::to_string(&holder).unwrap();
    let (old, fresh) = (foreign(now() - SignedDuration::from_hours(25)), foreign(now()));
    std::fs::write(&file, format!("{}\n{}\nrubbish\n{{\n", line(old), line(fresh.clone())))
        .unwrap();

    assert_eq!(
        backend.files().unwrap().foreign_holders(&x, "here").unwrap(),
        std::slice::from_ref(&fresh)
    );
    assert_eq!(backend.files().unwrap().foreign_holders(&x, "there").unwrap(), [], "that is us");
    assert!(backend.holders(&x).unwrap().is_empty(), "the lock is free");

    let here = backend.share(&x, &myself("me"), Wait::NONE).unwrap();
    assert_eq!(
        backend.files().unwrap().foreign_holders(&x, "here").unwrap(),
        [fresh],
        "our own lock does not explain theirs"
    );
    drop(here);
    assert_eq!(backend.files().unwrap().foreign_holders(&id("y"), "here").unwrap(), []);
}

/// The most changes by others that a writer saw between asking for the right to save and having it.
fn most_overtakings(backend: &impl Backend, writers: usize, changes: usize) -> usize {
    let (granted, start) = (AtomicUsize::new(0), Barrier::new(writers));
    let write = |writer: usize| {
        let (x, me) = (id("x"), myself(&format!("writer {writer}")));
        start.wait();
        let mut most = 0;
        for _ in 0..changes {
            let asked = granted.load(Ordering::SeqCst);
            let mut next = |_| {
                most = most.max(granted.fetch_add(1, Ordering::SeqCst) - asked);
                // A save that the disk keeps waiting.
                std::thread::sleep(Duration::from_millis(3));
                Ok(Some(b"{}".to_vec().into()))
            };
            backend.update(&x, None, &me, Wait(Duration::from_mins(1)), &mut next).unwrap();
        }
        most
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> =
            (0..writers).map(|writer| scope.spawn(move || write(writer))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).max().unwrap_or(0)
    })
}

#[test]
#[cfg(unix)]
fn writers_take_turns() {
    let home = Home::new();
    let (writers, changes) = (16, 20);
    let most = most_overtakings(&home.open(), writers, changes);
    // Each of the others once, and some that came while this one was on its way into the queue.
    assert!(most <= 4 * writers, "one writer waited for {most} changes of the 15 others");
    assert_eq!(names(&home.root().join("queue")), [""; 0], "every ticket is gone");
}

/// A process that is killed while it waits keeps no other from its turn.
#[test]
#[cfg(unix)]
fn a_dead_process_in_the_queue_is_passed_over() {
    let home = Home::new();
    let (backend, x) = (home.open(), id("x"));
    put(&backend, &x, "old").unwrap();
    let mut holder = Child::start("change x", &home.root());
    holder.expect("changing");
    let mut waiting = Child::start("increment x 1", &home.root());
    waiting.expect("ready");
    waiting.go_on();
    let queue = home.root().join("queue");
    while names(&queue).iter().all(|name| name.starts_with('.')) {
        std::thread::sleep(Duration::from_millis(1));
    }
    waiting.kill();
    holder.kill();
    put(&backend, &x, "new").unwrap();
    assert_eq!(get(&backend, &x).as_deref(), Some("new"));
    assert_eq!(names(&queue), [""; 0], "its ticket is removed");
}
