//! The ledger of several machines: a PostgreSQL server.
//!
//! Writers come one after another, as in the SQLite ledger: each write transaction begins with one advisory lock,
//! which ends with it, and then reads at `READ COMMITTED`, so that it sees everything that was committed before. The
//! rules read much more than they write (the other owners of a session, all claims of paths that overlap, requests
//! that wait), in any scope, and a lock for each scope would let a session be registered twice. `SERIALIZABLE` would
//! be as exact, but finds conflicts by failing: where 64 sessions race for one resource, most attempts would be made
//! again, and in small tables, which are read whole, so would those of strangers. The lock is held for a few round
//! trips; a client that dies or stops meanwhile loses it by the server's time limits. Renewing leases takes the same
//! lock: whether a lease is over must not change between the look of a rival and its grant.
//!
//! Readers take no lock and see one point in time. Notifications come on a connection of their own; behind a pooler
//! that has no sessions there are none, and those who wait look again after a few seconds.
//!
//! The clock is the server's. Its tables are in `postgres/schema.sql`.

mod rows;
mod transaction;
mod watch;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use osm_postgres::{
    Component, Connection, Limits, Migration, Server, Transaction as ServerTransaction, Type,
};

use self::transaction::{PostgresTransaction, Time};
use super::{Ledger, Presence, Watch, Work};
use crate::clock::Clock;
use crate::error::Result;

/// The tables of claims.
pub const COMPONENT: Component = Component {
    name: "claims",
    migrations: &[Migration { name: "claims", sql: include_str!("postgres/schema.sql") }],
};

/// What is told of every change.
const CHANNEL: &str = "osm_claims";

/// The lock of writers; the number is ours alone by being arbitrary.
const LOCK: i64 = 0x6f73_6d20_636c_6169;

/// A client that is cut off while it has the lock loses it before those that wait for it give up.
const LIMITS: Limits = Limits { idle: Duration::from_secs(4), ..Limits::USUAL };

/// A ledger on a server.
pub struct PostgresLedger {
    server: Arc<Server>,
    connection: Mutex<Connection>,
    time: Time,
    presence: Presence,
}

impl PostgresLedger {
    /// Connects, and makes the tables if there are none.
    pub fn open(server: Server, presence: Presence) -> Result<Self> {
        let server = Arc::new(server);
        let mut connection = Connection::open(&server)?;
        COMPONENT.require(&mut connection)?;
        let time = Time::OfServer { generation: osm_postgres::generation(&mut connection)? };
        Ok(Self { server, connection: Mutex::new(connection), time, presence })
    }

    /// The same with a clock of the caller's instead of the server's.
    pub fn open_with_clock(
        server: Server,
        presence: Presence,
        clock: Box<dyn Clock>,
    ) -> Result<Self> {
        Ok(Self { time: Time::Of(clock), ..Self::open(server, presence)? })
    }

    fn run(
        &self,
        work: Work<'_>,
        begin: impl Fn(&mut ServerTransaction<'_>) -> Begun,
    ) -> Result<()> {
        // A transaction that a panic interrupted was rolled back, with its connection.
        let mut connection = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        connection.transaction(LIMITS, |transaction| {
            begin(transaction)?;
            work(&mut PostgresTransaction::new(transaction, &self.time, self.presence))
        })
    }
}

type Begun = osm_postgres::Result<()>;

impl Ledger for PostgresLedger {
    fn write(&self, work: Work<'_>) -> Result<()> {
        self.run(work, |transaction| {
            let sql = "SELECT pg_advisory_xact_lock($1)";
            transaction.query(sql, &[(&LOCK, Type::INT8)]).map(drop)
        })
    }

    fn read(&self, work: Work<'_>) -> Result<()> {
        self.run(work, |transaction| {
            transaction.batch("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        })
    }

    fn watch(&self) -> Result<Box<dyn Watch + '_>> {
        watch::begin(&self.server)
    }

    fn presence(&self) -> Presence {
        self.presence
    }
}
