//! Transactions that fail, conflict, are cut off, or are not answered.

use std::panic::AssertUnwindSafe;
use std::sync::Barrier;
use std::time::Duration;

use osm_postgres::{Connection, Error, Kind, Limits, Result, Transaction};
use osm_testkit::postgres::proxy::{Fault, Proxy};
use osm_testkit::postgres::{Pooler, Server, Settings};
use osm_testkit::trials::need;

use crate::harness::{assert_kind, connection, database, number};

/// As it is sent: an isolation level is called so, too.
const COMMIT: &str = "COMMIT\0";
const SUM: &str = "SELECT coalesce(sum(n), 0)::int8 FROM t";

fn add(transaction: &mut Transaction<'_>) -> Result<()> {
    transaction.execute("INSERT INTO t VALUES (1)", &[]).map(drop)
}

fn run(
    connection: &mut Connection,
    body: impl FnMut(&mut Transaction<'_>) -> Result<()>,
) -> Result<()> {
    connection.transaction(Limits::USUAL, body)
}

/// A database with a table `t`.
fn table() -> (&'static Server, String) {
    let (server, database) = database();
    server.sql(&database, "CREATE TABLE t (n int CHECK (n > 0))").unwrap();
    (server, database)
}

#[test]
fn all_of_a_transaction_or_nothing() {
    let (server, database) = table();
    let pooler = need(Pooler::start(server, 2));
    for address in [server.url(&database), pooler.url(&database)] {
        let mut connection = connection(&address);
        let before = number(&mut connection, SUM);
        run(&mut connection, add).unwrap();
        let failed = run(&mut connection, |it| add(it).and(Err(it.error(Kind::Refused, "no"))));
        assert_kind(&failed.unwrap_err(), Kind::Refused);
        // An error that the body does not care about is one of the whole transaction.
        let ignored = run(&mut connection, |it| {
            add(it)?;
            drop(it.execute("INSERT INTO t VALUES (-1)", &[]));
            Ok(())
        });
        assert_kind(&ignored.unwrap_err(), Kind::Constraint);
        let panicked = std::panic::catch_unwind(AssertUnwindSafe(|| {
            run(&mut connection, |it| {
                add(it).unwrap();
                std::panic::resume_unwind(Box::new("no report"));
            })
        }));
        assert!(panicked.is_err());
        assert_eq!(number(&mut connection, SUM), before + 1);
    }
}

#[test]
fn transactions_that_conflict_are_tried_again() {
    let (server, database) = table();
    server.sql(&database, "CREATE TABLE u (n int); INSERT INTO u VALUES (0)").unwrap();
    server.sql(&database, "INSERT INTO t VALUES (1)").unwrap();
    let both = Barrier::new(2);
    std::thread::scope(|scope| {
        for order in [["t", "u"], ["u", "t"]] {
            let (both, address) = (&both, server.url(&database));
            scope.spawn(move || {
                let mut calls = 0;
                let done = run(&mut connection(&address), |transaction| {
                    calls += 1;
                    transaction.execute(&format!("UPDATE {} SET n = n + 1", order[0]), &[])?;
                    if calls == 1 {
                        both.wait();
                    }
                    transaction
                        .execute(&format!("UPDATE {} SET n = n + 1", order[1]), &[])
                        .map(drop)
                });
                done.unwrap();
            });
        }
    });
    assert_eq!(server.sql(&database, "SELECT t.n, u.n FROM t, u").unwrap(), "3|2");
}

#[test]
fn waits_and_statements_end_in_time() {
    let (server, database) = table();
    let address = server.url(&database);
    let (mut one, mut two) = (connection(&address), connection(&address));
    run(&mut one, |first| {
        first.batch("LOCK TABLE t")?;
        let limits = Limits::USUAL.waiting(Duration::from_millis(50));
        let refused = two.transaction(limits, add).unwrap_err();
        assert_kind(&refused, Kind::LockTimeout);
        Ok(())
    })
    .unwrap();
    let short =
        Limits { lock: Duration::ZERO, statement: Duration::from_millis(50), ..Limits::USUAL };
    let slow = |it: &mut Transaction<'_>| it.batch("SELECT pg_sleep(60)");
    assert_kind(&two.transaction(short, slow).unwrap_err(), Kind::Cancelled);
    let idle = Limits { idle: Duration::from_millis(50), ..Limits::USUAL };
    let paused = two.transaction(idle, |it| {
        add(it)?;
        // Until the server has ended it.
        while server.sql(&database, "SELECT count(*) FROM pg_stat_activity WHERE state = 'idle in transaction' AND datname = current_database()").unwrap() != "0" {}
        Ok::<_, Error>(())
    });
    assert!(
        !matches!(paused.unwrap_err().kind(), Kind::OutcomeUnknown),
        "it is known to be undone"
    );
    assert_eq!(number(&mut two, SUM), 0, "and the next call works");
}

#[test]
fn a_server_process_that_is_ended() {
    let (server, database) = table();
    let mut connection = connection(&server.url(&database));
    let end = format!(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{database}' AND backend_type = 'client backend'"
    );
    let ended = run(&mut connection, |it| {
        add(it)?;
        server.sql("postgres", &end).unwrap();
        add(it)
    });
    assert_kind(&ended.unwrap_err(), Kind::Unreachable);
    assert_eq!(number(&mut connection, SUM), 0);
    // Between two calls nothing is lost by it, however it is noticed.
    for _ in 0..20 {
        server.sql("postgres", &end).unwrap();
        assert_eq!(number(&mut connection, SUM), 0);
    }
    let cancel = end.replace("terminate", "cancel");
    let cancelled = std::thread::scope(|scope| {
        let running = scope.spawn(|| run(&mut connection, |it| it.batch("SELECT pg_sleep(600)")));
        while server
            .sql("postgres", &format!("{cancel} AND query LIKE '%pg_sleep(600)%'"))
            .unwrap()
            .is_empty()
        {}
        running.join().unwrap()
    });
    assert_kind(&cancelled.unwrap_err(), Kind::Cancelled);
}

#[test]
fn a_commit_without_an_answer_is_of_unknown_outcome() {
    let (server, database) = table();
    let proxy = Proxy::new(([127, 0, 0, 1], server.port()).into()).unwrap();
    let port = proxy.address().port().to_string();
    let mut connection =
        connection(&server.tcp_url(&database).replace(&server.port().to_string(), &port));
    for (fault, kind, sum) in [
        (Fault::LoseReply(COMMIT), Kind::OutcomeUnknown, 1),
        (Fault::LoseRequest(COMMIT), Kind::OutcomeUnknown, 1),
        (Fault::LoseReply("INSERT"), Kind::Unreachable, 1),
        (Fault::LoseRequest("INSERT"), Kind::Unreachable, 1),
    ] {
        proxy.lose(fault.clone());
        let lost = run(&mut connection, add).unwrap_err();
        assert!(proxy.has_lost());
        assert_kind(&lost, kind);
        assert_eq!(number(&mut connection, SUM), sum, "{fault:?}");
    }
    // One statement is its own commit.
    for (fault, sum) in [(Fault::LoseReply("INSERT"), 2), (Fault::LoseRequest("INSERT"), 2)] {
        proxy.lose(fault.clone());
        let lost = connection.write("INSERT INTO t VALUES (1)", &[]).unwrap_err();
        assert_kind(&lost, Kind::OutcomeUnknown);
        assert_eq!(number(&mut connection, SUM), sum, "{fault:?}");
    }
    // What begins a transaction can be sent again.
    proxy.disconnect();
    run(&mut connection, add).unwrap();
    assert_eq!(number(&mut connection, SUM), 3);
}

#[test]
fn a_server_that_can_only_be_read() {
    let server = need(Server::start(Settings::default()));
    server.sql("postgres", "CREATE TABLE t (n int)").unwrap();
    let replica = server.replica().unwrap();
    let mut connection = connection(&replica.url("postgres"));
    let refused = run(&mut connection, add).unwrap_err();
    assert!(matches!(refused.kind(), Kind::ReadOnly | Kind::MissingSchema), "{refused}");
    server.sql("postgres", "ALTER SYSTEM SET default_transaction_read_only = on").unwrap();
    server.sql("postgres", "SELECT pg_reload_conf()").unwrap();
    let mut connection = crate::harness::connection(&server.url("postgres"));
    let deadline = std::time::Instant::now() + Duration::from_secs(30);
    // The server reads its settings when it gets round to it.
    let refused = loop {
        match run(&mut connection, add) {
            Err(refused) => break refused,
            Ok(()) => assert!(std::time::Instant::now() < deadline),
        }
    };
    assert_kind(&refused, Kind::ReadOnly);
}
