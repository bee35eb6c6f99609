//! A transaction: its time limits, its statements, its end.

use std::time::Duration;

use tokio_postgres::Row;

use crate::Parameter;
use crate::connection::Link;
use crate::error::{Error, Kind, Result};
use crate::server::Server;

/// Beyond the server's own time limit, for the way there and back.
const NETWORK: Duration = Duration::from_secs(3);

/// The time limits of a transaction. The server applies them, and we do if the server does not answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Of each wait for a lock.
    pub lock: Duration,
    /// Of each statement, beside such a wait.
    pub statement: Duration,
    /// Of each pause between two statements: the server ends a transaction whose client is gone.
    pub idle: Duration,
}

impl Limits {
    /// For work of one moment.
    pub const USUAL: Self = Self {
        lock: Duration::from_secs(10),
        statement: Duration::from_secs(10),
        idle: Duration::from_secs(15),
    };

    /// The same, with another limit for locks.
    #[must_use]
    pub fn waiting(self, lock: Duration) -> Self {
        Self { lock, ..self }
    }

    /// When a reply is overdue.
    pub(crate) fn reply(self) -> Duration {
        self.lock + self.statement + NETWORK
    }

    /// What begins a transaction: the limits are part of it, and end with it.
    pub(crate) fn begin(self) -> String {
        // Zero would mean no limit.
        let milliseconds = |it: Duration| it.as_millis().clamp(1, i32::MAX as u128);
        format!(
            "BEGIN ISOLATION LEVEL READ COMMITTED; \
             SET LOCAL lock_timeout = {}; SET LOCAL statement_timeout = {}; \
             SET LOCAL idle_in_transaction_session_timeout = {}",
            milliseconds(self.lock),
            milliseconds(self.lock + self.statement),
            milliseconds(self.idle),
        )
    }
}

/// An open transaction.
pub struct Transaction<'a> {
    link: &'a mut Link,
    server: &'a Server,
    limits: Limits,
    /// The first statement that failed: the server ignores all later ones.
    failed: Option<Error>,
}

impl<'a> Transaction<'a> {
    pub(crate) fn new(link: &'a mut Link, server: &'a Server, limits: Limits) -> Self {
        Self { link, server, limits, failed: None }
    }

    /// Runs a statement, and returns its rows.
    pub fn query(&mut self, sql: &str, parameters: &[Parameter<'_>]) -> Result<Vec<Row>> {
        let request = self.link.client().query_typed(sql, parameters);
        let done = self.link.call(self.server, self.limits.reply(), request);
        self.remember(done)
    }

    /// Runs a statement, and returns how many rows it changed.
    pub fn execute(&mut self, sql: &str, parameters: &[Parameter<'_>]) -> Result<u64> {
        let request = self.link.client().execute_typed(sql, parameters);
        let done = self.link.call(self.server, self.limits.reply(), request);
        self.remember(done)
    }

    /// Runs several statements without parameters.
    pub fn batch(&mut self, sql: &str) -> Result<()> {
        let request = self.link.client().batch_execute(sql);
        let done = self.link.call(self.server, self.limits.reply(), request);
        self.remember(done)
    }

    fn remember<T>(&mut self, done: Result<T>) -> Result<T> {
        if let (Err(error), None) = (&done, &self.failed) {
            self.failed = Some(error.clone());
        }
        done
    }

    pub(crate) fn commit(mut self) -> Result<()> {
        // The server would answer a commit after a failure as if all were well.
        if let Some(error) = self.failed.take() {
            self.roll_back();
            return Err(error);
        }
        self.link.check(self.server)?;
        let request = self.link.client().batch_execute("COMMIT");
        let done = self.link.call(self.server, self.limits.reply(), request);
        done.map_err(Error::of_unacknowledged)
    }

    /// Ends the transaction without a change. If that fails, the connection ended, and the server does the same.
    pub(crate) fn roll_back(self) {
        if !self.link.is_closed() {
            let request = self.link.client().batch_execute("ROLLBACK");
            drop(self.link.call(self.server, NETWORK, request));
        }
    }

    /// An error about the server of this transaction.
    #[must_use]
    pub fn error(&self, kind: Kind, reason: impl Into<String>) -> Error {
        Error::new(kind, self.server, reason)
    }
}
