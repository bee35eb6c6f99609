//! What the commands promise beside the failures: races of the real program, waiting, hooks,
//! commands that run under a claim, input that makes no sense.

use osm_claims::Reason;
use osm_testkit::tools::{first_pid_namespace, program, root};
use serde_json::Value;

use super::race::{
    of_many_take_overs_one_stands_in_the_end, one_of_64_processes_wins_each_of_1000_rounds,
    ten_items_go_to_ten_of_twenty_workers,
};
use super::release::{COMMIT, GIT, PUSH};
use super::row::{Outcome, Test, test};
use super::site::{Owner, Site, epoch, json_command, said, token};

pub(crate) const TESTS: &[Test] = &[
    test!(one_of_64_processes_wins_each_of_1000_rounds),
    test!(ten_items_go_to_ten_of_twenty_workers),
    test!(of_many_take_overs_one_stands_in_the_end),
    test!(one_of_16_agents_wins_with_the_real_program),
    test!(the_next_of_10_items_goes_to_20_agents_once),
    test!(waiting_ends_with_a_release),
    test!(waiting_ends_with_a_death),
    test!(waiting_ends_with_the_time),
    test!(a_claim_in_a_sandbox_is_seen_from_outside),
    test!(a_command_runs_while_the_claim_is_held),
    test!(a_command_is_stopped_when_its_claim_is_taken),
    test!(a_command_is_stopped_though_the_disk_is_slow),
    test!(a_command_may_release_its_own_claim),
    test!(a_command_may_release_its_claim_at_once),
    test!(a_killed_run_frees_its_claim),
    test!(a_session_runs_one_command_at_a_time),
    test!(an_agent_below_a_run_has_its_claim),
    test!(a_command_does_not_outlive_the_watch_over_it),
    test!(a_new_repository_inherits_nothing),
    test!(a_repository_keeps_its_claims_when_it_is_moved),
    test!(a_folder_that_git_refuses_is_no_repository),
    test!(an_option_does_not_make_a_command_a_resource),
    test!(what_others_wrote_does_nothing_to_a_terminal),
    test!(no_wait_for_what_cannot_come),
    test!(the_end_of_an_offer_is_waited_for),
    test!(a_stale_epoch_is_refused_everywhere),
    test!(the_guard_lives_with_other_hooks),
    test!(the_guard_can_demand_a_claim),
    test!(without_a_repository_a_scope_is_named),
    test!(another_users_repository_is_warned_of),
    test!(a_random_session_is_refused_with_the_remedy),
    test!(a_named_session_holds_by_lease),
    test!(the_log_tells_who_owned_it_when),
];

/// What each of some agents got, having begun at the same time.
fn all_at_once(
    agents: &mut [Owner],
    command: &str,
) -> Result<Vec<Value>, osm_testkit::tools::Stop> {
    let begun: Vec<_> = agents.iter_mut().map(|it| it.begin(command)).collect::<Result<_, _>>()?;
    let answers = agents.iter_mut().zip(&begun).map(|(agent, begun)| agent.finish(begun));
    answers.map(|answer| Ok(said(answer?).json)).collect()
}

fn one_of_16_agents_wins_with_the_real_program(site: &Site) -> Outcome {
    let mut agents: Vec<_> = (0..16).map(|_| site.agent()).collect::<Result<_, _>>()?;
    let mut last = 0;
    for round in 0..8 {
        let answers = all_at_once(&mut agents, "OSM claim prize --json")?;
        let winners: Vec<usize> = (0..16).filter(|it| answers[*it]["granted"] == true).collect();
        let [winner] = winners[..] else { panic!("round {round}: {winners:?}: {answers:#?}") };
        let won = epoch(&answers[winner]["claim"]);
        assert_eq!(won, last + 1, "round {round}");
        for answer in answers.iter().filter(|it| it["granted"] == false) {
            assert_eq!(answer["reason"], Reason::Held.code(), "{answer:#}");
            assert_eq!(answer["claim"]["token"], answers[winner]["claim"]["token"]);
            assert_eq!(answer["claim"]["session"], answers[winner]["claim"]["session"]);
        }
        agents[winner].ok("release prize")?;
        last = won;
    }
    Ok(())
}

