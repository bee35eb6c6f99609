//! Several processes that change one session at the same time.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use osm_store::Key;
use osm_testkit::bench::Result;
use osm_testkit::bench::options::Options;
use osm_testkit::bench::statistics::Spread;
use serde_json::{Value, json};

use crate::{errand, sample, say, timed};

const CROWDS: [u32; 5] = [1, 2, 4, 8, 16];
/// All writers together make so many changes.
const CHANGES: u32 = 320;
const ROUNDS: u32 = 3;

/// How so many writers get on.
pub(crate) struct Contest {
    pub(crate) writers: u32,
    pub(crate) changes: u32,
    /// Changes that were acknowledged and are not there.
    pub(crate) lost: usize,
    /// Changes in a second, all writers together.
    pub(crate) throughput: f64,
}

pub(crate) fn measure(options: &Options, folder: &Path) -> Result<Vec<Contest>> {
    let mut times: [Vec<f64>; CROWDS.len()] = Default::default();
    let mut lost = [0; CROWDS.len()];
    for _ in 0..options.rounds.unwrap_or(ROUNDS).min(ROUNDS) {
        for (at, writers) in CROWDS.into_iter().enumerate() {
            say(&format!("{writers} writers"))?;
            let root = folder.join(writers.to_string());
            times[at].push(timed(|| all_at_once(&root, writers))?);
            lost[at] += missing(&root, writers)?;
            fs::remove_dir_all(root)?;
        }
    }
    let sum_up = |(at, writers): (usize, u32)| Contest {
        writers,
        changes: CHANGES,
        lost: lost[at],
        throughput: f64::from(CHANGES) / (Spread::of(&times[at]).p50 / 1e6),
    };
    Ok(CROWDS.into_iter().enumerate().map(sum_up).collect())
}

fn all_at_once(root: &Path, writers: u32) -> Result<()> {
    let changes = (CHANGES / writers).to_string();
    let start = |writer: u32| {
        Ok(errand::command(&["write", &writer.to_string(), &changes], root)?.spawn()?)
    };
    let processes = (0..writers).map(start).collect::<Result<Vec<_>>>()?;
    // All of them end before the folder may go: another writer's error would hide the first.
    let ended = processes.into_iter().map(|mut process| process.wait());
    let ended = ended.collect::<std::io::Result<Vec<_>>>()?;
    match ended.iter().find(|status| !status.success()) {
        Some(status) => Err(format!("a writer: {status}").into()),
        None => Ok(()),
    }
}

/// One writer: adds an item to a list with every change.
pub(crate) fn write(root: &Path, writer: &str, changes: u32) -> Result<()> {
    let mut session = sample::open(root, "shared")?;
    for change in 0..changes {
        let mut items = items(session.get(&Key::parse("items"))?);
        items.push(json!({"id": format!("{writer}-{change}")}));
        session.set(Key::parse("items"), Value::Array(items))?;
        session.record("bench", "add")?;
    }
    Ok(session.close()?)
}

/// How many changes are not there, though every writer was told that they are.
fn missing(root: &Path, writers: u32) -> Result<usize> {
    let items = items(sample::open(root, "shared")?.get(&Key::parse("items"))?);
    let found: BTreeSet<&str> = items.iter().filter_map(|item| item["id"].as_str()).collect();
    let all = (0..writers)
        .flat_map(|writer| (0..CHANGES / writers).map(move |change| format!("{writer}-{change}")));
    Ok(all.filter(|id| !found.contains(id.as_str())).count())
}

fn items(value: Option<Value>) -> Vec<Value> {
    match value {
        Some(Value::Array(items)) => items,
        _ => Vec::new(),
    }
}
