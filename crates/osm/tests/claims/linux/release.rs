//! Losing a claim: by its owner's will, by proof, by time, or for a reason that is told.

use osm_claims::Reason;
use osm_claims::event::{Filter, replay};
use osm_testkit::tools::root;
use serde_json::Value;

use super::liveness::{a_second_passes, rebooted};
use super::race::{claims_in, of_many_take_overs_one_stands_in_the_end, requester};
use super::row::{Outcome, Row, never, shown, test};
use super::site::{Site, epoch, said, token};

pub(crate) const ROWS: &[Row] = &[
    shown(
        "R-01",
        "completed work has no owner, however it was completed",
        test!(finished_work_has_no_owner),
    ),
    never("R-02", "a release is atomic", "it is one row in one transaction"),
    shown(
        "R-03",
        "a new claim has no notes or offers of an earlier one",
        test!(a_new_claim_starts_empty),
    ),
    shown("R-04", "an ended claim stays ended", test!(what_ended_stays_ended)),
    shown(
        "R-05",
        "a stopped owner that continues still owns its claims",
        test!(a_suspicion_changes_nothing),
    ),
    shown(
        "R-06",
        "a release applies to one claim; a late release affects no other claim",
        test!(a_late_release_hits_nothing_else),
    ),
    shown(
        "R-07",
        "a sweep decides at the moment at which it acts",
        test!(a_sweep_never_ends_a_claim_that_came_in_between),
    ),
    shown(
        "R-08",
        "the ledger cannot store two owners of one resource",
        test!(the_ledger_cannot_hold_two_owners),
    ),
    never(
        "R-09",
        "no time limit frees the claim of a running owner",
        "only leases have a time limit, and a session with a process has no lease",
    ),
    shown("R-10", "a second sweep logs nothing new", test!(sweeping_again_says_nothing_new)),
    shown(
        "R-11",
        "an owner whose lease expired can claim again unless another session holds the claim, and is told which",
        test!(an_owner_gets_back_a_lapsed_claim),
    ),
    shown(
        "R-12",
        "a missing field in the ledger frees nothing",
        test!(a_missing_field_frees_nothing),
    ),
    never(
        "R-13",
        "no working directory of an owner is deleted",
        "osm deletes no working directory",
    ),
    shown(
        "R-14",
        "a claim is free when its command has ended, not when osm asked it to end",
        test!(a_claim_is_free_when_its_command_has_ended),
    ),
    shown(
        "R-15",
        "every transition is logged with its session, reason and evidence, and the log gives the state",
        test!(the_log_explains_the_state),
    ),
    shown(
        "R-16",
        "claims of dead owners are listed as such, and another session can claim them",
        test!(abandoned_work_is_listed_and_taken),
    ),
    shown(
        "R-17",
        "taking a claim needs a reason, shows the claim that it overrides, and the holder is told",
        test!(a_take_over_says_what_it_overrides),
    ),
    shown(
        "R-18",
        "of many concurrent take-overs one holds the claim in the end, and only its epoch is valid",
        test!(of_many_take_overs_one_stands_in_the_end),
    ),
    shown(
        "R-19",
        "a claim that cannot be examined does not stop a sweep, and the sweep reports it",
        test!(one_bad_claim_stops_no_other),
    ),
    shown(
        "R-20",
        "a session that lost a claim cannot commit or push, even if it was stopped meanwhile",
        test!(git_refuses_a_session_that_lost_a_claim),
    ),
    never(
        "R-21",
        "a fixed failure mode stays fixed",
        "this page lists every id, and a test fails if one has no test and no reason",
    ),
];

fn finished_work_has_no_owner(site: &Site) -> Outcome {
    let mut owner = site.agent()?;
    for (name, commands) in [
        ("one", "OSM claim one && OSM release one --done"),
        ("two", "OSM claim two && OSM release --all --done"),
        ("three", "OSM claim run three -- LAB/bin/osm release three --done"),
    ] {
        owner.sh(commands)?.ok()?;
        assert_eq!(owner.ok("claims")?, serde_json::json!([]), "{name}");
        assert_eq!(owner.story(name)?.last().map(String::as_str), Some("completed"));
        owner.refused(&format!("claim {name}"), Reason::Completed)?;
    }
    Ok(())
}

