//! Several processes in one session: no acknowledged change is lost.

use std::collections::BTreeSet;
use std::io::Read;
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::worker::{Hold, run, say, worker};

/// The texts of all items of a list.
fn texts(root: &std::path::Path, session: &str) -> BTreeSet<String> {
    let items: Value = serde_json::from_str(&say(root, &["get", session, "items"])).unwrap();
    let items = items.as_array().cloned().unwrap_or_default();
    let ids: BTreeSet<u64> = items.iter().map(|item| item["id"].as_u64().unwrap()).collect();
    assert_eq!(ids.len(), items.len(), "no id is given twice");
    items.iter().map(|item| item["text"].as_str().unwrap().to_owned()).collect()
}

/// How many changes each of two writers makes. Wine takes minutes for a thousand, and the same
/// locks are tried by a few.
const CHANGES: u32 = if cfg!(windows) { 100 } else { 1000 };

#[test]
fn two_processes_make_a_thousand_changes_each() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    let started = Instant::now();
    let mut writers: Vec<_> = ["a", "b"]
        .map(|prefix| {
            worker(root, &["add", "shared", "items", prefix, &CHANGES.to_string()])
                .stdout(Stdio::null())
                .spawn()
                .unwrap()
        })
        .into();
    // A third one lists and cleans all the while.
    let mut rounds = 0;
    while writers.iter_mut().any(|writer| writer.try_wait().unwrap().is_none()) {
        say(root, &["list"]);
        let cleaned = say(root, &["clean"]);
        assert_eq!(cleaned, "", "an open session is no candidate");
        rounds += 1;
        assert!(started.elapsed() < Duration::from_mins(10), "the writers are stuck");
    }
    for mut writer in writers {
        assert!(writer.wait().unwrap().success());
    }
    let wanted: BTreeSet<String> =
        ["a", "b"].iter().flat_map(|it| (0..CHANGES).map(move |n| format!("{it}-{n}"))).collect();
    assert_eq!(texts(root, "shared"), wanted);
    assert!(rounds > 0);
}

/// A small generator of numbers, so that a run can be told by its seed.
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % bound as u64).unwrap()
    }
}

#[test]
fn a_storm_loses_nothing_that_was_acknowledged() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    // These are open all the time, and changed by many; the others come and go.
    let open = ["kept-0", "kept-1", "kept-2"];
    let holds: Vec<Hold> = open.iter().map(|session| Hold::new(root, session)).collect();
    for session in open {
        say(root, &["add", session, "items", "first", "1"]);
    }
    let end = Instant::now() + Duration::from_secs(30);
    let strands: Vec<_> = (0..16u64)
        .map(|strand| {
            let root = root.to_owned();
            std::thread::spawn(move || storm(&root, strand, end))
        })
        .collect();
    let mut acknowledged = BTreeSet::new();
    let mut kills = 0;
    for strand in strands {
        let (texts, killed) = strand.join().unwrap();
        acknowledged.extend(texts);
        kills += killed;
    }
    let mut found = BTreeSet::new();
    for session in open {
        found.extend(texts(root, session).into_iter().map(|text| format!("{session} {text}")));
    }
    let lost: Vec<&String> = acknowledged.difference(&found).collect();
    assert!(lost.is_empty(), "{} of {} are lost: {lost:?}", lost.len(), acknowledged.len());
    assert!(acknowledged.len() > 20 && kills > 5, "{} changes, {kills} kills", acknowledged.len());
    drop(holds);
}

/// One of sixteen: random commands, some of them killed. Returns what was acknowledged.
fn storm(root: &std::path::Path, strand: u64, end: Instant) -> (BTreeSet<String>, usize) {
    let mut dice = Dice(0x9E37_79B9_7F4A_7C15 ^ (strand + 1));
    let mut acknowledged = BTreeSet::new();
    let (mut kills, mut round) = (0, 0);
    while Instant::now() < end {
        round += 1;
        let kept = format!("kept-{}", dice.below(3));
        let other = format!("other-{}", dice.below(6));
        let prefix = format!("{strand}.{round}");
        match dice.below(8) {
            0..3 => {
                let mut child = worker(root, &["add", &kept, "items", &prefix, "20"])
                    .stdout(Stdio::piped())
                    .stderr(Stdio::null())
                    .spawn()
                    .unwrap();
                if dice.below(2) == 0 {
                    std::thread::sleep(Duration::from_millis(dice.below(300) as u64));
                    child.kill().unwrap();
                    kills += 1;
                }
                let mut said = String::new();
                child.stdout.take().unwrap().read_to_string(&mut said).unwrap();
                child.wait().unwrap();
                let whole = said.split_inclusive('\n').filter(|line| line.ends_with('\n'));
                acknowledged.extend(whole.map(|line| format!("{kept} {}", line.trim())));
            }
            3 => drop(run(root, &["add", &other, "items", &prefix, "2"])),
            4 => drop(run(root, &["list"])),
            5 => {
                let cleaned = String::from_utf8(run(root, &["clean"]).stdout).unwrap();
                assert!(!cleaned.contains("kept"), "an open session was removed: {cleaned}");
            }
            6 => drop(run(root, &["reset", &other])),
            _ => {
                let target = if dice.below(2) == 0 { &kept } else { &other };
                let output = run(root, &["delete", target]);
                assert!(
                    target == &other || output.status.code() == Some(3),
                    "{target}: {output:?}"
                );
            }
        }
    }
    (acknowledged, kills)
}
