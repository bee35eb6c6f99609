//! Getting a claim: one owner for each resource, granted in one step.

use osm_claims::Reason;
use osm_testkit::tools::root;
use serde_json::{Value, json};

use super::race::{
    one_of_64_processes_wins_each_of_1000_rounds, ten_items_go_to_ten_of_twenty_workers,
};
use super::row::{Outcome, Row, never, shown, test};
use super::site::{Site, epoch, said, token};

pub(crate) const ROWS: &[Row] = &[
    shown(
        "C-01",
        "osm refuses every operation on a claim without the claim, and with the epoch of another or an earlier one",
        test!(nothing_is_done_with_a_claim_that_is_not_held),
    ),
    shown(
        "C-02",
        "of many concurrent requests one is granted, and the refused ones name the holder",
        test!(one_of_64_processes_wins_each_of_1000_rounds),
    ),
    shown(
        "C-03",
        "a resource can be claimed and released any number of times",
        test!(claims_come_and_go_without_end),
    ),
    never("C-04", "the owner of a resource is stored in one place", "ownership is one row"),
    shown(
        "C-05",
        "claiming, losing or releasing one resource does not affect another",
        test!(one_claim_has_nothing_to_do_with_another),
    ),
    shown(
        "C-06",
        "a claim blocks other sessions exactly while it is open, however it ends",
        test!(every_end_but_completion_frees_the_resource),
    ),
    never(
        "C-07",
        "switching from one resource to another is atomic",
        "there is no such command: a session claims the second and then releases the first",
    ),
    shown(
        "C-08",
        "completed work cannot be claimed by mistake",
        test!(what_is_done_is_not_claimed_again),
    ),
    shown(
        "C-09",
        "claiming a resource again returns the same claim, and never takes another session's",
        test!(having_it_again_takes_nothing_from_others),
    ),
    shown(
        "C-10",
        "the same id is not enough to be the same owner: the process must be the same, too",
        test!(the_same_name_is_not_the_same_owner),
    ),
    shown(
        "C-11",
        "a resource is any name; all resources have the same rules",
        test!(any_bytes_are_a_resource),
    ),
    shown(
        "C-12",
        "osm refuses a ledger that a newer version wrote, and writes nothing",
        test!(an_old_program_is_told_to_upgrade),
    ),
    shown(
        "C-13",
        "a ledger that cannot be written is an error, not \"already claimed\"",
        test!(a_ledger_that_cannot_be_written_is_no_contention),
    ),
    shown(
        "C-14",
        "choosing the next free resource and claiming it is one step",
        test!(ten_items_go_to_ten_of_twenty_workers),
    ),
    shown(
        "C-15",
        "a session cannot claim in the name of another",
        test!(no_session_claims_for_another),
    ),
    shown(
        "C-16",
        "a start that fails or is killed leaves no claim",
        test!(a_start_that_fails_leaves_no_claim),
    ),
    shown(
        "C-17",
        "successive commands of one session do not conflict with each other",
        test!(commands_of_one_session_are_no_rivals),
    ),
    shown(
        "C-18",
        "processes that a dead agent left running cannot claim in its name",
        test!(the_dead_get_no_new_work),
    ),
    shown(
        "C-19",
        "a session can hold several claims, and all of them are listed",
        test!(several_claims_are_all_seen),
    ),
    shown(
        "C-20",
        "of two concurrent completions of the same work one succeeds, and the other is refused",
        test!(work_is_finished_once),
    ),
    shown(
        "C-21",
        "a claim that is offered to a session is reserved for it until the offer ends",
        test!(an_offer_reserves),
    ),
    shown(
        "C-22",
        "a retry after a lost reply returns the same claim",
        test!(a_retry_gets_the_same_claim),
    ),
];

fn nothing_is_done_with_a_claim_that_is_not_held(site: &Site) -> Outcome {
    let (mut owner, mut rival) = (site.agent()?, site.agent()?);
    let session = rival.session()?;
    let old = token(&owner.ok("claim work")?["claim"]);
    owner.ok("release work")?;
    let present = owner.ok("claim work")?["claim"].clone();
    let events = owner.story("work")?;
    for verb in ["claim check", "claim renew", "release", &format!("claim handoff --to {session}")]
    {
        let words = format!("{verb} work");
        rival.refused(&words, Reason::NotHeld)?;
        rival.refused(&format!("{words} --epoch {}", token(&present)), Reason::NotHeld)?;
        owner.refused(&format!("{words} --epoch {old}"), Reason::Stale)?;
    }
    rival.refused("claim accept work", Reason::NotOffered)?;
    rival.refused("claim resume work", Reason::NotHeld)?;
    assert_eq!(owner.story("work")?, events);
    assert_eq!(owner.sees("work")?["token"], present["token"]);
    Ok(())
}