fn a_new_claim_starts_empty(site: &Site) -> Outcome {
    let (mut one, mut other) = (site.agent()?, site.agent()?);
    one.ok("claim work --note 'in LAB/tree' --request r1")?;
    one.ok("claim handoff work --to ex--somebody_72")?;
    one.ok("release work")?;
    for owner in [&mut one, &mut other] {
        let claim = owner.ok("claim work")?["claim"].clone();
        assert_eq!((&claim["note"], &claim["offered_to"]), (&Value::Null, &Value::Null));
        let listed = owner.ok("claims")?.to_string() + &owner.sh("OSM claims")?.output;
        assert!(!listed.contains("tree") && !listed.contains("somebody"), "{listed}");
        owner.ok("release work")?;
    }
    Ok(())
}

fn what_ended_stays_ended(site: &Site) -> Outcome {
    let mut owner = site.agent()?;
    let old = token(&owner.ok("claim work")?["claim"]);
    owner.ok("release work")?;
    let story = owner.story("work")?;
    for words in ["claim renew", "claim check", "release", "claim handoff --to ex--me_27"] {
        owner.refused(&format!("{words} work --epoch {old}"), Reason::Stale)?;
    }
    assert_eq!(owner.story("work")?, story);
    let ledger = rusqlite::Connection::open(site.ledger()).expect("a ledger");
    for sql in [
        "UPDATE claim SET ended = NULL",
        "UPDATE claim SET owner = 1",
        "DELETE FROM claim",
        "UPDATE event SET actor = 'me'",
        "DELETE FROM event",
    ] {
        let error = ledger.execute(sql, []).expect_err(sql).to_string();
        assert!(error.contains("has ended") || error.contains("are kept"), "{sql}: {error}");
    }
    assert_eq!(owner.ok("claims")?, serde_json::json!([]));
    Ok(())
}

fn a_suspicion_changes_nothing(site: &Site) -> Outcome {
    let (mut owner, mut rival) = (site.person()?, site.agent()?);
    let first = owner.ok("claim work")?["claim"].clone();
    for _ in 0..3 {
        owner.stop();
        rival.refused("claim work", Reason::Suspended)?;
        rival.ok("claim sweep --all")?;
        rival.refused("claim next work", Reason::NothingFree)?;
        owner.go_on();
    }
    assert_eq!(owner.ok("claim check work")?["claim"]["token"], first["token"]);
    assert_eq!(owner.story("work")?, ["granted"]);
    Ok(())
}

fn a_late_release_hits_nothing_else(site: &Site) -> Outcome {
    let mut owner = site.agent()?;
    let old = token(&owner.ok("claim x")?["claim"]);
    owner.ok("release x")?;
    let (x, y) = (owner.claim("x")?, owner.claim("y")?);
    owner.refused(&format!("release x --epoch {old}"), Reason::Stale)?;
    owner.refused(&format!("release y --epoch {old}"), Reason::Stale)?;
    assert_eq!((epoch(&owner.sees("x")?), epoch(&owner.sees("y")?)), (x, y));
    Ok(())
}

fn a_sweep_never_ends_a_claim_that_came_in_between(site: &Site) -> Outcome {
    let mut sweepers: Vec<_> = (0..3).map(|_| site.agent()).collect::<Result<_, _>>()?;
    let mut rival = site.agent()?;
    for round in 0..15 {
        let mut owner = site.agent()?;
        owner.claim("work")?;
        owner.kill()?;
        let mut begun = Vec::new();
        for sweeper in &mut sweepers {
            begun.push(sweeper.begin("for i in 1 2 3; do OSM claim sweep --json; done")?);
        }
        let granted = rival.ok("claim work")?;
        for (sweeper, begun) in sweepers.iter_mut().zip(&begun) {
            sweeper.finish(begun)?.ok()?;
        }
        let checked = rival.ok("claim check work")?;
        assert_eq!(checked["claim"]["token"], granted["claim"]["token"], "round {round}");
        rival.ok("release work")?;
    }
    let story = rival.story("work")?;
    assert_eq!(story, ["granted", "died", "granted", "released"].repeat(15));
    Ok(())
}

fn the_ledger_cannot_hold_two_owners(site: &Site) -> Outcome {
    let (mut one, mut other) = (site.agent()?, site.agent()?);
    one.claim("work")?;
    other.claim("other")?;
    let ledger = rusqlite::Connection::open(site.ledger()).expect("a ledger");
    for sql in [
        "INSERT INTO claim (seal, scope, resource, owner, hold, since)
             SELECT 7, scope, resource, 2, hold, since FROM claim WHERE epoch = 1",
        "UPDATE claim SET resource = (SELECT resource FROM claim WHERE epoch = 1) WHERE epoch = 2",
        "INSERT OR IGNORE INTO claim SELECT 9, seal, scope, resource, 99, hold, since, note, NULL,
             offer, ended, lost FROM claim WHERE epoch = 1",
    ] {
        let changed = ledger.execute(sql, []);
        assert!(matches!(changed, Err(_) | Ok(0)), "{sql}: {changed:?}");
    }
    assert_eq!(one.ok("claims")?.as_array().map(Vec::len), Some(2));
    Ok(())
}

