//! Tells of changes to a session on a server.
//!
//! A notification wakes; whether the session changed is read from its row. Behind a pooler no notification arrives, so
//! the row is read from time to time in any case.

use std::sync::Arc;
use std::time::{Duration, Instant};

use osm_identity::SessionId;
use osm_postgres::{Listener, Type};

use super::pool::Pool;
use super::{CHANNEL, Stamp, Wait, Watch, pieces};
use crate::error::Result;

const LOOK_EVERY: Duration = Duration::from_secs(1);

pub(super) struct ServerWatch {
    pool: Arc<Pool>,
    id: SessionId,
    seen: Option<Stamp>,
    /// Opened when there is something to wait for; `None` also after its connection ended.
    listener: Option<Listener>,
}

impl ServerWatch {
    pub(super) fn new(pool: Arc<Pool>, id: SessionId) -> Result<Self> {
        let mut watch = Self { pool, id, seen: None, listener: None };
        watch.seen = watch.look()?;
        Ok(watch)
    }

    fn look(&self) -> Result<Option<Stamp>> {
        let sql = "SELECT revision, size FROM osm.session WHERE id = $1";
        let rows = self.pool.with(|it| Ok(it.read(sql, &[(&self.id.as_str(), Type::TEXT)])?))?;
        Ok(rows.first().map(|row| pieces::stamp(row.get(0), row.get(1))))
    }

    /// Waits until it is worth looking again, for so long at most.
    fn pause(&mut self, limit: Duration) -> Result<()> {
        let limit = limit.min(LOOK_EVERY);
        let began = Instant::now();
        let Some(listener) = &mut self.listener else {
            // What changes until it listens is seen by the look that follows.
            self.listener = Some(Listener::open(self.pool.server(), &[CHANNEL])?);
            return Ok(());
        };
        loop {
            let left = limit.saturating_sub(began.elapsed());
            match listener.wait(left) {
                Ok(Some(told)) if told.payload != self.id.as_str() => {}
                Ok(_) => return Ok(()),
                Err(error) => {
                    self.listener = None;
                    return Err(error.into());
                }
            }
        }
    }
}

impl Watch for ServerWatch {
    fn changed(&mut self, wait: Wait) -> Result<bool> {
        let began = Instant::now();
        loop {
            let now = self.look()?;
            if now != self.seen {
                self.seen = now;
                return Ok(true);
            }
            let left = wait.0.saturating_sub(began.elapsed());
            if left.is_zero() {
                return Ok(false);
            }
            self.pause(left)?;
        }
    }
}
