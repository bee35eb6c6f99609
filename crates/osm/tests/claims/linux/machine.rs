//! What the machine underneath does: it sleeps, reboots, is a container, runs out of room.

use osm_claims::Reason;
use osm_testkit::seccomp::refuse;
use osm_testkit::tools::root;

use super::liveness::{OTHER_PIDS, a_second_passes, rebooted};
use super::reuse::a_reused_pid_is_another_process;
use super::row::{Outcome, Row, Test, shown, test};
use super::site::{Site, epoch, token};

pub(crate) const TESTS: &[Test] = &[test!(no_random_numbers)];

pub(crate) const ROWS: &[Row] = &[
    shown(
        "X-01",
        "a stopped owner keeps its session claims, loses an expired lease, and is told when it continues",
        test!(a_sleeper_loses_a_lease_and_nothing_else),
    ),
    shown(
        "X-02",
        "another boot id alone proves no death: the claim must be older than this boot",
        test!(another_boot_id_proves_no_death),
    ),
    shown(
        "X-03",
        "a restarted container is another owner, even with the same pids",
        test!(a_container_that_starts_again_is_another_owner),
    ),
    shown(
        "X-04",
        "a pid that is reused within one clock tick belongs to another process",
        test!(a_reused_pid_is_another_process),
    ),
    shown(
        "X-05",
        "a process in a time namespace is the same process",
        test!(a_time_namespace_changes_no_owner),
    ),
    shown(
        "X-06",
        "processes that an owner left running, with all its files open, keep no claim",
        test!(what_an_owner_leaves_running_holds_nothing),
    ),
    shown(
        "X-07",
        "a copied ledger proves nothing on another machine, and a symbolic link to a ledger is refused",
        test!(a_copied_ledger_proves_nothing),
    ),
    shown(
        "X-08",
        "on a full or read-only disk nothing changes, and later commands work again",
        test!(a_full_disk_leaves_all_as_it_was),
    ),
    shown(
        "X-09",
        "processes of another user are unknown, not dead, and osm does not touch another user's ledger",
        test!(another_users_processes_are_unknown),
    ),
    shown(
        "X-10",
        "a restored ledger refuses epochs that it does not contain",
        test!(a_restored_ledger_knows_its_epochs),
    ),
];

fn a_sleeper_loses_a_lease_and_nothing_else(site: &Site) -> Outcome {
    let (mut owner, mut tenant, mut rival) = (site.agent()?, site.named("tenant")?, site.agent()?);
    let held = owner.claim("held")?;
    let leased = owner_token(&mut tenant, "claim leased --ttl 1s")?;
    owner.stop();
    tenant.stop();
    a_second_passes(site)?;
    rival.refused("claim held", Reason::Suspended)?;
    let granted = rival.ok("claim leased")?;
    assert_eq!(granted["ended"]["ended"]["how"], "expired");
    owner.go_on();
    tenant.go_on();
    assert_eq!(epoch(&owner.ok("claim check held")?["claim"]), held);
    for words in ["claim check", "claim renew", "release"] {
        tenant.refused(&format!("{words} leased --epoch {leased}"), Reason::Stale)?;
    }
    Ok(())
}

fn owner_token(
    owner: &mut super::site::Owner,
    words: &str,
) -> Result<String, osm_testkit::tools::Stop> {
    Ok(token(&owner.ok(words)?["claim"]))
}

fn another_boot_id_proves_no_death(site: &Site) -> Outcome {
    let mut owner = site.agent()?;
    let first = owner.claim("work")?;
    // The machine runs on, and so does the owner.
    let mut later = rebooted(site, None)?;
    assert_eq!(later.sees("work")?["verdict"], "unknown");
    later.refused("claim work", Reason::Unknown)?;
    assert_eq!(epoch(&owner.ok("claim check work")?["claim"]), first);
    Ok(())
}

fn a_container_that_starts_again_is_another_owner(site: &Site) -> Outcome {
    root()?;
    let mut first = site.agent_below(OTHER_PIDS)?;
    let old = owner_token(&mut first, "claim work")?;
    assert_eq!(first.sh("echo $$")?.output, "1");
    drop(first);
    for _ in 0..8 {
        let mut again = site.agent_below(OTHER_PIDS)?;
        assert_eq!(again.sh("echo $$")?.output, "1");
        again.refused(&format!("claim check work --epoch {old}"), Reason::NotHeld)?;
        let said = again.osm("claim work")?;
        if said.code == 0 {
            // The number of a namespace may come back; its first process does not.
            assert_eq!(said.json["ended"]["ended"]["how"], "died", "{said:#?}");
            again.ok("release work")?;
            return Ok(());
        }
        said.assert_refused(Reason::Unknown);
    }
    Ok(())
}

