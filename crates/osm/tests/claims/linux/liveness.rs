//! Whether an owner lives: proven, or not known; never guessed from silence.

use osm_claims::Reason;
use osm_testkit::tools::root;
use rustix::process::Signal;
use serde_json::Value;

use super::race::Field;
use super::reuse::a_reused_pid_is_another_process;
use super::row::{Outcome, Row, never, shown, test};
use super::site::{Owner, Site, epoch, said};

pub(crate) const ROWS: &[Row] = &[
    shown(
        "L-01",
        "an owner that is busy for a long time keeps its claims",
        test!(a_busy_owner_keeps_its_claim),
    ),
    shown(
        "L-02",
        "a stopped owner is not dead; another session can take its claim only with a reason",
        test!(a_stopped_owner_is_suspended),
    ),
    shown(
        "L-03",
        "a process that reuses the dead owner's pid is not the owner, even within one clock tick",
        test!(a_reused_pid_is_another_process),
    ),
    shown(
        "L-04",
        "a command that runs longer than a lease keeps the lease, and its end frees the claim",
        test!(a_lease_is_renewed_while_a_command_runs),
    ),
    shown(
        "L-05",
        "the end of a command, by any cause, does not end the claims of its session",
        test!(helpers_may_die_as_they_like),
    ),
    shown(
        "L-06",
        "no background process keeps a claim, and the death of `osm claim run` frees nothing",
        test!(nothing_runs_behind_the_scenes),
    ),
    never(
        "L-07",
        "the writer and the reader of a liveness record use the same field",
        "there is no such record: osm checks the process itself",
    ),
    shown(
        "L-08",
        "a process that outlives its agent neither keeps nor renews the agent's claims",
        test!(a_helper_that_outlives_its_agent_renews_nothing),
    ),
    shown(
        "L-09",
        "an agent that replaces itself by exec is the same owner",
        test!(an_agent_that_execs_itself_is_the_same_owner),
    ),
    shown(
        "L-10",
        "one process has one session at a time, whatever the ids of its conversations are",
        test!(one_process_has_one_session_at_a_time),
    ),
    shown(
        "L-11",
        "an owner that waits without progress is alive; taking its claim needs a reason and --even-if-alive",
        test!(an_owner_that_waits_at_a_prompt_is_alive),
    ),
    shown(
        "L-12",
        "a lease has one end for all sessions; renewing it moves this end for all",
        test!(every_command_agrees_on_when_a_lease_ends),
    ),
    shown(
        "L-13",
        "a system clock that is wrong by days ends no lease",
        test!(a_clock_that_is_off_ends_no_lease),
    ),
    shown(
        "L-14",
        "if owners cannot be seen, they are unknown, and a sweep frees nothing",
        test!(a_sweep_that_cannot_see_frees_nothing),
    ),
    shown(
        "L-15",
        "a failed check of a process is an error, never \"no such process\"",
        test!(a_failed_look_is_no_absence),
    ),
    shown(
        "L-16",
        "a sweep examines all claims and prints how many",
        test!(a_sweep_examines_all_and_says_so),
    ),
    never(
        "L-17",
        "no check can be omitted from a grant",
        "granting and deciding are one function without optional arguments",
    ),
    shown(
        "L-18",
        "all commands use the same thresholds",
        test!(every_command_agrees_on_when_a_lease_ends),
    ),
    shown(
        "L-19",
        "every command checks the owner's process when it runs",
        test!(every_command_sees_a_death_at_once),
    ),
    shown(
        "L-20",
        "contradictory evidence proves nothing",
        test!(contradictory_evidence_proves_nothing),
    ),
    shown("L-21", "only the owner of a lease can renew it", test!(only_its_owner_renews_a_lease)),
    shown(
        "L-22",
        "however an owner dies, its claim is free at once, and the log has the proof",
        test!(however_an_owner_dies_its_claim_is_free),
    ),
    shown(
        "L-23",
        "an owner on another machine is unknown, and taking its claim needs a reason",
        test!(from_another_machine_nothing_is_proven),
    ),
];

/// Waits until a second has passed, by a lease that runs out.
pub(crate) fn a_second_passes(site: &Site) -> Outcome {
    let (mut one, mut other) = (site.named("second-one")?, site.named("second-other")?);
    one.ok("claim second --scope clock --ttl 1s")?;
    let granted = other.ok("claim second --scope clock --wait 1m")?;
    assert_eq!(granted["ended"]["ended"]["how"], "expired", "{granted:#}");
    other.ok("release second --scope clock")?;
    Ok(())
}

