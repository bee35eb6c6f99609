//! Waiting for a change by another process, or for the end of one.

use super::{SqliteLedger, fault};
use crate::error::Result;

std::cfg_select! {
    target_os = "linux" => {
        mod linux;
        mod portable;
        pub(super) use linux::begin;
    }
    _ => {
        mod portable;
        pub(super) use portable::begin;
    }
}

/// A number that moves when a commit of another connection can be read.
fn commits(ledger: &SqliteLedger) -> Result<i64> {
    let connection = ledger.connection();
    let connection = connection.as_ref().ok_or(crate::Error::Replaced)?;
    connection
        .pragma_query_value(None, "data_version", |row| row.get(0))
        .map_err(|error| fault::explain(ledger.path(), error))
}
