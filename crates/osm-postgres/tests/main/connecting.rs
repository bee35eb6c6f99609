//! Servers that answer, refuse, or do neither.

use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

use osm_postgres::{Connection, Kind, Listener, Type};
use osm_testkit::postgres::{Pooler, Server, Settings};
use osm_testkit::trials::need;

use crate::harness::{assert_kind, connection, database, failure, number, server};

#[test]
fn by_socket_by_address_and_through_a_pooler() {
    let (postgres, database) = database();
    let pooler = need(Pooler::start(postgres, 2));
    for address in [postgres.url(&database), postgres.tcp_url(&database), pooler.url(&database)] {
        let mut connection = Connection::open(&server(&address)).unwrap();
        let rows = connection
            .read("SELECT $1 || '!', $2::int8", &[(&"it", Type::TEXT), (&7_i64, Type::INT8)]);
        let rows = rows.unwrap();
        assert_eq!((rows[0].get::<_, &str>(0), rows[0].get::<_, i64>(1)), ("it!", 7));
        let name = connection.read("SELECT current_setting('application_name')", &[]).unwrap();
        assert_eq!(name[0].get::<_, &str>(0), "osm");
    }
}

#[test]
fn refusals_have_their_kinds() {
    let hba = "local all all trust\nhost all all 127.0.0.1/32 scram-sha-256\n".to_owned();
    let options = vec!["max_connections=4".into(), "superuser_reserved_connections=0".into()];
    let postgres =
        need(Server::start(Settings { tcp: true, hba: Some(hba), options, ..Settings::default() }));
    postgres.sql("postgres", "ALTER ROLE osm PASSWORD 'secret'").unwrap();
    let port = postgres.port();
    let address = |rest: &str| format!("postgres://osm{rest}");
    let (good, bad) = (
        address(&format!(":secret@127.0.0.1:{port}/postgres")),
        address(&format!(":secret2@127.0.0.1:{port}/postgres")),
    );
    assert_eq!(number(&mut connection(&good), "SELECT 1::int8"), 1);
    assert_kind(&failure(&bad), Kind::Denied);
    assert_kind(&failure(&address(&format!("@127.0.0.1:{port}/postgres"))), Kind::Denied);
    assert_kind(&failure(&address(&format!(":secret@127.0.0.1:{port}/none"))), Kind::Denied);
    assert_kind(&failure(&address(":secret@127.0.0.1:1/postgres")), Kind::Unreachable);
    assert_kind(&failure(&address(":secret@host.invalid/postgres")), Kind::Unreachable);

    let passwords = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(passwords.path(), format!("127.0.0.1:{port}:*:osm:secret\n")).unwrap();
    let by_file =
        format!("postgres://osm@127.0.0.1:{port}/postgres?passfile={}", passwords.path().display());
    assert_eq!(number(&mut connection(&by_file), "SELECT 1::int8"), 1);
    std::fs::set_permissions(passwords.path(), std::fs::Permissions::from_mode(0o644)).unwrap();
    assert_kind(&failure(&by_file), Kind::Settings);

    let address = postgres.url("postgres");
    let open: Vec<_> = (0..4).map(|_| Connection::open(&server(&address)).unwrap()).collect();
    assert_kind(&failure(&address), Kind::TooManyConnections);
    drop(open);
    postgres.stop().unwrap();
    assert_kind(&failure(&address), Kind::Unreachable);
}

#[test]
fn a_server_that_is_frozen_does_not_stop_us() {
    let postgres = need(Server::start(Settings { tcp: true, ..Settings::default() }));
    postgres.freeze(true).unwrap();
    let error = failure(&format!("{}&connect_timeout=1", postgres.tcp_url("postgres")));
    assert_kind(&error, Kind::Unreachable);
    assert!(
        error.reason().contains("within 1 seconds") || error.reason().contains("timed out"),
        "{error}"
    );
    postgres.freeze(false).unwrap();
}

#[test]
fn a_connection_that_ended_is_opened_again() {
    let postgres = need(Server::start(Settings::default()));
    let mut connection = connection(&postgres.url("postgres"));
    for stop in [Server::stop, Server::kill] {
        assert_eq!(number(&mut connection, "SELECT 1::int8"), 1);
        connection.write("SELECT 1", &[]).unwrap();
        stop(&postgres).unwrap();
        assert_eq!(connection.read("SELECT 1", &[]).unwrap_err().kind(), Kind::Unreachable);
        postgres.begin().unwrap();
        assert_eq!(number(&mut connection, "SELECT 2::int8"), 2);
        stop(&postgres).unwrap();
        postgres.begin().unwrap();
        assert_eq!(number(&mut connection, "SELECT 3::int8"), 3, "the first call after it, too");
    }
}

#[test]
fn notifications_arrive_and_their_end_is_told() {
    let postgres = need(Server::start(Settings::default()));
    let address = postgres.url("postgres");
    let mut listener = Listener::open(&server(&address), &["one", "the \"other\""]).unwrap();
    assert_eq!(listener.wait(Duration::from_millis(20)).unwrap(), None);
    let mut connection = connection(&address);
    connection
        .write(
            "SELECT pg_notify('one', 'a'), pg_notify('no', 'b'), pg_notify('the \"other\"', 'c')",
            &[],
        )
        .unwrap();
    for (channel, payload) in [("one", "a"), ("the \"other\"", "c")] {
        let told = listener.wait(Duration::from_secs(30)).unwrap().unwrap();
        assert_eq!((told.channel.as_str(), told.payload.as_str()), (channel, payload));
    }
    postgres.kill().unwrap();
    assert_kind(&listener.wait(Duration::from_secs(30)).unwrap_err(), Kind::Unreachable);
}