fn a_busy_owner_keeps_its_claim(site: &Site) -> Outcome {
    let (mut owner, mut rival) = (site.agent()?, site.agent()?);
    let claimed = owner.osm("claim work --ttl 1s")?;
    assert!(claimed.errors.contains("--ttl changes nothing"), "{claimed:#?}");
    let busy = owner.begin("until test -e LAB/enough; do :; done")?;
    for _ in 0..2 {
        a_second_passes(site)?;
        rival.refused("claim work", Reason::Held)?;
    }
    site.lab.file("enough", "")?;
    owner.finish(&busy)?.ok()?;
    assert_eq!(epoch(&owner.ok("claim check work")?["claim"]), claimed.assert_granted());
    Ok(())
}

fn a_stopped_owner_is_suspended(site: &Site) -> Outcome {
    for mut owner in [site.agent()?, site.person()?] {
        let mut rival = site.agent()?;
        let first = owner.claim("work")?;
        owner.stop();
        let refused = rival.refused("claim work", Reason::Suspended)?;
        assert_eq!(refused["verdict"], "suspended");
        assert_eq!(refused["claim"]["epoch"], first);
        let swept = rival.ok("claim sweep")?;
        assert_eq!(
            (&swept["counts"]["freed"], &swept["counts"]["suspended"]),
            (&0.into(), &1.into())
        );
        owner.go_on();
        assert_eq!(epoch(&owner.ok("claim check work")?["claim"]), first);
        owner.ok("release work")?;
    }
    Ok(())
}

fn a_lease_is_renewed_while_a_command_runs(site: &Site) -> Outcome {
    let (mut owner, mut rival) = (site.named("lender")?, site.agent()?);
    rival.sh("mkfifo LAB/hold")?.ok()?;
    let leased = owner.ok("claim work --ttl 1s")?;
    assert_eq!(leased["claim"]["held_by"], "lease");
    let run = owner.begin("OSM claim run work -- sh -c 'echo up >LAB/up; read x <LAB/hold'")?;
    site.lab.wait_for(&site.path("up"))?;
    for _ in 0..3 {
        a_second_passes(site)?;
        let refused = rival.refused("claim work", Reason::Held)?;
        assert_eq!(refused["claim"]["epoch"], leased["claim"]["epoch"]);
    }
    rival.sh("echo >LAB/hold")?.ok()?;
    owner.finish(&run)?.ok()?;
    // Nobody renews it any more.
    let granted = rival.ok("claim work --wait 1m")?;
    assert_eq!(granted["ended"]["ended"]["how"], "expired");
    Ok(())
}

fn helpers_may_die_as_they_like(site: &Site) -> Outcome {
    for mut owner in [site.agent()?, site.person()?] {
        let first = owner.claim("work")?;
        for end in ["exit 0", "exit 1", "kill -TERM $$", "kill -KILL $$", "kill -SEGV $$"] {
            site.lab.file("helper", &format!("OSM claim check work --json; {end}\n"))?;
            owner.sh("for i in 1 2 3 4; do sh LAB/helper; done; true")?.ok()?;
        }
        // The program itself, too, in the middle of whatever it does.
        owner
            .sh("for i in 1 2 3 4; do timeout -s KILL 0.003 OSM claim check work; done; true")?
            .ok()?;
        assert_eq!(epoch(&owner.ok("claim check work")?["claim"]), first);
        owner.ok("release work")?;
    }
    Ok(())
}

