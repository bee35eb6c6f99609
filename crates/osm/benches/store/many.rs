//! Many sessions: list, clean and purge them.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime};

use jiff::Timestamp;
use osm_store::backend::{Transaction, Wait};
use osm_store::layout::{self, Layout};
use osm_store::metadata::Metadata;
use osm_testkit::bench::Result;
use osm_testkit::bench::options::Options;
use osm_testkit::bench::statistics::Spread;
use osm_testkit::bench::turns::Turns;

use crate::sample::{self, NOTE, Shape};
use crate::{errand, say, timed};

const COUNTS: [u32; 3] = [1_000, 10_000, 100_000];
const LISTS: u32 = 7;
const REMOVALS: u32 = 3;
/// A hundred thousand are their own average, and take a minute to make.
const MOST_REPEATED: u32 = 10_000;
/// What a sync for each session costs need not be seen a hundred thousand times.
const MOST_TRASHED: u32 = 1_000;
/// Older than any session may become.
const AGE: Duration = Duration::from_hours(24 * 400);

/// What so many sessions cost, in microseconds.
pub(crate) struct Crowd {
    pub(crate) count: u32,
    pub(crate) list: Spread,
    pub(crate) bare_list: Spread,
    pub(crate) clean: Spread,
    pub(crate) purge: Spread,
    pub(crate) bare_unlink: Spread,
    /// `osm session clean` as users run it, into the trash, once.
    pub(crate) trash: Option<f64>,
}

pub(crate) fn measure(options: &Options, folder: &Path) -> Result<Vec<Crowd>> {
    let counts = if options.quick { &COUNTS[..1] } else { &COUNTS[..] };
    // On ext4 files are made near their folder's parent, and where many were removed lately that
    // takes long. This spreads the folders; elsewhere there is no such need.
    fs::create_dir_all(folder)?;
    let _spread = Command::new("chattr").arg("+T").arg(folder).stderr(Stdio::null()).status();
    counts.iter().map(|count| one(*count, options, &folder.join(count.to_string()))).collect()
}

fn one(count: u32, options: &Options, folder: &Path) -> Result<Crowd> {
    say(&format!("{count} sessions"))?;
    let names: Vec<String> = (0..count).map(|number| format!("bench-{number:06}")).collect();
    let mut root = folder.with_extension("store");
    populate(&root, &names)?;
    let sessions = Layout::new(&root).sessions();

    let mut lists: [Vec<f64>; 2] = Default::default();
    let mut turns = Turns::of(lists.len());
    // The first round warms up.
    for round in 0..=options.rounds.unwrap_or(LISTS) {
        for &turn in turns.next_round() {
            let took = match turn {
                0 => finish(osm(&["list"], &root))?,
                _ => finish(errand::command(&["list"], &sessions)?)?,
            };
            if round > 0 {
                lists[turn].push(took);
            }
        }
    }

    let mut removals: [Vec<f64>; 3] = Default::default();
    let mut turns = Turns::of(removals.len());
    let usual = if count > MOST_REPEATED { 1 } else { REMOVALS };
    for round in 0..options.rounds.unwrap_or(usual) {
        for (place, &turn) in turns.next_round().iter().enumerate() {
            // The first takes those that were listed.
            if (round, place) != (0, 0) {
                fs::remove_dir_all(&root)?;
                root = folder.with_extension(format!("store-{round}-{place}"));
                populate(&root, &names)?;
            }
            let sessions = Layout::new(&root).sessions();
            removals[turn].push(match turn {
                0 => finish(errand::command(&["clean"], &root)?)?,
                1 => finish(osm(&["purge", "-y"], &root))?,
                _ => finish(errand::command(&["unlink"], &sessions)?)?,
            });
            // Who left something behind was fast for the wrong reason.
            let left = fs::read_dir(&sessions)?.filter(|entry| {
                entry.as_ref().is_ok_and(|it| it.file_type().is_ok_and(|kind| kind.is_file()))
            });
            if left.count() > 0 {
                return Err(format!("kind {turn} left files behind").into());
            }
        }
    }
    let mut trash = None;
    if count <= MOST_TRASHED {
        populate(&root, &names)?;
        trash = Some(finish(osm(&["clean", "-y"], &root))?);
    }
    fs::remove_dir_all(&root)?;
    let [list, bare_list] = lists.map(|times| Spread::of(&times));
    let [clean, purge, bare_unlink] = removals.map(|times| Spread::of(&times));
    Ok(Crowd { count, list, bare_list, clean, purge, bare_unlink, trash })
}

/// The program itself, in a store of its own.
fn osm(words: &[&str], root: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_osm"));
    command.arg("session").args(words).env_clear().stdout(Stdio::null());
    command.env("OSM_HOME", root).env("OSM_SESSION", "bench");
    command
}

/// How long a process takes from its start to its end, which must be a good one.
fn finish(mut command: Command) -> Result<f64> {
    timed(|| match command.status()? {
        status if status.success() => Ok(()),
        status => Err(format!("{command:?}: {status}").into()),
    })
}

/// Makes a store as many uses would leave it behind: a document and two locks for each session, all
/// of them old, and on disk.
fn populate(root: &Path, names: &[String]) -> Result<()> {
    // What is due once a day is no part of a list.
    fs::create_dir_all(root)?;
    fs::write(root.join("config.toml"), "[session]\nauto_cleanup_enabled = false\n")?;
    let model = "bench-model_";
    let mut session = sample::open(root, model)?;
    NOTE.fill(&mut session, Shape::Keys)?;
    drop(session);
    note_cleanup(root)?;
    let layout = Layout::new(root);
    let (model, folder) = (sample::id(model), layout.sessions());
    let document = fs::read_to_string(layout.document(&model))?;
    let old = SystemTime::now() - AGE;
    for name in names {
        let id = sample::id(name);
        // Lengths stand in a document, so all ids are of one length.
        let text = document.replacen(model.as_str(), id.as_str(), 1);
        let mut file = File::create(layout.document(&id))?;
        file.write_all(text.as_bytes())?;
        file.set_modified(old)?;
        File::create(folder.join(layout::presence_lock(&id)))?;
        File::create(folder.join(layout::write_lock(&id)))?;
    }
    for name in
        [layout::document(&model), layout::presence_lock(&model), layout::write_lock(&model)]
    {
        fs::remove_file(folder.join(name))?;
    }
    // The first measurement would pay for what is still to be written.
    finish(Command::new("sync")).map(|_| ())
}

/// Notes a cleanup of this moment. Without one, the age of the sessions looks like a jump of the
/// clock, and no cleanup removes them.
fn note_cleanup(root: &Path) -> Result<()> {
    let store = sample::store(root)?;
    let mut note = |transaction: &mut dyn Transaction| {
        Metadata::change(transaction, |it| it.last_cleanup = Some(Timestamp::now())).map(|_| ())
    };
    Ok(store.backend().transact(&sample::holder(), Wait::USUAL, &mut note)?)
}
