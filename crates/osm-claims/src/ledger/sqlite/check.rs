//! Whether a ledger is the one that was left: not an older one, and not a damaged one.
//!
//! Every transaction compares the number of changes with the high-water mark (`mark.rs`), which is
//! one row. The whole ledger is read only if its file is not the one that was last known to be
//! whole: it was restored, another program wrote to it, or a process died while it copied the log.

use std::path::Path;

use rusqlite::{Connection, OptionalExtension};

use super::fault::explain;
use super::mark::{Page, Slot, weight};
use super::place::FileFacts;
use super::rows::number;
use super::transaction::SqliteTransaction;
use crate::clock::Clock;
use crate::error::{Corruption, Error, Result};
use crate::event::{self, Filter};
use crate::ledger::Transaction;
use crate::path::ClaimedPath;

/// Compares a ledger with its mark; returns how many changes it has, and what its open claims come
/// to, if `needs_sum` or if it had to be read as a whole.
pub(super) fn compare(
    database: &Connection,
    path: &Path,
    clock: &dyn Clock,
    page: &Page,
    facts: Option<&FileFacts>,
    needs_sum: bool,
) -> Result<Checked> {
    let sql = "SELECT (SELECT max(number) FROM event), (SELECT max(epoch) FROM claim)";
    let (events, epoch) = database
        .prepare_cached(sql)
        .and_then(|mut it| {
            it.query_row([], |row| {
                Ok((row.get::<_, Option<i64>>(0)?, row.get::<_, Option<i64>>(1)?))
            })
        })
        .map_err(|error| explain(path, error))?;
    let count = |number: Option<i64>| number.unwrap_or(0).unsigned_abs();
    let (found, epoch) = (count(events), count(epoch));
    if let Some(newest) = page.newest().filter(|newest| newest.events > found) {
        return Err(Corruption::WentBack { recorded: newest.events, found }.into());
    }
    let marked = page.after(found);
    let is_same = facts.is_none_or(|facts| page.whole.is_some_and(|whole| whole.is_same(facts)));
    let mut checked =
        Checked { events: found, epoch, sum: marked.map(|it| it.sum), is_new: !is_same };
    if !is_same {
        checked.sum = Some(whole(database, path, clock, marked)?);
    } else if needs_sum && checked.sum.is_none() {
        checked.sum = Some(sum(database, path, clock)?);
    }
    Ok(checked)
}

/// What is known of a ledger.
pub(super) struct Checked {
    /// The number of its last event.
    pub(super) events: u64,
    /// The epoch of its last grant.
    pub(super) epoch: u64,
    /// The sum of its open claims, if it was needed.
    pub(super) sum: Option<u64>,
    /// It was read as a whole, because its file is not the one that was marked.
    pub(super) is_new: bool,
}

impl Checked {
    /// Its mark.
    pub(super) fn slot(&self) -> Slot {
        Slot { events: self.events, epoch: self.epoch, sum: self.sum.unwrap_or(0) }
    }
}

/// Reads all of a ledger; the sum of its open claims.
fn whole(
    database: &Connection,
    path: &Path,
    clock: &dyn Clock,
    marked: Option<Slot>,
) -> Result<u64> {
    let answer = database
        .query_row("PRAGMA integrity_check(1)", [], |row| row.get::<_, String>(0))
        .optional()
        .map_err(|error| explain(path, error))?;
    match answer.as_deref() {
        Some("ok") => {}
        answer => return Err(Corruption::Database(answer.unwrap_or_default().to_owned()).into()),
    }
    if !are_found(database, path, clock)? {
        return Err(Corruption::Altered.into());
    }
    let found = sum(database, path, clock)?;
    match marked {
        Some(marked) if marked.sum != found => Err(Corruption::Altered.into()),
        Some(_) => Ok(found),
        // The mark says nothing of this state: the ledger must agree with its own log.
        None => replayed(database, path, clock).map(|()| found),
    }
}

/// What the open claims come to.
fn sum(database: &Connection, path: &Path, clock: &dyn Clock) -> Result<u64> {
    let open = SqliteTransaction::new(database, path, clock).open(None)?;
    Ok(open.iter().map(weight).fold(0, u64::wrapping_add))
}

/// Whether claims of paths are found by their prefixes: one that is not would exclude nothing.
fn are_found(database: &Connection, path: &Path, clock: &dyn Clock) -> Result<bool> {
    let mut transaction = SqliteTransaction::new(database, path, clock);
    let sql = "SELECT prefix FROM claim WHERE epoch = ?1";
    let error = |error| explain(path, error);
    let mut statement = database.prepare(sql).map_err(error)?;
    for claim in transaction.open(None)? {
        let prefix = claim.resource.path().map(ClaimedPath::prefix);
        let stored =
            statement.query_row([number(claim.epoch)], |row| row.get::<_, Option<String>>(0));
        if stored.map_err(error)? != prefix {
            return Ok(false);
        }
    }
    Ok(true)
}

fn replayed(database: &Connection, path: &Path, clock: &dyn Clock) -> Result<()> {
    let mut transaction = SqliteTransaction::new(database, path, clock);
    let events = transaction.events(&Filter::default())?;
    let told = event::replay(&events).map_err(|_| Error::from(Corruption::Altered))?;
    let open = transaction.open(None)?;
    let agrees = |claim: &crate::Claim| told.get(&claim.epoch).is_some_and(|it| it.is_of(claim));
    if open.len() == told.len() && open.iter().all(agrees) {
        return Ok(());
    }
    Err(Corruption::Altered.into())
}