fn nothing_runs_behind_the_scenes(site: &Site) -> Outcome {
    let (mut owner, mut rival) = (site.agent()?, site.agent()?);
    owner.sh("LAB/bin/osm claim work; LAB/bin/osm claim next a b; LAB/bin/osm claims")?.ok()?;
    assert_eq!(owner.sh("pgrep -f LAB/bin/osm")?.output, "", "what is still running");
    // `osm claim run` is killed: the command goes on, and has the claim until it ends.
    rival.sh("mkfifo LAB/hold")?.ok()?;
    let run = owner.begin("LAB/bin/osm claim run job -- sh -c 'echo $$ $PPID >LAB/pids; read x <LAB/hold; echo >LAB/over'")?;
    site.lab.wait_for(&site.path("pids"))?;
    // It has the claim as soon as that is in the log.
    while !rival.story("job")?.contains(&"renewed".to_owned()) {}
    rival.sh("read command osm <LAB/pids; kill -9 $osm")?.ok()?;
    assert_eq!(owner.finish(&run)?.code, 137);
    let refused = rival.refused("claim job", Reason::Held)?;
    let pids = rival.sh("cat LAB/pids")?.output;
    assert_eq!(pids.split(' ').next(), Some(refused["claim"]["pid"].to_string().as_str()));
    let waiting = rival.begin("OSM claim job --wait 1m --json")?;
    owner.sh("echo >LAB/hold")?.ok()?;
    let granted = said(rival.finish(&waiting)?);
    granted.assert_granted();
    assert_eq!(granted.json["ended"]["ended"]["how"], "died");
    site.lab.wait_for(&site.path("over"))?;
    Ok(())
}

fn a_helper_that_outlives_its_agent_renews_nothing(site: &Site) -> Outcome {
    let (mut agent, mut rival) = (site.conversation("leader")?, site.agent()?);
    let token = agent.ok("claim work")?["claim"]["token"].clone();
    site.lab.file(
        "left.sh",
        &format!(
            "read go <LAB/go
             for verb in 'claim check' 'claim renew' release 'claim resume'; do
               OSM $verb work --json
             done >LAB/left.tmp
             OSM claim renew work --epoch {} --json >>LAB/left.tmp
             mv LAB/left.tmp LAB/left",
            token.as_str().unwrap_or_default()
        ),
    )?;
    agent.sh("mkfifo LAB/go; (setsid sh LAB/left.sh >/dev/null 2>&1 &)")?.ok()?;
    agent.kill()?;
    rival.sh("echo >LAB/go")?.ok()?;
    site.lab.wait_for(&site.path("left"))?;
    let left = rival.sh(
        "grep -c '\"reason\": \"not_held\"' LAB/left; grep -c '\"granted\": true' LAB/left; true",
    )?;
    assert_eq!(left.output, "5\n0", "{}", rival.sh("cat LAB/left")?.output);
    assert_eq!(rival.sees("work")?["verdict"], "dead");
    rival.claim("work")?;
    Ok(())
}

fn an_agent_that_execs_itself_is_the_same_owner(site: &Site) -> Outcome {
    let start = "OSM claim work --json >LAB/granted; exec LAB/claude";
    let mut agent = site.shell(&["LAB/claude", "-c", start], &[])?;
    let mut rival = site.agent()?;
    assert_eq!(agent.sh("grep -c '\"fresh\": true' LAB/granted")?.output, "1");
    let again = agent.ok("claim work")?;
    assert_eq!(again["fresh"], false, "{again:#}");
    assert_eq!(again["claim"]["epoch"], 1);
    rival.refused("claim work", Reason::Held)?;
    Ok(())
}

fn one_process_has_one_session_at_a_time(site: &Site) -> Outcome {
    let mut agent = site.conversation("zero")?;
    let mut rival = site.agent()?;
    agent.claim("zero")?;
    for id in ["one", "two", "three"] {
        agent.converse(id)?;
        agent.claim(id)?;
    }
    let mine = agent.ok("claim mine")?;
    let held = mine["held"].as_array().expect("a list");
    assert_eq!(held.len(), 4, "{mine:#}");
    let session = agent.session()?;
    assert!(held.iter().all(|it| it["session"] == session.as_str()), "{mine:#}");
    assert!(held.iter().all(|it| it["incarnation"] == held[0]["incarnation"]), "{mine:#}");
    agent.kill()?;
    for name in ["zero", "one", "two", "three"] {
        rival.claim(name)?;
    }
    Ok(())
}

fn an_owner_that_waits_at_a_prompt_is_alive(site: &Site) -> Outcome {
    let (mut owner, mut rival) = (site.agent()?, site.agent()?);
    rival.sh("mkfifo LAB/prompt")?.ok()?;
    let first = owner.claim("work")?;
    let waiting = owner.begin("read answer <LAB/prompt")?;
    assert_eq!(rival.sees("work")?["verdict"], "alive");
    rival.refused("claim take work --reason stuck", Reason::HolderAlive)?;
    assert_eq!(epoch(&rival.sees("work")?), first, "a refusal takes nothing");
    let taken = rival.ok("claim take work --reason 'stuck at a prompt' --even-if-alive")?;
    assert!(epoch(&taken["claim"]) > first);
    rival.sh("echo >LAB/prompt")?.ok()?;
    owner.finish(&waiting)?.ok()?;
    let told = owner.osm("claims")?;
    assert!(told.errors.contains("work is no longer yours"), "{told:#?}");
    assert!(told.errors.contains("stuck at a prompt"), "{told:#?}");
    owner.refused("claim check work", Reason::Stale)?;
    Ok(())
}

