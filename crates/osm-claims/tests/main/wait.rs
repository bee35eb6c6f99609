//! Waiting: what a waiter gets, and why.
//!
//! A waiter looks again after a few seconds even without a notification, so the tests of `wait` show the
//! order and the cause, not the waking; `a_watch_ends_with_what_it_watches` shows that, for a write
//! and for a death.

use std::path::Path;
use std::sync::mpsc::{Receiver, channel};
use std::thread::{JoinHandle, spawn};
use std::time::Duration;

use osm_claims::rules::Change;
use osm_claims::{
    ClaimOptions, Claims, End, Outcome, Reason, Requester, SqliteLedger, SystemProbe,
};
use osm_identity::{ProcessInstance, System};

use crate::claimant::{Claimant, say};
use crate::harness::{refused, requester, resource, without_process};

const LONG: Duration = Duration::from_mins(10);

fn open(folder: &Path) -> Claims {
    let ledger = SqliteLedger::open(folder, &System).unwrap();
    Claims::new(Box::new(ledger), Box::new(SystemProbe(System)))
}

/// This process, as a session.
fn myself(session: &str) -> Requester {
    requester(session, Some(ProcessInstance::with_pid(std::process::id(), &System).unwrap()))
}

/// Waits for a resource in a thread; tells of each attempt that was refused.
fn wait(folder: &Path, who: Requester) -> (Receiver<Reason>, JoinHandle<Outcome>) {
    let (refusals, heard) = channel();
    let folder = folder.to_owned();
    let waiter = spawn(move || {
        let claims = open(&folder);
        let attempt = || {
            let outcome = claims.claim(&who, &resource("task"), &ClaimOptions::default());
            if let Err(error) = &outcome {
                refusals.send(error.refusal().unwrap().reason).unwrap();
            }
            outcome
        };
        claims.wait(LONG, attempt).unwrap()
    });
    (heard, waiter)
}

#[test]
fn a_release_by_another_process() {
    let folder = tempfile::tempdir().unwrap();
    let owner = Claimant::start(folder.path(), &["owner@self", "hold", "task"]);
    let (refusals, waiter) = wait(folder.path(), myself("waiter"));
    assert_eq!(refusals.recv(), Ok(Reason::Held));
    assert!(owner.finish().starts_with("Close(Released)"));
    assert_eq!(waiter.join().unwrap().change, Change::Grant(None));
}

#[test]
fn the_death_of_the_owner() {
    let folder = tempfile::tempdir().unwrap();
    let mut owner = Claimant::start(folder.path(), &["owner@self", "hold", "task"]);
    let (refusals, waiter) = wait(folder.path(), myself("waiter"));
    assert_eq!(refusals.recv(), Ok(Reason::Held));
    owner.kill();
    let outcome = waiter.join().unwrap();
    assert_eq!(outcome.change, Change::Grant(Some(End::Died)));
    let evidence = outcome.ended.unwrap().ended.unwrap().evidence.unwrap();
    assert!(evidence.contains(&format!("pid {}", owner.pid())), "{evidence}");
    owner.collect();
}

#[test]
fn the_end_of_an_offer() {
    let folder = tempfile::tempdir().unwrap();
    let mut owner = Claimant::start(folder.path(), &["owner@self", "hold", "task"]);
    let claims = open(folder.path());
    let held = claims.status(&myself("looker"), &resource("task")).unwrap().unwrap().claim;
    let as_owner = requester("owner", held.owner.process.clone());
    let short = ClaimOptions { term: Some(Duration::from_millis(200)), ..ClaimOptions::default() };
    claims.offer(&as_owner, &resource("task"), None, Some("absent"), &short).unwrap();
    owner.kill();
    owner.collect();
    let outcome = claims.wait(Duration::from_secs(4), || {
        // Less than the longest sleep: who is granted it was woken by the end of the offer.
        claims.claim(&myself("waiter"), &resource("task"), &ClaimOptions::default())
    });
    assert_eq!(outcome.unwrap().change, Change::Grant(Some(End::Died)));
}

#[test]
fn the_end_of_a_lease() {
    let folder = tempfile::tempdir().unwrap();
    let claims = open(folder.path());
    let (owner, task) = (without_process("owner"), resource("task"));
    claims.claim(&owner, &task, &ClaimOptions::default()).unwrap();
    let (refusals, waiter) = wait(folder.path(), myself("waiter"));
    assert_eq!(refusals.recv(), Ok(Reason::Held));
    let short = ClaimOptions { term: Some(Duration::from_millis(200)), ..ClaimOptions::default() };
    claims.renew(&owner, &task, None, &short).unwrap();
    assert_eq!(waiter.join().unwrap().change, Change::Grant(Some(End::Expired)));
}

#[test]
fn a_hand_off() {
    let folder = tempfile::tempdir().unwrap();
    say(folder.path(), &["owner", "claim", "task"]);
    let (refusals, waiter) = wait(folder.path(), myself("waiter"));
    assert_eq!(refusals.recv(), Ok(Reason::Held));
    say(folder.path(), &["owner", "offer", "task", "waiter"]);
    assert_eq!(waiter.join().unwrap().change, Change::Grant(Some(End::HandedOff)));
}

/// Nothing but the event ends this, or the test hangs.
#[test]
fn a_watch_ends_with_what_it_watches() {
    let folder = tempfile::tempdir().unwrap();
    let claims = open(folder.path());
    let mut owner = Claimant::start(folder.path(), &["owner@self", "hold", "task"]);
    let process = ProcessInstance::with_pid(owner.pid(), &System).unwrap();
    let mut watch = claims.watch().unwrap();
    say(folder.path(), &["other", "claim", "another task"]);
    claims.watch_for(&mut *watch, &process, LONG).unwrap();
    owner.kill();
    claims.watch_for(&mut *watch, &process, LONG).unwrap();
    let myself = myself("waiter");
    let outcome = claims.claim(&myself, &resource("task"), &ClaimOptions::default()).unwrap();
    assert_eq!(outcome.change, Change::Grant(Some(End::Died)));
    owner.collect();
}

#[test]
fn what_no_time_can_change_is_not_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let claims = open(folder.path());
    let requester = myself("waiter");
    let wait = |name: &str| {
        claims.wait(LONG, || claims.claim(&requester, &resource(name), &ClaimOptions::default()))
    };
    wait("done").unwrap();
    claims.release(&requester, &resource("done"), None, true).unwrap();
    assert_eq!(refused(wait("done")), Reason::Completed);
    let no_time = Duration::ZERO;
    let owner = Claimant::start(folder.path(), &["owner@self", "hold", "task"]);
    let attempt = || claims.claim(&requester, &resource("task"), &ClaimOptions::default());
    assert_eq!(refused(claims.wait(no_time, attempt)), Reason::Held, "the time is over");
    owner.finish();
}
