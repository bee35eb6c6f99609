//! Ledgers with flipped bits, garbled pages, missing ends and files of two times: what is claimed is
//! never granted a second time, however the bytes look.

#![expect(clippy::disallowed_methods, reason = "what is removed here is no user's")]

use std::path::{Path, PathBuf};

use osm_claims::error::Corruption;
use osm_claims::{ClaimOptions, Claims, Error, LivenessProbe, Requester, Result, SqliteLedger};
use osm_identity::{Liveness, ProcessInstance, Proof};
use osm_testkit::stops::copy_folder;

use crate::harness::{Nature, report, resource, with_process, without_process};

const PAGE: usize = 4096;
/// The size of a page in the log, with its head.
const FRAME: usize = 24 + PAGE;
const LOG_HEAD: usize = 32;

/// Only two exact processes run: one whose number is damaged is dead.
struct Exact;

impl LivenessProbe for Exact {
    fn look(&self, process: &ProcessInstance) -> Liveness {
        let pid = process.pid.0;
        if (7..=8).contains(&pid) && process.inode == Some(u64::from(pid)) {
            return Liveness::Alive;
        }
        Liveness::Dead(Proof::Gone)
    }
}

pub(crate) fn open(folder: &Path) -> Result<Claims> {
    let ledger = SqliteLedger::open_with_clock(folder, Box::new(Nature::default()))?;
    Ok(Claims::new(Box::new(ledger), Box::new(Exact)))
}

/// Half of the claims depend on a process, the others are leases.
pub(crate) fn owner(number: usize) -> Requester {
    if number.is_multiple_of(2) { with_process("owner", 7) } else { without_process("leased") }
}

pub(crate) fn claim(folder: &Path, numbers: std::ops::Range<usize>) {
    let claims = open(folder).unwrap();
    for number in numbers {
        let resource = resource(&format!("task {number}"));
        claims.claim(&owner(number), &resource, &ClaimOptions::default()).unwrap();
    }
}

/// A ledger whose claims are partly in its file and partly in its log.
pub(crate) struct Original {
    pub(crate) folder: tempfile::TempDir,
    pub(crate) held: usize,
}

impl Original {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
        let original = Self { folder, held: 40 };
        // Closing it copies a long log into the file.
        claim(&original.path("whole"), 0..30);
        assert!(!original.path("whole/claims.db-wal").exists());
        claim(&original.path("whole"), 30..40);
        assert!(original.path("whole/claims.db-wal").exists());
        original
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn copy(&self, name: &str) -> PathBuf {
        let root = self.path(name);
        drop(std::fs::remove_dir_all(&root));
        copy_folder(&self.path("whole"), &root).unwrap();
        root
    }

    /// Tries to get what is held, from a ledger in which one file has other bytes; whether the
    /// ledger could be used.
    pub(crate) fn attempt(&self, file: &str, bytes: &[u8], what: &str) -> bool {
        let root = self.copy("attempt");
        std::fs::write(root.join(file), bytes).unwrap();
        self.nothing_is_granted(&root, what)
    }

    pub(crate) fn nothing_is_granted(&self, root: &Path, what: &str) -> bool {
        let rival = with_process("rival", 8);
        for number in [0, 1, 15, self.held / 2, self.held - 2, self.held - 1] {
            let task = resource(&format!("task {number}"));
            let outcome =
                open(root).and_then(|it| it.claim(&rival, &task, &ClaimOptions::default()));
            match outcome {
                Ok(outcome) => panic!("{what}: {task} was granted again: {outcome:?}"),
                Err(Error::Refused(_)) => {}
                Err(_) => return false,
            }
        }
        true
    }
}

/// Damages that leave the length as it is: a flipped bit, a page of zeros, a page of other bytes.
fn damaged(bytes: &[u8], start: usize, length: usize) -> Vec<(String, Vec<u8>)> {
    let end = bytes.len().min(start + length);
    let mut variants = Vec::new();
    // An odd distance meets other columns in every page.
    for place in (start..end).step_by(length / 20 - 1) {
        let mut flipped = bytes.to_vec();
        flipped[place] ^= 1 << (place % 8);
        variants.push((format!("bit {} of byte {place}", place % 8), flipped));
    }
    for (name, value) in [("zeros", 0), ("0xa5", 0xa5)] {
        let mut filled = bytes.to_vec();
        filled[start..end].fill(value);
        variants.push((format!("{name} from {start} to {end}"), filled));
    }
    variants
}