fn every_command_agrees_on_when_a_lease_ends(site: &Site) -> Outcome {
    let (mut owner, mut rival) = (site.named("tenant")?, site.agent()?);
    owner.ok("claim work --ttl 1s")?;
    // A longer absence is a longer lease, and there is one.
    let longer = owner.ok("claim renew work --ttl 1h")?;
    assert_eq!(longer["claim"]["held_by"], "lease");
    a_second_passes(site)?;
    owner.ok("claim check work")?;
    rival.refused("claim work", Reason::Held)?;
    rival.refused("claim take work --reason hurry", Reason::HolderAlive)?;
    let seen = rival.sees("work")?;
    assert_eq!(seen["free"], false);
    assert!(seen["left_seconds"].as_u64().is_some_and(|it| it > 3000), "{seen:#}");
    assert_eq!(rival.ok("claim why work")?["claim"]["free"], false);
    assert_eq!(rival.ok("claim sweep")?["counts"]["held"], 1);
    owner.ok("claim renew work --ttl 1s")?;
    a_second_passes(site)?;
    owner.refused("claim check work", Reason::LeaseOver)?;
    assert_eq!(rival.sees("work")?["free"], true);
    assert_eq!(rival.ok("claim why work")?["claim"]["free"], true);
    assert_eq!(rival.ok("claim sweep --dry-run")?["counts"]["freed"], 1);
    assert_eq!(rival.ok("claim take work --reason over --dry-run")?["would_take"], true);
    let granted = rival.ok("claim work")?;
    assert_eq!(granted["ended"]["ended"]["how"], "expired");
    Ok(())
}

fn a_clock_that_is_off_ends_no_lease(site: &Site) -> Outcome {
    root()?;
    let mut owner = site.named("tenant")?;
    owner.ok("claim work --ttl 10m")?;
    for days in ["+864000", "-10"] {
        let offset = days.trim_start_matches('+');
        let shifted = ["unshare", "--time", "--boottime", offset, "--fork", "--kill-child"];
        let mut rival = site.agent_below(&shifted)?;
        assert_eq!(rival.sh("grep -c '[1-9]' /proc/self/timens_offsets")?.output, "1");
        let refused = rival.refused("claim work", Reason::Held)?;
        let left = refused["left_seconds"].as_u64().unwrap_or_default();
        assert!((300..=600).contains(&left), "{days}: {refused:#}");
        assert_eq!(rival.ok("claim sweep")?["counts"]["freed"], 0);
    }
    Ok(())
}

/// Sees other processes than everybody else.
pub(crate) const OTHER_PIDS: &[&str] =
    &["unshare", "--pid", "--fork", "--mount-proc", "--kill-child"];

fn a_sweep_that_cannot_see_frees_nothing(site: &Site) -> Outcome {
    root()?;
    let (mut live, mut dead) = (site.agent()?, site.agent()?);
    live.claim("live")?;
    dead.claim("dead")?;
    dead.kill()?;
    let mut blind = site.agent_below(OTHER_PIDS)?;
    let swept = blind.ok("claim sweep --all")?;
    assert_eq!(swept["counts"]["examined"], 2, "{swept:#}");
    assert_eq!(swept["counts"]["unknown_holder"], 2, "{swept:#}");
    assert_eq!(swept["counts"]["freed"], 0, "{swept:#}");
    for name in ["live", "dead"] {
        let refused = blind.refused(&format!("claim {name}"), Reason::Unknown)?;
        assert_eq!(refused["verdict"], "unknown", "{refused:#}");
        assert_eq!(blind.sees(name)?["verdict"], "unknown");
    }
    let swept = live.ok("claim sweep --all")?;
    assert_eq!(swept["counts"]["freed"], 1, "who can see frees the dead one's: {swept:#}");
    Ok(())
}

