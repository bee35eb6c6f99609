//! Several processes that claim and release at the same time.

use std::fs;
use std::path::Path;

use osm_claims::event::{Transition, replay};
use osm_claims::{ClaimOptions, Filter, Resource};
use osm_testkit::bench::options::Options;
use osm_testkit::bench::statistics::Spread;
use osm_testkit::bench::{Result, timed};

use crate::{bare, errand, sample, say};

const CROWDS: [u32; 3] = [1, 8, 64];
/// All processes together try so often.
const TRIES: u32 = 640;
const ROUNDS: u32 = 3;

/// How so many processes get on.
pub(crate) struct Contest {
    pub(crate) processes: u32,
    /// Claims in a second that each wanted for itself, all processes together; refusals count.
    pub(crate) one: f64,
    /// The same, each with resources of its own.
    pub(crate) many: f64,
    /// Bare commits in a second.
    pub(crate) bare: f64,
}

pub(crate) fn measure(options: &Options, folder: &Path) -> Result<Vec<Contest>> {
    let rounds = options.rounds.unwrap_or(ROUNDS).min(ROUNDS);
    CROWDS.into_iter().map(|processes| one(processes, rounds, folder)).collect()
}

fn one(processes: u32, rounds: u32, folder: &Path) -> Result<Contest> {
    say(&format!("{processes} processes"))?;
    let mut times: [Vec<f64>; 3] = Default::default();
    for _ in 0..rounds {
        for (at, kind) in ["one", "many", "bare"].into_iter().enumerate() {
            let place = folder.join(kind);
            fs::create_dir_all(&place)?;
            // The first to come does not make the ledger for the others.
            drop(sample::claims(&place)?);
            drop(bare::open(&place)?);
            times[at].push(timed(|| all_at_once(processes, kind, &place))?);
            if kind != "bare" {
                prove(&place)?;
            }
            fs::remove_dir_all(place)?;
        }
    }
    let [one, many, bare] = times.map(|times| f64::from(TRIES) / (Spread::of(&times).p50 / 1e6));
    Ok(Contest { processes, one, many, bare })
}

fn all_at_once(processes: u32, kind: &str, place: &Path) -> Result<()> {
    let count = (TRIES / processes).to_string();
    let start = |number: u32| {
        let name = format!("session-{number}");
        let words: &[&str] = match kind {
            "bare" => &["commits", &count],
            kind => &["claims", &name, &count, kind],
        };
        Ok(errand::command(words, place)?.spawn()?)
    };
    let running = (0..processes).map(start).collect::<Result<Vec<_>>>()?;
    for mut process in running {
        let status = process.wait()?;
        if !status.success() {
            return Err(format!("a process: {status}").into());
        }
    }
    Ok(())
}

/// One process: tries to claim, and releases what it gets.
pub(crate) fn claim(place: &Path, name: &str, count: u32, many: bool) -> Result<()> {
    let claims = sample::claims(place)?;
    let (requester, options) = (sample::requester(name)?, ClaimOptions::default());
    for number in 0..count {
        let wanted = if many { format!("{name}-{number}") } else { "the one".to_owned() };
        let resource = Resource::new(wanted)?;
        match claims.claim(&requester, &resource, &options) {
            Ok(_) => drop(claims.release(&requester, &resource, None, false)?),
            Err(error) if error.refusal().is_some() => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// One process: as many commits as a claim and its release are.
pub(crate) fn commit(place: &Path, count: u32) -> Result<()> {
    let connection = bare::open(place)?;
    for _ in 0..2 * count {
        bare::commit(&connection)?;
    }
    Ok(())
}

/// Makes sure that no two ever had a resource at once.
fn prove(place: &Path) -> Result<()> {
    let claims = sample::claims(place)?;
    let events = claims.log(&sample::requester("reader")?, true, &Filter::default())?;
    let granted =
        events.iter().filter(|it| matches!(it.transition, Transition::Granted { .. })).count();
    match replay(&events) {
        Ok(open) if open.is_empty() && granted > 0 => Ok(()),
        other => Err(format!("{granted} grants lead to {other:?}").into()),
    }
}
