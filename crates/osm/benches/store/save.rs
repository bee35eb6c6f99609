//! One session: open, change and save it, and load it.

use std::fs;
use std::path::Path;

use osm_store::layout::Layout;
use osm_testkit::bench::Result;
use osm_testkit::bench::options::Options;
use osm_testkit::bench::statistics::Spread;
use osm_testkit::bench::turns::Turns;

use crate::sample::{self, STATES, Shape, State};
use crate::{bare, say, settled};

const ROUNDS: u32 = 30;
const QUICK_ROUNDS: u32 = 10;
/// Rounds that do not count: caches fill, the history begins.
const WARM_UP: u32 = 3;

/// What one state costs, in microseconds.
pub(crate) struct Single {
    pub(crate) state: State,
    /// Bytes of the document.
    pub(crate) size: u64,
    pub(crate) save: Spread,
    /// The same with all texts in one list.
    pub(crate) save_list: Spread,
    pub(crate) bare_save: Spread,
    pub(crate) load: Spread,
    pub(crate) bare_load: Spread,
}

pub(crate) fn measure(options: &Options, folder: &Path) -> Result<Vec<Single>> {
    let rounds = options.rounds.unwrap_or(if options.quick { QUICK_ROUNDS } else { ROUNDS });
    STATES.into_iter().map(|state| one(state, rounds, &folder.join(state.name))).collect()
}

fn one(state: State, rounds: u32, folder: &Path) -> Result<Single> {
    say(&format!("a session of {}, {rounds} rounds", state.name))?;
    let (root, floor) = (folder.join("store"), folder.join("bare"));
    fs::create_dir_all(&floor)?;
    state.fill(&mut sample::open(&root, "keys")?, Shape::Keys)?;
    state.fill(&mut sample::open(&root, "list")?, Shape::List)?;
    let document = Layout::new(&root).document(&sample::id("keys"));
    let save = |name: &str, shape, round: u32| {
        settled(|| {
            let mut session = sample::open(&root, name)?;
            state.change(&mut session, shape, round as usize + 1)?;
            Ok(session.close()?)
        })
    };

    let mut times: [Vec<f64>; 5] = Default::default();
    let mut turns = Turns::of(times.len());
    for round in 0..WARM_UP + rounds {
        for &turn in turns.next_round() {
            let microseconds = match turn {
                0 => save("keys", Shape::Keys, round)?,
                1 => save("list", Shape::List, round)?,
                2 => {
                    let bytes = fs::read(&document)?;
                    settled(|| bare::save(&floor, &bytes))?
                }
                3 => settled(|| sample::open(&root, "keys"))?,
                _ => settled(|| bare::load(&document))?,
            };
            if round >= WARM_UP {
                times[turn].push(microseconds);
            }
        }
    }
    let [save, save_list, bare_save, load, bare_load] = times.map(|times| Spread::of(&times));
    let size = fs::metadata(&document)?.len();
    fs::remove_dir_all(folder)?;
    Ok(Single { state, size, save, save_list, bare_save, load, bare_load })
}
