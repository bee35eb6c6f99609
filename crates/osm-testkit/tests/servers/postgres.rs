//! The private PostgreSQL server and the proxy before it.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use osm_testkit::postgres::proxy::{Fault, Proxy};
use osm_testkit::postgres::{Server, Settings};
use osm_testkit::trials::need;

/// Waits until something is so.
fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(30);
    while !is_so() {
        assert!(Instant::now() < deadline, "{what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn a_server_keeps_its_data_when_it_is_stopped_and_killed_and_leaves_nothing() {
    let server = need(Server::start(Settings { fsync: true, ..Settings::default() }));
    server.sql("postgres", "CREATE TABLE t (n int); INSERT INTO t VALUES (1)").unwrap();
    server.stop().unwrap();
    assert!(server.sql("postgres", "SELECT 1").is_err());
    server.begin().unwrap();
    server.sql("postgres", "INSERT INTO t VALUES (2)").unwrap();
    server.kill().unwrap();
    server.begin().unwrap();
    assert_eq!(server.sql("postgres", "SELECT sum(n) FROM t").unwrap(), "3");
    assert_eq!(server.sql("postgres", "SHOW fsync").unwrap(), "on");
    let folder = server.folder().to_owned();
    server.kill().unwrap();
    drop(server);
    assert!(!folder.exists());
}

#[test]
fn a_replica_takes_the_place_of_its_server() {
    let server = need(Server::start(Settings::default()));
    let replica = server.replica().unwrap();
    server.sql("postgres", "CREATE TABLE t (n int)").unwrap();
    until("the replica does not follow", || replica.sql("postgres", "TABLE t").is_ok());
    assert!(replica.sql("postgres", "INSERT INTO t VALUES (1)").is_err(), "it can only be read");
    server.kill().unwrap();
    replica.promote().unwrap();
    replica.sql("postgres", "INSERT INTO t VALUES (1)").unwrap();
}

/// A test process that is killed cannot clean up after itself.
#[test]
fn a_server_ends_with_its_test_process() {
    need(osm_testkit::postgres::installed());
    let deps = std::env::current_exe().unwrap();
    let examples = deps.parent().and_then(Path::parent).unwrap().join("examples");
    let mut test = Command::new(examples.join("postgres_server"));
    let mut test = test.stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    let output = test.stdout.take().unwrap();
    std::io::BufRead::read_line(&mut std::io::BufReader::new(output), &mut line).unwrap();
    let (pid, folder) = line.trim().split_once(' ').unwrap();
    let process = Path::new("/proc").join(pid);
    assert!(process.exists() && Path::new(folder).exists(), "{line}");
    test.kill().unwrap();
    test.wait().unwrap();
    until("the server still runs", || !process.exists());
    until("its folder is still there", || !Path::new(folder).exists());
}

/// The value of a counter after one more `UPDATE` through a proxy, and whether the client was answered.
fn count(server: &Server, database: &str, proxy: &Proxy) -> (String, bool) {
    let address = proxy.address();
    let mut client = server.program("psql");
    client.env("PGHOST", address.ip().to_string()).env("PGPORT", address.port().to_string());
    client.env("PGSSLMODE", "disable").args(["-X", "-d", database, "-v", "ON_ERROR_STOP=1"]);
    let answered = client.args(["-c", "UPDATE t SET n = n + 1"]).output().unwrap();
    (server.sql(database, "TABLE t").unwrap(), answered.status.success())
}

#[test]
fn a_proxy_loses_a_request_or_a_reply_and_forwards_the_rest() {
    let server = need(Server::shared());
    let database = server.database().unwrap();
    server.sql(&database, "CREATE TABLE t (n int); INSERT INTO t VALUES (0)").unwrap();
    let proxy = Proxy::new(([127, 0, 0, 1], server.port()).into()).unwrap();
    assert_eq!(count(server, &database, &proxy), ("1".into(), true));
    proxy.lose(Fault::LoseRequest("UPDATE"));
    assert_eq!(count(server, &database, &proxy), ("1".into(), false));
    assert!(proxy.has_lost());
    proxy.lose(Fault::LoseReply("UPDATE"));
    assert_eq!(count(server, &database, &proxy), ("2".into(), false));
    assert_eq!(count(server, &database, &proxy), ("3".into(), true));
    proxy.delay(Duration::from_millis(50));
    let start = Instant::now();
    assert_eq!(count(server, &database, &proxy), ("4".into(), true));
    assert!(start.elapsed() >= Duration::from_millis(100));
    proxy.delay(Duration::ZERO);
    proxy.partition(true);
    std::thread::scope(|scope| {
        let client = scope.spawn(|| count(server, &database, &proxy));
        std::thread::sleep(Duration::from_millis(300));
        assert!(!client.is_finished());
        proxy.partition(false);
        assert_eq!(client.join().unwrap(), ("5".into(), true));
    });
}
