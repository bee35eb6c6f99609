//! One claim and its release, beside one commit.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use osm_claims::ClaimOptions;
use osm_testkit::bench::options::Options;
use osm_testkit::bench::statistics::Spread;
use osm_testkit::bench::turns::Turns;
use osm_testkit::bench::{Result, timed};

use crate::peers::{self, Peer};
use crate::{bare, errand, sample, say};

const ROUNDS: u32 = 300;
const QUICK_ROUNDS: u32 = 60;
/// Rounds that do not count: caches fill.
const WARM_UP: u32 = 10;

/// What one claim costs, in microseconds.
pub(crate) struct Single {
    pub(crate) claim: Spread,
    pub(crate) release: Spread,
    pub(crate) commit: Spread,
    pub(crate) commit_program: Spread,
    /// `osm claim` by the name of the build; the last is the one that users install.
    pub(crate) claim_programs: Vec<(&'static str, Spread)>,
    pub(crate) peers: Vec<(String, Spread)>,
}

pub(crate) fn measure(options: &Options, folder: &Path) -> Result<Single> {
    let rounds = options.rounds.unwrap_or(if options.quick { QUICK_ROUNDS } else { ROUNDS });
    say(&format!("claim and release, {rounds} rounds"))?;
    let [claim, release, commit] = in_process(rounds, folder)?;
    say("the same as whole programs")?;
    let (builds, peers) = (sample::builds(), peers::named()?);
    let mut times = as_programs(rounds, folder, &builds, &peers)?.into_iter();
    let commit_program = times.next().ok_or("nothing was measured")?;
    let claim_programs = builds.iter().map(|build| build.0).zip(times.by_ref()).collect();
    let peers = peers.into_iter().map(|peer| peer.name).zip(times).collect();
    Ok(Single { claim, release, commit, commit_program, claim_programs, peers })
}

fn in_process(rounds: u32, folder: &Path) -> Result<[Spread; 3]> {
    let floor = bare::open(&folder.join("bare"))?;
    let claims = sample::claims(&folder.join("ledger"))?;
    let (requester, options) = (sample::requester("owner")?, ClaimOptions::default());
    let mut times: [Vec<f64>; 3] = Default::default();
    let mut turns = Turns::of(2);
    for round in 0..WARM_UP + rounds {
        let resource = sample::resource(round)?;
        let mut taken = [0.0; 3];
        for &turn in turns.next_round() {
            if turn == 0 {
                taken[0] = timed(|| Ok(claims.claim(&requester, &resource, &options)?))?;
                taken[1] = timed(|| Ok(claims.release(&requester, &resource, None, false)?))?;
            } else {
                taken[2] = timed(|| bare::commit(&floor))?;
            }
        }
        if round >= WARM_UP {
            times.iter_mut().zip(taken).for_each(|(times, time)| times.push(time));
        }
    }
    Ok(times.map(|times| Spread::of(&times)))
}

/// A program that commits, `osm claim` of each build, and the peers.
fn as_programs(
    rounds: u32,
    folder: &Path,
    builds: &[(&str, PathBuf)],
    peers: &[Peer],
) -> Result<Vec<Spread>> {
    let mut times = vec![Vec::new(); 1 + builds.len() + peers.len()];
    let mut turns = Turns::of(times.len());
    for round in 0..WARM_UP + rounds {
        for &turn in turns.next_round() {
            let command = match turn.checked_sub(1) {
                None => errand::command(&["commit"], &folder.join("bare"))?,
                Some(build) if build < builds.len() => {
                    let home = folder.join(format!("home-{build}"));
                    sample::program(&builds[build].1, &home, round)?
                }
                Some(peer) => peers::command(&peers[peer - builds.len()], round),
            };
            let time = finish(command)?;
            if round >= WARM_UP {
                times[turn].push(time);
            }
        }
    }
    Ok(times.iter().map(|times| Spread::of(times)).collect())
}

/// How long a program takes that must succeed.
pub(crate) fn finish(mut command: Command) -> Result<f64> {
    command.stdin(Stdio::null()).stdout(Stdio::null());
    let mut status = None;
    let time = timed(|| {
        status = Some(command.status()?);
        Ok(())
    })?;
    match status {
        Some(status) if status.success() => Ok(time),
        _ => Err(format!("{command:?}: {status:?}").into()),
    }
}
