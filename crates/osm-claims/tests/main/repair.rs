//! Damaged ledgers that are repaired: what can be read stays held, and epochs only grow.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use osm_claims::error::Corruption;
use osm_claims::repair::{self, Findings, Repaired};
use osm_claims::{ClaimOptions, Claims, Error};

use crate::damage::{Original, claim, open, owner};
use crate::harness::{Nature, resource, with_process, without_process};

/// Looks at a ledger, which changes nothing.
fn examine(folder: &Path) -> Findings {
    let before = snapshot(folder);
    let findings = repair::examine(folder, Arc::new(Nature::default())).unwrap();
    assert_eq!(snapshot(folder), before, "looking changed a file");
    findings
}

/// The names, contents and times of all files.
fn snapshot(folder: &Path) -> Vec<(PathBuf, Option<Vec<u8>>, SystemTime)> {
    let entries = std::fs::read_dir(folder).unwrap().map(|it| it.unwrap());
    let mut files: Vec<_> = entries
        .map(|it| {
            let metadata = it.metadata().unwrap();
            let bytes = metadata.is_file().then(|| std::fs::read(it.path()).unwrap());
            (it.path(), bytes, metadata.modified().unwrap())
        })
        .collect();
    files.sort();
    files
}

/// Repairs a ledger that commands refuse; what they can do with it afterwards.
fn repair(folder: &Path, what: &str) -> (Repaired, Claims) {
    let findings = examine(folder);
    assert!(findings.damage.is_some(), "{what}: not noticed");
    let error = open(folder).and_then(|it| it.list(&without_process("reader"), true));
    let is_refused = matches!(error, Err(Error::Corrupt(_)));
    assert!(is_refused || findings.damage == Some(Corruption::Altered), "{what}: {error:?}");
    let before = copies(folder);
    let repaired = repair::repair(folder, Arc::new(Nature::default())).unwrap();
    assert_eq!(copies(folder), before + 1, "{what}");
    assert_eq!(repaired.findings.claims, findings.claims, "{what}");
    assert_eq!(examine(folder).damage, None, "{what}");
    (repaired, open(folder).unwrap())
}

fn copies(folder: &Path) -> usize {
    let names = std::fs::read_dir(folder).unwrap().map(|it| it.unwrap().file_name());
    names.filter(|it| it.to_string_lossy().starts_with("claims.damaged-")).count()
}

/// What is readable is held, everything else can be claimed, with a greater epoch than ever before.
fn goes_on(original: &Original, root: &Path, what: &str) {
    let (repaired, claims) = repair(root, what);
    let rival = with_process("rival", 8);
    let kept: Vec<_> = repaired.findings.claims.iter().map(|it| it.resource.clone()).collect();
    let mut last = original.held as u64;
    for number in 0..original.held {
        let task = resource(&format!("task {number}"));
        match claims.claim(&rival, &task, &ClaimOptions::default()) {
            Ok(outcome) => {
                assert!(!kept.contains(&task), "{what}: {task} was held");
                assert!(outcome.claim.epoch.0 > last, "{what}: {}", outcome.claim.epoch);
                last = outcome.claim.epoch.0;
            }
            Err(Error::Refused(_)) => assert!(kept.contains(&task), "{what}: {task}"),
            Err(error) => panic!("{what}: {error}"),
        }
    }
    // Its owner can use what is kept, and what is new survives the next process.
    if let Some(number) =
        (0..original.held).find(|it| kept.contains(&resource(&format!("task {it}"))))
    {
        let task = resource(&format!("task {number}"));
        claims.check(&owner(number), &task, None).unwrap();
        claims.release(&owner(number), &task, None, false).unwrap();
        let again = claims.claim(&rival, &task, &ClaimOptions::default()).unwrap();
        assert!(again.claim.epoch.0 > last, "{what}");
    }
    drop(claims);
    assert_eq!(
        open(root).unwrap().list(&rival, true).unwrap().len(),
        original.held,
        "{what}: every task is held by one session"
    );
}

#[test]
fn a_whole_ledger_is_left_alone() {
    let original = Original::new();
    let root = original.path("whole");
    let repaired = repair::repair(&root, Arc::new(Nature::default())).unwrap();
    assert!(repaired.findings.damage.is_none() && repaired.copy.is_none());
    assert_eq!(repaired.findings.claims.len(), original.held);
    assert_eq!(repaired.findings.last_epoch, original.held as u64);
    assert!(original.nothing_is_granted(&root, "examined"), "it can be used");
    assert_eq!(copies(&root), 0);
    let empty = original.path("empty");
    std::fs::create_dir(&empty).unwrap();
    assert!(examine(&empty).damage.is_none());
    assert_eq!(std::fs::read_dir(&empty).unwrap().count(), 0, "looking creates nothing");
}