fn the_next_of_10_items_goes_to_20_agents_once(site: &Site) -> Outcome {
    let mut agents: Vec<_> = (0..20).map(|_| site.agent()).collect::<Result<_, _>>()?;
    let answers = all_at_once(&mut agents, "seq 10 | OSM claim next --from - --json")?;
    let mut got: Vec<u64> = answers
        .iter()
        .filter_map(|it| it["claim"]["resource"].as_str().filter(|_| it["granted"] == true))
        .map(|it| it.parse().unwrap_or_default())
        .collect();
    got.sort_unstable();
    assert_eq!(got, (1..=10).collect::<Vec<_>>());
    let none: Vec<&Value> = answers.iter().filter(|it| it["reason"] == "nothing_free").collect();
    assert_eq!(none.len(), 10);
    assert!(none.iter().all(|it| it["candidates"]["held"] == 10), "{none:#?}");
    Ok(())
}

fn waiting_ends_with_a_release(site: &Site) -> Outcome {
    let (mut owner, mut rival) = (site.agent()?, site.agent()?);
    let first = owner.claim("work")?;
    let waiting = rival.begin("OSM claim work --wait 10m --json")?;
    rival.await_watch()?;
    owner.ok("release work")?;
    let granted = said(rival.finish(&waiting)?);
    assert_eq!(granted.assert_granted(), first + 1);
    assert_eq!(granted.json["ended"], Value::Null, "nothing had to end for it");
    assert_eq!(rival.story("work")?, ["granted", "released", "granted"]);
    Ok(())
}

fn waiting_ends_with_a_death(site: &Site) -> Outcome {
    for (mut owner, words) in [
        (site.agent()?, "claim work"),
        (site.person()?, "claim work"),
        (site.agent()?, "claim next work"),
    ] {
        let mut rival = site.agent()?;
        let first = owner.claim("work")?;
        let waiting = rival.begin(&format!("OSM {words} --wait 10m --json"))?;
        rival.await_watch()?;
        owner.kill()?;
        let granted = said(rival.finish(&waiting)?);
        assert_eq!(granted.assert_granted(), first + 1);
        assert_eq!(granted.json["ended"]["ended"]["how"], "died");
        rival.ok("release work")?;
    }
    Ok(())
}

fn waiting_ends_with_the_time(site: &Site) -> Outcome {
    let (mut owner, mut rival) = (site.agent()?, site.agent()?);
    owner.claim("work")?;
    rival.refused("claim work --wait 1s", Reason::Held)?;
    rival.refused("claim work --wait 0", Reason::Held)?;
    for wait in ["soon", "-1s", "''", "99999999999h"] {
        assert_eq!(rival.osm(&format!("claim work --wait={wait}"))?.code, 2, "{wait}");
    }
    // What time does not change is told at once.
    owner.ok("release work --done")?;
    rival.refused("claim work --wait 10m", Reason::Completed)?;
    Ok(())
}

