//! Looking at claims, and choosing one, among many.

use std::fs;
use std::path::Path;

use osm_claims::claim::Hold;
use osm_claims::ledger::Grant;
use osm_claims::{ClaimOptions, Claims, Ledger, Mode, Resource, SqliteLedger};
use osm_identity::System;
use osm_testkit::bench::options::Options;
use osm_testkit::bench::statistics::Spread;
use osm_testkit::bench::turns::Turns;
use osm_testkit::bench::{Result, timed};
use rusqlite::Connection;

use crate::{commit, sample, say};

const COUNTS: [u32; 5] = [10, 100, 1_000, 10_000, 100_000];
const QUICK_COUNTS: [u32; 3] = [10, 1_000, 10_000];
const ROUNDS: u32 = 11;

/// What so many open claims cost, in microseconds.
pub(crate) struct Crowd {
    pub(crate) count: u32,
    /// Listing all of them, with what is known of their owners.
    pub(crate) list: Spread,
    /// Reading their rows and nothing else.
    pub(crate) bare_list: Spread,
    /// Passing over all of them to the one that is free, and releasing it.
    pub(crate) next: Spread,
    /// Finding each of them by its name and nothing else.
    pub(crate) bare_next: Spread,
    /// Claiming one more, as a whole program.
    pub(crate) claim_program: Spread,
}

pub(crate) fn measure(options: &Options, folder: &Path) -> Result<Vec<Crowd>> {
    let counts: &[u32] = if options.quick { &QUICK_COUNTS } else { &COUNTS };
    let rounds = options.rounds.unwrap_or(ROUNDS).min(ROUNDS);
    counts.iter().map(|count| one(*count, rounds, &folder.join(count.to_string()))).collect()
}

fn one(count: u32, rounds: u32, folder: &Path) -> Result<Crowd> {
    say(&format!("{count} open claims"))?;
    fill(count, folder)?;
    let (_, osm) = sample::builds().pop().ok_or("there is no build of osm")?;
    let claim_program = (1..=rounds)
        .map(|more| commit::finish(sample::program(&osm, folder, count + more)?))
        .collect::<Result<Vec<f64>>>()?;
    let claim_program = Spread::of(&claim_program);
    let claims = sample::claims(folder)?;
    let floor = Connection::open(folder.join("claims.db"))?;
    let requester = sample::requester("chooser")?;
    let candidates: Vec<Resource> = (0..=count).map(sample::resource).collect::<Result<_>>()?;
    let mut times: [Vec<f64>; 4] = Default::default();
    let mut turns = Turns::of(times.len());
    for _ in 0..rounds {
        for &turn in turns.next_round() {
            let time = match turn {
                0 => timed(|| Ok(claims.list(&requester, false)?))?,
                1 => timed(|| read_all(&floor))?,
                2 => timed(|| choose(&claims, &requester, &candidates))?,
                _ => timed(|| find_each(&floor, &candidates))?,
            };
            times[turn].push(time);
        }
    }
    let [list, bare_list, next, bare_next] = times.map(|times| Spread::of(&times));
    drop((claims, floor));
    fs::remove_dir_all(folder)?;
    Ok(Crowd { count, list, bare_list, next, bare_next, claim_program })
}

/// Open claims of one live owner, all in one transaction.
fn fill(count: u32, folder: &Path) -> Result<()> {
    let ledger = SqliteLedger::open(folder, &System)?;
    let requester = sample::requester("owner")?;
    let resources: Vec<Resource> = (0..count).map(sample::resource).collect::<Result<_>>()?;
    ledger.write(&mut |transaction| {
        let at = transaction.now()?.wall;
        let (scope, owner) =
            (transaction.add_scope(&requester.scope)?, transaction.add_owner(&requester.caller)?);
        for resource in &resources {
            transaction.grant(&Grant {
                scope,
                resource,
                owner: &owner,
                mode: Mode::default(),
                hold: Hold::Session,
                at,
                note: None,
                request: None,
                worktree: None,
            })?;
        }
        Ok(())
    })?;
    Ok(())
}

fn choose(
    claims: &Claims,
    requester: &osm_claims::Requester,
    candidates: &[Resource],
) -> Result<()> {
    let outcome = claims.next(requester, candidates, &ClaimOptions::default())?;
    claims.release(requester, &outcome.claim.resource, None, false)?;
    Ok(())
}

fn read_all(floor: &Connection) -> Result<usize> {
    let mut statement =
        floor.prepare_cached("SELECT * FROM claim WHERE ended IS NULL AND scope = 1")?;
    let mut rows = statement.query([])?;
    let mut bytes = 0;
    while let Some(row) = rows.next()? {
        bytes += row.get_ref("resource")?.as_blob()?.len() + row.get_ref("hold")?.as_str()?.len();
    }
    Ok(bytes)
}

fn find_each(floor: &Connection, candidates: &[Resource]) -> Result<i64> {
    let mut statement = floor.prepare_cached(
        "SELECT epoch FROM claim WHERE scope = 1 AND resource = ?1 ORDER BY epoch DESC LIMIT 1",
    )?;
    let mut last = 0;
    for resource in candidates {
        let mut rows = statement.query([resource.as_bytes()])?;
        last = rows.next()?.map_or(Ok(0), |row| row.get(0))?;
    }
    Ok(last)
}
