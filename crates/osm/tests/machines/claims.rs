//! What two machines promise each other.

use crate::machine::{World, eventually};

/// A term that is over soon, where a test waits for that.
const SHORT: u32 = 3;
/// A term that is never over.
const LONG: u32 = 600;

#[test]
fn a_claim_on_one_machine_is_refused_on_the_other() {
    let world = World::new();
    let (one, other) = (world.machine("alpha", LONG), world.machine("beta", LONG));
    let (mut ann, mut ben) = (one.agent(), other.agent());
    let epoch = ann.claim("task");
    let no = ben.fails("claim task", "held");
    assert_eq!((&no["claim"]["host"], &no["claim"]["epoch"]), (&"alpha".into(), &epoch.into()));
    assert!(no["message"].as_str().unwrap().contains("lease runs for another"), "{no:#}");
    let listed = ben.sh("OSM claims").output;
    assert!(listed.contains("on alpha") && listed.contains("root commit"), "{listed}");

    // The end of the agent's process is known on its machine, which ends the lease at once.
    drop(ann);
    let granted = ben.ok("claim task --wait 10m");
    assert!(granted["claim"]["epoch"].as_u64() > Some(epoch), "{granted:#}");
    let why = ben.ok("claim log task --kind died");
    assert!(why[0]["evidence"].as_str().is_some_and(|it| it.contains("claude")), "{why:#}");
    one.await_no_keeper();
}

#[test]
fn a_long_partition_fences_the_machine_that_is_cut_off() {
    let world = World::new();
    let (one, other) = (world.machine("alpha", SHORT), world.machine("beta", SHORT));
    let (mut ann, mut runner, mut ben) = (one.agent(), one.agent(), other.agent());
    let epoch = ann.claim("task");
    let begun =
        runner.begin("OSM claim run build -- sh -c 'echo started >LAB/started; exec sleep 1000'");
    eventually("the command", || world.lab.path().join("started").exists());

    one.cut(true);
    let granted = ben.ok("claim task --wait 10m");
    assert!(granted["claim"]["epoch"].as_u64() > Some(epoch), "{granted:#}");
    // The command was stopped before its claim could be granted to another session.
    ben.ok("claim build --wait 10m");
    let stopped = runner.finish(&begun);
    assert!(stopped.code != 0 && stopped.errors.contains("the command was stopped"), "{stopped:?}");
    ann.fails("claim check task", "store_unreachable");

    one.cut(false);
    eventually("the network", || ann.osm("claims").0 == 0);
    let no = ann.fails(&format!("claim check task --epoch {epoch}"), "stale");
    assert_eq!(no["claim"]["ended"]["how"], "expired", "{no:#}");
    ann.fails("claim task", "held");
    one.await_no_keeper();
}

#[test]
fn a_short_partition_changes_nothing() {
    let world = World::new();
    let (one, other) = (world.machine("alpha", LONG), world.machine("beta", LONG));
    let (mut ann, mut ben) = (one.agent(), other.agent());
    let epoch = ann.claim("task");
    one.cut(true);
    ann.fails("claim check task", "store_unreachable");
    ben.fails("claim task", "held");
    one.cut(false);
    eventually("the network", || ann.osm("claims").0 == 0);
    ann.ok(&format!("claim check task --epoch {epoch}"));
    ben.fails("claim task", "held");
}