fn claims_come_and_go_without_end(site: &Site) -> Outcome {
    let (mut one, mut other) = (site.agent()?, site.agent()?);
    for _ in 0..3 {
        for owner in [&mut one, &mut other] {
            owner
                .sh("for i in $(seq 30); do OSM claim work >/dev/null && OSM release work || exit; done")?
                .ok()?;
        }
    }
    assert_eq!(one.claim("work")?, 181, "one epoch for each");
    assert_eq!(one.ok("claims")?.as_array().map(Vec::len), Some(1));
    Ok(())
}

fn one_claim_has_nothing_to_do_with_another(site: &Site) -> Outcome {
    let (mut owner, mut rival) = (site.agent()?, site.agent()?);
    let parent = owner.claim("epic")?;
    owner.claim("epic/1")?;
    rival.claim("epic/2")?;
    owner.refused("claim epic/2", Reason::Held)?;
    owner.ok("release epic/1")?;
    owner.ok("claim next epic/2 epic/3")?;
    rival.ok("claim take epic/3 --reason other --even-if-alive")?;
    assert_eq!(epoch(&owner.ok("claim check epic")?["claim"]), parent);
    assert_eq!(owner.story("epic")?, ["granted"]);
    Ok(())
}

fn every_end_but_completion_frees_the_resource(site: &Site) -> Outcome {
    let mut rival = site.agent()?;
    let session = rival.session()?;
    for end in ["released", "died", "expired", "handed_off", "taken", "completed"] {
        let mut owner = if end == "expired" { site.named("tenant")? } else { site.agent()? };
        owner.ok(&format!("claim {end} --ttl 1s"))?;
        rival.refused(&format!("claim {end}"), Reason::Held)?;
        match end {
            "released" => drop(owner.ok("release released")?),
            "died" => owner.kill()?,
            "expired" => {}
            "handed_off" => drop(owner.ok(&format!("claim handoff handed_off --to {session}"))?),
            "taken" => drop(rival.ok("claim take taken --reason why --even-if-alive")?),
            _ => drop(owner.ok("release completed --done")?),
        }
        if end == "completed" {
            rival.refused("claim completed", Reason::Completed)?;
        } else {
            rival.ok(&format!("claim {end} --wait 1m"))?;
        }
        let story = rival.story(end)?;
        assert_eq!(story[1], if end == "handed_off" { "offered" } else { end }, "{story:?}");
    }
    Ok(())
}

fn what_is_done_is_not_claimed_again(site: &Site) -> Outcome {
    let (mut one, mut other) = (site.agent()?, site.agent()?);
    one.claim("work")?;
    one.ok("release work --done")?;
    for owner in [&mut one, &mut other] {
        let refused = owner.refused("claim work", Reason::Completed)?;
        assert!(refused["remedy"].as_str().unwrap_or_default().contains("--reopen"), "{refused:#}");
        owner.refused("claim take work --reason again", Reason::Completed)?;
    }
    let next = other.ok("claim next work rest")?;
    assert_eq!(next["claim"]["resource"], "rest");
    assert_eq!(next["skipped"], json!([{ "resource": "work", "reason": "completed" }]));
    let none = one.refused("claim next work rest", Reason::NothingFree)?;
    assert_eq!(none["candidates"], json!({ "completed": 1, "held": 1 }));
    other.ok("claim work --reopen")?;
    Ok(())
}

fn having_it_again_takes_nothing_from_others(site: &Site) -> Outcome {
    let (mut owner, mut rival) = (site.agent()?, site.agent()?);
    let first = owner.claim("work")?;
    for _ in 0..3 {
        let again = owner.ok("claim work")?;
        assert_eq!((&again["fresh"], epoch(&again["claim"])), (&json!(false), first));
    }
    let taken = rival.ok("claim take work --reason mine --even-if-alive")?;
    for words in ["claim work", "claim work --wait 1s", "claim run work -- true"] {
        let refused = owner.refused(words, Reason::Held)?;
        assert_eq!(refused["claim"]["token"], taken["claim"]["token"], "{words}: {refused:#}");
    }
    assert_eq!(rival.ok("claim check work")?["claim"]["token"], taken["claim"]["token"]);
    Ok(())
}

