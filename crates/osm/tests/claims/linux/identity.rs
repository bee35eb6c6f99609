//! Who the caller is: one owner for one agent or terminal, and none by resemblance.

use osm_claims::Reason;
use osm_testkit::tools::{program, root};
use serde_json::Value;

use super::row::{Outcome, Row, shown, test};
use super::site::{Owner, Site, epoch, json_command};

pub(crate) const ROWS: &[Row] = &[
    shown(
        "I-01",
        "all commands of one agent or terminal have the same owner, whatever their own pids are",
        test!(a_hundred_commands_are_one_owner),
    ),
    shown(
        "I-02",
        "every command that shows the caller's session shows the same one",
        test!(every_way_of_asking_names_one_session),
    ),
    shown(
        "I-03",
        "the owner does not depend on the depth of the caller in the process tree",
        test!(depth_changes_nothing),
    ),
    shown(
        "I-04",
        "agents that run at the same time are different owners, even if everything else is equal",
        test!(agents_alike_in_everything_are_different_owners),
    ),
    shown(
        "I-05",
        "a claim depends on the agent's process, not on a shell between the agent and the command",
        test!(the_end_of_a_shell_in_between_ends_nothing),
    ),
    shown(
        "I-06",
        "osm refuses a caller that it cannot identify, and writes nothing",
        test!(a_caller_without_identity_gets_nothing),
    ),
    shown(
        "I-07",
        "commands about \"my\" claims show only the caller's claims, however many other sessions are active",
        test!(commands_speak_of_the_caller_alone),
    ),
    shown(
        "I-08",
        "a new agent in the terminal of a dead one is another owner and inherits no claims",
        test!(a_new_agent_in_an_old_place_inherits_nothing),
    ),
    shown(
        "I-09",
        "osm refuses a second process with the id of a running session",
        test!(one_conversation_in_two_processes_has_one_owner),
    ),
    shown(
        "I-10",
        "a command without its variables changes no claim of another session",
        test!(a_command_without_variables_touches_no_other_session),
    ),
    shown(
        "I-11",
        "a cleanup never frees the claim of a running owner; a missing file proves nothing",
        test!(cleaning_up_leaves_live_owners_alone),
    ),
    shown(
        "I-12",
        "there is no fallback identity: neither a new one for each call nor a shared one",
        test!(a_caller_without_identity_gets_nothing),
    ),
    shown(
        "I-13",
        "a repository is one scope from every worktree, folder, symbolic link and mount",
        test!(a_repository_is_one_scope_from_everywhere),
    ),
    shown(
        "I-14",
        "any command can be the first of a session; there is still one owner",
        test!(any_command_may_be_the_first),
    ),
    shown(
        "I-15",
        "an owner and its first claim are written in one transaction",
        test!(a_claim_that_fails_leaves_no_owner_behind),
    ),
    shown(
        "I-16",
        "the id of a dead process gives no access to its claims",
        test!(the_id_of_a_dead_agent_opens_nothing),
    ),
    shown(
        "I-17",
        "every event names the session that caused it, also with many sessions at the same time",
        test!(events_name_who_did_it),
    ),
    shown(
        "I-18",
        "a command that could not be started, or ended at once, holds no claim",
        test!(a_command_that_never_ran_holds_nothing),
    ),
    shown(
        "I-19",
        "osm refuses malformed, shortened and invented ids and epochs, and changes nothing",
        test!(a_prefix_is_no_identity),
    ),
    shown(
        "I-20",
        "a cleared conversation keeps its claims; a resumed one is told of them and can resume them",
        test!(a_conversation_is_cleared_and_resumed),
    ),
    shown(
        "I-21",
        "every command that changes claims needs an identified caller",
        test!(no_command_works_without_identity),
    ),
];

fn incarnations(claims: &Value) -> Vec<i64> {
    let rows = claims.as_array().expect("a list");
    let mut all: Vec<i64> = rows.iter().filter_map(|it| it["incarnation"].as_i64()).collect();
    all.sort_unstable();
    all.dedup();
    all
}

