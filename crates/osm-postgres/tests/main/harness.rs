//! What the tests have in common.

use std::sync::Arc;

use osm_postgres::{Connection, Error, Kind, Server};
use osm_testkit::postgres;
use osm_testkit::trials::need;

/// A server by its address, without any variable.
pub(crate) fn server(address: &str) -> Arc<Server> {
    Arc::new(Server::new(address, &|_| None).unwrap())
}

/// A connection to an address.
pub(crate) fn connection(address: &str) -> Connection {
    Connection::new(&server(address))
}

/// The shared server and an empty database on it.
pub(crate) fn database() -> (&'static postgres::Server, String) {
    let server = need(postgres::Server::shared());
    (server, server.database().unwrap())
}

/// What goes wrong when one statement is run.
pub(crate) fn failure(address: &str) -> Error {
    connection(address).read("SELECT 1", &[]).map(drop).unwrap_err()
}

/// The number in the first column of the first row.
pub(crate) fn number(connection: &mut Connection, sql: &str) -> i64 {
    connection.read(sql, &[]).unwrap()[0].get(0)
}

/// Asserts what sort of error it is, and that it names the server and no password.
pub(crate) fn assert_kind(error: &Error, kind: Kind) {
    assert_eq!(error.kind(), kind, "{error}");
    assert!(error.to_string().starts_with(&format!("PostgreSQL at {}: ", error.place())));
    assert!(error.place().starts_with("osm@"), "{error}");
    assert!(!format!("{error} {error:?}").contains("secret"), "{error:?}");
}
