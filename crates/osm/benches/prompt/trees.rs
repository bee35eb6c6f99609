//! A prompt of a whole tree of files.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use osm_testkit::bench::Result;
use osm_testkit::bench::options::Options;
use osm_testkit::bench::statistics::Spread;
use osm_testkit::bench::turns::Turns;

use crate::peers::{self, Peer};
use crate::run::{finish, memory, osm};
use crate::say;

const COUNTS: [u32; 3] = [100, 1_000, 10_000];
const ROUNDS: u32 = 9;
/// Some take minutes.
const PEER_ROUNDS: u32 = 3;
/// As many files as usual stand in one folder.
const IN_A_FOLDER: u32 = 50;
/// About as long as a file of a program.
const FILE: usize = 5_000;

/// What so many files cost, in microseconds and megabytes.
pub(crate) struct Tree {
    pub(crate) count: u32,
    pub(crate) bytes: u64,
    pub(crate) cat: Spread,
    pub(crate) plain: Spread,
    pub(crate) counted: Spread,
    pub(crate) plain_memory: Option<f64>,
    pub(crate) counted_memory: Option<f64>,
    pub(crate) peers: Vec<Measured>,
}

/// A peer that ran.
pub(crate) struct Measured {
    pub(crate) name: String,
    pub(crate) counts: bool,
    pub(crate) time: Spread,
    pub(crate) memory: Option<f64>,
}

pub(crate) fn measure(options: &Options, folder: &Path) -> Result<Vec<Tree>> {
    let counts = if options.quick { &COUNTS[..2] } else { &COUNTS[..] };
    let peers = peers::named()?;
    counts.iter().map(|count| one(*count, options, &peers, folder)).collect()
}

fn one(count: u32, options: &Options, peers: &[Peer], folder: &Path) -> Result<Tree> {
    say(&format!("{count} files"))?;
    let (home, tree) = (folder.join("home"), folder.join(count.to_string()));
    fs::create_dir_all(&home)?;
    let files = plant(&tree, count)?;
    let add = format!("add '{}'", tree.display());
    let prompt = |session: &str, more: &[&str]| {
        let words = [&["code-review", "-c", &add, "-c", "show"], more].concat();
        osm(&home, session, &words)
    };
    let cat = || {
        let mut command = Command::new("cat");
        command.args(&files);
        command
    };

    let mut times: Vec<Vec<f64>> = vec![Vec::new(); 3 + peers.len()];
    let mut turns = Turns::of(times.len());
    // The first round warms up.
    for round in 0..=options.rounds.unwrap_or(ROUNDS) {
        for &turn in turns.next_round() {
            // A session of its own each time: what is there already is not added again.
            let session = format!("bench-{count}-{turn}-{round}");
            let took = match turn {
                0 => finish(cat())?,
                1 => finish(prompt(&session, &["--no-tokens"]))?,
                2 => finish(prompt(&session, &[]))?,
                _ if round > PEER_ROUNDS => continue,
                _ => finish(peers::command(&peers[turn - 3], &tree))?,
            };
            if round > 0 {
                times[turn].push(took);
            }
        }
    }
    let spreads: Vec<Spread> = times.iter().map(|times| Spread::of(times)).collect();
    let measured = peers.iter().zip(&spreads[3..]).map(|(peer, time)| {
        let memory = memory(&peers::command(peer, &tree))?;
        let (name, counts) = peers::about(peer);
        Ok(Measured { name: name.to_owned(), counts, time: *time, memory })
    });
    Ok(Tree {
        count,
        bytes: files.iter().map(|file| fs::metadata(file).map_or(0, |it| it.len())).sum(),
        cat: spreads[0],
        plain: spreads[1],
        counted: spreads[2],
        plain_memory: memory(&prompt(&format!("bench-{count}-m1"), &["--no-tokens"]))?,
        counted_memory: memory(&prompt(&format!("bench-{count}-m2"), &[]))?,
        peers: measured.collect::<Result<_>>()?,
    })
}

/// Makes a tree of files that look like programs, no two of them alike.
fn plant(tree: &Path, count: u32) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for number in 0..count {
        let folder = tree.join(format!("part_{:03}", number / IN_A_FOLDER));
        if number % IN_A_FOLDER == 0 {
            fs::create_dir_all(&folder)?;
        }
        let mut text = format!("//! File {number} of many.\n\n");
        let mut line = 0;
        while text.len() < FILE {
            line += 1;
            writeln!(
                text,
                "/// Adds {line} to what was counted so far.\n\
                 fn step_{number}_{line}(total: &mut u64) -> Result<u64, Error> {{\n    \
                     *total = total.checked_add({line}).ok_or(Error::TooMany)?;\n    \
                     Ok(*total)\n}}\n"
            )?;
        }
        let file = folder.join(format!("file_{number:05}.rs"));
        fs::write(&file, text)?;
        files.push(file);
    }
    Ok(files)
}
