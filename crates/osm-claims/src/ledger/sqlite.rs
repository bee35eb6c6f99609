//! The local ledger: SQLite, in one file that many short processes share.
//!
//! Every write is one immediate transaction, synced before it returns, so that a crash at any
//! moment leaves it done or not done. Readers see one moment and wait for nobody. The write-ahead
//! log is kept when the last process closes the file, so a claim costs one sync, not four; but not
//! for ever, as whoever opens the file first reads all of the log.

mod book;
mod fault;
mod place;
mod watch;

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use osm_identity::ProcessSource;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, TransactionBehavior};

use self::book::SqlBook;
use super::{Book, Ledger, Watch};
use crate::clock::{Clock, Now, SystemClock};
use crate::error::{Error, Result};

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
    /// Opens the ledger in a folder, and makes it if there is none.
    pub fn open(folder: &Path, source: &dyn ProcessSource) -> Result<Self> {
        let clock = SystemClock::new(source).map_err(Error::Blind)?;
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

    /// The file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn connection(&self) -> MutexGuard<'_, Connection> {
        // A transaction that a panic interrupted was rolled back when it was dropped.
        self.connection.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn run(
        &self,
        behavior: TransactionBehavior,
        work: &mut dyn FnMut(&mut dyn Book) -> Result<()>,
    ) -> Result<()> {
        let mut connection = self.connection();
        let error = |error| fault::explain(&self.path, error);
        let transaction = connection.transaction_with_behavior(behavior).map_err(error)?;
        if place::file_id(&self.path) != self.file {
            // Others would write to another ledger, or to none, and nobody would see this one.
            return Err(Error::Replaced { path: self.path.clone() });
        }
        work(&mut SqlBook::new(&transaction, &self.path))?;
        transaction.commit().map_err(error)
    }
}

impl Drop for SqliteLedger {
    /// Has SQLite put a long log into the file, if nobody else has it open.
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
    fn write(&self, work: &mut dyn FnMut(&mut dyn Book) -> Result<()>) -> Result<()> {
        self.run(TransactionBehavior::Immediate, work)
    }

    fn read(&self, work: &mut dyn FnMut(&mut dyn Book) -> Result<()>) -> Result<()> {
        self.run(TransactionBehavior::Deferred, work)
    }

    fn now(&self) -> Now {
        self.clock.now()
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
    let corrupt = |what: &str| Error::Corrupt { path: path.to_owned(), what: what.to_owned() };
    if number("application_id").map_err(error)? != APPLICATION {
        return Err(corrupt("it is no ledger of osm"));
    }
    match number("user_version").map_err(error)? {
        VERSION => Ok(connection),
        version if version > VERSION => Err(Error::Newer { path: path.to_owned(), version }),
        _ => Err(corrupt("its version is unknown")),
    }
}

/// Makes an empty ledger in a file that is ours alone.
fn create(path: &Path) -> rusqlite::Result<()> {
    let connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    // Nobody sees the file before it is synced and put in its place: nothing here has to survive.
    connection.execute_batch("PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF; BEGIN")?;
    connection.pragma_update(None, "application_id", APPLICATION)?;
    connection.pragma_update(None, "user_version", VERSION)?;
    connection.execute_batch(include_str!("sqlite/schema.sql"))?;
    connection.execute_batch("COMMIT")?;
    connection.pragma_update_and_check(None, "journal_mode", "wal", |_| Ok(()))?;
    connection.close().map_err(|(_, error)| error)
}

/// Somebody else writes: waits a moment, for about ten seconds in all.
///
/// Writers hold the lock for one sync, so short naps find it free soon; naps of different lengths
/// keep many waiters from waking at once.
fn keep_waiting(tries: i32) -> bool {
    const MOST_TRIES: i32 = 5_000;
    let spread = (std::process::id().wrapping_mul(31) ^ tries.unsigned_abs()) % 8;
    let nap = if tries < 20 { 200 + 100 * spread } else { 1_000 + 250 * spread };
    std::thread::sleep(Duration::from_micros(u64::from(nap)));
    tries < MOST_TRIES
}