fn a_claim_in_a_sandbox_is_seen_from_outside(site: &Site) -> Outcome {
    root()?;
    first_pid_namespace()?;
    program("bwrap")?;
    let bwrap = "bwrap --dev-bind / / --unshare-pid --proc /proc --die-with-parent";
    let bwrap: Vec<&str> = bwrap.split(' ').collect();
    let mut outside = site.agent()?;
    outside.claim("outside")?;
    for sandbox in [super::liveness::OTHER_PIDS, &bwrap] {
        let (mut inside, mut beside) = (site.agent_below(sandbox)?, site.agent_below(sandbox)?);
        inside.claim("inside")?;
        // Who is in a sandbox sees neither what is outside nor what is in another one.
        for (rival, name) in [(&mut inside, "outside"), (&mut beside, "inside")] {
            let refused = rival.refused(&format!("claim {name}"), Reason::Unknown)?;
            assert_eq!(refused["evidence"], "its process is in another pid namespace");
            rival.refused(&format!("claim {name} --wait 1s"), Reason::Unknown)?;
        }
        let refused = outside.refused("claim inside", Reason::Held)?;
        assert_eq!(refused["verdict"], "alive", "{refused:#}");
        // It is waited for, too.
        let waiting = outside.begin(&json_command("", "claim inside --wait 1m"))?;
        outside.await_watch()?;
        inside.kill()?;
        let granted = said(outside.finish(&waiting)?);
        granted.assert_granted();
        let ended = &granted.json["ended"]["ended"];
        assert_eq!(ended["how"], "died", "{granted:#?}");
        beside.refused("claim inside", Reason::Unknown)?;
        outside.ok("release inside")?;
    }
    Ok(())
}

fn a_command_runs_while_the_claim_is_held(site: &Site) -> Outcome {
    let (mut owner, mut rival) = (site.agent()?, site.agent()?);
    let ran = owner.sh("OSM claim run 'a b' -- sh -c 'echo \"$OSM_CLAIM_RESOURCE $OSM_CLAIM_EPOCH\"; LAB/bin/osm claim check \"a b\" --json; exit 5'")?;
    assert_eq!(ran.code, 5, "{ran:#?}");
    let (first, rest) = ran.output.split_once('\n').unwrap_or_default();
    let checked: Value = serde_json::from_str(rest).unwrap_or_default();
    assert_eq!(first, format!("a b {}", token(&checked["claim"])), "{ran:#?}");
    assert_eq!(checked["claim"]["held_by"], "process");
    rival.claim("'a b'")?;
    owner.refused("claim run 'a b' -- touch LAB/ran", Reason::Held)?;
    assert!(!site.path("ran").exists(), "what is refused is not run");
    // What the session had before it has afterwards.
    owner.claim("kept")?;
    owner.sh("OSM claim run kept -- true")?.ok()?;
    owner.ok("claim check kept")?;
    Ok(())
}

fn a_command_is_stopped_when_its_claim_is_taken(site: &Site) -> Outcome {
    stopped_by(site, "")
}

fn a_command_is_stopped_though_the_disk_is_slow(site: &Site) -> Outcome {
    program("strace")?;
    // What is written is told of long before it is committed.
    stopped_by(site, "strace -o LAB/trace -e inject=fsync,fdatasync:delay_enter=300000")
}

/// A command runs under a claim, which another session takes with a command that begins so.
fn stopped_by(site: &Site, before: &str) -> Outcome {
    let (mut owner, mut rival) = (site.agent()?, site.agent()?);
    rival.sh("mkfifo LAB/never")?.ok()?;
    let run = owner.begin(
        "timeout 50 OSM claim run work -- sh -c 'trap \"echo told >LAB/told; exit 0\" TERM; echo >LAB/up; read x <LAB/never'",
    )?;
    site.lab.wait_for(&site.path("up"))?;
    let take = "claim take work --reason 'more urgent' --even-if-alive";
    rival.osm_with(before, take)?.assert_granted();
    let ended = owner.finish(&run)?;
    assert_eq!(ended.code, 7, "{ended:#?}");
    assert!(ended.errors.contains("more urgent"), "{ended:#?}");
    assert!(site.path("told").exists(), "it was asked to end");
    rival.ok("claim check work")?;
    Ok(())
}

/// Before osm knows its process: it goes on only long after the command was started.
fn a_command_may_release_its_claim_at_once(site: &Site) -> Outcome {
    program("strace")?;
    let mut owner = site.agent()?;
    let slow = "strace -o LAB/trace -e inject=clone,clone3,fork,vfork:delay_exit=1000000";
    let command = "sh -c 'LAB/bin/osm release work --done; exit 4'";
    let ran = owner.sh(&format!("{slow} OSM claim run work -- {command}"))?;
    assert_eq!(ran.code, 4, "{ran:#?}");
    assert_eq!(owner.story("work")?, ["granted", "completed"]);
    Ok(())
}