#[test]
fn a_damaged_file_grants_nothing_twice() {
    let original = Original::new();
    assert!(original.nothing_is_granted(&original.copy("attempt"), "whole"), "it can be used");
    let (mut tried, mut used) = (0, 0);
    for (file, head, unit) in
        [("claims.db", 0, PAGE), ("claims.db-wal", LOG_HEAD, FRAME), ("claims.mark", 0, PAGE)]
    {
        let bytes = std::fs::read(original.path("whole").join(file)).unwrap();
        let starts = std::iter::once(0).chain((head..bytes.len()).step_by(unit));
        for start in starts.filter(|start| *start < bytes.len()) {
            for (what, bytes) in damaged(&bytes, start, unit) {
                tried += 1;
                used += usize::from(original.attempt(file, &bytes, &format!("{file}: {what}")));
            }
        }
    }
    report(&format!("damaged in {tried} ways, {used} of which change nothing that counts"));
    assert!(used < tried / 2, "damage is noticed");
}

#[test]
fn a_file_that_is_cut_grants_nothing_twice() {
    let original = Original::new();
    for file in ["claims.db", "claims.db-wal"] {
        let bytes = std::fs::read(original.path("whole").join(file)).unwrap();
        for length in (0..bytes.len()).step_by(512) {
            let used =
                original.attempt(file, &bytes[..length], &format!("{file} of {length} bytes"));
            // The end of the file may be in the log as well; the end of the log is nowhere else.
            assert!(!used || file == "claims.db", "{file} of {length} bytes was used");
        }
    }
    let bytes = std::fs::read(original.path("whole/claims.mark")).unwrap();
    for length in (0..bytes.len()).step_by(512) {
        let used = original.attempt("claims.mark", &bytes[..length], "a mark that is cut");
        assert!(used, "the ledger itself is whole");
    }
}

#[test]
fn files_of_two_times_grant_nothing_twice() {
    let original = Original::new();
    let older = original.copy("older");
    let newest = original.path("whole");
    claim(&newest, 40..70);
    assert!(!newest.join("claims.db-wal").exists());
    claim(&newest, 70..75);
    let original = Original { held: 75, ..original };
    for (what, files) in [
        ("an older file beside a newer log", &["claims.db"][..]),
        ("an older log beside a newer file", &["claims.db-wal"]),
        ("an older ledger", &["claims.db", "claims.db-wal"]),
    ] {
        let root = original.copy("attempt");
        for file in files {
            std::fs::copy(older.join(file), root.join(file)).unwrap();
        }
        assert!(!original.nothing_is_granted(&root, what), "{what} was used");
        // Looking is refused, too: what is shown would be wrong.
        let reader = without_process("reader");
        let error = open(&root).and_then(|it| it.list(&reader, true)).unwrap_err();
        assert!(matches!(error, Error::Corrupt(_)), "{what}: {error}");
    }
    for (what, files) in
        [("no log", &["claims.db-wal"][..]), ("no ledger", &["claims.db", "claims.db-wal"])]
    {
        let root = original.copy("attempt");
        for file in files {
            std::fs::remove_file(root.join(file)).unwrap();
        }
        let error = open(&root).and_then(|it| it.list(&without_process("reader"), true));
        match error.unwrap_err() {
            Error::Corrupt(Corruption::WentBack { recorded: 75, found: 70 }) => {}
            Error::Corrupt(Corruption::Missing { recorded: 75 }) if what == "no ledger" => {}
            error => panic!("{what}: {error}"),
        }
    }
    // All of an older ledger, with its mark, is a backup: epochs have seals for that.
    assert_eq!(open(&older).unwrap().list(&without_process("reader"), true).unwrap().len(), 40);
}

#[test]
fn a_ledger_that_is_restored_under_a_running_process_is_noticed() {
    let original = Original::new();
    let root = original.path("whole");
    let backup = original.copy("backup");
    let claims = open(&root).unwrap();
    let (me, options) = (with_process("owner", 7), ClaimOptions::default());
    claims.claim(&me, &resource("more"), &options).unwrap();
    // In place, as `cp` does it.
    for file in ["claims.db", "claims.db-wal"] {
        std::fs::write(root.join(file), std::fs::read(backup.join(file)).unwrap()).unwrap();
    }
    drop(claims);
    let rival = with_process("rival", 8);
    let error = open(&root).and_then(|it| it.claim(&rival, &resource("more"), &options));
    assert!(matches!(error, Err(Error::Corrupt(_))), "{error:?}");
}

#[test]
fn another_program_that_copies_the_log_does_no_harm() {
    let original = Original::new();
    let root = original.path("whole");
    let connection = rusqlite::Connection::open(root.join("claims.db")).unwrap();
    connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
    drop(connection);
    assert!(original.nothing_is_granted(&root, "copied"), "it is whole");
    claim(&root, 40..42);
}

#[test]
fn a_ledger_of_an_earlier_version_gets_its_mark() {
    let original = Original::new();
    let root = original.path("whole");
    std::fs::remove_file(root.join("claims.mark")).unwrap();
    claim(&root, 40..41);
    std::fs::remove_file(root.join("claims.db-wal")).unwrap();
    let error = open(&root).and_then(|it| it.list(&without_process("reader"), true));
    assert!(matches!(error, Err(Error::Corrupt(Corruption::WentBack { .. }))), "{error:?}");
}
