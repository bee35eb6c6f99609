//! The local ledger: SQLite, in one file that many short processes share.
//!
//! Every write is one immediate transaction, synced before it returns, so that a crash at any
//! moment leaves it done or not done. Readers see one point in time and wait for no writer. The log
//! stays when the last process closes the file, and is used again from its start, so that a claim
//! costs one sync of bytes in place: `log.rs`.
//!
//! A ledger that was restored, cut or damaged must not read as one in which less is claimed:
//! `mark.rs` and `check.rs`.

mod check;
mod copy;
mod fault;
mod lock;
mod log;
mod mark;
mod place;
pub mod repair;
mod rows;
mod salvage;
mod transaction;
mod watch;

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use osm_identity::ProcessSource;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, TransactionBehavior};

use self::log::Log;
use self::mark::Mark;
use self::transaction::SqliteTransaction;
use super::{Ledger, Watch, Work};
use crate::clock::{Clock, SystemClock};
use crate::error::{Corruption, Error, Result};

/// What makes each version of the schema, in `user_version`, out of the one before it.
const SCHEMA: [&str; 3] = [
    include_str!("sqlite/schema.sql"),
    include_str!("sqlite/schema-2.sql"),
    include_str!("sqlite/schema-3.sql"),
];

/// The present version: as many as there are.
const VERSION: i64 = 3;
const _: () = assert!(SCHEMA.len() == 3);

/// Marks the file as ours: "osmc".
const APPLICATION: i64 = 0x6f73_6d63;

/// The ledger of this machine and user.
pub struct SqliteLedger {
    path: PathBuf,
    /// `None` once it is closed.
    connection: Mutex<Option<Connection>>,
    /// Which file it is.
    file: Option<(u64, u64)>,
    mark: Mark,
    log: Log,
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
        let facts = place::file_facts(&path);
        if facts.is_some_and(|it| it.length == 0) {
            // SQLite would take it for a new database, and remove the log beside it.
            return Err(Corruption::Empty.into());
        }
        let file = facts.map(|it| it.id());
        let mark = Mark::open(&path)?;
        let mut connection = connect(&path)?;
        let log = Log::of(&mut connection, &path).map_err(|error| fault::explain(&path, error))?;
        Ok(Self { path, connection: Mutex::new(Some(connection)), file, mark, log, clock })
    }

    /// The file of the ledger in a folder.
    #[must_use]
    pub fn file(folder: &Path) -> PathBuf {
        folder.join(place::NAME)
    }

    /// Whether other machines may have a folder, too. No ledger is opened there.
    #[must_use]
    pub fn is_on_network(folder: &Path) -> bool {
        place::is_shared(folder)
    }

    /// The file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn connection(&self) -> MutexGuard<'_, Option<Connection>> {
        // A transaction that a panic interrupted was rolled back when it was dropped.
        self.connection.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn run(&self, behavior: TransactionBehavior, work: Work<'_>) -> Result<()> {
        let mut connection = self.connection();
        let connection = connection.as_mut().ok_or(Error::Replaced)?;
        let writes = matches!(behavior, TransactionBehavior::Immediate);
        if writes {
            self.log.make_room(connection, &self.mark);
        }
        let error = |error| fault::explain(&self.path, error);
        let transaction = connection.transaction_with_behavior(behavior).map_err(error)?;
        let facts = place::file_facts(&self.path);
        if facts.map(|it| it.id()) != self.file {
            // Others use another ledger, or none, and would not see what is written here.
            return Err(Error::Replaced);
        }
        if writes {
            // A repair has the lock while it replaces the file, unless the damage prevents it.
            place::not_in_repair(&self.path)?;
        }
        if writes && !self.mark.can_write() {
            return Err(Error::io("write to", std::io::ErrorKind::ReadOnlyFilesystem.into()));
        }
        // The mark is read before the ledger, which has only grown since.
        let page = self.mark.read()?;
        let clock = &*self.clock;
        let known = check::compare(&transaction, &self.path, clock, &page, facts.as_ref(), writes)?;
        // One that changed meanwhile is another process's to record, or is looked at again.
        if known.is_new && facts == place::file_facts(&self.path) {
            self.mark.advance(known.slot());
            facts.inspect(|facts| self.mark.set_whole(facts));
        }
        let mut changes = SqliteTransaction::new(&transaction, &self.path, clock);
        work(&mut changes)?;
        let next = changes.slot(&known);
        self.mark
            .beside_sync(next.map_or(1, |it| it.events), || transaction.commit())
            .map_err(|error| fault::explain_commit(&self.path, error))?;
        if let Some(next) = next {
            self.mark.advance(next);
        }
        Ok(())
    }
}

impl Drop for SqliteLedger {
    fn drop(&mut self) {
        let connection = self.connection.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(connection) = connection {
            self.log.close(connection, &self.mark);
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
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false).map_err(error)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_FKEY, true).map_err(error)?;
    connection.pragma_update(None, "synchronous", "full").map_err(error)?;
    let number = |pragma| connection.pragma_query_value(None, pragma, |row| row.get::<_, i64>(0));
    if number("application_id").map_err(error)? != APPLICATION {
        return Err(Corruption::Foreign.into());
    }
    match number("user_version").map_err(error)? {
        VERSION => Ok(connection),
        version if version > VERSION => Err(Error::Newer { version }),
        1.. => {
            place::not_in_repair(path)?;
            migrate(&mut connection).map_err(error)?;
            Ok(connection)
        }
        _ => Err(Corruption::UnknownVersion.into()),
    }
}

/// Brings a ledger to the present version. A process of an earlier version that has it open goes on: it
/// reads and writes the columns that it knows.
fn migrate(connection: &mut Connection) -> rusqlite::Result<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // Another process may have done it by now.
    let version =
        transaction.pragma_query_value(None, "user_version", |row| row.get::<_, i64>(0))?;
    upgrade(&transaction, version)?;
    transaction.commit()
}

/// Applies all versions of the schema after this one.
fn upgrade(connection: &Connection, version: i64) -> rusqlite::Result<()> {
    for schema in SCHEMA.iter().skip(usize::try_from(version).unwrap_or(0)) {
        connection.execute_batch(schema)?;
    }
    connection.pragma_update(None, "user_version", VERSION)
}

/// Makes an empty ledger in a file that is ours alone.
fn create(path: &Path) -> rusqlite::Result<()> {
    let connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    // No process sees the file before it is synced and renamed: nothing here has to survive a crash.
    connection.execute_batch("PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF; BEGIN")?;
    connection.pragma_update(None, "application_id", APPLICATION)?;
    upgrade(&connection, 0)?;
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
