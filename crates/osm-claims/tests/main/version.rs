//! Ledgers of earlier versions: they are brought to the present one, and nothing in them is lost.

use std::path::Path;

use osm_claims::{Case, ClaimOptions, ClaimedPath, PathKind, Reason, Resource, SqliteLedger};
use rusqlite::Connection;

use crate::harness::{Fixture, Nature, refused, replayed, resource, with_process};

/// What version 3 added, taken back.
const BACK_TO_2: &str = "
    DROP TABLE receipt;
    DROP TABLE message;
    PRAGMA user_version = 2;";

/// What version 2 added, taken back.
const BACK_TO_1: &str = "
    DROP INDEX claim_open;
    DROP INDEX claim_prefix;
    DROP INDEX claim_link;
    DROP TRIGGER claim_fixed;
    DROP TRIGGER claim_ended;
    DROP TABLE waiter;
    ALTER TABLE claim DROP COLUMN mode;
    ALTER TABLE claim DROP COLUMN prefix;
    ALTER TABLE claim DROP COLUMN link;
    CREATE UNIQUE INDEX claim_open ON claim (scope, resource) WHERE ended IS NULL;
    CREATE TRIGGER claim_ended BEFORE UPDATE OF ended, hold, offer, owner ON claim
        WHEN OLD.ended IS NOT NULL
        BEGIN SELECT RAISE(ABORT, 'the claim has ended'); END;
    PRAGMA user_version = 1;";

fn opened(folder: &Path, nature: &Nature) -> Fixture {
    let ledger = SqliteLedger::open_with_clock(folder, Box::new(nature.clone())).unwrap();
    Fixture::new(nature, ledger)
}

#[test]
fn a_ledger_of_version_1_keeps_its_claims_and_takes_paths() {
    let (folder, nature) = (tempfile::tempdir().unwrap(), Nature::default());
    let (ann, ben) = (with_process("ann", 1), with_process("ben", 2));
    let options = ClaimOptions::default();
    let token = {
        let claims = opened(folder.path(), &nature).claims;
        claims.claim(&ann, &resource("done"), &options).unwrap();
        claims.release(&ann, &resource("done"), None, true).unwrap();
        claims.claim(&ann, &resource("task"), &options).unwrap().claim.token()
    };
    let file = SqliteLedger::file(folder.path());
    let database = Connection::open(&file).unwrap();
    database.execute_batch(BACK_TO_2).unwrap();
    database.execute_batch(BACK_TO_1).unwrap();
    // A process of version 1 that has it open.
    let count = "SELECT count(*) FROM claim WHERE ended IS NULL";
    let mut old = database.prepare(count).unwrap();
    assert_eq!(old.query_row([], |row| row.get::<_, i64>(0)).unwrap(), 1);

    let fixture = opened(folder.path(), &nature);
    let claims = &fixture.claims;
    assert_eq!(claims.check(&ann, &resource("task"), Some(token)).unwrap().token(), token);
    assert_eq!(refused(claims.claim(&ben, &resource("task"), &options)), Reason::Held);
    assert_eq!(refused(claims.claim(&ben, &resource("done"), &options)), Reason::Completed);
    let path = |kind, text| {
        Resource::of_path(ClaimedPath::new("", kind, text, Case::Distinct).unwrap(), None)
    };
    claims.claim(&ann, &path(PathKind::Folder, "src"), &options).unwrap();
    let below = path(PathKind::File, "src/a");
    assert_eq!(refused(claims.claim(&ben, &below, &options)), Reason::Held);
    replayed(claims, &ann);
    assert_eq!(old.query_row([], |row| row.get::<_, i64>(0)).unwrap(), 2, "it goes on");
    let fresh = tempfile::tempdir().unwrap();
    drop(opened(fresh.path(), &nature));
    assert_eq!(schema(&file), schema(&SqliteLedger::file(fresh.path())), "as a new one");
}

/// The columns of all tables, and the indexes and triggers.
fn schema(file: &Path) -> Vec<String> {
    let database = Connection::open(file).unwrap();
    let columns = "SELECT t.name || '.' || c.name || ' ' || c.type || c.\"notnull\" \
                   FROM sqlite_schema t, pragma_table_info(t.name) c WHERE t.type = 'table'";
    let others =
        "SELECT sql FROM sqlite_schema WHERE type IN ('index', 'trigger') AND sql IS NOT NULL";
    let mut all = Vec::new();
    for sql in [columns, others] {
        let mut statement = database.prepare(sql).unwrap();
        let rows = statement.query_map([], |row| row.get::<_, String>(0)).unwrap();
        all.extend(rows.map(|it| it.unwrap().split_whitespace().collect::<Vec<_>>().join(" ")));
    }
    all.sort();
    all
}
