//! A synchronous connection to a PostgreSQL server.
//!
//! osm is synchronous, and the client library is not: each [`Connection`] has a small runtime of its own, which runs
//! only while a call waits for the server. Nothing here knows of sessions or claims; each of them brings its own
//! [migrations](Component) and statements.
//!
//! What is promised:
//!
//! - Every call ends: connecting, each statement and each wait for a lock have a time limit.
//! - Nothing is sent twice that is not known to have failed. If the reply to a `COMMIT` is lost, the error is
//!   [`Kind::OutcomeUnknown`], and only the caller can find out what happened.
//! - No state of a server's session is relied upon, so a pooler that gives each transaction to another server
//!   process (pgbouncer in transaction mode) works: time limits are set for each transaction, locks end with it, and
//!   statements are not kept prepared. The exception is a [`Listener`], which says so.
//! - A password is never part of an error, of `Debug` or of `Display`.
//!
//! | for | see |
//! |---|---|
//! | addresses, the variables of libpq, the password file | `server.rs`, `passfile.rs` |
//! | which certificates are accepted | `tls.rs` |
//! | time limits, lost replies, retries | `connection.rs`, `transaction.rs` |
//! | what an error of the server means | `error.rs` |
//! | versions of the schema | `migration.rs` |

#![deny(missing_docs)]

mod connection;
mod error;
mod listener;
mod migration;
mod passfile;
mod server;
mod tls;
mod transaction;
mod url;

pub use connection::Connection;
pub use error::{Error, Kind, OfServer, Result};
pub use listener::{Listener, Notification};
pub use migration::{Component, Migration, Schema, generation};
pub use server::{Host, Server, SslMode, VARIABLES};
pub use tokio_postgres::Row;
pub use tokio_postgres::types::{FromSql, ToSql, Type};
pub use transaction::{Limits, Transaction};

/// A parameter of a statement and its type: statements are sent with their types, so that the server need not be asked.
pub type Parameter<'a> = (&'a (dyn ToSql + Sync), Type);
