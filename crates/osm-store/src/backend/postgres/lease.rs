//! Leases: who has a session open, on which machine, and until when by the server's clock.
//!
//! A lease is a row, and its epoch is the fence. The row counts for others until it expires; for its owner as long as it is
//! there: an owner that was away longer goes on, if no other process needed the session meanwhile. A process that needs it
//! removes the rows that expired, and with them the right of their owners to write.
//!
//! A thread renews all leases of the process long before they expire; it sleeps unless a session is open for longer.
//! A process that is killed leaves its lease. On the same machine its death is proven, and the lease does not count;
//! for other machines it ends when it expires.

use std::collections::BTreeSet;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use osm_identity::{Pid, ProcessInstance, System};
use osm_postgres::{Connection, Limits, Row, Transaction, Type};

use super::milliseconds;
use super::pool::Pool;
use crate::backend::{Holder, HolderState, Sharing, Wait};
use crate::error::{Error, Result};

/// How long a lease lasts.
pub(super) const TERM: Duration = Duration::from_secs(90);
/// How often it is renewed: two attempts can fail.
const RENEW_EVERY: Duration = Duration::from_secs(30);
/// How often a process that waits for a session looks again.
const LOOK_EVERY: Duration = Duration::from_millis(25);

/// How often a request is sent whose reply is lost.
const ATTEMPTS: u32 = 5;

/// The leases of this process.
pub(super) struct Leases {
    pool: Arc<Pool>,
    held: Mutex<Held>,
    changed: Condvar,
}

#[derive(Default)]
struct Held {
    epochs: BTreeSet<i64>,
    is_renewing: bool,
}

/// A lease that was granted. It ends when it is dropped.
pub(super) struct Lease {
    leases: Arc<Leases>,
    epoch: i64,
}

