//! The local ledger: SQLite, in one file that many short processes share.
//!
//! Every write is one immediate transaction, synced before it returns, so that a crash at any
//! moment leaves it done or not done. Readers see one point in time and wait for no writer. The log
//! stays when the last process closes the file, so that a claim costs one sync, not four; but not
//! for ever, as the process that opens the file first reads all of it.

mod fault;
mod lock;
mod place;
mod rows;
mod transaction;
mod watch;

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use osm_identity::ProcessSource;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, TransactionBehavior};

use self::transaction::SqliteTransaction;
use super::{Ledger, Watch, Work};
use crate::clock::{Clock, SystemClock};
use crate::error::{Corruption, Error, Result};

/// The version of the schema, in `user_version`.
const VERSION: i64 = 1;

/// Marks the file as ours: "osmc".
const APPLICATION: i64 = 0x6f73_6d63;

/// The longest log that is kept, in bytes: some twenty claims, which take less time to read than a
/// sync takes.
const LONGEST_LOG: u64 = 128 * 4096;

/// The ledger of this machine and user.
pub struct SqliteLedger {
    path: PathBuf,
    connection: Mutex<Connection>,
    /// Which file it is.
    file: Option<place::FileId>,
    clock: Box<dyn Clock>,
}

impl SqliteLedger {
    /// Opens the ledger in a folder, and creates it if it is missing.
    pub fn open(folder: &Path, source: &dyn ProcessSource) -> Result<Self> {
        let clock = SystemClock::new(source).map_err(Error::Processes)?;
        Self::open_with_clock(folder, Box::new(clock))
    }

    /// The same with a clock of the caller's.
    pub fn open_with_clock(folder: &Path, clock: Box<dyn Clock>) -> Result<Self> {
        let path = place::prepare(folder)?;
        // Looked at before it is opened: one that takes its place in between is another one.
        let file = place::file_id(&path);
        let connection = connect(&path)?;
        Ok(Self { path, connection: Mutex::new(connection), file, clock })
    }

    /// The file of the ledger in a folder.
    #[must_use]
    pub fn file(folder: &Path) -> PathBuf {
        folder.join(place::NAME)
    }

    /// The file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn connection(&self) -> MutexGuard<'_, Connection> {
        // A transaction that a panic interrupted was rolled back when it was dropped.
        self.connection.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn run(&self, behavior: TransactionBehavior, work: Work<'_>) -> Result<()> {
        let mut connection = self.connection();
        let error = |error| fault::explain(&self.path, error);
        let transaction = connection.transaction_with_behavior(behavior).map_err(error)?;
        if place::file_id(&self.path) != self.file {
            // Others use another ledger, or none, and would not see what is written here.
            return Err(Error::Replaced);
        }
        work(&mut SqliteTransaction::new(&transaction, &self.path, &*self.clock))?;
        transaction.commit().map_err(|error| fault::explain_commit(&self.path, error))
    }
}

impl Drop for SqliteLedger {
    /// Lets SQLite copy a long log into the file, if no other process has it open.
    ///
    /// SQLite does that itself every thousand pages, but empties the log only if the next writer
    /// comes before the last process closes the file: short processes would leave one that grows.
    fn drop(&mut self) {
        let connection = self.connection.get_mut().unwrap_or_else(PoisonError::into_inner);
        let log = self.path.with_extension("db-wal");
        if log.metadata().is_ok_and(|log| log.len() > LONGEST_LOG) {
            // If it cannot be done, the log stays, and the next one tries.
            drop(connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false));
        }
    }
}

impl Ledger for SqliteLedger {
    fn write(&self, work: Work<'_>) -> Result<()> {
        self.run(TransactionBehavior::Immediate, work)
    }

    fn read(&self, work: Work<'_>) -> Result<()> {
        self.run(TransactionBehavior::Deferred, work)
    }

    fn watch(&self) -> Result<Box<dyn Watch + '_>> {
        watch::begin(self)
    }
}

/// Opens a ledger that is there.
fn connect(path: &Path) -> Result<Connection> {
    let error = |error| fault::explain(path, error);
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_NOFOLLOW;
    let mut connection = Connection::open_with_flags(path, flags).map_err(error)?;
    connection.busy_handler(Some(keep_waiting)).map_err(error)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true).map_err(error)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true).map_err(error)?;
    connection
        .execute_batch(
            "PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; PRAGMA trusted_schema = OFF;",
        )
        .map_err(error)?;
    let number = |pragma| connection.pragma_query_value(None, pragma, |row| row.get::<_, i64>(0));
    if number("application_id").map_err(error)? != APPLICATION {
        return Err(Corruption::Foreign.into());
    }
    match number("user_version").map_err(error)? {
        VERSION => Ok(connection),
        version if version > VERSION => Err(Error::Newer { version }),
        _ => Err(Corruption::UnknownVersion.into()),
    }
}

/// Makes an empty ledger in a file that is ours alone.
fn create(path: &Path) -> rusqlite::Result<()> {
    let connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    // No process sees the file before it is synced and renamed: nothing here has to survive a crash.
    connection.execute_batch("PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF; BEGIN")?;
    connection.pragma_update(None, "application_id", APPLICATION)?;
    connection.pragma_update(None, "user_version", VERSION)?;
    connection.execute_batch(include_str!("sqlite/schema.sql"))?;
    connection.execute_batch("COMMIT")?;
    connection.pragma_update_and_check(None, "journal_mode", "wal", |_| Ok(()))?;
    connection.close().map_err(|(_, error)| error)
}

/// Another process writes: waits a moment, for about ten seconds in all.
///
/// A writer holds the lock for one sync, so that the first pauses are short. Where many processes
/// wait, pauses grow: one of them wakes soon enough, and all of them looking often would take the
/// processor from the writer. Pauses of different lengths keep waiters from waking at once.
fn keep_waiting(tries: i32) -> bool {
    /// Twelve pauses that double from 250 µs, in pairs, and then one every 16 ms.
    const MOST_TRIES: i32 = 12 + 620;
    let doubled = 250_u64 << (tries.clamp(0, 12) / 2);
    let spread = u64::from((std::process::id().wrapping_mul(31) ^ tries.unsigned_abs()) % 8);
    // Between half of it and one and a half.
    std::thread::sleep(Duration::from_micros(doubled / 2 + doubled * spread / 7));
    tries < MOST_TRIES
}