fn the_same_name_is_not_the_same_owner(site: &Site) -> Outcome {
    let (mut one, mut other) = (site.conversation("shared")?, site.conversation("shared")?);
    let granted = one.ok("claim work")?;
    let own = token(&granted["claim"]);
    for words in ["claim work", "claim check work", "claim renew work", "release work"] {
        other.refused(words, Reason::SessionElsewhere)?;
    }
    other.refused(&format!("release work --epoch {own}"), Reason::SessionElsewhere)?;
    one.kill()?;
    // Now it is a successor: told, but not let in.
    other.refused(&format!("release work --epoch {own}"), Reason::NotHeld)?;
    let resumed = other.ok("claim resume work")?;
    assert!(epoch(&resumed["resumed"][0]) > epoch(&granted["claim"]));
    assert_ne!(resumed["resumed"][0]["incarnation"], granted["claim"]["incarnation"]);
    Ok(())
}

pub(crate) fn any_bytes_are_a_resource(site: &Site) -> Outcome {
    let (mut owner, mut rival) = (site.agent()?, site.agent()?);
    // As a shell spells them; the last is as long as may be.
    let names = [
        "TASK-7",
        "src/ui.rs",
        "'deploy to prod'",
        "Größe",
        "' '",
        "$'two\\nlines'",
        "$'\\xff\\xfe'",
        "$'\\x1b[2J'",
        "$(head -c 1024 /dev/zero | tr '\\0' x)",
    ];
    for name in names {
        owner.claim(name)?;
        let refused = rival.refused(&format!("claim {name}"), Reason::Held)?;
        assert!(!refused.to_string().contains('\u{1b}'), "{refused:#}");
        rival.sh(&format!("OSM claims; OSM claim why {name}; OSM claim log {name}"))?.ok()?;
        owner.ok(&format!("claim check {name}"))?;
        owner.ok(&format!("claim handoff {name} --to ex--x_2d"))?;
        owner.ok(&format!("release {name} --done"))?;
        rival.refused(&format!("claim {name}"), Reason::Completed)?;
    }
    // Like options and like commands: after `--` anything is a name.
    for name in ["-x", "--json", "--", "next", "run", "guard", "help"] {
        owner.sh(&format!("OSM claim -- {name}"))?.ok()?;
        assert_eq!(rival.ok(&format!("claim why -- {name}"))?["claimed"], true, "{name}");
        assert_eq!(rival.sees(name)?["mine"], false, "{name}");
        owner.sh(&format!("OSM release -- {name}"))?.ok()?;
    }
    let hex = owner.ok("claim $'\\xff'")?;
    assert_eq!(hex["claim"]["resource_hex"], "ff", "{hex:#}");
    for name in ["''", "$(head -c 1025 /dev/zero | tr '\\0' x)"] {
        let said = owner.osm(&format!("claim {name}"))?;
        assert_eq!(said.code, 2, "{said:#?}");
        assert!(said.errors.contains("a resource name"), "{said:#?}");
    }
    Ok(())
}

fn an_old_program_is_told_to_upgrade(site: &Site) -> Outcome {
    let mut owner = site.agent()?;
    owner.claim("work")?;
    let ledger = rusqlite::Connection::open(site.ledger()).expect("a ledger");
    ledger.pragma_update(None, "user_version", 4).expect("it is ours");
    for words in ["claim other", "claims", "release work", "claim sweep"] {
        let said = owner.osm(words)?;
        assert_eq!(said.code, 1, "{said:#?}");
        assert!(
            said.errors.contains("version 4") && said.errors.contains("or a later one"),
            "{said:#?}"
        );
    }
    ledger.pragma_update(None, "user_version", 3).expect("it is ours");
    assert_eq!(owner.ok("claim log")?.as_array().map(Vec::len), Some(1));
    Ok(())
}

