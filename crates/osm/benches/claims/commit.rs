//! One claim and its release, beside one commit.

use std::path::Path;
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
    pub(crate) claim_program: Spread,
    pub(crate) commit_program: Spread,
    pub(crate) peers: Vec<(String, Spread)>,
}

pub(crate) fn measure(options: &Options, folder: &Path) -> Result<Single> {
    let rounds = options.rounds.unwrap_or(if options.quick { QUICK_ROUNDS } else { ROUNDS });
    say(&format!("claim and release, {rounds} rounds"))?;
    let [claim, release, commit] = in_process(rounds, folder)?;
    say("the same as whole programs")?;
    let peers = peers::named()?;
    let programs = as_programs(rounds, folder, &peers)?;
    let [claim_program, commit_program, ref others @ ..] = programs[..] else {
        return Err("nothing was measured".into());
    };
    let peers = peers.into_iter().map(|peer| peer.name).zip(others.iter().copied()).collect();
    Ok(Single { claim, release, commit, claim_program, commit_program, peers })
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

/// `osm claim`, a program that commits, and the peers.
fn as_programs(rounds: u32, folder: &Path, peers: &[Peer]) -> Result<Vec<Spread>> {
    let home = folder.join("home");
    let mut times = vec![Vec::new(); 2 + peers.len()];
    let mut turns = Turns::of(times.len());
    for round in 0..WARM_UP + rounds {
        for &turn in turns.next_round() {
            let command = match turn {
                0 => sample::program(&home, round)?,
                1 => errand::command(&["commit"], &folder.join("bare"))?,
                peer => peers::command(&peers[peer - 2], round),
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