fn a_failed_look_is_no_absence(site: &Site) -> Outcome {
    root()?;
    let (mut owner, mut dead) = (site.agent()?, site.agent()?);
    owner.claim("work")?;
    dead.claim("old")?;
    dead.kill()?;
    // No processes can be seen at all.
    let mut blind = site.agent_below(&["unshare", "--mount"])?;
    let swept = blind.sh("mount -t tmpfs none /proc; OSM claim sweep --all --json")?;
    assert_ne!(swept.code, 0, "{swept:#?}");
    // The ledger cannot be read.
    let copy = site.path("broken");
    std::fs::create_dir(&copy)?;
    let bytes = std::fs::read(site.ledger())?;
    let broken = [&bytes[..100], &vec![0x5a; bytes.len()]].concat();
    std::fs::write(copy.join("claims.db"), broken)?;
    for words in ["claim sweep --all", "claims", "claim work", "claim next work"] {
        let said = owner.osm_with("OSM_HOME=LAB/broken", words)?;
        assert_eq!(said.code, 1, "{words}: {said:#?}");
        assert!(said.errors.contains("claims.db"), "{words}: {said:#?}");
    }
    let log = owner.ok("claim log")?;
    assert_eq!(log.as_array().map(Vec::len), Some(2), "nothing was freed: {log:#}");
    Ok(())
}

fn a_sweep_examines_all_and_says_so(site: &Site) -> Outcome {
    const CLAIMS: usize = 1_200;
    let mut field = Field::start(site, 2)?;
    for number in 0..CLAIMS {
        assert!(field.one(number % 2, &format!("claim item-{number}"))?.won());
    }
    let mut sweeper = site.agent()?;
    let mut sweep = |words: &str| -> Result<Value, osm_testkit::tools::Stop> {
        let words = format!("claim sweep --scope race {words}");
        Ok(sweeper.osm_with("OSM_HOME=LAB/race", &words)?.json["counts"].clone())
    };
    let counts = sweep("")?;
    assert_eq!((&counts["examined"], &counts["held"]), (&CLAIMS.into(), &CLAIMS.into()));
    drop(field);
    let counts = sweep("--dry-run")?;
    assert_eq!((&counts["examined"], &counts["freed"]), (&CLAIMS.into(), &CLAIMS.into()));
    let counts = sweep("")?;
    assert_eq!((&counts["examined"], &counts["freed"]), (&CLAIMS.into(), &CLAIMS.into()));
    assert_eq!(sweep("")?["examined"], 0);
    Ok(())
}

fn every_command_sees_a_death_at_once(site: &Site) -> Outcome {
    for (owner, is_zombie) in
        [(site.agent()?, true), (site.person()?, true), (site.agent()?, false)]
    {
        let (mut owner, mut rival) = (owner, site.agent()?);
        owner.claim("work")?;
        owner.kill_uncollected();
        if !is_zombie {
            owner.collect()?;
        }
        let seen = rival.sees("work")?;
        assert_eq!((&seen["verdict"], &seen["free"]), (&"dead".into(), &true.into()), "{seen:#}");
        let why = rival.ok("claim why work")?;
        assert_eq!(why["claim"]["verdict"], "dead");
        assert_eq!(why["remedy"], "the holder is gone: claim it");
        assert_eq!(rival.ok("claim sweep --dry-run")?["counts"]["freed"], 1);
        assert_eq!(rival.ok("claim take work --reason x --dry-run")?["would_take"], true);
        rival.ok("claim work")?;
        let died = rival.event("work", "died")?;
        let proof = died["evidence"].as_str().unwrap_or_default().to_owned();
        let expected = if is_zombie { "is a zombie" } else { "no process has its pid" };
        assert!(proof.contains(expected), "{proof}");
        rival.ok("release work")?;
    }
    Ok(())
}

/// An agent that believes itself to be in another boot, of this machine or of another.
pub(crate) fn rebooted<'a>(
    site: &'a Site,
    machine: Option<&str>,
) -> Result<Owner<'a>, osm_testkit::tools::Stop> {
    root()?;
    site.lab.file("boot", "01234567-89ab-cdef-0123-456789abcdef\n")?;
    let mut script = "mount --bind LAB/boot /proc/sys/kernel/random/boot_id; ".to_owned();
    if let Some(machine) = machine {
        site.lab.file("machine", machine)?;
        script += "mount --bind LAB/machine /etc/machine-id; ";
    }
    site.agent_below(&["unshare", "--mount", "sh", "-c", &format!("{script} exec \"$0\"")])
}