fn a_command_may_release_its_own_claim(site: &Site) -> Outcome {
    let (mut owner, mut rival) = (site.agent()?, site.agent()?);
    rival.sh("mkfifo LAB/hold")?.ok()?;
    let run = owner.begin(
        "OSM claim run work -- sh -c 'LAB/bin/osm release work --done; echo >LAB/up; read x <LAB/hold; exit 4'",
    )?;
    site.lab.wait_for(&site.path("up"))?;
    // Others change the ledger, too: it is looked at again.
    rival.ok("claim work --reopen")?;
    rival.sh("echo >LAB/hold")?.ok()?;
    assert_eq!(owner.finish(&run)?.code, 4, "it ran to its end");
    rival.ok("claim check work")?;
    Ok(())
}

fn a_killed_run_frees_its_claim(site: &Site) -> Outcome {
    let (mut owner, mut rival) = (site.agent()?, site.agent()?);
    let killed = owner.sh("OSM claim run work -- sh -c 'kill -9 $PPID; exit 0'")?;
    assert_eq!(killed.code, 137, "{killed:#?}");
    // The command itself may take a moment longer.
    rival.sh("while OSM claims | grep -q alive; do sleep .01; done")?.ok()?;
    owner.refused("claim check work", Reason::ProcessOver)?;
    owner.refused("claim renew work", Reason::ProcessOver)?;
    assert_eq!(owner.claim("work")?, 2, "it is granted again, or not at all");
    rival.refused("claim work", Reason::Held)?;
    Ok(())
}

fn a_session_runs_one_command_at_a_time(site: &Site) -> Outcome {
    let mut owner = site.agent()?;
    owner.sh("mkfifo LAB/hold")?.ok()?;
    owner.sh("OSM claim run work -- sh -c 'echo >LAB/up; read x <LAB/hold' & echo")?.ok()?;
    site.lab.wait_for(&site.path("up"))?;
    owner.refused("claim run work -- touch LAB/beside", Reason::Held)?;
    assert_eq!(owner.ok("claim work")?["fresh"], false, "the session has it");
    let inside = "OSM claim run other -- OSM claim run other -- true";
    owner.sh(inside)?.ok()?;
    owner.sh("echo >LAB/hold; wait")?.ok()?;
    owner.sh("OSM claim run work --wait 30s -- touch LAB/after")?.ok()?;
    assert!(site.path("after").exists() && !site.path("beside").exists());
    Ok(())
}

fn an_agent_below_a_run_has_its_claim(site: &Site) -> Outcome {
    let mut owner = site.person()?;
    owner.sh(GIT)?.ok()?;
    owner.sh("osm claim guard install")?.ok()?;
    let inside =
        format!("osm claim check work && osm claim work && {COMMIT} && osm release work --done");
    owner.sh(&format!("OSM claim run work -- LAB/claude -c '{inside}'"))?.ok()?;
    owner.refused("claim work", Reason::Completed)?;
    Ok(())
}

fn a_command_does_not_outlive_the_watch_over_it(site: &Site) -> Outcome {
    let (mut owner, mut vandal) = (site.agent()?, site.agent()?);
    owner.sh("mkfifo LAB/never")?.ok()?;
    let run = owner.begin("OSM claim run work -- sh -c 'echo >LAB/up; read x <LAB/never'")?;
    site.lab.wait_for(&site.path("up"))?;
    // The ledger is gone: whether the claim holds cannot be known.
    let ledger = site.ledger();
    let ledger = ledger.display();
    vandal.sh(&format!("mv {ledger} LAB/aside && touch {ledger}-wal-too"))?.ok()?;
    let ended = owner.finish(&run)?;
    assert_eq!(ended.code, 7, "{ended:#?}");
    assert!(ended.errors.contains("replaced"), "{ended:#?}");
    let left = owner.sh("pgrep -f 'read x <LAB/never'")?;
    assert_ne!(left.code, 0, "{left:#?}");
    Ok(())
}