fn sweeping_again_says_nothing_new(site: &Site) -> Outcome {
    root()?;
    let (mut held, mut stopped, mut dead) = (site.agent()?, site.agent()?, site.agent()?);
    let mut unseen = rebooted(site, None)?;
    held.claim("held")?;
    stopped.claim("stopped")?;
    dead.claim("dead")?;
    unseen.claim("unseen")?;
    stopped.stop();
    dead.kill()?;
    let mut freed = Vec::new();
    for _ in 0..5 {
        let counts = held.ok("claim sweep")?["counts"].clone();
        freed.push(counts["freed"].as_u64());
        assert_eq!(
            (&counts["held"], &counts["suspended"], &counts["unknown_holder"]),
            (&1.into(), &1.into(), &1.into())
        );
    }
    assert_eq!(freed, [1, 0, 0, 0, 0].map(Some));
    assert_eq!(held.ok("claim log")?.as_array().map(Vec::len), Some(5));
    Ok(())
}

fn an_owner_gets_back_a_lapsed_claim(site: &Site) -> Outcome {
    let (mut owner, mut rival) = (site.named("tenant")?, site.agent()?);
    let first = owner.ok("claim work --ttl 1s")?["claim"].clone();
    a_second_passes(site)?;
    owner.refused("claim check work", Reason::LeaseOver)?;
    let renewed = owner.ok("claim renew work --ttl 1s")?;
    assert_eq!(renewed["claim"]["token"], first["token"]);
    a_second_passes(site)?;
    rival.claim("work")?;
    for words in ["claim check work", "claim renew work", "release work"] {
        let refused =
            owner.refused(&format!("{words} --epoch {}", token(&first)), Reason::Stale)?;
        let message = refused["message"].as_str().unwrap_or_default();
        assert!(message.contains("found the lease of"), "{message}");
    }
    owner.refused("claim work", Reason::Held)?;
    Ok(())
}

fn a_missing_field_frees_nothing(site: &Site) -> Outcome {
    let (mut owner, mut rival) = (site.agent()?, site.agent()?);
    owner.claim("work")?;
    let ledger = rusqlite::Connection::open(site.ledger()).expect("a ledger");
    let whole: String =
        ledger.query_row("SELECT who FROM owner", [], |row| row.get(0)).expect("an owner");
    for field in ["process.inode", "process.machine", "process.clock", "agent", "process"] {
        let sql = format!("UPDATE owner SET who = json_set(?1, '$.{field}', NULL)");
        ledger.execute(&sql, [&whole]).expect("the owner is a document");
        let said = rival.osm("claim work")?;
        let wanted = if field == "process" { Reason::Unknown } else { Reason::Held };
        said.assert_refused(wanted);
        assert_eq!(rival.ok("claim sweep")?["counts"]["freed"], 0, "{field}");
    }
    assert_eq!(rival.story("work")?, ["granted"]);
    Ok(())
}

fn a_claim_is_free_when_its_command_has_ended(site: &Site) -> Outcome {
    let (mut owner, mut rival) = (site.agent()?, site.agent()?);
    rival.sh("mkfifo LAB/hold")?.ok()?;
    let run = owner.begin(
        "OSM claim run work -- sh -c 'trap \"echo asked >LAB/asked\" TERM; echo $$ $PPID >LAB/pids.tmp
             mv LAB/pids.tmp LAB/pids; until read x <LAB/hold || ! test -e LAB/hold; do :; done'",
    )?;
    site.lab.wait_for(&site.path("pids"))?;
    // It is asked to end, and does not.
    rival.sh("read command osm <LAB/pids; kill -TERM $osm")?.ok()?;
    site.lab.wait_for(&site.path("asked"))?;
    rival.refused("claim work", Reason::Held)?;
    rival.sh("read command osm <LAB/pids; kill -STOP $command")?.ok()?;
    let stopped = rival.sh(
        "read command osm <LAB/pids; until grep -q 'State:.T' /proc/$command/status; do :; done",
    )?;
    stopped.ok()?;
    rival.refused("claim work", Reason::Suspended)?;
    rival.sh("read command osm <LAB/pids; kill -CONT $command")?.ok()?;
    let waiting = rival.begin("OSM claim work --wait 1m --json")?;
    site.lab.file("end.sh", "echo >LAB/hold\n")?;
    assert!(site.lab.command("sh").arg(site.path("end.sh")).status()?.success());
    owner.finish(&run)?.ok()?;
    said(rival.finish(&waiting)?).assert_granted();
    Ok(())
}