fn a_hundred_commands_are_one_owner(site: &Site) -> Outcome {
    for mut owner in [site.agent()?, site.person()?] {
        owner
            .sh("for i in $(seq 50); do OSM claim one-$i --json || exit 1; done >/dev/null
                 for i in $(seq 50); do OSM claim two-$i --json >/dev/null & done; wait")?
            .ok()?;
        let claims = owner.ok("claims")?;
        assert_eq!(claims.as_array().map(Vec::len), Some(100));
        assert_eq!(incarnations(&claims).len(), 1, "{claims:#}");
        owner.ok("release --all")?;
    }
    Ok(())
}

fn every_way_of_asking_names_one_session(site: &Site) -> Outcome {
    for mut owner in [site.agent()?, site.conversation("all-ways")?, site.person()?] {
        let session = owner.session()?;
        let claim = owner.ok("claim way")?;
        assert_eq!(claim["claim"]["session"], session.as_str());
        assert_eq!(owner.ok("claim mine")?["session"], session.as_str());
        assert_eq!(owner.sees("way")?["session"], session.as_str());
        assert_eq!(owner.sees("way")?["mine"], true);
        assert_eq!(owner.event("way", "granted")?["by"], session.as_str());
        let below = owner.sh("OSM claim run job -- LAB/bin/osm session id")?;
        assert_eq!(below.output, session);
        site.lab.file("hook", "#!/bin/sh\nOSM session id >LAB/hooked\n")?;
        owner
            .sh("cp LAB/hook .git/hooks/pre-commit; \
                 git -c user.name=x -c user.email=x@x commit -q --allow-empty -m x; \
                 rm .git/hooks/pre-commit")?
            .ok()?;
        assert_eq!(owner.sh("cat LAB/hooked")?.output, session);
        owner.ok("release way")?;
    }
    Ok(())
}

fn depth_changes_nothing(site: &Site) -> Outcome {
    for mut owner in [site.agent()?, site.person()?] {
        let claim = json_command("", "claim deep");
        let mut nested = claim.clone();
        for depth in 1..=5 {
            site.lab.file(&format!("depth-{depth}"), &nested)?;
            nested = format!("sh LAB/depth-{depth}; true");
        }
        let mut epochs = Vec::new();
        for command in [
            claim.as_str(),
            "sh LAB/depth-1; true",
            "sh LAB/depth-2; true",
            "sh LAB/depth-5; true",
            "setsid -w sh LAB/depth-3; true",
        ] {
            let answer = owner.sh(command)?;
            let json: Value = serde_json::from_str(&answer.output).unwrap_or_default();
            epochs.push(epoch(&json["claim"]));
        }
        assert!(epochs.iter().all(|it| *it == epochs[0]), "{epochs:?}");
        owner.ok("release deep")?;
    }
    Ok(())
}

fn agents_alike_in_everything_are_different_owners(site: &Site) -> Outcome {
    let mut agents: Vec<_> = (0..8).map(|_| site.agent()).collect::<Result<_, _>>()?;
    let environments: Vec<_> =
        agents.iter_mut().map(|it| it.sh("env | sort")).collect::<Result<_, _>>()?;
    assert!(environments.iter().all(|it| it.output == environments[0].output));
    for (number, agent) in agents.iter_mut().enumerate() {
        agent.claim(&format!("alike-{number}"))?;
    }
    let claims = agents[0].ok("claims")?;
    assert_eq!(incarnations(&claims).len(), 8, "{claims:#}");
    let mine = agents[3].ok("claim mine")?;
    assert_eq!(mine["held"].as_array().map(Vec::len), Some(1), "{mine:#}");
    Ok(())
}

fn the_end_of_a_shell_in_between_ends_nothing(site: &Site) -> Outcome {
    let (mut agent, mut rival) = (site.agent()?, site.agent()?);
    // Two shells between the agent and the command; both are killed when it is done.
    site.lab.file("inner", "OSM claim work --json >LAB/granted; kill -9 $PPID $$\n")?;
    agent.sh("setsid -w sh -c 'sh LAB/inner; true'; test -s LAB/granted")?.ok()?;
    let seen = rival.sees("work")?;
    assert_eq!(seen["pid"], agent.pid().as_raw_nonzero().get(), "{seen:#}");
    rival.refused("claim work", Reason::Held)?;
    agent.kill()?;
    rival.claim("work")?;
    Ok(())
}

fn a_caller_without_identity_gets_nothing(site: &Site) -> Outcome {
    let mut agent = site.agent()?;
    // Twice: it is not one owner for all such calls, nor one for each.
    for _ in 0..2 {
        let refused = agent.orphan("claim work")?;
        assert_eq!(refused["reason"], Reason::NoIdentity.code(), "{refused:#}");
        assert_eq!(refused["exit"], osm::Exit::Claim(Reason::NoIdentity).code());
        let remedy = refused["remedy"].as_str().unwrap_or_default();
        assert!(remedy.contains("OSM_SESSION=NAME"), "{remedy}");
    }
    assert_eq!(agent.ok("claims --all")?, serde_json::json!([]));
    assert_eq!(agent.ok("claim log --all")?, serde_json::json!([]));
    // The variables of a live agent, without it in sight, are a name and no more.
    agent.converse("alive")?;
    agent.claim("work")?;
    let variables = "CLAUDE_CODE_SESSION_ID=alive CLAUDE_PID=$$ CLAUDECODE=1";
    let refused = agent.orphan_with(variables, "claim more")?;
    assert_eq!(refused["reason"], Reason::Unconfirmed.code(), "{refused:#}");
    Ok(())
}

fn commands_speak_of_the_caller_alone(site: &Site) -> Outcome {
    let (mut idle, mut busy) = (site.person()?, site.agent()?);
    idle.claim("quiet")?;
    busy.sh("for i in $(seq 20); do OSM claim loud-$i --json; OSM claim check loud-$i; done")?
        .ok()?;
    let mine = idle.ok("claim mine")?;
    assert_eq!(mine["held"][0]["resource"], "quiet");
    assert_eq!(mine["held"].as_array().map(Vec::len), Some(1));
    let released = idle.ok("release --all")?;
    assert_eq!(released["released"].as_array().map(Vec::len), Some(1), "{released:#}");
    idle.refused("release loud-20", Reason::NotHeld)?;
    assert_eq!(busy.ok("claim mine")?["held"].as_array().map(Vec::len), Some(20));
    Ok(())
}

fn a_new_agent_in_an_old_place_inherits_nothing(site: &Site) -> Outcome {
    // The place is one terminal, folder and environment: a person starts one agent after another.
    let mut person = site.person()?;
    let first = person.sh("LAB/claude -c 'OSM claim work --json; kill -9 $$'")?;
    let first: Value = serde_json::from_str(&first.output).unwrap_or_default();
    let epoch_then = epoch(&first["claim"]);
    let second = person
        .sh("LAB/claude -c 'OSM claim mine --json; OSM claim check work --epoch 1 --json >&2; \
         OSM claim work --json >LAB/second'; cat LAB/second >&2; cat LAB/second")?;
    assert!(second.errors.contains("\"not_held\""), "{}", second.errors);
    assert!(second.output.contains("\"held\": []"), "{}", second.output);
    let claim: Value = serde_json::from_str(&site_text(site, "second")).unwrap_or_default();
    assert_ne!(claim["claim"]["session"], first["claim"]["session"]);
    assert!(epoch(&claim["claim"]) > epoch_then);
    assert_eq!(claim["ended"]["ended"]["how"], "died", "by proof, not by resemblance: {claim:#}");
    Ok(())
}

fn site_text(site: &Site, name: &str) -> String {
    std::fs::read_to_string(site.path(name)).unwrap_or_default()
}

pub(crate) fn one_conversation_in_two_processes_has_one_owner(site: &Site) -> Outcome {
    let (mut one, mut other) = (site.conversation("same")?, site.conversation("same")?);
    assert_eq!(one.session()?, other.session()?);
    let first = one.claim("work")?;
    for words in ["claim work", "claim other", "claim next a b", "release work"] {
        let refused = other.refused(words, Reason::SessionElsewhere)?;
        assert_eq!(refused["verdict"], "alive", "{refused:#}");
    }
    one.stop();
    other.refused("claim work", Reason::SessionElsewhere)?;
    one.go_on();
    assert_eq!(epoch(&one.ok("claim check work")?["claim"]), first);
    one.kill()?;
    assert!(other.claim("work")? > first);
    Ok(())
}

fn a_command_without_variables_touches_no_other_session(site: &Site) -> Outcome {
    let mut agents: Vec<_> =
        ["a", "b", "c"].into_iter().map(|it| site.conversation(it)).collect::<Result<_, _>>()?;
    for (agent, name) in agents.iter_mut().zip(["a", "b", "c"]) {
        agent.claim(name)?;
    }
    let before = agents[0].ok("claims")?;
    let scrubbed = "env -i HOME=LAB PATH=$PATH";
    for words in ["claim check a", "claim renew b", "release c", "claim mine", "claim sweep"] {
        agents[1].osm_with(scrubbed, words)?;
    }
    let (after, rows) = (agents[2].ok("claims")?, before.as_array().map_or(0, Vec::len));
    assert_eq!(rows, 3);
    for row in 0..rows {
        for field in ["resource", "epoch", "incarnation"] {
            // The scrubbed command is still one of its own agent's, which it may rename.
            assert_eq!(after[row][field], before[row][field], "{after:#}");
        }
    }
    for row in [0, 2] {
        assert_eq!(after[row]["session"], before[row]["session"], "{after:#}");
    }
    Ok(())
}

fn cleaning_up_leaves_live_owners_alone(site: &Site) -> Outcome {
    let mut agents: Vec<_> = (0..10).map(|_| site.agent()).collect::<Result<_, _>>()?;
    for (number, agent) in agents.iter_mut().enumerate() {
        agent.claim(&format!("work-{number}"))?;
    }
    for agent in &mut agents[..3] {
        agent.sh("OSM session clean -y")?.ok()?;
        let swept = agent.ok("claim sweep --all")?;
        assert_eq!(swept["counts"]["freed"], 0, "{swept:#}");
        assert_eq!(swept["counts"]["held"], 10, "{swept:#}");
    }
    agents[0]
        .sh("rm -rf LAB/.config/one-shot-man/sessions LAB/.config/one-shot-man/*.toml")?
        .ok()?;
    for number in 0..10 {
        agents[(number + 1) % 10].refused(&format!("claim work-{number}"), Reason::Held)?;
        agents[number].ok(&format!("claim check work-{number}"))?;
    }
    Ok(())
}

fn a_repository_is_one_scope_from_everywhere(site: &Site) -> Outcome {
    root()?;
    let mut owner = site.agent()?;
    owner
        .sh("git -c user.name=x -c user.email=x@x commit -q --allow-empty -m x; \
             git worktree add -q LAB/tree; mkdir -p deep/er LAB/bound; ln -s LAB/repo LAB/link")?
        .ok()?;
    owner.claim("work")?;
    // The mount is the rival's alone: it lives in a mount namespace of its own.
    let mut rival = site.agent_below(&["unshare", "--mount"])?;
    rival.sh("mount --bind LAB/repo LAB/bound")?.ok()?;
    for place in ["repo", "repo/deep/er", "repo/.git", "tree", "link", "link/deep", "bound/deep"] {
        rival.sh(&format!("cd LAB/{place}"))?.ok()?;
        let refused = rival.refused("claim work", Reason::Held)?;
        assert_eq!(refused["claim"]["epoch"], 1, "from {place}");
        if place != "bound/deep" {
            owner.sh(&format!("cd LAB/{place}"))?.ok()?;
        }
        assert_eq!(owner.ok("claim check work")?["claim"]["epoch"], 1, "from {place}");
    }
    site.repository(&program("git")?, "elsewhere")?;
    rival.sh("cd LAB/elsewhere")?.ok()?;
    rival.claim("work")?;
    assert_eq!(rival.ok("claims")?.as_array().map(Vec::len), Some(1));
    assert_eq!(rival.ok("claims --all")?.as_array().map(Vec::len), Some(2));
    Ok(())
}

fn any_command_may_be_the_first(site: &Site) -> Outcome {
    for first in [
        "claim mine",
        "claims",
        "claim check x",
        "claim log",
        "claim why x",
        "claim sweep",
        "claim next y",
        "release x",
        "claim accept x",
        "claim resume",
        "claim take y --reason first",
    ] {
        let mut agent = site.conversation(&first.replace(' ', "-"))?;
        agent.osm(first)?;
        let one = agent.ok("claim one")?;
        let other = agent.ok("claim other")?;
        assert_eq!(one["claim"]["incarnation"], other["claim"]["incarnation"], "after {first}");
        let claims = agent.ok("claims")?;
        assert_eq!(incarnations(&claims).len(), 1, "after {first}: {claims:#}");
        agent.ok("release --all")?;
    }
    Ok(())
}

fn a_claim_that_fails_leaves_no_owner_behind(site: &Site) -> Outcome {
    let (mut agent, mut other) = (site.agent()?, site.agent()?);
    other.claim("other")?;
    // Another program has the right to write, and is stopped.
    let ledger = rusqlite::Connection::open(site.ledger()).expect("a ledger");
    ledger.execute_batch("BEGIN IMMEDIATE").expect("no other writer");
    let busy = agent.osm("claim work")?;
    assert_eq!(busy.code, 3, "{busy:#?}");
    assert!(busy.errors.contains("claims.db"), "{busy:#?}");
    ledger.execute_batch("ROLLBACK").expect("it was begun");
    let owners = |ledger: &rusqlite::Connection| {
        ledger
            .query_row("SELECT count(*) FROM owner", [], |row| row.get::<_, i64>(0))
            .expect("owners")
    };
    assert_eq!(owners(&ledger), 1, "the one that was refused is not there");
    assert_eq!(agent.sees("work")?, Value::Null);
    agent.claim("work")?;
    assert_eq!(owners(&ledger), 2);
    Ok(())
}

fn the_id_of_a_dead_agent_opens_nothing(site: &Site) -> Outcome {
    let (mut agent, mut person) = (site.conversation("gone")?, site.person()?);
    let granted = agent.ok("claim work")?;
    let (session, pid) = (agent.session()?, agent.pid().as_raw_nonzero());
    agent.kill()?;
    let stale = format!("CLAUDE_CODE_SESSION_ID=gone CLAUDE_PID={pid} CLAUDECODE=1");
    assert_ne!(person.sh(&format!("{stale} OSM session id"))?.output, session);
    let token = granted["claim"]["token"].as_str().unwrap_or_default();
    for words in ["claim check work", "claim renew work", "release work"] {
        person
            .osm_with(&stale, &format!("{words} --epoch {token}"))?
            .assert_refused(Reason::NotHeld);
    }
    person.osm_with(&stale, "claim resume work")?.assert_refused(Reason::NotHeld);
    assert_eq!(person.sees("work")?["session"], session.as_str());
    let claim = person.osm_with(&stale, "claim work")?;
    assert!(claim.assert_granted() > epoch(&granted["claim"]), "it is free, as for anybody");
    Ok(())
}

fn events_name_who_did_it(site: &Site) -> Outcome {
    let mut agents: Vec<_> = (0..10).map(|_| site.agent()).collect::<Result<_, _>>()?;
    let mut begun = Vec::new();
    for (number, agent) in agents.iter_mut().enumerate() {
        begun.push(agent.begin(&format!(
            "for i in $(seq 5); do
               OSM claim own-{number} --json && OSM claim shared --json && OSM release shared
               OSM release own-{number}
             done"
        ))?);
    }
    for (agent, begun) in agents.iter_mut().zip(&begun) {
        agent.finish(begun)?.ok()?;
    }
    let sessions: Vec<_> = agents.iter_mut().map(Owner::session).collect::<Result<_, _>>()?;
    let log = agents[0].ok("claim log")?;
    let events = log.as_array().expect("a list");
    for (number, session) in sessions.iter().enumerate() {
        let own = format!("own-{number}");
        let own: Vec<&Value> = events.iter().filter(|it| it["resource"] == own.as_str()).collect();
        assert_eq!(own.len(), 10, "five grants and five releases");
        assert!(own.iter().all(|it| it["by"] == session.as_str()), "{own:#?}");
    }
    let mut holder = &Value::Null;
    for event in events.iter().filter(|it| it["resource"] == "shared") {
        match event["kind"].as_str() {
            Some("granted") => {
                assert_eq!(event["by"], event["deed"]["granted"]["session"]);
                holder = &event["by"];
            }
            _ => assert_eq!(event["by"], *holder, "who has it releases it"),
        }
    }
    Ok(())
}

fn a_command_that_never_ran_holds_nothing(site: &Site) -> Outcome {
    let (mut agent, mut rival) = (site.agent()?, site.agent()?);
    for (command, code) in [("LAB/nowhere", 127), ("/etc/passwd", 126), ("sh -c 'kill -9 $$'", 137)]
    {
        let ran = agent.osm(&format!("claim run work -- {command}"))?;
        assert_eq!(ran.code, code, "{ran:#?}");
        rival.claim("work")?;
        rival.ok("release work")?;
    }
    let rest = ["granted", "released", "granted", "released"];
    // The third was there for a moment, and was entrusted with it.
    let last = ["granted", "renewed", "released", "granted", "released"];
    assert_eq!(agent.story("work")?, [&rest[..], &rest, &last].concat());
    Ok(())
}

fn a_prefix_is_no_identity(site: &Site) -> Outcome {
    let (mut one, mut other) = (site.agent()?, site.agent()?);
    one.claim("work")?;
    let session = other.session()?;
    let events = one.story("work")?.len();
    for token in ["x", "-1", "7.", "1.1f9", "''", "99999999999999999999", "1.0000000000"] {
        let said = one.osm(&format!("claim check work --epoch={token}"))?;
        assert_eq!(said.code, 2, "{token}: {said:#?}");
    }
    one.refused("claim check work --epoch 999", Reason::UnknownEpoch)?;
    one.refused("claim check work --epoch 1.00000000", Reason::UnknownEpoch)?;
    one.refused("release wor", Reason::NotHeld)?;
    assert_eq!(one.story("work")?.len(), events);
    let (cut, events) = (&session[..session.len() - 8], one.story("work")?.len());
    for name in [cut, "somebody", "swift-otter"] {
        let said = one.osm(&format!("claim handoff work --to {name}"))?;
        assert_eq!(said.code, 4, "{name}: {said:#?}");
        assert_eq!(said.json["reason"], "session_not_found", "{said:#?}");
    }
    assert_eq!(one.story("work")?.len(), events, "nothing was offered");
    other.refused("claim accept work", Reason::NotOffered)?;
    other.refused("claim work", Reason::Held)?;
    // A session that the ledger knows can be named by a prefix that no other has.
    other.claim("another")?;
    one.ok(&format!("claim handoff work --to {cut}"))?;
    other.ok("claim accept work")?;
    Ok(())
}

pub(crate) fn a_conversation_is_cleared_and_resumed(site: &Site) -> Outcome {
    let mut agent = site.conversation("before")?;
    let first = agent.ok("claim work")?["claim"].clone();
    // Cleared or compacted: the same process, another conversation.
    agent.converse("after")?;
    let checked = agent.ok("claim check work")?;
    assert_eq!(checked["claim"]["token"], first["token"]);
    assert_eq!(checked["claim"]["incarnation"], first["incarnation"]);
    // Another process that takes the old id up has nothing to do with it, as soon as the first
    // one has done something under its new name.
    agent.claim("more")?;
    let mut stranger = site.conversation("before")?;
    stranger.refused("claim work", Reason::Held)?;
    assert_eq!(stranger.ok("claim mine")?["resumable"], serde_json::json!([]));
    agent.kill()?;
    // Resumed: another process, the same conversation.
    let mut resumed = site.conversation("after")?;
    resumed.refused("claim check work", Reason::NotHeld)?;
    let told = resumed.osm("claim something")?;
    assert!(told.errors.contains("work") && told.errors.contains("osm claim resume"), "{told:#?}");
    assert_eq!(resumed.ok("claim mine")?["resumable"][0]["resource"], "work");
    let taken = resumed.ok("claim resume")?;
    assert!(epoch(&taken["resumed"][0]) > epoch(&first), "{taken:#}");
    let died = resumed.event("work", "died")?;
    assert_eq!(died["epoch"], first["epoch"], "{died:#}");
    assert_eq!(resumed.ok("claim mine")?["resumable"], serde_json::json!([]));
    Ok(())
}

fn no_command_works_without_identity(site: &Site) -> Outcome {
    let mut agent = site.agent()?;
    let token = agent.ok("claim work")?["claim"]["token"].as_str().unwrap_or_default().to_owned();
    let before = agent.ok("claim log")?;
    for words in [
        "claim work",
        "claim next work other",
        &format!("claim check work --epoch {token}"),
        &format!("claim renew work --epoch {token}"),
        &format!("release work --epoch {token}"),
        &format!("claim handoff work --to ex--me_27 --epoch {token}"),
        "claim accept work",
        "claim resume work",
        "claim take work --reason mine --even-if-alive",
        "claim run work -- true",
    ] {
        let refused = agent.orphan(words)?;
        assert_eq!(refused["reason"], Reason::NoIdentity.code(), "{words}: {refused:#}");
    }
    assert_eq!(agent.ok("claim log")?, before);
    Ok(())
}