fn a_new_repository_inherits_nothing(site: &Site) -> Outcome {
    let mut owner = site.agent()?;
    // Its inode is often the one of the repository before it.
    for _ in 0..8 {
        owner.sh("git init -q LAB/again && cd LAB/again")?.ok()?;
        owner.claim("work")?;
        owner.ok("release work --done")?;
        owner.sh("cd LAB && rm -rf LAB/again")?.ok()?;
    }
    Ok(())
}

fn a_repository_keeps_its_claims_when_it_is_moved(site: &Site) -> Outcome {
    let (mut owner, mut rival) = (site.agent()?, site.agent()?);
    owner.sh("git init -q LAB/one && cd LAB/one")?.ok()?;
    owner.claim("work")?;
    owner.sh("mv LAB/one LAB/two && cd LAB/two && git init -q LAB/one")?.ok()?;
    owner.ok("claim check work")?;
    rival.sh("cd LAB/two")?.ok()?;
    rival.refused("claim work", Reason::Held)?;
    rival.sh("cd LAB/one")?.ok()?;
    rival.claim("work")?;
    owner.ok("claim check work")?;
    Ok(())
}

fn a_folder_that_git_refuses_is_no_repository(site: &Site) -> Outcome {
    let mut owner = site.agent()?;
    // What looks like a bare repository does not hide the one around it.
    owner.sh("mkdir fake && cd fake && touch HEAD objects refs")?.ok()?;
    assert_eq!(owner.ok("claim work")?["claim"]["epoch"], 1);
    owner.sh("cd LAB/repo")?.ok()?;
    owner.ok("claim check work")?;
    // A user can refuse bare repositories that are not named; git then finds no other one.
    owner.sh("git init -q --bare bare && cd bare")?.ok()?;
    owner.claim("work")?;
    for refuse in [
        "git config --global safe.bareRepository explicit",
        "git config --global --unset safe.bareRepository; \
         export GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=safe.bareRepository GIT_CONFIG_VALUE_0=explicit",
    ] {
        owner.sh(refuse)?.ok()?;
        assert_ne!(owner.sh("git rev-parse")?.code, 0);
        let said = owner.osm("claim work")?;
        assert!(said.code == 1 && said.errors.contains("not a Git repository"), "{said:#?}");
        // The folder `.git` is not a bare repository.
        owner.sh("cd LAB/repo/.git")?.ok()?;
        owner.ok("claim check work")?;
        owner.sh("cd LAB/repo/bare")?.ok()?;
    }
    // The repository itself cannot say so.
    owner.sh("unset GIT_CONFIG_COUNT; git config safe.bareRepository explicit")?.ok()?;
    owner.ok("claim check work")?;
    Ok(())
}

fn an_option_does_not_make_a_command_a_resource(site: &Site) -> Outcome {
    let mut owner = site.agent()?;
    for words in ["--json mine", "--scope z sweep", "--json next a b"] {
        assert_eq!(owner.sh(&format!("OSM claim {words}"))?.code, 2, "{words}");
    }
    assert_eq!(owner.ok("claims --all")?.as_array().map(Vec::len), Some(0));
    owner.sh("OSM claim -- mine")?.ok()?;
    for words in ["claims --all", "claim mine", "claim log --all", "claim sweep --all"] {
        owner.sh(&format!("cd / && OSM {words}"))?.ok()?;
    }
    Ok(())
}

fn what_others_wrote_does_nothing_to_a_terminal(site: &Site) -> Outcome {
    let (mut owner, mut rival) = (site.agent()?, site.agent()?);
    owner.claim("work")?;
    rival
        .sh(r"OSM claim take work --even-if-alive --reason $'boo\nosm: error: forged\e[31m'")?
        .ok()?;
    for words in ["claim mine", "claim check work", "claim why work", "claim log work"] {
        let said = owner.sh(&format!("OSM {words}"))?;
        let all = format!("{}{}", said.output, said.errors);
        assert!(!all.contains('\u{1b}') && !all.contains("\nosm: error: forged"), "{words}: {all}");
    }
    assert_eq!(rival.sh("OSM claim take work --reason ''")?.code, 2);
    Ok(())
}

