//! What can still be read of a damaged ledger, as a ledger of its own.
//!
//! Rows are read from both ends of each table until the damage. What they say of a resource is kept
//! only if its claims and its events agree, as damage may also be in a value: a holder with another
//! pid would look dead.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use rusqlite::types::Value;
use rusqlite::{Connection, OpenFlags, Row, params};

use super::fault::explain;
use super::place;
use super::rows::{self, CLAIM, EVENT};
use super::transaction::SqliteTransaction;
use crate::claim::Claim;
use crate::clock::Clock;
use crate::error::{Error, Result};
use crate::event::{self, Event};
use crate::path::ClaimedPath;
use crate::resource::Resource;

/// What was read.
#[derive(Debug, Default)]
pub(super) struct Salvage {
    /// The open claims that are kept.
    pub(super) claims: Vec<Claim>,
    /// Resources of which something was read, but not enough.
    pub(super) lost: Vec<Resource>,
    /// Every table could be read to its end.
    pub(super) is_complete: bool,
    /// The number of the last event that was read.
    pub(super) events: u64,
    /// The number of the last event that is kept.
    pub(super) kept_events: u64,
    /// The greatest epoch that was read, of whatever was kept of it.
    pub(super) epoch: u64,
}

/// A table: the version that has it first, its name, its key, its columns, and those that version 2
/// added.
struct Table {
    since: i64,
    name: &'static str,
    key: &'static str,
    columns: &'static str,
    added: &'static str,
}

const TABLES: [Table; 6] = [
    Table { since: 1, name: "scope", key: "id", columns: "id, key, folder", added: "" },
    Table { since: 1, name: "owner", key: "id", columns: "id, session, process, who", added: "" },
    Table {
        since: 1,
        name: "claim",
        key: "epoch",
        columns: "epoch, seal, scope, resource, owner, hold, since, note, request, offer, ended, lost",
        added: ", mode, prefix, link",
    },
    Table {
        since: 1,
        name: "event",
        key: "number",
        columns: "number, at, scope, resource, epoch, actor, deed",
        added: "",
    },
    Table {
        since: 3,
        name: "message",
        key: "number",
        columns: "number, scope, at, sender, recipient, kind, resource, body",
        added: "",
    },
    Table { since: 3, name: "receipt", key: "message", columns: "message, session", added: "" },
];

/// The resource of a row: its scope and its name.
type Key = (i64, Vec<u8>);

/// Makes a new ledger at `to` with what can be read at `from`.
pub(super) fn salvage(from: &Path, to: &Path, clock: &dyn Clock) -> Result<Salvage> {
    let error = |error| explain(to, error);
    let mut options = std::fs::OpenOptions::new();
    place::keep_private(options.write(true).create_new(true));
    drop(options.open(to).map_err(|error| Error::io("create", error))?);
    super::create(to).map_err(error)?;
    let new = Connection::open_with_flags(to, OpenFlags::SQLITE_OPEN_READ_WRITE).map_err(error)?;
    new.execute_batch("PRAGMA foreign_keys = OFF; PRAGMA synchronous = OFF; BEGIN")
        .map_err(error)?;
    let mut found = Salvage { is_complete: true, ..Salvage::default() };
    match Connection::open_with_flags(from, OpenFlags::SQLITE_OPEN_READ_WRITE) {
        Ok(old) if from.exists() => {
            let version = old.pragma_query_value(None, "user_version", |row| row.get::<_, i64>(0));
            let version = version.unwrap_or(super::VERSION);
            for table in TABLES.iter().filter(|table| table.since <= version) {
                found.is_complete &= copy(&old, &new, table).map_err(error)?;
            }
            let sql = "SELECT seq FROM sqlite_sequence WHERE name = 'claim'";
            found.epoch = number(old.query_row(sql, [], |row| row.get(0)).ok());
        }
        _ => found.is_complete = false,
    }
    let last = |sql| new.query_row(sql, [], |row| row.get(0)).map(number).map_err(error);
    found.epoch = found.epoch.max(last("SELECT max(epoch) FROM claim")?);
    found.events = last("SELECT max(number) FROM event")?;
    keep_what_agrees(&new, to, clock, &mut found)?;
    found.kept_events = last("SELECT max(number) FROM event")?;
    new.execute_batch("COMMIT").map_err(error)?;
    close(new).map_err(error)?;
    Ok(found)
}

