//! The power fails at any moment: a grant that was acknowledged is known, a release too, and the
//! ledger goes on.

use osm_testkit::disk::Disk;
use osm_testkit::power_loss::{Found, PowerLoss, home};
use osm_testkit::stops::FolderBy;
use osm_testkit::{tools, trials};

use crate::claimant::program;

/// What becomes of a claim of `task` by another session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Second {
    Granted,
    Refused,
}

fn run(disk: &Disk, arguments: &[&str]) -> std::process::Output {
    disk.command(program()).arg(home(disk)).args(arguments).output().unwrap()
}

/// A disk with a ledger in which `commands` were done.
fn used(commands: &[&[&str]]) -> Disk {
    trials::need(tools::program("strace"));
    let disk = trials::need(Disk::new());
    assert!(disk.command("mkdir").arg(home(&disk)).status().unwrap().success());
    for command in commands {
        let output = run(&disk, command);
        assert!(output.status.success(), "{output:?}");
    }
    disk
}

fn command<'a>(arguments: &'a [&'a str]) -> PowerLoss<'a> {
    PowerLoss { program: program(), folder_by: FolderBy::Argument, arguments }
}

/// Claims `task` for another session. The owner has no process that could be proven dead.
#[track_caller]
fn claim_again(found: &Found) -> Second {
    let output = run(&found.disk, &["second", "claim", "task"]);
    match output.status.code() {
        Some(0) => Second::Granted,
        Some(10..) => Second::Refused,
        _ => panic!("{}: {output:?}", found.point),
    }
}

/// Lets the power fail during a command after which a second claim has another answer.
fn power_fails(arguments: &[&str], disk: &Disk, after: Second) {
    let (mut done, mut undone) = (0, 0);
    let mut show = |found: &Found| {
        let second = claim_again(found);
        if second == after {
            done += 1;
        } else {
            assert!(!found.acknowledged, "{arguments:?}, {}: lost", found.point);
            undone += 1;
        }
    };
    let points = command(arguments).everywhere(disk, &mut show).unwrap();
    assert!(points > 3 && done > 0 && undone > 0, "{points}: {done} done, {undone} not");
}

#[test]
fn in_the_first_claim() {
    power_fails(&["owner", "claim", "task"], &used(&[]), Second::Refused);
}

#[test]
fn in_a_claim() {
    let disk = used(&[&["other", "claim", "another task"]]);
    power_fails(&["owner", "claim", "task"], &disk, Second::Refused);
}

#[test]
fn in_a_release() {
    let disk = used(&[&["owner", "claim", "task"]]);
    power_fails(&["owner", "release", "task"], &disk, Second::Granted);
}

/// Were nothing synced, these tests would see it.
#[test]
fn a_claim_that_is_not_synced_is_lost() {
    let disk = used(&[&["other", "claim", "another task"]]);
    let found = command(&["owner", "claim", "task"]).without_syncs(&disk).unwrap();
    assert!(found.acknowledged);
    assert_eq!(claim_again(&found), Second::Granted);
}