fn the_log_explains_the_state(site: &Site) -> Outcome {
    let (mut one, mut other, mut third) = (site.agent()?, site.agent()?, site.agent()?);
    let mut tenant = site.named("tenant")?;
    let session = other.session()?;
    for name in ["a", "b", "c", "d", "e"] {
        one.claim(name)?;
    }
    one.ok("release a")?;
    one.ok("release b --done")?;
    one.ok(&format!("claim handoff c --to {session} --note take"))?;
    other.ok("claim accept c")?;
    other.ok("claim take d --reason urgent --even-if-alive")?;
    one.ok(&format!("claim handoff e --to {session}"))?;
    one.ok("claim handoff e --cancel")?;
    tenant.ok("claim f --ttl 1h")?;
    tenant.ok("claim renew f --ttl 2h")?;
    other.claim("g")?;
    one.ok(&format!("claim handoff e --to {session}"))?;
    let (died, session_of_one) = (one.ok("claim check e")?["claim"].clone(), one.session()?);
    one.kill()?;
    third.refused("claim e", Reason::Reserved)?;
    other.ok("claim e")?;
    third.claim("h")?;
    third.kill()?;
    let swept = other.ok("claim sweep --all")?;
    assert_eq!(swept["counts"]["freed"], 1);
    // Who did what, and on what proof.
    let taken = other.event("d", "taken")?;
    assert!(taken["evidence"].as_str().unwrap_or_default().starts_with("urgent; "), "{taken:#}");
    let proof = other.event("h", "died")?;
    assert!(proof["evidence"].as_str().unwrap_or_default().contains("no process has its pid"));
    assert_eq!(proof["by"], session.as_str());
    let handed = other.event("e", "handed_off")?;
    assert_eq!(handed["epoch"], died["epoch"], "{handed:#} of {session_of_one}");
    // Doing all transitions again gives what is open.
    let folder = site.path(".config/one-shot-man").display().to_string();
    let events = claims_in(&folder).log(&requester("witness", None), true, &Filter::default());
    let open = replay(&events.expect("a ledger")).expect("epochs grow and owners are one");
    let mut replayed: Vec<(String, u64, i64)> =
        open.iter().map(|(epoch, it)| (it.resource.to_string(), epoch.0, it.owner.0)).collect();
    replayed.sort();
    let listed = other.ok("claims --all")?;
    let mut listed: Vec<(String, u64, i64)> = listed
        .as_array()
        .into_iter()
        .flatten()
        .map(|it| {
            let name = it["resource"].as_str().unwrap_or_default().to_owned();
            (name, epoch(it), it["incarnation"].as_i64().unwrap_or_default())
        })
        .collect();
    listed.sort();
    assert_eq!(replayed, listed);
    Ok(())
}

fn abandoned_work_is_listed_and_taken(site: &Site) -> Outcome {
    let (mut owner, mut other) = (site.agent()?, site.agent()?);
    owner.ok("claim work --note 'half done, branch fix-7'")?;
    let session = owner.session()?;
    owner.kill()?;
    let seen = other.sees("work")?;
    assert_eq!((&seen["verdict"], &seen["free"]), (&"dead".into(), &true.into()), "{seen:#}");
    assert_eq!(seen["session"], session.as_str());
    assert_eq!(seen["note"], "half done, branch fix-7");
    let next = other.ok("claim next work")?;
    assert_eq!(next["ended"]["note"], "half done, branch fix-7");
    Ok(())
}

