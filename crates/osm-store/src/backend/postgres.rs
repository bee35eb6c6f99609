//! Sessions on a PostgreSQL server, for several machines.
//!
//! What files do with locks and renames is done with rows:
//!
//! | promise | kept by |
//! |---|---|
//! | a session is attended | a row in `osm.lease`, which the server lets run out unless it is renewed (`lease.rs`) |
//! | every write presents its fence | the write renews the lease by its epoch, which no other lease ever has; no row, no write |
//! | an update is one step | one transaction, under a lock that ends with it (`attended.rs`) |
//! | a stamp tells versions apart | the revision, from a sequence that never gives a number twice |
//! | a lost reply is found out about | the number of the last update is in the row of the lease, changed with the document |
//! | time is the store's | the server's clock, in every statement |
//!
//! A document is cut into pieces where its content says so, and each piece of a session is stored once, by its hash
//! (`pieces.rs`): a save sends what changed. Pieces belong to one session, so that what no version needs any more is
//! removed with the save that drops it; nothing has to be counted or swept.
//!
//! Each thread that calls has a connection of its own for that moment. Nothing is kept between two transactions in the
//! state of a server's session, so a pooler in transaction mode works; only [`Watch`] is then slower to notice.

mod attended;
mod lease;
mod lists;
mod pieces;
mod pool;
mod schema;
mod transaction;
mod watch;

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use osm_identity::SessionId;
use osm_postgres::{Kind, Limits, Server, Type};

use super::{
    Agree, ArchiveKind, ArchivedDocument, Attended, Backend, Current, Entry, Guard, Holder,
    HolderState, Listing, Page, Removal, Sharing, Stamp, Stored, Transaction, Wait, Watch,
};
use crate::error::{Damage, Damaged, Error, Result};
use crate::{gzip, layout};

use attended::ServerSession;
use lease::{Lease, Leases};
use pool::Pool;
use transaction::ServerTransaction;

pub use schema::COMPONENT;

/// The lease of a running cleanup. It is no session's id.
const CLEANUP: &str = "cleanup";

/// A store on a server.
pub struct PostgresBackend {
    pool: Arc<Pool>,
    leases: Arc<Leases>,
}

impl PostgresBackend {
    /// Connects, and makes the tables if there are none. Tables of another version are an error.
    pub fn open(server: Arc<Server>) -> Result<Self> {
        let pool = Arc::new(Pool::new(server));
        pool.with(|connection| Ok(COMPONENT.require(connection)?))?;
        let leases = Arc::new(Leases::new(Arc::clone(&pool)));
        Ok(Self { pool, leases })
    }

    fn remove_session(&self, id: &SessionId, removal: &Removal<'_>) -> Result<()> {
        self.pool.transact(Limits::USUAL, |transaction| {
            lease::exclude(transaction, id.as_str())?;
            let holders = lease::others(transaction, id.as_str(), false)?;
            let found = pieces::look(transaction, id, None)?;
            let Current::Found(bytes, stamp) = found else {
                return Err(Error::NotFound(id.clone()));
            };
            if !holders.is_empty() {
                return Err(Error::Busy { id: id.clone(), holders });
            }
            if removal.expected.is_some_and(|expected| expected != stamp) {
                return Err(Error::Changed(id.clone()));
            }
            let mut step = ServerTransaction::begin(transaction)?;
            if removal.keep {
                let stem = layout::stem(id, "trash", step.now());
                step.archive(ArchiveKind::Trash, &stem, &bytes)?;
            }
            pieces::remove(transaction, id)
        })
    }

    fn remove_archived(&self, kind: ArchiveKind, name: &str) -> Result<()> {
        layout::check_archive_name(kind, name)?;
        let removed = self.pool.with(|connection| {
            let sql = "DELETE FROM osm.archive WHERE kind = $1 AND name = $2 RETURNING 1";
            let parameters = [(&kind.name() as _, Type::TEXT), (&name as _, Type::TEXT)];
            Ok(connection.write(sql, &parameters)?)
        })?;
        if removed.is_empty() {
            return Err(Error::ArchiveNotFound(name.to_owned()));
        }
        Ok(())
    }
}

impl Backend for PostgresBackend {
    fn now(&self) -> Result<Timestamp> {
        self.pool.with(|connection| {
            let rows = connection.read("SELECT clock_timestamp()", &[])?;
            Ok(rows[0].get(0))
        })
    }

    fn attend(
        &self,
        id: &SessionId,
        holder: &Holder,
        sharing: Sharing,
        wait: Wait,
    ) -> Result<Box<dyn Attended>> {
        let lease = self.leases.attend(id.as_str(), holder, sharing, wait, |holders| {
            Error::Busy { id: id.clone(), holders }
        })?;
        let pool = Arc::clone(&self.pool);
        Ok(Box::new(ServerSession::new(pool, lease, id.clone(), sharing)))
    }

