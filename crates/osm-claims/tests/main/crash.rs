//! Killed, or failed, at every system call: the ledger is whole, and what was asked for is done or
//! not done.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use osm_claims::event::Filter;
use osm_claims::{ClaimOptions, Claims, SqliteLedger, SystemProbe};
use osm_identity::System;
use osm_testkit::stops::{FolderBy, Stops, copy_folder};
use osm_testkit::{tools, trials};
use rusqlite::Connection;

use crate::claimant::{program, say};
use crate::harness::{replayed, report, resource, without_process};

/// Everything by which a ledger is read or changed.
const CALLS: &str = "openat,open,creat,write,pwrite64,writev,read,pread64,fsync,fdatasync,rename,\
    renameat,renameat2,unlink,unlinkat,mkdir,mkdirat,ftruncate,fallocate,fchmod,chmod,fchown,fcntl,\
    mmap,lseek,newfstatat,statx,fstat,lstat,stat,access,faccessat2,readlink,linkat,link";

/// The longest log that the first change of a process is added to: 64 pages with their heads.
const LONGEST_LOG: u64 = 64 * (24 + 4096);

/// A ledger to begin with, copied for every attempt.
struct Stage {
    folder: tempfile::TempDir,
    template: PathBuf,
}

impl Stage {
    /// Commands that make the ledger; each is a claimant's arguments.
    fn new(commands: &[&[&str]]) -> Self {
        // In memory: what counts is which calls were made, not how long a disk takes for them.
        let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
        let template = folder.path().join("template");
        std::fs::create_dir(&template).unwrap();
        for command in commands {
            say(&template, command);
        }
        Self { folder, template }
    }

    /// The same, with a log so long that the next change copies it into the file first.
    fn with_long_log() -> Self {
        let makers = Self::new(&[&["other", "claim", "another task"]]);
        let reader = open(&makers.template);
        let log = makers.template.join("claims.db-wal");
        for number in 0.. {
            say(&makers.template, &["other", "claim", &format!("another task {number}")]);
            if log.metadata().unwrap().len() > LONGEST_LOG {
                break;
            }
        }
        let template = makers.copy("long");
        drop(reader);
        Self { template, ..makers }
    }

    fn copy(&self, name: &str) -> PathBuf {
        let root = self.folder.path().join(name);
        drop(std::fs::remove_dir_all(&root));
        copy_folder(&self.template, &root).unwrap();
        root
    }
}

/// What stands in a ledger, in a few words: who holds what, and what happened.
fn state(root: &Path) -> String {
    let claims = open(root);
    let requester = without_process("reader");
    let held = claims.list(&requester, true).unwrap();
    let held: Vec<_> = held
        .iter()
        .map(|it| {
            (&it.claim.resource, &it.claim.owner.session, it.claim.offer.as_ref().map(|it| &it.to))
        })
        .collect();
    let events = claims.log(&requester, true, &Filter::default()).unwrap();
    let events: Vec<_> = events.iter().map(|it| (it.epoch, it.transition.name(), &it.by)).collect();
    format!("{held:?} {events:?}")
}

fn open(root: &Path) -> Claims {
    let ledger = SqliteLedger::open(root, &System).unwrap();
    Claims::new(Box::new(ledger), Box::new(SystemProbe(System)))
}

/// That a ledger is in order, whatever happened to it.
fn is_whole(root: &Path, point: &str) {
    let claims = open(root);
    let requester = without_process("next");
    replayed(&claims, &requester);
    let connection = Connection::open(root.join("claims.db")).unwrap();
    let word = |sql| connection.query_row(sql, [], |row| row.get::<_, String>(0)).unwrap();
    assert_eq!(word("PRAGMA integrity_check"), "ok", "{point}");
    let two = "SELECT count(*) FROM (SELECT 1 FROM claim WHERE ended IS NULL
               GROUP BY scope, resource HAVING count(*) > 1)";
    let two: i64 = connection.query_row(two, [], |row| row.get(0)).unwrap();
    assert_eq!(two, 0, "{point}: two open claims");
}

/// Tries every call of a command.
fn at_every_call(name: &str, stage: &Stage, arguments: &[&str]) {
    trials::need(tools::program("strace"));
    let log = stage.folder.path().join("log");
    let (program, folder_by) = (program(), FolderBy::Argument);
    let stops = Stops { launcher: Vec::new(), program, folder_by, calls: CALLS, log };
    let done = stage.copy("done");
    let points = stops.points(&done, arguments).unwrap();
    let (before, after) = (state(&stage.copy("before")), state(&done));
    assert_ne!(before, after);
    let (mut kept, mut changed) = (0, 0);
    for point in &points {
        let root = stage.copy("attempt");
        let output: Output = stops.run(&root, arguments, Some(point)).unwrap();
        is_whole(&root, point);
        let now = state(&root);
        if now == after {
            changed += 1;
        } else {
            assert_eq!(now, before, "{name}, {point}: half done");
            // A sweep that could not look at the owner frees nothing, and says so.
            let denied = output.stdout == b"freed 0\n";
            let acknowledged = output.status.success() && !denied;
            assert!(!acknowledged, "{name}, {point}: acknowledged and lost");
            kept += 1;
        }
        let (claims, next) = (open(&root), without_process("next"));
        claims.take(&next, &resource("task"), true, &ClaimOptions::default()).unwrap();
        claims.release(&next, &resource("task"), None, false).unwrap();
        is_whole(&root, point);
    }
    let count = points.len();
    assert!(
        count > 60 && kept > 0 && changed > 0,
        "{count} points, {kept} kept, {changed} changed"
    );
    report(&format!("{name}: killed or failed at {count} points, {changed} done, {kept} not done"));
}

#[test]
fn a_claim() {
    let stage = Stage::new(&[&["other", "claim", "another task"]]);
    at_every_call("claim", &stage, &["owner", "claim", "task"]);
}

#[test]
fn the_first_claim() {
    let stage = Stage::new(&[]);
    at_every_call("first claim", &stage, &["owner", "claim", "task"]);
}

#[test]
fn a_claim_that_ends_a_long_log() {
    at_every_call("a long log", &Stage::with_long_log(), &["owner", "claim", "task"]);
}

#[test]
fn a_release() {
    let stage = Stage::new(&[&["owner", "claim", "task"]]);
    at_every_call("release", &stage, &["owner", "release", "task"]);
}

#[test]
fn a_hand_off() {
    let stage = Stage::new(&[&["owner", "claim", "task"], &["owner", "offer", "task", "heir"]]);
    at_every_call("hand-off", &stage, &["heir", "accept", "task"]);
}

#[test]
fn a_sweep() {
    let mut owner = Command::new("sleep").arg("1000").stdin(Stdio::null()).spawn().unwrap();
    let who = format!("owner@{}", owner.id());
    let stage = Stage::new(&[&[&who, "claim", "task"]]);
    owner.kill().unwrap();
    owner.wait().unwrap();
    at_every_call("sweep", &stage, &["sweeper", "sweep"]);
}
