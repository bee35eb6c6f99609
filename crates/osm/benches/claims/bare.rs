//! The floor: one row, committed and synced.

use std::path::Path;

use osm_testkit::bench::Result;
use rusqlite::Connection;

/// A database that is kept as the ledger is, with one table.
pub(crate) fn open(folder: &Path) -> Result<Connection> {
    std::fs::create_dir_all(folder)?;
    let connection = Connection::open(folder.join("bare.db"))?;
    connection.busy_timeout(std::time::Duration::from_secs(10))?;
    connection.pragma_update_and_check(None, "journal_mode", "wal", |_| Ok(()))?;
    connection.pragma_update(None, "synchronous", "full")?;
    connection.set_db_config(rusqlite::config::DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    connection
        .execute_batch("CREATE TABLE IF NOT EXISTS bare (id INTEGER PRIMARY KEY, text TEXT)")?;
    Ok(connection)
}

/// Closes it as the ledger is closed: a long log goes into the file, a short one stays.
pub(crate) fn close(connection: Connection, folder: &Path) -> Result<()> {
    const LONG: u64 = 128 * 4096;
    if folder.join("bare.db-wal").metadata()?.len() > LONG {
        let setting = rusqlite::config::DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE;
        connection.set_db_config(setting, false)?;
    }
    connection.close().map_err(|(_, error)| error.into())
}

/// One commit.
pub(crate) fn commit(connection: &Connection) -> Result<()> {
    connection.prepare_cached("INSERT INTO bare (text) VALUES ('a line of text')")?.execute([])?;
    Ok(())
}
