//! The connections of a process to its server. There are as many as threads that call at once; a few are kept.

use std::sync::{Arc, Mutex, PoisonError};

use osm_postgres::{Connection, Limits, Server};

use crate::error::{Error, Result};

/// So many connections that are not in use are kept open.
const MOST_IDLE: usize = 2;

pub(super) struct Pool {
    server: Arc<Server>,
    idle: Mutex<Vec<Connection>>,
}

impl Pool {
    pub(super) fn new(server: Arc<Server>) -> Self {
        Self { server, idle: Mutex::default() }
    }

    pub(super) fn server(&self) -> &Arc<Server> {
        &self.server
    }

    /// Does something with a connection.
    pub(super) fn with<T>(&self, call: impl FnOnce(&mut Connection) -> Result<T>) -> Result<T> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut connection = idle.unwrap_or_else(|| Connection::new(&self.server));
        let result = call(&mut connection);
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() < MOST_IDLE {
            idle.push(connection);
        }
        result
    }

    /// Runs a transaction.
    pub(super) fn transact<T>(
        &self,
        limits: Limits,
        body: impl FnMut(&mut osm_postgres::Transaction<'_>) -> Result<T>,
    ) -> Result<T> {
        self.with(|connection| connection.transaction::<T, Error>(limits, body))
    }
}