impl Leases {
    pub(super) fn new(pool: Arc<Pool>) -> Self {
        Self { pool, held: Mutex::default(), changed: Condvar::new() }
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a lease, as soon as no other one is against it.
    pub(super) fn attend(
        self: &Arc<Self>,
        session: &str,
        holder: &Holder,
        sharing: Sharing,
        wait: Wait,
        busy: impl Fn(Vec<Holder>) -> Error,
    ) -> Result<Lease> {
        let began = Instant::now();
        loop {
            let left = wait.0.saturating_sub(began.elapsed());
            match self.grant(session, holder, sharing)? {
                Ok(epoch) => {
                    self.keep(epoch);
                    return Ok(Lease { leases: Arc::clone(self), epoch });
                }
                Err(holders) if left.is_zero() => return Err(busy(holders)),
                Err(_) => std::thread::sleep(LOOK_EVERY.min(left)),
            }
        }
    }

    /// Grants a lease, or says who is against it.
    fn grant(
        &self,
        session: &str,
        holder: &Holder,
        sharing: Sharing,
    ) -> Result<std::result::Result<i64, Vec<Holder>>> {
        let holder = serde_json::to_string(holder).map_err(|error| {
            Error::Unreachable(format!("the holder cannot be written: {error}").into())
        })?;
        let exclusive = sharing == Sharing::Exclusive;
        let request = new_request();
        let grant = || {
            self.pool.transact(Limits::USUAL, |transaction| {
                exclude(transaction, session)?;
                let sql = "SELECT epoch FROM osm.lease WHERE request = $1";
                if let Some(row) = transaction.query(sql, &[(&request, Type::TEXT)])?.first() {
                    return Ok(Ok(row.get(0)));
                }
                let others = others(transaction, session, !exclusive)?;
                if !others.is_empty() {
                    return Ok(Err(others));
                }
                let sql = "INSERT INTO osm.lease (session, exclusive, holder, expires_at, request)
                VALUES ($1, $2, $3, clock_timestamp() + $4 * interval '1 millisecond', $5)
                RETURNING epoch";
                let rows = transaction.query(
                    sql,
                    &[
                        (&session, Type::TEXT),
                        (&exclusive, Type::BOOL),
                        (&holder, Type::TEXT),
                        (&milliseconds(TERM), Type::INT8),
                        (&request, Type::TEXT),
                    ],
                )?;
                Ok(Ok(rows[0].get(0)))
            })
        };
        let mut attempt = 1;
        loop {
            match grant() {
                Err(Error::UnknownOutcome(_)) if attempt < ATTEMPTS => attempt += 1,
                granted => return granted,
            }
        }
    }

    /// Renews a lease from now on.
    fn keep(self: &Arc<Self>, epoch: i64) {
        let mut held = self.held();
        held.epochs.insert(epoch);
        if !std::mem::replace(&mut held.is_renewing, true) {
            let leases = Arc::downgrade(self);
            let thread = std::thread::Builder::new().name("osm leases".into());
            // Without the thread a lease lasts for its term, and every save renews it.
            held.is_renewing = thread.spawn(move || renew_all(&leases)).is_ok();
        }
    }

    /// Waits for the next renewal; `false` if there is nothing to renew any more.
    fn pause(&self) -> bool {
        let mut held = self.held();
        let began = Instant::now();
        while !held.epochs.is_empty() {
            let left = RENEW_EVERY.saturating_sub(began.elapsed());
            if left.is_zero() {
                return true;
            }
            held = self.changed.wait_timeout(held, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        held.is_renewing = false;
        false
    }

    fn renew(&self) {
        let epochs: Vec<i64> = self.held().epochs.iter().copied().collect();
        let sql =
            "UPDATE osm.lease SET expires_at = clock_timestamp() + $2 * interval '1 millisecond'
            WHERE epoch = ANY ($1)";
        // What fails now is tried again, and what is lost is told to its owner by the next write.
        drop(self.pool.with(|connection| {
            let parameters =
                [(&epochs as _, Type::INT8_ARRAY), (&milliseconds(TERM) as _, Type::INT8)];
            Ok(connection.write(sql, &parameters)?)
        }));
    }
}

fn renew_all(leases: &Weak<Leases>) {
    while let Some(leases) = leases.upgrade() {
        if !leases.pause() {
            return;
        }
        leases.renew();
    }
}

impl Lease {
    pub(super) fn epoch(&self) -> i64 {
        self.epoch
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.leases.held().epochs.remove(&self.epoch);
        self.leases.changed.notify_all();
        let sql = "DELETE FROM osm.lease WHERE epoch = $1";
        let end = || {
            let epoch = (&self.epoch as _, Type::INT8);
            self.leases.pool.with(|connection| Ok(connection.write(sql, &[epoch])?))
        };
        // Twice does no harm. If the server is away, the lease expires.
        if end().is_err_and(|error| error.is_unknown_outcome()) {
            drop(end());
        }
    }
}

/// A name for a request that no other one has.
fn new_request() -> String {
    let random = |salt: u8| RandomState::new().hash_one(salt);
    format!("{:016x}{:016x}", random(0), random(1))
}

/// Keeps others from taking a lease on a session until the transaction ends, and removes the leases that do not
/// count any more. A write of their owner that is under way comes first, and its lease counts again.
pub(super) fn exclude(transaction: &mut Transaction<'_>, session: &str) -> Result<()> {
    let session = (&session as _, Type::TEXT);
    let sql = "SELECT pg_advisory_xact_lock(hashtextextended($1, 1))";
    transaction.query(sql, std::slice::from_ref(&session))?;
    let sql = "DELETE FROM osm.lease WHERE session = $1 AND expires_at <= clock_timestamp()";
    transaction.execute(sql, &[session])?;
    Ok(())
}

/// The holders of leases, or of exclusive ones only; those that are proven dead lose theirs.
pub(super) fn others(
    transaction: &mut Transaction<'_>,
    session: &str,
    only_exclusive: bool,
) -> Result<Vec<Holder>> {
    let sql = "SELECT epoch, holder FROM osm.lease WHERE session = $1 AND (exclusive OR NOT $2)
        ORDER BY epoch";
    let parameters = [(&session as _, Type::TEXT), (&only_exclusive as _, Type::BOOL)];
    let rows = transaction.query(sql, &parameters)?;
    let (dead, alive): (Vec<_>, Vec<_>) = rows
        .iter()
        .map(|row| (row.get::<_, i64>(0), holder(row, 1)))
        .partition(|(_, holder)| HolderState::look(holder.clone(), &System::new()).is_dead());
    if !dead.is_empty() {
        let epochs: Vec<i64> = dead.iter().map(|(epoch, _)| *epoch).collect();
        let sql = "DELETE FROM osm.lease WHERE epoch = ANY ($1)";
        transaction.execute(sql, &[(&epochs, Type::INT8_ARRAY)])?;
    }
    Ok(alive.into_iter().map(|(_, holder)| holder).collect())
}

/// The holders of all leases, and whether they still run.
pub(super) fn look_at_all(
    transaction: &mut Transaction<'_>,
    session: &str,
) -> Result<Vec<HolderState>> {
    let sql = "SELECT holder FROM osm.lease WHERE session = $1 ORDER BY epoch";
    let rows = transaction.query(sql, &[(&session, Type::TEXT)])?;
    let look = |row: &Row| HolderState::look(holder(row, 0), &System::new());
    Ok(rows.iter().map(look).collect())
}

/// Ends one lease.
pub(super) fn end(transaction: &mut Transaction<'_>, epoch: i64) -> Result<()> {
    let sql = "DELETE FROM osm.lease WHERE epoch = $1";
    transaction.execute(sql, &[(&epoch, Type::INT8)])?;
    Ok(())
}

/// Ends every lease on a session.
pub(super) fn end_all(transaction: &mut Transaction<'_>, session: &str) -> Result<()> {
    let sql = "DELETE FROM osm.lease WHERE session = $1";
    transaction.execute(sql, &[(&session, Type::TEXT)])?;
    Ok(())
}

/// The holders whose leases count, but for one.
pub(super) fn holders(
    connection: &mut Connection,
    session: &str,
    but: Option<i64>,
) -> Result<Vec<Holder>> {
    let sql = "SELECT holder FROM osm.lease
        WHERE session = $1 AND expires_at > clock_timestamp() AND epoch IS DISTINCT FROM $2
        ORDER BY epoch";
    let rows = connection.read(sql, &[(&session, Type::TEXT), (&but, Type::INT8)])?;
    Ok(rows.iter().map(|row| holder(row, 0)).collect())
}

/// The holder in a row. One that cannot be read holds all the same.
fn holder(row: &Row, column: usize) -> Holder {
    let text: &str = row.get(column);
    serde_json::from_str(text).unwrap_or_else(|_| Holder {
        process: ProcessInstance::unread(Pid(0)),
        host: "an unknown host".into(),
        since: jiff::Timestamp::UNIX_EPOCH,
        command: "unknown".into(),
    })
}
