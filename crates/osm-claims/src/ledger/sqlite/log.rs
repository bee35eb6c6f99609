//! The write-ahead log: when it is copied into the file, and when it is removed.
//!
//! A log that grows costs more than one that is used again from its start: syncing new bytes also
//! syncs the file system's record of where they are. SQLite starts again only if the log was copied
//! into the file and a writer comes before the last process closes it. Short processes would
//! therefore leave a log that grows, if they copied it after their change. So the log is copied
//! *before* a change, and the change itself is the first of the next round.
//!
//! The first process that opens the ledger reads all of the log. So the first change of a process
//! copies a shorter one than the changes that follow.
//!
//! The file changes only here, and the mark records the file that comes of it (`mark.rs`).

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use rusqlite::Connection;
use rusqlite::config::DbConfig;

use super::mark::Mark;
use super::{keep_waiting, place};

/// The longest log, in pages, that the first change of a process is added to: some ten claims.
/// Reading so many pages in every process costs as much as one copy in ten processes.
const LONGEST_AT_START: u32 = 64;

/// The longest log that the changes after it are added to.
const LONGEST: u32 = 512;

/// The longest log that a process leaves. Those that make one change each do not reach it, and use
/// one log for ever.
const LONGEST_LEFT: u32 = 128;

/// A page in the log, with its head.
const FRAME: u64 = 24 + 4096;

/// How often a copy waits for another process; then it copies what it can.
const WAITS: i32 = 10;

/// This process's view of the log.
pub(super) struct Log {
    ledger: PathBuf,
    /// How many pages it had after the last change of this process; none made, none known.
    pages: Arc<AtomicU32>,
}

impl Log {
    /// The log of a connection, of which SQLite copies nothing by itself from now on.
    pub(super) fn of(connection: &mut Connection, ledger: &Path) -> rusqlite::Result<Self> {
        let pages = Arc::new(AtomicU32::new(0));
        let last = Arc::clone(&pages);
        connection.wal_hook(Some(move |_: &mut rusqlite::hooks::Wal, pages| {
            last.store(u32::try_from(pages).unwrap_or(0), Ordering::Relaxed);
            Ok(())
        }))?;
        Ok(Self { ledger: ledger.to_owned(), pages })
    }

    /// Copies a long log into the file, so that the change that follows can use it from its start.
    ///
    /// It is never an error: what cannot be copied now is copied by a later change.
    pub(super) fn make_room(&self, connection: &mut Connection, mark: &Mark) {
        let is_long = match self.pages.load(Ordering::Relaxed) {
            0 => self.size() > LONGEST_AT_START && used(connection) > LONGEST_AT_START,
            pages => pages > LONGEST,
        };
        if !is_long {
            return;
        }
        self.known_to(mark, || {
            // It copies while no process writes, so that no writer meets half of a copy.
            drop(connection.busy_handler(Some(|tries| tries < WAITS && keep_waiting(tries))));
            drop(connection.query_row("PRAGMA wal_checkpoint(FULL)", [], |_| Ok(())));
            drop(connection.busy_handler(Some(keep_waiting)));
        });
    }

    /// Closes a connection. A long log is copied into the file and removed, if no other process has
    /// it open.
    pub(super) fn close(&self, connection: Connection, mark: &Mark) {
        if self.pages.load(Ordering::Relaxed) <= LONGEST_LEFT {
            return;
        }
        self.known_to(mark, || {
            // If it cannot be done, the log stays, and the next process tries.
            drop(connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false));
            drop(connection.close());
        });
    }

    /// Changes the file, and records it if it was known before. A file that another program changed
    /// is looked at by the next transaction.
    fn known_to(&self, mark: &Mark, change: impl FnOnce()) {
        let facts = || place::file_facts(&self.ledger);
        let is_whole = facts().is_some_and(|facts| {
            mark.read().is_ok_and(|page| page.whole.is_some_and(|it| it.is_same(&facts)))
        });
        change();
        if let Some(facts) = facts().filter(|_| is_whole) {
            mark.set_whole(&facts);
        }
    }

    /// The pages for which the log has space. It is used from its start, and never shortened.
    fn size(&self) -> u32 {
        let length = self.ledger.with_extension("db-wal").metadata().map_or(0, |log| log.len());
        u32::try_from(length / FRAME).unwrap_or(u32::MAX)
    }
}

/// The pages of the log that are in use.
fn used(connection: &Connection) -> u32 {
    connection.query_row("PRAGMA wal_checkpoint(NOOP)", [], |row| row.get(1)).unwrap_or(0)
}
