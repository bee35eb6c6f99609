//! The file system under a repository: what it shows of a folder may change, and a claim stays held.
//!
//! Each agent is in the mount namespace of the first one, which made the mounts; so they end with
//! the test.

use std::process::Command;

use osm_claims::Reason;
use osm_testkit::seccomp::refuse;
use osm_testkit::tools::{Stop, program, root};

use super::release::{COMMIT, GIT};
use super::row::{Outcome, Test, test};
use super::site::{Owner, Site};

pub(crate) const TESTS: &[Test] = &[
    test!(a_copy_up_changes_no_repository),
    test!(a_copy_up_across_file_systems_changes_no_repository),
    test!(a_repository_without_birth_time_is_the_same),
    test!(a_repository_that_is_made_again_in_its_worktree_keeps_its_claims),
    test!(a_ledger_of_an_earlier_version_is_understood),
    test!(suite_on_overlayfs),
    test!(suite_on_overlayfs_across_file_systems),
    test!(suite_on_tmpfs),
    test!(suite_on_a_bind_mount),
    test!(suite_with_statx_refused),
];

/// Mounts an overlay of `LAB/low` on `LAB/merged`; the upper layer is in a folder that is given.
fn overlay(upper: &str) -> String {
    format!(
        "mkdir -p LAB/low LAB/merged {upper}/u {upper}/w && mount -t overlay overlay \
         -o lowerdir=LAB/low,upperdir={upper}/u,workdir={upper}/w LAB/merged"
    )
}

/// A tmpfs for the upper layer.
const ELSEWHERE: &str = "mkdir -p LAB/other && mount -t tmpfs none LAB/other";

/// What a folder shows: device, inode, and time of birth.
const SHOWN: &str = "stat -c '%d %i %w' .git";

/// An agent that sees the mounts of another one.
fn beside<'a>(site: &'a Site, owner: &Owner) -> Result<Owner<'a>, Stop> {
    let namespace = format!("--mount=/proc/{}/ns/mnt", owner.pid().as_raw_nonzero());
    site.agent_below(&["nsenter", &namespace])
}

/// An agent with mounts of its own.
fn mounting<'a>(site: &'a Site, mounts: &str) -> Result<Owner<'a>, Stop> {
    root()?;
    let script = site.lab.spell(&format!("{mounts} && exec \"$0\""));
    let mut agent = site.agent_below(&["unshare", "--mount", "sh", "-c", &script])?;
    if agent.sh("true").is_err() {
        return Err(Stop::Skipped(format!("not possible here: {mounts}")));
    }
    Ok(agent)
}

fn a_copy_up_changes_no_repository(site: &Site) -> Outcome {
    copied_up(site, &overlay("LAB/up"))
}

fn a_copy_up_across_file_systems_changes_no_repository(site: &Site) -> Outcome {
    copied_up(site, &format!("{ELSEWHERE} && {}", overlay("LAB/other")))
}

/// `.git` is copied up while a session holds a claim: it was born at another time from then on.
fn copied_up(site: &Site, mounts: &str) -> Outcome {
    let mut owner = mounting(site, mounts)?;
    // In the lower layer, where it was before anything was mounted.
    owner.sh(&format!("git init -q LAB/low/repo && cd LAB/low/repo && {GIT}"))?.ok()?;
    owner.sh("osm claim guard install --require && umount LAB/merged")?.ok()?;
    let mut owner = mounting(site, mounts)?;
    let mut rival = beside(site, &owner)?;
    for agent in [&mut owner, &mut rival] {
        agent.sh("cd LAB/merged/repo && export PATH=LAB/bin:$PATH")?.ok()?;
    }
    owner.claim("work")?;
    let before = owner.sh(SHOWN)?.output;
    owner.sh(COMMIT)?.ok()?;
    // The inode leaves the cache.
    owner
        .sh("echo 2 >/proc/sys/vm/drop_caches; mkdir LAB/bound && mount --bind . LAB/bound")?
        .ok()?;
    assert_ne!(owner.sh(SHOWN)?.output, before, "nothing was copied up");
    for place in ["LAB/merged/repo", "LAB/bound"] {
        rival.sh(&format!("cd {place}"))?.ok()?;
        rival.refused("claim work", Reason::Held)?;
        let commit = rival.sh(COMMIT)?;
        assert!(commit.code != 0 && commit.errors.contains("holds no claim"), "{commit:#?}");
        owner.sh(&format!("cd {place}"))?.ok()?;
        owner.ok("claim check work")?;
        owner.sh(COMMIT)?.ok()?;
    }
    owner.ok("release work")?;
    rival.claim("work")?;
    rival.sh(COMMIT)?.ok()?;
    Ok(())
}