#[test]
fn looking_at_a_mark_that_is_cut_changes_nothing() {
    let original = Original::new();
    let bytes = std::fs::read(original.path("whole/claims.mark")).unwrap();
    for length in (0..bytes.len()).step_by(128) {
        let root = original.copy("attempt");
        std::fs::write(root.join("claims.mark"), &bytes[..length]).unwrap();
        assert_eq!(examine(&root).damage, None, "{length} bytes: the ledger itself is whole");
    }
}

#[test]
fn an_empty_file_does_not_cost_its_log() {
    let original = Original::new();
    let root = original.copy("attempt");
    let log = std::fs::read(root.join("claims.db-wal")).unwrap();
    std::fs::write(root.join("claims.db"), b"").unwrap();
    assert!(!original.nothing_is_granted(&root, "an empty file"), "it was used");
    assert_eq!(examine(&root).damage, Some(Corruption::Empty));
    assert_eq!(std::fs::read(root.join("claims.db-wal")).unwrap(), log, "SQLite removed it");
    goes_on(&original, &root, "an empty file");
}

#[test]
fn a_ledger_that_went_back_goes_on() {
    let original = Original::new();
    let older = original.copy("older");
    claim(&original.path("whole"), 40..75);
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
        goes_on(&original, &root, what);
    }
    // What an older ledger says is kept whole.
    let root = original.copy("attempt");
    for file in ["claims.db", "claims.db-wal"] {
        std::fs::copy(older.join(file), root.join(file)).unwrap();
    }
    let findings = examine(&root);
    assert_eq!((findings.claims.len(), findings.lost.len()), (40, 0));
    assert_eq!(findings.changes, (Some(75), 40));
    assert_eq!((findings.last_epoch, findings.next_epoch), (75, 1_000_000));
}

#[test]
fn a_ledger_that_is_cut_or_missing_goes_on() {
    let original = Original::new();
    for (file, part) in [("claims.db", 2), ("claims.db", 7), ("claims.db-wal", 2)] {
        let bytes = std::fs::read(original.path("whole").join(file)).unwrap();
        let root = original.copy("attempt");
        std::fs::write(root.join(file), &bytes[..bytes.len() / part / 512 * 512]).unwrap();
        goes_on(&original, &root, &format!("{file}, 1/{part}"));
    }
    #[expect(clippy::disallowed_methods, reason = "what is removed here is no user's")]
    let remove = |path| std::fs::remove_file(path).unwrap();
    let root = original.copy("attempt");
    remove(root.join("claims.db"));
    goes_on(&original, &root, "no file");
    let root = original.copy("attempt");
    remove(root.join("claims.db"));
    remove(root.join("claims.db-wal"));
    goes_on(&original, &root, "no file and no log");
}

#[test]
fn a_flipped_bit_frees_nothing_that_can_be_read() {
    let original = Original::new();
    let mut repaired = 0;
    for file in ["claims.db", "claims.db-wal"] {
        let bytes = std::fs::read(original.path("whole").join(file)).unwrap();
        for place in (0..bytes.len()).step_by(bytes.len() / 40 + 1) {
            let mut flipped = bytes.clone();
            flipped[place] ^= 1 << (place % 8);
            let root = original.copy("attempt");
            std::fs::write(root.join(file), &flipped).unwrap();
            if examine(&root).damage.is_some() {
                goes_on(&original, &root, &format!("{file}: byte {place}"));
                repaired += 1;
            }
        }
    }
    assert!(repaired > 10, "{repaired}");
}

#[test]
fn a_second_repair_goes_on_above_the_first() {
    let original = Original::new();
    let root = original.copy("attempt");
    let newest = std::fs::read(root.join("claims.db")).unwrap();
    std::fs::write(root.join("claims.db-wal"), b"").unwrap();
    goes_on(&original, &root, "first");
    let grown = open(&root).unwrap().list(&without_process("reader"), true).unwrap();
    let last = grown.iter().map(|it| it.claim.epoch.0).max().unwrap();
    assert!(last > 1_000_000);
    for file in ["claims.db-wal", "claims.db-shm"] {
        drop(std::fs::write(root.join(file), b""));
    }
    std::fs::write(root.join("claims.db"), newest).unwrap();
    let (repaired, claims) = repair(&root, "second");
    assert_eq!(repaired.findings.next_epoch, 2_000_000);
    let new = claims.claim(&with_process("rival", 8), &resource("new"), &ClaimOptions::default());
    assert!(new.unwrap().claim.epoch.0 > last);
}