/// Closes a new ledger whose file alone is used. Closing it copies its log into the file, too, but does
/// not say if that fails.
fn close(new: Connection) -> rusqlite::Result<()> {
    let is_busy =
        new.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get::<_, bool>(0))?;
    if is_busy {
        let busy = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_BUSY);
        return Err(rusqlite::Error::SqliteFailure(busy, None));
    }
    new.close().map_err(|(_, error)| error)
}

/// Lets a new ledger continue after these numbers.
pub(super) fn continue_after(ledger: &Path, epoch: u64, events: u64) -> Result<()> {
    let error = |error| explain(ledger, error);
    let new = Connection::open_with_flags(ledger, OpenFlags::SQLITE_OPEN_READ_WRITE);
    let new = new.map_err(error)?;
    for (table, last) in [("claim", epoch), ("event", events)] {
        let last = i64::try_from(last).unwrap_or(i64::MAX);
        let sql = "DELETE FROM sqlite_sequence WHERE name = ?1";
        new.execute(sql, [table]).map_err(error)?;
        let sql = "INSERT INTO sqlite_sequence (name, seq) VALUES (?1, ?2)";
        new.execute(sql, params![table, last]).map_err(error)?;
    }
    close(new).map_err(error)
}

fn number(value: Option<i64>) -> u64 {
    value.unwrap_or(0).unsigned_abs()
}

/// Copies the rows of a table; whether all of them could be read. An error is one of the new ledger.
fn copy(old: &Connection, new: &Connection, table: &Table) -> rusqlite::Result<bool> {
    let Table { since: _, name: table, key, columns, added } = table;
    let all = format!("{columns}{added}");
    // A ledger of version 1 that is too damaged to be opened has the columns of version 1.
    let has_all = old.prepare(&format!("SELECT {all} FROM {table}")).is_ok();
    let columns = if has_all { all.as_str() } else { columns };
    let count = columns.split(',').count();
    let places = vec!["?"; count].join(", ");
    let insert = format!("INSERT OR IGNORE INTO {table} ({columns}) VALUES ({places})");
    let mut insert = new.prepare(&insert)?;
    let mut is_complete = false;
    for order in ["ASC", "DESC"] {
        // NOT INDEXED: the rows themselves, which may be whole where an index is not.
        let sql = format!("SELECT {columns} FROM {table} NOT INDEXED ORDER BY {key} {order}");
        let Ok(mut select) = old.prepare(&sql) else { continue };
        let Ok(mut rows) = select.query([]) else { continue };
        is_complete = loop {
            match rows.next() {
                Ok(Some(row)) => {
                    let values: rusqlite::Result<Vec<Value>> =
                        (0..count).map(|place| row.get(place)).collect();
                    // A value of another type than its column's is refused: the row is damaged.
                    if let Ok(values) = values {
                        drop(insert.execute(rusqlite::params_from_iter(values)));
                    }
                }
                Ok(None) => break true,
                Err(_) => break false,
            }
        };
        if is_complete {
            break;
        }
    }
    Ok(is_complete)
}