fn a_time_namespace_changes_no_owner(site: &Site) -> Outcome {
    root()?;
    let shifted = ["unshare", "--time", "--boottime", "864000", "--fork", "--kill-child"];
    let (mut here, mut there) = (site.agent()?, site.agent_below(&shifted)?);
    here.claim("here")?;
    there.claim("there")?;
    for (rival, name) in [(&mut there, "here"), (&mut here, "there")] {
        let refused = rival.refused(&format!("claim {name}"), Reason::Held)?;
        assert_eq!(refused["verdict"], "alive", "{refused:#}");
    }
    here.kill()?;
    let granted = there.ok("claim here")?;
    assert_eq!(granted["ended"]["ended"]["how"], "died");
    Ok(())
}

fn what_an_owner_leaves_running_holds_nothing(site: &Site) -> Outcome {
    let (mut owner, mut rival) = (site.agent()?, site.agent()?);
    rival.sh("mkfifo LAB/hold")?.ok()?;
    owner.claim("work")?;
    owner.sh("(setsid sh -c 'echo $$ >LAB/pid; read x <LAB/hold; echo >LAB/over' &) 9<>LAB/.config/one-shot-man/claims.db")?.ok()?;
    site.lab.wait_for(&site.path("pid"))?;
    owner.kill()?;
    let granted = rival.ok("claim work")?;
    assert_eq!(granted["ended"]["ended"]["how"], "died");
    rival.sh("until test -s LAB/pid; do :; done; kill -0 $(cat LAB/pid); echo >LAB/hold")?.ok()?;
    site.lab.wait_for(&site.path("over"))?;
    Ok(())
}

fn a_copied_ledger_proves_nothing(site: &Site) -> Outcome {
    let mut owner = site.agent()?;
    owner.claim("work")?;
    owner.sh("cp -r LAB/.config/one-shot-man LAB/copy")?.ok()?;
    let mut elsewhere = rebooted(site, Some("0123456789abcdef0123456789abcdef\n"))?;
    elsewhere.sh("export OSM_HOME=LAB/copy")?.ok()?;
    let refused = elsewhere.refused("claim work", Reason::Unknown)?;
    assert_eq!(
        refused["evidence"], "its process ran in another boot or on another machine",
        "{refused:#}"
    );
    // A ledger that is in two places at once would be two ledgers soon.
    owner.sh("mkdir LAB/hard LAB/soft; ln LAB/copy/claims.db LAB/hard/claims.db; ln -s LAB/.config/one-shot-man/claims.db LAB/soft/claims.db")?.ok()?;
    for home in ["hard", "soft"] {
        let said = owner.osm_with(&format!("OSM_HOME=LAB/{home}"), "claim work")?;
        assert_eq!(said.code, 1, "{said:#?}");
        assert!(said.errors.contains("claims.db"), "{said:#?}");
    }
    Ok(())
}

fn a_full_disk_leaves_all_as_it_was(site: &Site) -> Outcome {
    root()?;
    let mut owner = site.agent_below(&["unshare", "--mount"])?;
    owner.sh("mkdir LAB/small && mount -t tmpfs -o size=512k,mode=700 none LAB/small && export OSM_HOME=LAB/small")?.ok()?;
    let first = owner.claim("work")?;
    owner.sh("head -c 1m /dev/zero >LAB/small/filler; test -s LAB/small/filler")?.ok()?;
    let full = owner.osm("claim other --note $(head -c 9000 /dev/zero | tr '\\0' x)")?;
    assert_eq!(full.code, 1, "{full:#?}");
    assert!(full.errors.contains("claims.db") && full.errors.contains("full"), "{full:#?}");
    owner.sh("rm LAB/small/filler && mount -o remount,ro LAB/small")?.ok()?;
    for words in ["claim other", "release work", "claim handoff work --to ex--me_27"] {
        let said = owner.osm(words)?;
        assert_eq!(said.code, 1, "{words}: {said:#?}");
        assert!(said.errors.contains("claims.db"), "{words}: {said:#?}");
    }
    owner.ok("claim check work")?;
    owner.sh("mount -o remount,rw LAB/small")?.ok()?;
    assert_eq!(epoch(&owner.sees("work")?), first);
    assert_eq!(owner.story("work")?, ["granted"]);
    owner.ok("release work")?;
    owner.claim("other")?;
    Ok(())
}