fn a_ledger_that_cannot_be_written_is_no_contention(site: &Site) -> Outcome {
    root()?;
    let mut owner = site.agent()?;
    owner.claim("own")?;
    let mut other = site.agent_below(&["unshare", "--mount"])?;
    other
        .sh("mount --bind LAB/.config LAB/.config && mount -o remount,bind,ro LAB/.config")?
        .ok()?;
    for words in ["claim free", "claim next free other", "claim run free -- true"] {
        let said = other.osm(words)?;
        assert_eq!(said.code, 1, "{words}: {said:#?}");
        assert!(said.errors.contains("claims.db"), "{words}: {said:#?}");
        assert_eq!(said.json["reason"], "home_not_writable", "not a refusal");
    }
    owner.claim("free")?;
    Ok(())
}

fn no_session_claims_for_another(site: &Site) -> Outcome {
    for mut victim in [site.agent()?, site.person()?, site.conversation("victim")?] {
        let mut thief = site.agent()?;
        victim.claim("work")?;
        let session = victim.session()?;
        for words in ["claim loot", "claim work", "release work", "claim next loot"] {
            let named = format!("--session {session} {words}");
            thief.refused(&named, Reason::Unconfirmed)?;
            thief
                .osm_with(&format!("OSM_SESSION={session}"), words)?
                .assert_refused(Reason::Unconfirmed);
        }
        assert_eq!(thief.sees("loot")?, Value::Null);
        victim.ok("release work")?;
    }
    Ok(())
}

fn a_start_that_fails_leaves_no_claim(site: &Site) -> Outcome {
    let (mut owner, mut rival) = (site.agent()?, site.agent()?);
    let failed = owner.osm("claim run work -- sh -c 'echo setting up; exit 3'")?;
    assert_eq!(failed.code, 3);
    rival.claim("work")?;
    rival.ok("release work")?;
    // The command and what started it are killed in the middle.
    rival.sh("mkfifo LAB/never")?.ok()?;
    let run =
        owner.begin("OSM claim run work -- sh -c 'echo $$ $PPID >LAB/pids; read x <LAB/never'")?;
    rival.sh("until test -s LAB/pids; do :; done")?.ok()?;
    rival.sh("read command osm <LAB/pids; kill -9 $osm $command")?.ok()?;
    assert_ne!(owner.finish(&run)?.code, 0);
    let granted = rival.ok("claim work --wait 1m")?;
    assert_eq!(granted["ended"]["ended"]["how"], "died");
    Ok(())
}

fn commands_of_one_session_are_no_rivals(site: &Site) -> Outcome {
    for mut owner in [site.agent()?, site.person()?] {
        let all = owner.sh("for i in $(seq 20); do OSM claim work --json || exit 1; done")?;
        all.ok()?;
        assert_eq!(all.output.matches("\"fresh\": true").count(), 1);
        assert_eq!(owner.story("work")?.last().map(String::as_str), Some("granted"));
        owner.ok("release work")?;
    }
    Ok(())
}

fn the_dead_get_no_new_work(site: &Site) -> Outcome {
    let (mut agent, mut witness) = (site.conversation("dead")?, site.agent()?);
    agent.claim("work")?;
    let session = agent.session()?;
    let incarnation = agent.sees("work")?["incarnation"].clone();
    site.lab.file(
        "left.sh",
        "read go <LAB/go; OSM claim more --json >LAB/left.tmp; mv LAB/left.tmp LAB/left",
    )?;
    agent.sh("mkfifo LAB/go; (setsid sh LAB/left.sh >/dev/null 2>&1 &)")?.ok()?;
    agent.kill()?;
    witness.sh("echo >LAB/go")?.ok()?;
    site.lab.wait_for(&site.path("left"))?;
    let log = witness.ok("claim log")?;
    let of_the_dead =
        |it: &&Value| it["by"] == session.as_str() || it["deed"]["granted"]["owner"] == incarnation;
    let events: Vec<&Value> = log.as_array().into_iter().flatten().filter(of_the_dead).collect();
    assert_eq!(events.len(), 1, "only what it claimed while it lived: {log:#}");
    assert_eq!(witness.sees("work")?["verdict"], "dead");
    Ok(())
}

