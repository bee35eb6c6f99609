//! Killed, or failed, at every system call: the ledger is whole, and what was asked for is done or
//! not done.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use osm_claims::error::Corruption;
use osm_claims::event::Filter;
use osm_claims::{ClaimOptions, Claims, Error, SqliteLedger, SystemProbe};
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

/// The bytes of the files that a repair replaces, as they are in a folder.
fn files(folder: &Path) -> [Option<Vec<u8>>; 3] {
    ["claims.db", "claims.db-wal", "claims.mark"].map(|name| std::fs::read(folder.join(name)).ok())
}

/// The folders with copies of damaged files.
fn copies(root: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(root).unwrap().map(|it| it.unwrap().path());
    let is_copy = |path: &PathBuf| {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        name.starts_with("claims.damaged-") || name == "claims.repairing"
    };
    entries.filter(is_copy).collect()
}

fn contents(folders: &[PathBuf]) -> Vec<[Option<Vec<u8>>; 3]> {
    folders.iter().map(|folder| files(folder)).collect()
}

/// Everything by which a repair changes a file: between two of them, files are the same. The locks of
/// SQLite are left out, for which it would wait.
const CHANGES: &str = "openat,write,pwrite64,copy_file_range,sendfile,fsync,fdatasync,rename,\
    renameat,renameat2,unlink,unlinkat,rmdir,mkdir,mkdirat,ftruncate,fchmod,chmod";

#[test]
fn a_repair() {
    const HELD: usize = 8;
    trials::need(tools::program("strace"));
    let tasks: Vec<String> = (0..HELD).map(|number| format!("task {number}")).collect();
    let claims: Vec<[&str; 3]> = tasks.iter().map(|task| ["owner", "claim", task]).collect();
    let claims: Vec<&[&str]> = claims.iter().map(|claim| &claim[..]).collect();
    let stage = Stage::new(&claims);
    // The end of the log is lost: what is in its beginning and in the file can be read.
    let log = std::fs::OpenOptions::new().write(true).open(stage.template.join("claims.db-wal"));
    let log = log.unwrap();
    log.set_len(log.metadata().unwrap().len() / 2).unwrap();
    drop(log);
    let damaged = files(&stage.template);

    let trace = stage.folder.path().join("log");
    let (program, folder_by) = (program(), FolderBy::Argument);
    let stops = Stops { launcher: Vec::new(), program, folder_by, calls: CHANGES, log: trace };
    let done = stage.copy("done");
    let arguments = ["-", "repair"];
    let mut points = stops.points(&done, &arguments).unwrap();
    // It handles no signal: all of them end it alike.
    points.retain(|point| !point.contains("TERM") && !point.contains("INT"));
    let after = state(&done);
    let held = open(&done).list(&without_process("reader"), true).unwrap().len();
    assert!((1..HELD).contains(&held), "some can be read: {held}");
    let (mut untouched, mut changed, mut interrupted) = (0, 0, 0);
    for point in &points {
        let root = stage.copy("attempt");
        let output = stops.run(&root, &arguments, Some(point)).unwrap();
        let copies_then = copies(&root);
        if files(&root) == damaged {
            untouched += 1;
            assert!(!output.status.success(), "{point}: acknowledged and not done");
        } else {
            changed += 1;
            assert_eq!(
                contents(&copies_then),
                std::slice::from_ref(&damaged),
                "{point}: changed without a copy"
            );
        }
        match SqliteLedger::open(&root, &System) {
            // Acknowledged or not, it is repaired.
            Ok(_) if copies_then.iter().any(|copy| !copy.ends_with("claims.repairing")) => {
                assert_eq!(state(&root), after, "{point}");
            }
            Ok(ledger) => {
                let claims = Claims::new(Box::new(ledger), Box::new(SystemProbe(System)));
                let error = claims.list(&without_process("reader"), true).unwrap_err();
                assert!(matches!(error, Error::Corrupt(_)), "{point}: {error}");
            }
            Err(Error::Corrupt(Corruption::Interrupted)) => interrupted += 1,
            Err(error) => panic!("{point}: {error}"),
        }
        // A second one finds all that the first one had.
        say(&root, &arguments);
        assert_eq!(state(&root), after, "{point}: repaired again");
        assert_eq!(
            contents(&copies(&root)),
            std::slice::from_ref(&damaged),
            "{point}: copied again"
        );
        is_whole(&root, point);
        let (claims, next) = (open(&root), without_process("next"));
        let granted = claims.claim(&next, &resource("new"), &ClaimOptions::default()).unwrap();
        assert_eq!(granted.claim.epoch.0, 1_000_000, "{point}");
    }
    let count = points.len();
    assert!(untouched > 0 && changed > 0 && interrupted > 0, "{untouched}, {changed}");
    report(&format!(
        "repair: killed or failed at {count} points, {changed} of them after the first change, \
         {interrupted} of which left it to the next repair"
    ));
}