fn no_wait_for_what_cannot_come(site: &Site) -> Outcome {
    let mut owner = site.agent()?;
    let long = owner.sh("(echo one; printf '%02000d' 0) | OSM claim next --from -")?;
    assert!(long.code == 2 && long.errors.contains("line 2"), "{long:#?}");
    owner.claim("mine-already")?;
    owner.claim("done")?;
    owner.ok("release done --done")?;
    // It would wait for an hour.
    owner.refused("claim next mine-already done --wait 1h", Reason::NothingFree)?;
    Ok(())
}

fn the_end_of_an_offer_is_waited_for(site: &Site) -> Outcome {
    let (mut owner, mut rival) = (site.agent()?, site.agent()?);
    owner.claim("work")?;
    owner.ok("claim handoff work --to ex--nobody_63 --for 2s --note 'the tests are red'")?;
    let why = rival.sh("OSM claim why work")?;
    assert!(why.output.contains("the tests are red"), "{why:#?}");
    owner.kill()?;
    rival.refused("claim work", Reason::Reserved)?;
    let granted = rival.ok("claim work --wait 30s")?;
    assert_eq!(granted["granted"], true);
    rival.refused("claim accept other --wait 100ms", Reason::NotOffered)?;
    Ok(())
}

fn a_stale_epoch_is_refused_everywhere(site: &Site) -> Outcome {
    let (mut owner, mut rival) = (site.agent()?, site.agent()?);
    owner.sh(GIT)?.ok()?;
    owner.sh("osm claim guard install")?.ok()?;
    let session = rival.session()?;
    let old = token(&owner.ok("claim work")?["claim"]);
    owner.ok("release work")?;
    let new = token(&owner.ok("claim work")?["claim"]);
    assert_ne!(old, new);
    let stale = format!("OSM_CLAIM_RESOURCE=work OSM_CLAIM_EPOCH={old}");
    for words in
        ["claim check work", "claim renew work", &format!("claim handoff work --to {session}")]
    {
        owner.refused(&format!("{words} --epoch {old}"), Reason::Stale)?;
        // The one that `osm claim run` gave counts as if it had been named.
        owner.osm_with(&stale, words)?.assert_refused(Reason::Stale);
    }
    owner.refused(&format!("release work --epoch {old}"), Reason::Stale)?;
    // A command that lost its claim starts no other under it; one that let go of it may.
    rival.ok("claim take work --reason 'more urgent' --even-if-alive")?;
    let lost = format!("OSM_CLAIM_RESOURCE=work OSM_CLAIM_EPOCH={new}");
    owner.osm_with(&lost, "claim run work -- touch LAB/ran")?.assert_refused(Reason::Stale);
    rival.ok("release work")?;
    owner.osm_with(&lost, "claim run work -- touch LAB/ran")?.assert_refused(Reason::Stale);
    assert!(!site.path("ran").exists());
    owner.ok("claim work")?;
    owner.ok("release work")?;
    let new = token(&owner.ok("claim work")?["claim"]);
    owner.osm_with(&stale, "claim guard check")?.assert_refused(Reason::Stale);
    for command in [COMMIT, PUSH] {
        let refused = owner.sh(&format!("{stale} {command}"))?;
        assert_ne!(refused.code, 0, "{command}: {refused:#?}");
        let fresh = format!("OSM_CLAIM_RESOURCE=work OSM_CLAIM_EPOCH={new}");
        owner.sh(&format!("{fresh} {command}"))?.ok()?;
    }
    owner.ok(&format!("claim check work --epoch {new}"))?;
    for unknown in ["0", "99", "99.00000000"] {
        let said = owner.osm(&format!("claim check work --epoch {unknown}"))?;
        assert!([15, 16].contains(&said.code), "{unknown}: {said:#?}");
    }
    Ok(())
}