/// Removes what is known of resources whose claims and events do not agree.
fn keep_what_agrees(
    new: &Connection,
    path: &Path,
    clock: &dyn Clock,
    found: &mut Salvage,
) -> Result<()> {
    let error = |error| explain(path, error);
    let mut transaction = SqliteTransaction::new(new, path, clock);
    let mut claims: BTreeMap<Key, Vec<Claim>> = BTreeMap::new();
    let mut events: BTreeMap<Key, Vec<Event>> = BTreeMap::new();
    let mut bad: BTreeSet<Key> = BTreeSet::new();
    let mut statement = new.prepare(&format!("{CLAIM} ORDER BY epoch")).map_err(error)?;
    let mut rows = statement.query([]).map_err(error)?;
    while let Some(row) = rows.next().map_err(error)? {
        let key = key(row, 2, 11).map_err(error)?;
        match transaction.claim(row, None) {
            Ok(it) if has_process(new, &it.claim) && is_found(new, &it.claim) => {
                claims.entry(key).or_default().push(it.claim);
            }
            _ => drop(bad.insert(key)),
        }
    }
    let mut statement = new.prepare(&format!("{EVENT} ORDER BY number")).map_err(error)?;
    let mut rows = statement.query([]).map_err(error)?;
    while let Some(row) = rows.next().map_err(error)? {
        let key = key(row, 2, 3).map_err(error)?;
        match transaction.event(row) {
            Ok(event) => events.entry(key).or_default().push(event),
            Err(_) => drop(bad.insert(key)),
        }
    }
    let none = Vec::new();
    let all: BTreeSet<&Key> = claims.keys().chain(events.keys()).collect();
    for key in all {
        let claims = claims.get(key).unwrap_or(&none);
        let scope = "SELECT count(*) FROM scope WHERE id = ?1";
        let has_scope = new.query_row(scope, [key.0], |row| row.get::<_, bool>(0));
        let events = events.get(key).map(Vec::as_slice).unwrap_or_default();
        if !has_scope.map_err(error)? || !agree(claims, events) {
            bad.insert(key.clone());
        }
    }
    remove(new, &bad).map_err(error)?;
    found.is_complete &= bad.is_empty();
    let lost = bad.iter().filter_map(|(_, name)| Resource::from_stored(name, None).ok());
    found.lost = lost.collect();
    claims.retain(|key, _| !bad.contains(key));
    found.claims = claims.into_values().flatten().filter(Claim::is_open).collect();
    found.claims.sort_by_key(|claim| claim.epoch);
    Ok(())
}

fn key(row: &Row, scope: usize, resource: usize) -> rusqlite::Result<Key> {
    Ok((row.get(scope)?, row.get(resource)?))
}

/// Whether the owner's process is the one by which the ledger finds it.
fn has_process(new: &Connection, claim: &Claim) -> bool {
    let sql = "SELECT process FROM owner WHERE id = ?1";
    let stored: Option<String> =
        new.query_row(sql, [claim.owner.id.0], |row| row.get(0)).unwrap_or_default();
    stored == claim.owner.process.as_ref().map(osm_identity::ProcessInstance::key)
}

/// Whether a claim of paths has the prefix by which the ledger finds it.
fn is_found(new: &Connection, claim: &Claim) -> bool {
    let sql = "SELECT prefix FROM claim WHERE epoch = ?1";
    let stored = new.query_row(sql, [rows::number(claim.epoch)], |row| row.get(0));
    stored.is_ok_and(|it: Option<String>| it == claim.resource.path().map(ClaimedPath::prefix))
}

/// Whether the events of a resource lead to its claims.
fn agree(claims: &[Claim], events: &[Event]) -> bool {
    let Ok(told) = event::replay(events) else { return false };
    let granted = events.iter().filter(|it| it.transition.name() == "granted");
    let is_granted = granted.map(|it| it.epoch).eq(claims.iter().map(|it| it.epoch));
    let open: Vec<_> = claims.iter().filter(|claim| claim.is_open()).collect();
    let is_told = |it: &&Claim| told.get(&it.epoch).is_some_and(|told| told.is_of(it));
    let is_open = open.len() == told.len() && open.iter().all(is_told);
    is_granted && is_open
}

/// Removes rows that the triggers keep.
fn remove(new: &Connection, keys: &BTreeSet<Key>) -> rusqlite::Result<()> {
    let mut triggers = new.prepare("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'")?;
    let triggers = triggers.query_map([], |row| Ok((row.get(0)?, row.get(1)?)));
    let triggers: Vec<(String, String)> = triggers?.collect::<rusqlite::Result<_>>()?;
    for (name, _) in &triggers {
        new.execute_batch(&format!("DROP TRIGGER {name}"))?;
    }
    for (scope, resource) in keys {
        for table in ["event", "claim"] {
            let sql = format!("DELETE FROM {table} WHERE scope = ?1 AND resource = ?2");
            new.execute(&sql, params![scope, resource])?;
        }
    }
    for (_, sql) in &triggers {
        new.execute_batch(sql)?;
    }
    Ok(())
}
