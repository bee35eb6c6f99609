//! Measures prompts of whole trees of files.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use osm_testkit::bench::Result;
use osm_testkit::bench::options::Options;
use osm_testkit::bench::statistics::Spread;
use osm_testkit::bench::table::grouped;
use osm_testkit::bench::turns::Turns;

use crate::peers::{self, Peer};
use crate::run::{Osm, finish, memory};
use crate::{say, sources};

const COUNTS: [u32; 3] = [100, 1_000, 10_000];
const ROUNDS: u32 = 9;
/// Some peers take minutes.
const PEER_ROUNDS: u32 = 3;

/// The results for one tree, in microseconds and megabytes.
pub(crate) struct Tree {
    pub(crate) name: String,
    pub(crate) files: usize,
    pub(crate) bytes: u64,
    /// The files are real code.
    pub(crate) real: bool,
    pub(crate) cat: Spread,
    pub(crate) runs: Vec<Run>,
}

/// The results for one program on one tree.
pub(crate) struct Run {
    pub(crate) name: String,
    /// It counts tokens.
    pub(crate) counts: bool,
    pub(crate) build: Build,
    pub(crate) time: Spread,
    pub(crate) memory: Option<f64>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Build {
    /// The osm that users install.
    Shipped,
    /// Another build of osm.
    Other,
    /// Another program.
    Peer,
}

impl Tree {
    /// The run of the osm that users install.
    pub(crate) fn shipped(&self, counts: bool) -> Option<&Run> {
        self.runs.iter().find(|run| run.build == Build::Shipped && run.counts == counts)
    }
}

pub(crate) fn measure(options: &Options, builds: &[Osm], folder: &Path) -> Result<Vec<Tree>> {
    let counts = if options.quick { &COUNTS[..2] } else { &COUNTS[..] };
    let peers = peers::named()?;
    let lab = Lab { options, builds, peers: &peers, home: folder.join("home") };
    fs::create_dir_all(&lab.home)?;
    let mut trees = Vec::new();
    for &count in counts {
        let name = format!("{} files", grouped(count.into()));
        say(&name)?;
        let tree = folder.join(count.to_string());
        let files = sources::made_up(&tree, count)?;
        trees.push(lab.measure(&name, &tree, &files, false)?);
    }
    if !options.quick {
        let tree = folder.join("real");
        let files = sources::real(&tree)?;
        let name = format!("{} files of real code", grouped(files.len() as u64));
        say(&name)?;
        trees.push(lab.measure(&name, &tree, &files, true)?);
    }
    Ok(trees)
}

struct Lab<'a> {
    options: &'a Options,
    builds: &'a [Osm],
    peers: &'a [Peer],
    home: PathBuf,
}

/// One program, and the command line for a session of the given name.
struct Candidate<'a> {
    name: String,
    counts: bool,
    build: Build,
    command: Box<dyn Fn(&str) -> Command + 'a>,
}

impl Lab<'_> {
    fn measure(&self, name: &str, tree: &Path, files: &[PathBuf], real: bool) -> Result<Tree> {
        let candidates = self.candidates(tree);
        let mut cat = Vec::new();
        let mut times: Vec<Vec<f64>> = vec![Vec::new(); candidates.len()];
        let mut turns = Turns::of(candidates.len() + 1);
        // The first round warms up.
        for round in 0..=self.options.rounds.unwrap_or(ROUNDS) {
            for &turn in turns.next_round() {
                let Some(candidate) = candidates.get(turn) else {
                    let mut command = Command::new("cat");
                    command.args(files);
                    let took = finish(command)?;
                    if round > 0 {
                        cat.push(took);
                    }
                    continue;
                };
                if candidate.build == Build::Peer && round > PEER_ROUNDS {
                    continue;
                }
                // A new session each time: osm does not add the same folder twice.
                let session = format!("bench-{}-{turn}-{round}", files.len());
                let took = finish((candidate.command)(&session))?;
                if round > 0 {
                    times[turn].push(took);
                }
            }
        }
        let runs = candidates.into_iter().zip(times).map(|(it, times)| {
            let memory = memory(&(it.command)(&format!("bench-{}-memory", files.len())))?;
            let time = Spread::of(&times);
            Ok(Run { name: it.name, counts: it.counts, build: it.build, time, memory })
        });
        Ok(Tree {
            name: name.to_owned(),
            files: files.len(),
            bytes: files.iter().map(|file| fs::metadata(file).map_or(0, |it| it.len())).sum(),
            real,
            cat: Spread::of(&cat),
            runs: runs.collect::<Result<_>>()?,
        })
    }

    fn candidates<'a>(&'a self, tree: &'a Path) -> Vec<Candidate<'a>> {
        let mut candidates = Vec::new();
        for osm in self.builds {
            for counts in [false, true] {
                let command = move |session: &str| {
                    let add = format!("add '{}'", tree.display());
                    let flags: &[&str] = if counts { &[] } else { &["--no-tokens"] };
                    let words = [&["code-review", "-c", &add, "-c", "show"], flags].concat();
                    let session = format!("{session}-{counts}");
                    osm.command(&self.home, &session, &words)
                };
                let build = if osm.shipped { Build::Shipped } else { Build::Other };
                let (name, command) = (osm.name.to_owned(), Box::new(command));
                candidates.push(Candidate { name, counts, build, command });
            }
        }
        candidates.extend(self.peers.iter().map(|peer| {
            let (name, counts) = peers::about(peer);
            let command = Box::new(|_: &str| peers::command(peer, tree));
            Candidate { name: name.to_owned(), counts, build: Build::Peer, command }
        }));
        candidates
    }
}