fn the_guard_lives_with_other_hooks(site: &Site) -> Outcome {
    program("python3")?;
    let (mut owner, mut rival) = (site.agent()?, site.agent()?);
    owner.sh(GIT)?.ok()?;
    let shell = "#!/bin/sh\necho shell >>LAB/hooks\n";
    let python = "#!/usr/bin/env python3\nimport sys\nopen('LAB/hooks', 'a').write('python ' + sys.argv[1] + ' ' + sys.stdin.readline())\n";
    site.lab.file("repo/.git/hooks/pre-commit", shell)?;
    site.lab.file("repo/.git/hooks/pre-push", python)?;
    let before = owner.sh("cat .git/hooks/pre-commit .git/hooks/pre-push; ls .git/hooks")?.output;
    for _ in 0..2 {
        owner.sh("osm claim guard install")?.ok()?;
    }
    owner.claim("work")?;
    owner.sh(&format!("{COMMIT} && {PUSH}"))?.ok()?;
    let ran = owner.sh("cat LAB/hooks")?.output;
    let lines: Vec<&str> = ran.lines().collect();
    assert_eq!(lines[0], "shell", "{ran}");
    assert!(lines[1].starts_with("python origin HEAD "), "what git tells it arrives: {ran}");
    rival.ok("claim take work --reason mine --even-if-alive")?;
    for command in [COMMIT, PUSH] {
        assert_ne!(owner.sh(command)?.code, 0, "{command}");
    }
    assert_eq!(owner.sh("cat LAB/hooks")?.output, ran, "the guard comes first");
    owner.sh("osm claim guard remove")?.ok()?;
    let after = owner.sh("cat .git/hooks/pre-commit .git/hooks/pre-push; ls .git/hooks")?.output;
    assert_eq!(after, before);
    owner.sh(COMMIT)?.ok()?;
    Ok(())
}

fn the_guard_can_demand_a_claim(site: &Site) -> Outcome {
    let mut owner = site.person()?;
    owner.sh(GIT)?.ok()?;
    owner.sh("osm claim guard install --require")?.ok()?;
    assert_ne!(owner.sh(COMMIT)?.code, 0, "it holds nothing");
    owner.claim("work")?;
    owner.sh(COMMIT)?.ok()?;
    owner.ok("release work")?;
    assert_ne!(owner.sh(COMMIT)?.code, 0, "it holds nothing any more");
    // A guard that cannot ask lets nothing pass.
    let blind = owner.sh(&format!("mv LAB/bin LAB/away; {COMMIT}"))?;
    assert_ne!(blind.code, 0);
    assert!(blind.errors.contains("osm is not in PATH"), "{blind:#?}");
    owner.sh("mv LAB/away LAB/bin")?.ok()?;
    owner.sh("osm claim guard remove")?.ok()?;
    owner.sh(COMMIT)?.ok()?;
    Ok(())
}

fn without_a_repository_a_scope_is_named(site: &Site) -> Outcome {
    let (mut owner, mut rival) = (site.agent()?, site.agent()?);
    for agent in [&mut owner, &mut rival] {
        agent.sh("mkdir -p LAB/nowhere; cd LAB/nowhere")?.ok()?;
    }
    let said = owner.osm("claim work")?;
    assert_eq!(said.code, 1, "{said:#?}");
    assert!(said.errors.contains("not a Git repository") && said.errors.contains("--scope NAME"));
    owner.ok("claim work --scope team")?;
    rival.refused("claim work --scope team", Reason::Held)?;
    rival.osm_with("OSM_SCOPE=team", "claim work")?.assert_refused(Reason::Held);
    rival.ok("claim work --scope other")?;
    rival.sh("cd LAB/repo")?.ok()?;
    rival.claim("work")?;
    assert_eq!(rival.ok("claims --all")?.as_array().map(Vec::len), Some(3));
    Ok(())
}