    fn evict_dead(&self, id: &SessionId, _holder: &Holder, agree: &mut Agree<'_>) -> Result<bool> {
        self.pool.transact(Limits::USUAL, |transaction| {
            lease::exclude(transaction, id.as_str())?;
            let seen = lease::look_at_all(transaction, id.as_str())?;
            let (dead, alive): (Vec<_>, Vec<_>) = seen.into_iter().partition(HolderState::is_dead);
            if !alive.is_empty() {
                return Err(Error::Unproven { id: id.clone(), holders_seen: alive, lock: None });
            }
            if dead.is_empty() {
                return Ok(false);
            }
            agree(&mut ServerTransaction::begin(transaction)?, &dead)?;
            lease::end_all(transaction, id.as_str())?;
            Ok(true)
        })
    }

    fn load(&self, what: Stored<'_>, known: Option<Stamp>) -> Result<Current> {
        let (kind, name) = match what {
            Stored::Session(id) => {
                return self.pool.with(|connection| pieces::read(connection, id, known));
            }
            Stored::Record => {
                return self.pool.with(|connection| {
                    let rows = connection.read("SELECT content FROM osm.record", &[])?;
                    let content: Option<Vec<u8>> = rows.first().and_then(|row| row.get(0));
                    Ok(content.map_or(Current::Missing, |it| Current::Found(it, Stamp([0; 4]))))
                });
            }
            Stored::Archived(kind, name) => (kind, name),
        };
        if layout::check_archive_name(kind, name).is_err() {
            return Ok(Current::Missing);
        }
        let found = self.pool.with(|connection| {
            let sql = "SELECT content, number FROM osm.archive WHERE kind = $1 AND name = $2";
            let parameters = [(&kind.name() as _, Type::TEXT), (&name as _, Type::TEXT)];
            Ok(connection.read(sql, &parameters)?)
        })?;
        let Some(row) = found.first() else { return Ok(Current::Missing) };
        let (content, number): (&[u8], i64) = (row.get(0), row.get(1));
        let bytes = if layout::is_compressed(kind) {
            gzip::unpack(content, layout::LARGEST_DOCUMENT).map_err(|error| Error::Corrupt {
                what: Damaged::Archive,
                place: name.to_owned(),
                reason: Damage::Compression(error.to_string()),
            })?
        } else {
            content.to_vec()
        };
        Ok(Current::Found(bytes, Stamp([number.unsigned_abs(), 0, 0, 0])))
    }

    fn list(&self, page: &Page) -> Result<Listing<Entry>> {
        self.pool.with(|connection| lists::sessions(connection, page))
    }

    fn archived(&self, kind: ArchiveKind, page: &Page) -> Result<Listing<ArchivedDocument>> {
        self.pool.with(|connection| lists::archived(connection, kind, page))
    }

    fn holders(&self, id: &SessionId) -> Result<Vec<Holder>> {
        self.pool.with(|connection| lease::holders(connection, id.as_str(), None))
    }

    fn remove(
        &self,
        batch: &[Removal<'_>],
        done: &mut dyn FnMut(usize, Result<()>) -> ControlFlow<()>,
    ) {
        for (number, removal) in batch.iter().enumerate() {
            let result = match removal.what {
                Stored::Session(id) => self.remove_session(id, removal),
                Stored::Archived(kind, name) => self.remove_archived(kind, name),
                Stored::Record => Ok(()),
            };
            if done(number, result).is_break() {
                return;
            }
        }
    }

    fn transact(
        &self,
        _holder: &Holder,
        wait: Wait,
        body: &mut dyn FnMut(&mut dyn Transaction) -> Result<()>,
    ) -> Result<()> {
        self.pool.transact(Limits::USUAL.waiting(wait.0), |transaction| {
            body(&mut ServerTransaction::begin(transaction)?)
        })
    }

    fn lock_cleanup(&self, holder: &Holder) -> Result<Option<Box<dyn Guard>>> {
        let busy = |_| Error::CleanupRunning;
        match self.leases.attend(CLEANUP, holder, Sharing::Exclusive, Wait::NONE, busy) {
            Ok(lease) => Ok(Some(Box::new(lease))),
            Err(Error::CleanupRunning) => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn watch(&self, id: &SessionId) -> Result<Box<dyn Watch>> {
        Ok(Box::new(watch::ServerWatch::new(Arc::clone(&self.pool), id.clone())?))
    }
}

impl Guard for Lease {}

/// What is written to `pg_notify` when a session changes, with its id.
const CHANNEL: &str = "osm_session";

/// So many items are on a page if the caller does not mind.
const USUAL_PAGE: usize = 1000;

/// A wait for a lock that was in vain.
fn is_lock_timeout(error: &Error) -> bool {
    matches!(error, Error::Server(error) if error.kind() == Kind::LockTimeout)
}

/// A duration as the server takes it.
fn milliseconds(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}