fn a_take_over_says_what_it_overrides(site: &Site) -> Outcome {
    root()?;
    let (mut live, mut stopped, mut dead) = (site.agent()?, site.agent()?, site.agent()?);
    let (mut unseen, mut rival) = (rebooted(site, None)?, site.agent()?);
    live.claim("live")?;
    stopped.claim("stopped")?;
    dead.claim("dead")?;
    unseen.claim("unseen")?;
    stopped.stop();
    dead.kill()?;
    assert_eq!(rival.osm("claim take live")?.code, 2, "a reason is needed");
    rival.refused("claim take live --reason why", Reason::HolderAlive)?;
    let would = rival.ok("claim take live --reason why --even-if-alive --dry-run")?;
    assert_eq!(would["overrides"]["session"], live.session()?.as_str());
    assert_eq!(live.story("live")?, ["granted"], "nothing happened yet");
    for (name, flag, how, evidence) in [
        ("live", " --even-if-alive", "taken", "its process is running"),
        ("stopped", "", "taken", "its process is stopped"),
        ("unseen", "", "taken", "another boot id"),
        ("dead", "", "died", "no process has its pid"),
    ] {
        let taken = rival.ok(&format!("claim take {name} --reason 'I need it'{flag}"))?;
        let ended = &taken["ended"]["ended"];
        assert_eq!(ended["how"], how, "{taken:#}");
        let text = ended["evidence"].as_str().unwrap_or_default();
        assert!(text.contains(evidence), "{name}: {text}");
        assert!(how != "taken" || text.starts_with("I need it"), "{name}: {text}");
    }
    stopped.go_on();
    for (owner, name) in [(&mut live, "live"), (&mut stopped, "stopped"), (&mut unseen, "unseen")] {
        let told = owner.osm("claims")?;
        assert!(told.errors.contains(&format!("{name} is no longer yours")), "{told:#?}");
        assert!(told.errors.contains("I need it"), "{told:#?}");
        assert_eq!(owner.osm("claims")?.errors, "", "told once");
        owner.refused(&format!("claim check {name}"), Reason::Stale)?;
    }
    Ok(())
}

fn one_bad_claim_stops_no_other(site: &Site) -> Outcome {
    let (mut owner, mut sweeper) = (site.agent()?, site.agent()?);
    owner.sh("for i in $(seq 30); do OSM claim item-$i || exit 1; done")?.ok()?;
    owner.kill()?;
    let ledger = rusqlite::Connection::open(site.ledger()).expect("a ledger");
    ledger
        .execute_batch(
            "CREATE TRIGGER poison BEFORE UPDATE OF ended ON claim WHEN OLD.epoch = 17
                 BEGIN SELECT RAISE(ABORT, 'poisoned'); END",
        )
        .expect("it is ours");
    let swept = sweeper.osm("claim sweep")?;
    assert_eq!(swept.code, 6, "some of it could not be done: {swept:#?}");
    let counts = &swept.json["counts"];
    assert_eq!(
        (&counts["examined"], &counts["freed"], &counts["failed"]),
        (&30.into(), &29.into(), &1.into())
    );
    assert!(swept.errors.contains("poisoned"), "{}", swept.errors);
    ledger.execute_batch("DROP TRIGGER poison").expect("it is ours");
    assert_eq!(sweeper.ok("claim sweep")?["counts"]["freed"], 1);
    Ok(())
}

/// What makes a folder a repository that can commit and push to another.
pub(crate) const GIT: &str = "export PATH=LAB/bin:$PATH
    git init -q --bare LAB/remote.git
    git config user.name x; git config user.email x@x; git config push.default current
    git remote add origin LAB/remote.git";

/// Commits something, and pushes it.
pub(crate) const COMMIT: &str = "git commit -q --allow-empty -m x";
pub(crate) const PUSH: &str = "git push -q origin HEAD";

fn git_refuses_a_session_that_lost_a_claim(site: &Site) -> Outcome {
    let (mut owner, mut rival) = (site.agent()?, site.agent()?);
    owner.sh(GIT)?.ok()?;
    rival.sh("export PATH=LAB/bin:$PATH")?.ok()?;
    owner.sh("osm claim guard install")?.ok()?;
    owner.claim("work")?;
    owner.sh(&format!("{COMMIT} && {PUSH}"))?.ok()?;
    owner.stop();
    rival.ok("claim take work --reason 'it sleeps'")?;
    rival.sh(&format!("{COMMIT} && {PUSH}"))?.ok()?;
    owner.go_on();
    for command in [COMMIT, PUSH, COMMIT] {
        let refused = owner.sh(command)?;
        assert_ne!(refused.code, 0, "{command}");
        assert!(refused.errors.contains("it sleeps"), "{command}: {refused:#?}");
    }
    assert_eq!(owner.sh("git rev-list --count HEAD")?.output, "2", "nothing came of it");
    // A session that acknowledged the loss can continue with something else.
    owner.ok("release work")?;
    owner.sh(&format!("{COMMIT} && {PUSH}"))?.ok()?;
    Ok(())
}