fn another_users_processes_are_unknown(site: &Site) -> Outcome {
    root()?;
    let mut owner = site.agent()?;
    // The ledger is an ordinary user's, the process that the session hangs on is root's.
    owner.sh("mkdir LAB/n && chown 65534:65534 LAB/n")?.ok()?;
    let as_user = "setpriv --reuid 65534 --regid 65534 --clear-groups env HOME=LAB/n";
    let claimed = owner.osm_with(as_user, "claim work")?;
    claimed.assert_granted();
    assert!(claimed.errors.contains("belongs to another user"), "{claimed:#?}");
    let hidden = format!("mount -t proc -o hidepid=2 proc /proc; exec {as_user} \"$0\"");
    let mut rival = site.agent_below(&["unshare", "--mount", "sh", "-c", &hidden])?;
    let refused = rival.refused("claim work", Reason::Unknown)?;
    assert_eq!(refused["evidence"], "its process cannot be read", "{refused:#}");
    assert_eq!(rival.ok("claim sweep")?["counts"]["unknown_holder"], 1);
    // Another user's ledger is neither read nor taken over.
    let said = owner.osm_with("HOME=LAB/n", "claim work")?;
    assert_eq!(said.code, 1, "{said:#?}");
    assert!(said.errors.contains("owned by another user"), "{said:#?}");
    assert_eq!(owner.osm_with(as_user, "claim check work")?.code, 0);
    Ok(())
}

/// Without random numbers no grant can be told from another: an error, and no panic.
fn no_random_numbers(site: &Site) -> Outcome {
    root()?;
    let refuse = refuse(site.lab.path(), "getrandom")?.display().to_string();
    let mut owner = site.agent()?;
    for error in ["1", "38"] {
        // The device is the other source.
        owner.ok(&format!("claim with-device-{error}"))?;
        let claimed =
            owner.osm_with(&format!("{refuse} {error}"), &format!("claim work-{error}"))?;
        claimed.assert_granted();
        let without = format!("mount -t tmpfs none /dev; exec {refuse} {error} \"$@\"");
        let without = format!("unshare --mount sh -c '{without}' sh");
        for words in ["claim none", "claims", "session list"] {
            let said = owner.osm_with(&without, words)?;
            assert_eq!(said.code, 1, "{words}: {said:#?}");
            assert!(said.errors.contains("no random numbers"), "{words}: {said:#?}");
        }
        let hook = owner.sh(&format!("echo {{}} | {without} OSM agent hook before-tool"))?;
        assert_eq!(hook.code, 0, "{hook:#?}");
        assert!(hook.errors.contains("no random numbers"), "{hook:#?}");
        owner.sh(&format!("{without} OSM session id"))?.ok()?;
    }
    Ok(())
}

fn a_restored_ledger_knows_its_epochs(site: &Site) -> Outcome {
    let mut owner = site.agent()?;
    let first = owner_token(&mut owner, "claim work")?;
    owner.sh("cp -r LAB/.config LAB/backup")?.ok()?;
    owner.ok("release work")?;
    owner.ok("claim other")?;
    let later = owner_token(&mut owner, "claim work")?;
    let other = token(&owner.sees("other")?);
    owner.sh("rm -r LAB/.config && mv LAB/backup LAB/.config")?.ok()?;
    // What was granted after the backup is not known any more, whatever its number.
    owner.refused(&format!("claim check work --epoch {later}"), Reason::UnknownEpoch)?;
    owner.refused(&format!("release work --epoch {later}"), Reason::UnknownEpoch)?;
    owner.ok(&format!("claim check work --epoch {first}"))?;
    let again = owner_token(&mut owner, "claim third")?;
    let number = |token: &str| token.split('.').next().map(str::to_owned);
    assert_eq!(number(&again), number(&other), "the same number is granted again");
    owner.ok(&format!("claim check third --epoch {again}"))?;
    owner.refused(&format!("claim check third --epoch {other}"), Reason::UnknownEpoch)?;
    Ok(())
}
