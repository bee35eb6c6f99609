//! Tables that are missing, older, newer, or made by several programs at once.

use osm_postgres::{Component, Kind, Migration, Schema, generation};
use osm_testkit::postgres::Pooler;
use osm_testkit::trials::need;

use crate::harness::{assert_kind, connection, database};

const FIRST: Migration =
    Migration { name: "make t", sql: "CREATE TABLE osm.t (n int); INSERT INTO osm.t VALUES (1)" };
const SECOND: Migration = Migration { name: "count", sql: "UPDATE osm.t SET n = n + 1" };
const BROKEN: Migration = Migration { name: "broken", sql: "UPDATE osm.t SET n = 9; SELECT 1/0" };
const OLD: Component = Component { name: "thing", migrations: &[FIRST] };
const NEW: Component = Component { name: "thing", migrations: &[FIRST, SECOND] };
const BAD: Component = Component { name: "thing", migrations: &[FIRST, BROKEN] };
const OTHER: Component = Component {
    name: "other",
    migrations: &[Migration { name: "make u", sql: "CREATE TABLE osm.u ()" }],
};

#[test]
fn each_version_is_applied_once() {
    let (server, database) = database();
    let pooler = need(Pooler::start(server, 3));
    let mut one = connection(&server.url(&database));
    assert_eq!(NEW.inspect(&mut one).unwrap(), Schema::Missing);
    OLD.require(&mut one).unwrap();
    assert_eq!(NEW.inspect(&mut one).unwrap(), Schema::Older(1));
    assert_kind(&NEW.require(&mut one).unwrap_err(), Kind::OlderSchema);
    assert!(BAD.migrate(&mut one).is_err());
    assert_eq!(server.sql(&database, "TABLE osm.t").unwrap(), "1", "nothing of it is left");
    assert_eq!(NEW.inspect(&mut one).unwrap(), Schema::Older(1));
    let address = pooler.url(&database);
    let applied: usize = std::thread::scope(|scope| {
        let all: Vec<_> = (0..4)
            .map(|_| scope.spawn(|| NEW.migrate(&mut connection(&address)).unwrap().len()))
            .collect();
        all.into_iter().map(|one| one.join().unwrap()).sum()
    });
    assert_eq!(applied, 1);
    assert_eq!(server.sql(&database, "TABLE osm.t").unwrap(), "2");
    NEW.require(&mut one).unwrap();
    for refused in [OLD.require(&mut one), OLD.migrate(&mut one).map(drop)] {
        assert_kind(&refused.unwrap_err(), Kind::NewerSchema);
    }
    OTHER.require(&mut one).unwrap();
}

#[test]
fn several_programs_make_the_tables_at_once() {
    let (server, database) = database();
    let address = server.url(&database);
    std::thread::scope(|scope| {
        for component in [NEW, OTHER, NEW, OTHER] {
            let address = &address;
            scope.spawn(move || component.require(&mut connection(address)).unwrap());
        }
    });
    assert_eq!(server.sql(&database, "TABLE osm.t").unwrap(), "2");
    let mut one = connection(&address);
    let id = generation(&mut one).unwrap();
    OTHER.migrate(&mut one).unwrap();
    assert_eq!(generation(&mut one).unwrap(), id);
    let (_, another) = crate::harness::database();
    let mut another = connection(&server.url(&another));
    OTHER.require(&mut another).unwrap();
    assert_ne!(generation(&mut another).unwrap(), id);
}

/// The program that migrates is cut off in the middle.
#[test]
fn a_migration_that_is_interrupted_leaves_nothing() {
    let (server, database) = database();
    let slow: &'static [Migration] =
        &[FIRST, Migration { name: "slow", sql: "SELECT pg_sleep(600)" }];
    let address = server.url(&database);
    let ended = std::thread::scope(|scope| {
        let migrating = scope.spawn(|| {
            Component { name: "thing", migrations: slow }.migrate(&mut connection(&address))
        });
        let end = format!(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{database}' AND query LIKE '%pg_sleep(600)%'"
        );
        while server.sql("postgres", &end).unwrap().is_empty() {}
        migrating.join().unwrap()
    });
    assert_kind(&ended.unwrap_err(), Kind::Unreachable);
    let mut one = connection(&address);
    assert_eq!(NEW.inspect(&mut one).unwrap(), Schema::Missing);
    NEW.require(&mut one).unwrap();
}
