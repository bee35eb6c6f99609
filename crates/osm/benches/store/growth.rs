//! One session whose history grows from 1 to 200 commands.
//!
//! Each command replaces one text of the state. If history cost more than what changed, the file
//! and the time of a save would grow by the whole state with every command.

use std::fs;
use std::path::Path;

use osm_store::MOST_HISTORY;
use osm_store::layout::Layout;
use osm_testkit::bench::Result;
use osm_testkit::bench::options::Options;
use osm_testkit::bench::statistics::Spread;

use crate::sample::{self, STATES, Shape, State};
use crate::{bare, say, settled};

/// How many saves around a length of the history are summed up.
const WINDOW: usize = 10;
/// The lengths that are shown; saves up to each of them count.
const LENGTHS: [usize; 5] = [WINDOW, 50, 100, 150, MOST_HISTORY];

/// How one state grows.
pub(crate) struct Growth {
    pub(crate) state: State,
    pub(crate) stages: Vec<Stage>,
}

/// One length of the history.
pub(crate) struct Stage {
    pub(crate) entries: u32,
    pub(crate) size: u32,
    /// Microseconds.
    pub(crate) save: Spread,
    pub(crate) bare: Spread,
}

pub(crate) fn measure(options: &Options, folder: &Path) -> Result<Vec<Growth>> {
    let states = if options.quick { &STATES[..2] } else { &STATES[..] };
    states.iter().map(|state| one(*state, &folder.join(state.name))).collect()
}

fn one(state: State, folder: &Path) -> Result<Growth> {
    say(&format!("a history over {}", state.name))?;
    let (root, floor) = (folder.join("store"), folder.join("bare"));
    fs::create_dir_all(&floor)?;
    let mut session = sample::open(&root, "one")?;
    state.fill(&mut session, Shape::Keys)?;
    let document = Layout::new(&root).document(session.id());

    let mut stages = Vec::new();
    let (mut saves, mut bares) = (Vec::new(), Vec::new());
    for entries in 2..=MOST_HISTORY {
        saves.push(settled(|| state.change(&mut session, Shape::Keys, entries))?);
        let bytes = fs::read(&document)?;
        bares.push(settled(|| bare::save(&floor, &bytes))?);
        if LENGTHS.contains(&entries) {
            let last = |times: &[f64]| Spread::of(&times[times.len().saturating_sub(WINDOW)..]);
            let (save, bare) = (last(&saves), last(&bares));
            let (entries, size) = (u32::try_from(entries)?, u32::try_from(bytes.len())?);
            stages.push(Stage { entries, size, save, bare });
        }
    }
    drop(session);
    fs::remove_dir_all(folder)?;
    Ok(Growth { state, stages })
}
