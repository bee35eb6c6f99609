//! A session on a server that is open to be changed.
//!
//! An update is one transaction. It takes the lock of the session's writers, renews the lease (which fails if the lease is
//! lost), notes its own number there, and replaces the document. If the reply to the commit is lost, the number in the
//! lease tells whether it was carried out: to read it waits for a transaction that is still under way.

use std::sync::Arc;

use osm_identity::SessionId;
use osm_postgres::{Limits, Type};

use super::lease::{self, Lease, TERM};
use super::pool::Pool;
use super::transaction::ServerTransaction;
use super::{is_lock_timeout, milliseconds, pieces};
use crate::backend::{Attended, Current, Next, NextOf, Outcome, Sharing, Stamp, Wait};
use crate::error::{Error, Result};

pub(super) struct ServerSession {
    pool: Arc<Pool>,
    lease: Lease,
    id: SessionId,
    sharing: Sharing,
    /// How many updates were begun.
    updates: i64,
    last: Last,
}

/// What an update leaves.
#[derive(Clone, Copy)]
struct After {
    stamp: Option<Stamp>,
    /// It removes the session, and the lease with it.
    removes: bool,
}

/// The last update.
enum Last {
    Settled(Outcome),
    /// Its commit was not answered; this is what it would have left.
    Unanswered(After),
}

impl ServerSession {
    pub(super) fn new(pool: Arc<Pool>, lease: Lease, id: SessionId, sharing: Sharing) -> Self {
        let last = Last::Settled(Outcome::NotCarriedOut);
        Self { pool, lease, id, sharing, updates: 0, last }
    }

    fn try_update(
        &self,
        known: Option<Stamp>,
        wait: Wait,
        next: &mut NextOf<'_>,
        after: &mut After,
    ) -> Result<()> {
        let (id, epoch, number) = (&self.id, self.lease.epoch(), self.updates);
        self.pool.transact(Limits::USUAL.waiting(wait.0), |transaction| {
            let sql = "SELECT pg_advisory_xact_lock(hashtextextended($1, 2))";
            transaction.query(sql, &[(&id.as_str(), Type::TEXT)])?;
            let sql = "UPDATE osm.lease
                SET expires_at = clock_timestamp() + $2 * interval '1 millisecond', last_update = $3
                WHERE epoch = $1 RETURNING clock_timestamp()";
            let rows = transaction.query(
                sql,
                &[(&epoch, Type::INT8), (&milliseconds(TERM), Type::INT8), (&number, Type::INT8)],
            )?;
            let now = rows.first().ok_or_else(|| Error::LostLease(id.clone()))?.get(0);
            let (current, stored) = pieces::look_with_pieces(transaction, id, known)?;
            let stamp = match &current {
                Current::Missing => None,
                Current::Unchanged => known,
                Current::Found(_, stamp) => Some(*stamp),
            };
            *after = After { stamp, removes: false };
            match next(&mut ServerTransaction::at(now, transaction), current)? {
                Next::Keep => {}
                Next::Replace(document) => {
                    let stamp = pieces::replace(transaction, id, &document.join(), &stored)?;
                    after.stamp = Some(stamp);
                }
                Next::Remove if self.sharing == Sharing::Shared => {
                    return Err(Error::Busy { id: id.clone(), holders: Vec::new() });
                }
                Next::Remove => {
                    pieces::remove(transaction, id)?;
                    lease::end(transaction, epoch)?;
                    *after = After { stamp: None, removes: true };
                }
            }
            Ok(())
        })
    }

    /// Whether the last update was carried out. The lock makes the question wait for its transaction.
    fn ask(&self, after: After) -> Result<bool> {
        let sql = "SELECT last_update FROM osm.lease WHERE epoch = $1 FOR UPDATE";
        self.pool.with(|connection| {
            let rows = connection.read(sql, &[(&self.lease.epoch(), Type::INT8)])?;
            if let Some(row) = rows.first() {
                return Ok(row.get::<_, i64>(0) == self.updates);
            }
            // The lease is gone: with the session, as we wanted it, or because another process took it.
            match pieces::read(connection, &self.id, None)? {
                Current::Missing if after.removes => Ok(true),
                _ => Err(Error::LostLease(self.id.clone())),
            }
        })
    }
}

impl Attended for ServerSession {
    fn update(
        &mut self,
        known: Option<Stamp>,
        wait: Wait,
        next: &mut NextOf<'_>,
    ) -> Result<Option<Stamp>> {
        self.updates += 1;
        let mut after = After { stamp: None, removes: false };
        let done = self.try_update(known, wait, next, &mut after);
        self.last = match &done {
            Ok(()) => Last::Settled(Outcome::CarriedOut(after.stamp)),
            Err(Error::UnknownOutcome(_)) => Last::Unanswered(after),
            Err(_) => Last::Settled(Outcome::NotCarriedOut),
        };
        match done {
            Ok(()) => Ok(after.stamp),
            Err(error) if is_lock_timeout(&error) => {
                let (session, own) = (self.id.as_str(), Some(self.lease.epoch()));
                let holders = self.pool.with(|it| lease::holders(it, session, own))?;
                Err(Error::Busy { id: self.id.clone(), holders })
            }
            Err(error) => Err(error),
        }
    }

    fn outcome(&mut self) -> Result<Outcome> {
        let after = match self.last {
            Last::Settled(outcome) => return Ok(outcome),
            Last::Unanswered(after) => after,
        };
        let outcome = if self.ask(after)? {
            Outcome::CarriedOut(after.stamp)
        } else {
            Outcome::NotCarriedOut
        };
        self.last = Last::Settled(outcome);
        Ok(outcome)
    }
}