fn several_claims_are_all_seen(site: &Site) -> Outcome {
    let mut owner = site.agent()?;
    for name in ["a", "b", "c", "d"] {
        owner.claim(name)?;
    }
    let held = |owner: &mut super::site::Owner| -> Result<Vec<String>, _> {
        let mine = owner.ok("claim mine")?;
        let rows = mine["held"].as_array().cloned().unwrap_or_default();
        Ok::<_, osm_testkit::tools::Stop>(
            rows.iter().map(|it| it["resource"].as_str().unwrap_or_default().to_owned()).collect(),
        )
    };
    assert_eq!(held(&mut owner)?, ["a", "b", "c", "d"]);
    owner.ok("release b")?;
    assert_eq!(held(&mut owner)?, ["a", "c", "d"]);
    owner.ok("release a c")?;
    assert_eq!(held(&mut owner)?, ["d"]);
    owner.ok("release --all")?;
    assert!(held(&mut owner)?.is_empty());
    Ok(())
}

fn work_is_finished_once(site: &Site) -> Outcome {
    let (mut owner, mut other) = (site.agent()?, site.agent()?);
    for round in 0..10 {
        let name = format!("work-{round}");
        let own = token(&owner.ok(&format!("claim {name}"))?["claim"]);
        // Both are the owner's: automation and worker.
        let both = owner.sh(&format!(
            "OSM release {name} --done --epoch {own} >/dev/null 2>&1 & one=$!
             OSM release {name} --done --epoch {own} >/dev/null 2>&1 & two=$!
             wait $one; one=$?; wait $two; echo $one $?"
        ))?;
        assert!(["0 15", "15 0"].contains(&both.output.as_str()), "{}", both.output);
        let refused = other.refused(&format!("claim {name}"), Reason::Completed)?;
        let message = refused["message"].as_str().unwrap_or_default();
        let handle = refused["claim"]["handle"].as_str().unwrap_or_default();
        assert!(handle.contains('-') && message.contains(handle), "{message}");
        assert_eq!(other.story(&name)?, ["granted", "completed"]);
    }
    Ok(())
}

fn an_offer_reserves(site: &Site) -> Outcome {
    let (mut owner, mut heir, mut third) = (site.agent()?, site.agent()?, site.agent()?);
    let first = owner.claim("work")?;
    let session = heir.session()?;
    owner.ok(&format!("claim handoff work --to {session} --note 'tests are red'"))?;
    third.refused("claim accept work", Reason::NotOffered)?;
    third.refused("claim work", Reason::Held)?;
    assert_eq!(heir.ok("claim mine")?["offered"][0]["resource"], "work");
    // Even when its owner is gone it is for no other session.
    owner.kill()?;
    third.refused("claim work", Reason::Reserved)?;
    assert_eq!(third.ok("claim sweep")?["counts"]["reserved"], 1);
    let waiting = third.begin("OSM claim work --wait 1m --json")?;
    let accepted = heir.ok("claim accept work")?;
    assert!(epoch(&accepted["claim"]) > first);
    assert_eq!(accepted["ended"]["ended"]["how"], "handed_off");
    heir.ok("release work")?;
    said(third.finish(&waiting)?).assert_granted();
    // An offer ends.
    third.ok(&format!("claim handoff work --to {session} --for 1s"))?;
    third.ok("claim handoff work --cancel")?;
    heir.refused("claim accept work", Reason::NotOffered)?;
    third.ok(&format!("claim handoff work --to {session} --for 1s"))?;
    third.kill()?;
    let mut fourth = site.agent()?;
    fourth.ok("claim work --wait 1m")?;
    Ok(())
}

fn a_retry_gets_the_same_claim(site: &Site) -> Outcome {
    let (mut owner, mut rival) = (site.agent()?, site.agent()?);
    let first = owner.ok("claim work --request r1")?;
    for words in ["claim work --request r1", "claim next work other --request r1"] {
        let again = owner.ok(words)?;
        assert_eq!(again["claim"]["token"], first["claim"]["token"], "{words}");
        assert_eq!(again["fresh"], false);
    }
    let next = owner.ok("claim next a b c --request r2")?;
    for _ in 0..3 {
        let again = owner.ok("claim next a b c --request r2")?;
        assert_eq!(again["claim"]["token"], next["claim"]["token"], "not one more each time");
    }
    owner.refused("claim other --request r1", Reason::RequestReused)?;
    rival.refused("claim work --request r1", Reason::RequestReused)?;
    assert_eq!(owner.story("work")?, ["granted"]);
    // A process that dies before it tries again leaves nothing locked.
    owner.kill()?;
    rival.claim("work")?;
    Ok(())
}
