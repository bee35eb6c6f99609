//! Versions of the tables.
//!
//! Each component (the store, the claims) has a list of migrations of its own; what is applied is noted in
//! `osm.migration`. All missing ones of a component are applied in one transaction, under a lock that all components
//! share: it happens whole or not at all, and once, however many programs try.

use std::time::Duration;

use tokio_postgres::types::Type;

use crate::connection::Connection;
use crate::error::{Kind, Result};
use crate::transaction::{Limits, Transaction};

/// The oldest server whose statements we know.
const OLDEST_SERVER: i32 = 130_000;

/// The lock that keeps other migrations out; the number is ours alone by being arbitrary.
const LOCK: i64 = 0x6f73_6d20_6d69_6772;

const LIMITS: Limits = Limits {
    lock: Duration::from_mins(1),
    statement: Duration::from_mins(5),
    idle: Duration::from_mins(1),
};

/// What all components share: the list of migrations, and the generation of the store, which is another one in
/// every database that was ever made.
const BASE: &str = "
CREATE SCHEMA IF NOT EXISTS osm;
CREATE TABLE IF NOT EXISTS osm.migration (
    component text NOT NULL,
    version integer NOT NULL CHECK (version > 0),
    name text NOT NULL,
    applied_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (component, version)
);
CREATE TABLE IF NOT EXISTS osm.generation (
    only_one boolean PRIMARY KEY DEFAULT true CHECK (only_one),
    id uuid NOT NULL DEFAULT gen_random_uuid()
);
INSERT INTO osm.generation DEFAULT VALUES ON CONFLICT DO NOTHING;
";

/// One step of a schema.
#[derive(Clone, Copy, Debug)]
pub struct Migration {
    /// What it does, for people.
    pub name: &'static str,
    /// Its statements.
    pub sql: &'static str,
}

/// A part of osm that has tables. Its version is the number of its migrations: they are only ever added.
#[derive(Clone, Copy, Debug)]
pub struct Component {
    /// Its name in the list of migrations.
    pub name: &'static str,
    /// Oldest first.
    pub migrations: &'static [Migration],
}

/// How the tables of a component compare with what this program knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Schema {
    /// There are none.
    Missing,
    /// They are of this older version.
    Older(usize),
    /// They are what this program knows.
    Current,
    /// They are of this newer version.
    Newer(usize),
}

impl Component {
    /// The version that this program knows.
    #[must_use]
    pub fn version(&self) -> usize {
        self.migrations.len()
    }

    fn compare(&self, found: usize) -> Schema {
        match found {
            0 => Schema::Missing,
            found if found < self.version() => Schema::Older(found),
            found if found > self.version() => Schema::Newer(found),
            _ => Schema::Current,
        }
    }

    /// Looks at the tables.
    pub fn inspect(&self, connection: &mut Connection) -> Result<Schema> {
        let sql = "SELECT count(*) FROM osm.migration WHERE component = $1";
        match connection.read(sql, &[(&self.name, Type::TEXT)]) {
            Ok(rows) => Ok(self.compare(count(&rows))),
            Err(error) if error.kind() == Kind::MissingSchema => Ok(Schema::Missing),
            Err(error) => Err(error),
        }
    }

    /// Makes sure that the tables are those that this program knows: makes them if there are none. Those of another
    /// version are an error: to migrate them keeps older programs out, so a person decides on it.
    pub fn require(&self, connection: &mut Connection) -> Result<()> {
        let (kind, found) = match self.inspect(connection)? {
            Schema::Current => return Ok(()),
            Schema::Missing => return self.migrate(connection).map(drop),
            Schema::Older(found) => (Kind::OlderSchema, found),
            Schema::Newer(found) => (Kind::NewerSchema, found),
        };
        Err(self.mismatch(connection, kind, found))
    }

    /// Applies all migrations that are missing, and returns their names.
    pub fn migrate(&self, connection: &mut Connection) -> Result<Vec<&'static str>> {
        let place = connection.server().to_string();
        connection.transaction(LIMITS, |transaction| {
            transaction.execute("SELECT pg_advisory_xact_lock($1)", &[(&LOCK, Type::INT8)])?;
            check_version(transaction)?;
            transaction.batch(BASE)?;
            let sql = "SELECT count(*) FROM osm.migration WHERE component = $1";
            let found = count(&transaction.query(sql, &[(&self.name, Type::TEXT)])?);
            if let Schema::Newer(found) = self.compare(found) {
                let reason = self.mismatch_reason(found);
                return Err(crate::Error::new(Kind::NewerSchema, &place, reason));
            }
            let mut applied = Vec::new();
            for (at, migration) in self.migrations.iter().enumerate().skip(found) {
                transaction.batch(migration.sql)?;
                let version = i32::try_from(at + 1).unwrap_or(i32::MAX);
                transaction.execute(
                    "INSERT INTO osm.migration (component, version, name) VALUES ($1, $2, $3)",
                    &[
                        (&self.name, Type::TEXT),
                        (&version, Type::INT4),
                        (&migration.name, Type::TEXT),
                    ],
                )?;
                applied.push(migration.name);
            }
            Ok(applied)
        })
    }

    fn mismatch(&self, connection: &Connection, kind: Kind, found: usize) -> crate::Error {
        crate::Error::new(kind, &**connection.server(), self.mismatch_reason(found))
    }

    fn mismatch_reason(&self, found: usize) -> String {
        let known = self.version();
        format!(
            "the tables of the {} have version {found}, and this osm knows version {known}",
            self.name
        )
    }
}

fn check_version(transaction: &mut Transaction<'_>) -> Result<()> {
    let rows = transaction.query("SELECT current_setting('server_version_num')::int4", &[])?;
    let version: i32 = rows.first().map_or(0, |row| row.get(0));
    if version < OLDEST_SERVER {
        let reason = format!("PostgreSQL 13 or newer is needed, not {}", version / 10_000);
        return Err(transaction.error(Kind::Refused, reason));
    }
    Ok(())
}

fn count(rows: &[tokio_postgres::Row]) -> usize {
    let count: i64 = rows.first().map_or(0, |row| row.get(0));
    usize::try_from(count).unwrap_or(0)
}

/// The random id of the store, made with its first table: a new database has another one.
pub fn generation(connection: &mut Connection) -> Result<String> {
    let rows = connection.read("SELECT id::text FROM osm.generation", &[])?;
    let missing = || {
        let reason = "osm.generation is empty";
        crate::Error::new(Kind::MissingSchema, &**connection.server(), reason)
    };
    rows.first().map(|row| row.get(0)).ok_or_else(missing)
}