fn a_repository_without_birth_time_is_the_same(site: &Site) -> Outcome {
    let refuse = refuse(site.lab.path(), "statx")?.display().to_string();
    let mut seeing = site.agent()?;
    seeing.sh("mkdir deep; ln -s LAB/repo LAB/link")?.ok()?;
    for error in ["1", "38"] {
        let mut blind = site.agent_below(&[&refuse, error])?;
        let (one, other) = (format!("one-{error}"), format!("other-{error}"));
        blind.claim(&one)?;
        seeing.claim(&other)?;
        for place in ["LAB/repo", "LAB/repo/deep", "LAB/link"] {
            for agent in [&mut seeing, &mut blind] {
                agent.sh(&format!("cd {place}"))?.ok()?;
            }
            seeing.refused(&format!("claim {one}"), Reason::Held)?;
            blind.refused(&format!("claim {other}"), Reason::Held)?;
            seeing.ok(&format!("claim check {other}"))?;
            blind.ok(&format!("claim check {one}"))?;
        }
    }
    Ok(())
}

fn a_repository_that_is_made_again_in_its_worktree_keeps_its_claims(site: &Site) -> Outcome {
    let (mut owner, mut rival) = (site.agent()?, site.agent()?);
    owner.claim("work")?;
    owner.sh("mv .git LAB/aside && git init -q")?.ok()?;
    rival.refused("claim work", Reason::Held)?;
    owner.ok("claim check work")?;
    Ok(())
}

fn a_ledger_of_an_earlier_version_is_understood(site: &Site) -> Outcome {
    let (mut owner, mut rival) = (site.agent()?, site.agent()?);
    owner.claim("work")?;
    let ledger = rusqlite::Connection::open(site.ledger()).expect("a ledger");
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id")?;
    let shown = owner.sh("stat -c '%d:%i' .git")?.output;
    // Of a time of birth that was read, that could not be read, and that overlayfs changed later.
    for born in ["born", "0", "1234567890123456789"] {
        let lasting: String =
            ledger.query_row("SELECT folder FROM scope", [], |row| row.get(0)).expect("one scope");
        let born = match born {
            "born" => lasting.split(':').nth(3).unwrap_or_default().to_owned(),
            born => born.to_owned(),
        };
        let folder = format!("{}:{shown}:{born}", boot.trim());
        ledger.execute("UPDATE scope SET folder = ?1", [&folder]).expect("it is ours");
        rival.refused("claim work", Reason::Held)?;
        owner.ok("claim check work")?;
        // Moved, it is found as long as its time of birth is not another one.
        if born != "1234567890123456789" {
            owner.sh("mv LAB/repo LAB/moved && cd LAB/moved")?.ok()?;
            rival.sh("cd LAB/moved")?.ok()?;
            rival.refused("claim work", Reason::Held)?;
            owner.sh("mv LAB/moved LAB/repo && cd LAB/repo")?.ok()?;
            rival.sh("cd LAB/repo")?.ok()?;
        }
        owner.ok("claim work")?;
    }
    Ok(())
}

/// The parts of the suite that use repositories, and sessions that compete.
const PARTS: &[&str] = &["acquisition::", "guard", "one_scope", "git_refuses"];

/// What can be proven only where a folder keeps its time of birth.
const LASTING_PARTS: &[&str] = &["a_new_repository", "a_repository_keeps"];

fn suite_on_overlayfs(site: &Site) -> Outcome {
    suite(site, &overlay("LAB/up"), "LAB/merged", PARTS)
}

fn suite_on_overlayfs_across_file_systems(site: &Site) -> Outcome {
    suite(site, &format!("{ELSEWHERE} && {}", overlay("LAB/other")), "LAB/merged", PARTS)
}

fn suite_on_tmpfs(site: &Site) -> Outcome {
    suite(site, ELSEWHERE, "LAB/other", &[PARTS, LASTING_PARTS].concat())
}

fn suite_on_a_bind_mount(site: &Site) -> Outcome {
    let mounts = "mkdir -p LAB/real LAB/bound && mount --bind LAB/real LAB/bound";
    suite(site, mounts, "LAB/bound", &[PARTS, LASTING_PARTS].concat())
}

fn suite_with_statx_refused(site: &Site) -> Outcome {
    refuse(site.lab.path(), "statx")?;
    suite(site, "mkdir -p LAB/plain && set -- LAB/refuse_statx 1", "LAB/plain", PARTS)
}

/// Runs parts of this suite in a folder, in a mount namespace of its own.
fn suite(site: &Site, mounts: &str, folder: &str, parts: &[&str]) -> Outcome {
    root()?;
    let this = std::env::current_exe()?;
    for part in parts {
        let script = format!(
            "{mounts} || exit 77; chmod 777 {folder}; export TMPDIR={folder}
             exec \"$@\" {} --skip file_system:: --test-threads 2 {part}",
            this.display()
        );
        let output = Command::new(program("unshare")?)
            .args(["--mount", "sh", "-c", &site.lab.spell(&script)])
            .output()?;
        let said = String::from_utf8_lossy(&output.stdout);
        match output.status.code() {
            Some(0) => {}
            Some(77) => return Err(Stop::Skipped(format!("not possible here: {mounts}"))),
            _ => return Err(Stop::Failed(format!("{part} in {folder}:\n{said}"))),
        }
        assert!(!said.contains(" 0 passed"), "there is no test of {part}: {said}");
    }
    Ok(())
}