fn contradictory_evidence_proves_nothing(site: &Site) -> Outcome {
    let (mut live, mut dead) = (site.agent()?, site.agent()?);
    live.claim("live")?;
    dead.claim("dead")?;
    dead.kill()?;
    // Another boot would prove both dead, were it not that of a machine without a name.
    let mut rival = rebooted(site, Some(""))?;
    for name in ["live", "dead"] {
        rival.refused(&format!("claim {name}"), Reason::Unknown)?;
    }
    assert_eq!(rival.ok("claim sweep")?["counts"]["unknown_holder"], 2);
    live.ok("claim check live")?;
    Ok(())
}

fn only_its_owner_renews_a_lease(site: &Site) -> Outcome {
    let (mut owner, mut rival) = (site.named("tenant")?, site.agent()?);
    let session = rival.session()?;
    let token = owner.ok("claim work --ttl 1s")?["claim"]["token"].clone();
    let token = token.as_str().unwrap_or_default();
    for words in [
        "claim work".to_owned(),
        format!("claim renew work --epoch {token} --ttl 1h"),
        format!("claim check work --epoch {token}"),
        format!("claim handoff work --to {session} --epoch {token}"),
        "claim accept work".into(),
        "claim why work".into(),
        "claims".into(),
        "claim sweep".into(),
        "claim take work --reason mine".into(),
    ] {
        rival.osm(&words)?;
    }
    let granted = rival.ok("claim work --wait 1m")?;
    assert_eq!(granted["ended"]["ended"]["how"], "expired", "{granted:#}");
    assert!(!rival.story("work")?.contains(&"renewed".to_owned()));
    owner.refused("claim renew work", Reason::Stale)?;
    Ok(())
}

fn however_an_owner_dies_its_claim_is_free(site: &Site) -> Outcome {
    let mut rival = site.agent()?;
    let mut inherit = |how: &str| -> Outcome {
        let granted = rival.ok("claim work")?;
        assert_eq!(granted["fresh"], true, "{how}: {granted:#}");
        assert_eq!(granted["ended"]["ended"]["how"], "died", "{how}: {granted:#}");
        let evidence = granted["ended"]["ended"]["evidence"].as_str().unwrap_or_default();
        assert!(evidence.contains("pid"), "{how}: {evidence}");
        rival.ok("release work")?;
        Ok(())
    };
    for signal in [
        Signal::KILL,
        Signal::SEGV,
        Signal::ABORT,
        Signal::BUS,
        Signal::FPE,
        Signal::ILL,
        Signal::HUP,
        Signal::PIPE,
        Signal::ALARM,
        Signal::USR1,
        Signal::SYS,
        Signal::XCPU,
    ] {
        // Whoever started the tests may ignore some of them, as `nohup` does.
        let mut owner = site.agent_below(&["env", "--default-signal"])?;
        owner.claim("work")?;
        owner.end_by(signal);
        inherit(&format!("{signal:?}"))?;
    }
    // It is killed while it is stopped.
    let mut owner = site.agent()?;
    owner.claim("work")?;
    owner.stop();
    owner.kill()?;
    inherit("stopped")?;
    // Its terminal is closed.
    let mut owner = site.person()?;
    owner.claim("work")?;
    drop(owner);
    inherit("hung up")?;
    Ok(())
}

fn from_another_machine_nothing_is_proven(site: &Site) -> Outcome {
    let (mut owner, mut tenant) = (site.agent()?, site.named("tenant")?);
    owner.claim("work")?;
    tenant.ok("claim leased --ttl 1s")?;
    a_second_passes(site)?;
    let mut elsewhere = rebooted(site, Some("0123456789abcdef0123456789abcdef\n"))?;
    for name in ["work", "leased"] {
        elsewhere.refused(&format!("claim {name}"), Reason::Unknown)?;
        let before = epoch(&elsewhere.sees(name)?);
        let taken = elsewhere.ok(&format!("claim take {name} --reason 'its machine is gone'"))?;
        assert!(epoch(&taken["claim"]) > before);
        assert_eq!(taken["ended"]["ended"]["how"], "taken");
    }
    owner.refused("claim check work", Reason::Stale)?;
    Ok(())
}