fn another_users_repository_is_warned_of(site: &Site) -> Outcome {
    root()?;
    let mut owner = site.agent()?;
    owner.sh("chown -R 65534 LAB/repo")?.ok()?;
    let claimed = owner.osm("claim work")?;
    claimed.assert_granted();
    assert!(claimed.errors.contains("belongs to another user"), "{claimed:#?}");
    Ok(())
}

fn a_random_session_is_refused_with_the_remedy(site: &Site) -> Outcome {
    root()?;
    // An ordinary user who sees no process but its own: no process above tells it apart.
    let script =
        "mount -t proc -o hidepid=2 proc /proc; mkdir -p LAB/n; chown 65534 LAB/n; exec bash";
    let mut place = site.shell(&["unshare", "--mount", "sh", "-c", script], &[])?;
    let as_user = "setpriv --reuid 65534 --regid 65534 --clear-groups env HOME=LAB/n";
    for words in ["claim work", "claim next a b", "claim run work -- true"] {
        let said = place.osm_with(as_user, words)?;
        said.assert_refused(Reason::NoIdentity);
        assert!(said.json["remedy"].as_str().unwrap_or_default().contains("OSM_SESSION=NAME"));
    }
    // The remedy helps.
    let named = place.osm_with(&format!("{as_user} OSM_SESSION=me"), "claim work")?;
    named.assert_granted();
    assert_eq!(named.json["claim"]["held_by"], "lease");
    Ok(())
}

fn a_named_session_holds_by_lease(site: &Site) -> Outcome {
    let (mut owner, mut again, mut rival) =
        (site.named("bob")?, site.named("bob")?, site.named("eve")?);
    let first = owner.ok("claim work")?;
    assert_eq!(first["claim"]["held_by"], "lease");
    let table = rival.sh("OSM claims")?.output;
    assert!(
        table.contains("lease, 14 min left") || table.contains("lease, 15 min left"),
        "{table}"
    );
    // A name without a process belongs to every caller that uses it.
    assert_eq!(again.ok("claim check work")?["claim"]["token"], first["claim"]["token"]);
    let refused = rival.refused("claim work", Reason::Held)?;
    assert!(refused["left_seconds"].as_u64().is_some_and(|it| it > 800), "{refused:#}");
    owner.ok("claim work --ttl 1s")?;
    let granted = rival.ok("claim work --ttl 1h --wait 10m")?;
    assert_eq!(granted["ended"]["ended"]["how"], "expired");
    again.refused("claim check work", Reason::Stale)?;
    Ok(())
}

fn the_log_tells_who_owned_it_when(site: &Site) -> Outcome {
    let (mut one, mut other) = (site.agent()?, site.agent()?);
    one.claim("work")?;
    one.ok("release work")?;
    other.claim("work")?;
    let log = other.ok("claim log work")?;
    let at = |number: usize| log[number]["at"].as_str().unwrap_or_default().to_owned();
    for (number, owner) in [(0, Some(one.session()?)), (1, None), (2, Some(other.session()?))] {
        let then = other.ok(&format!("claim log work --at {}", at(number)))?;
        assert_eq!(then["owner"]["session"].as_str(), owner.as_deref(), "{then:#}");
    }
    let by = other.ok(&format!("claim log --by {}", one.session()?))?;
    assert_eq!(by.as_array().map(Vec::len), Some(2));
    assert_eq!(other.osm("claim log --since yesterday")?.code, 2);
    // Who owned it is told from all that happened, or not at all.
    for part in ["--last 1", "--since 1h", "--kind granted", "--by x", "--all"] {
        assert_eq!(other.osm(&format!("claim log work --at {} {part}", at(0)))?.code, 2, "{part}");
    }
    // Nothing to choose from is a mistake, and not that all is taken.
    assert_eq!(other.osm("claim next")?.code, 2);
    Ok(())
}
