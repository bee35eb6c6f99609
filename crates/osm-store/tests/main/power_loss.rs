//! The power fails at any moment: what was acknowledged is there, and nothing is half done.

use std::process::Output;

use osm_testkit::disk::Disk;
use osm_testkit::power_loss::{Found, PowerLoss, home};
use osm_testkit::stops::FolderBy;
use osm_testkit::{tools, trials};

use crate::worker::program;

fn run(disk: &Disk, arguments: &[&str]) -> Output {
    disk.command(program()).arg(home(disk)).args(arguments).output().unwrap()
}

#[track_caller]
fn say(disk: &Disk, arguments: &[&str]) -> String {
    let output = run(disk, arguments);
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// A disk with a store in which `s` has an archive and a value; the archive's name.
fn used() -> (Disk, String) {
    trials::need(tools::program("strace"));
    let disk = trials::need(Disk::new());
    assert!(disk.command("mkdir").arg(home(&disk)).status().unwrap().success());
    say(&disk, &["set", "s", "k", "\"archived\""]);
    let archived = say(&disk, &["reset", "s"]);
    say(&disk, &["set", "s", "k", "\"old\""]);
    (disk, archived)
}

fn command<'a>(arguments: &'a [&'a str]) -> PowerLoss<'a> {
    PowerLoss { program: program(), folder_by: FolderBy::Argument, arguments }
}

/// The value of `s`, which must be readable whatever happened, and changeable.
#[track_caller]
fn value(found: &Found) -> String {
    let value = say(&found.disk, &["get", "s", "k"]);
    say(&found.disk, &["set", "s", "k", "\"next\""]);
    assert_eq!(say(&found.disk, &["get", "s", "k"]), "\"next\"", "{}", found.point);
    value
}

/// Lets the power fail during a command that turns the value of `s` from `old` into `new`.
fn power_fails(arguments: &[&str], disk: &Disk, new: &str) {
    let (mut before, mut after) = (0, 0);
    let mut show = |found: &Found| {
        let value = value(found);
        let point = &found.point;
        assert!(value == "\"old\"" || value == new, "{arguments:?}, {point}: {value}");
        assert!(!found.acknowledged || value == new, "{arguments:?}, {point}: lost");
        if value == new { after += 1 } else { before += 1 }
    };
    let points = command(arguments).everywhere(disk, &mut show).unwrap();
    assert!(points > 5 && before > 0 && after > 0, "{points}: {before} before, {after} after");
}

#[test]
fn in_a_save() {
    power_fails(&["set", "s", "k", "\"new\""], &used().0, "\"new\"");
}

#[test]
fn in_a_restore() {
    let (disk, archived) = used();
    power_fails(&["restore", &archived, "s"], &disk, "\"archived\"");
}

/// A reset keeps what it takes away.
#[test]
fn in_a_reset() {
    let (disk, archived) = used();
    let mut show = |Found { disk, acknowledged, point }: &Found| {
        let folder = home(disk).join("sessions/archive");
        let listed = disk.command("ls").arg(folder).output().unwrap();
        let listed = String::from_utf8(listed.stdout).unwrap();
        let archive = listed.lines().find(|name| *name != archived);
        match say(disk, &["get", "s", "k"]).as_str() {
            "\"old\"" => assert!(!acknowledged, "{point}: lost"),
            "null" => {
                let archive = archive.unwrap_or_else(|| panic!("{point}: no archive"));
                say(disk, &["restore", archive, "s"]);
                assert_eq!(say(disk, &["get", "s", "k"]), "\"old\"", "{point}");
            }
            other => panic!("{point}: {other}"),
        }
    };
    command(&["reset", "s"]).everywhere(&disk, &mut show).unwrap();
}

/// Were nothing synced, these tests would see it.
#[test]
fn a_save_that_is_not_synced_is_lost() {
    let (disk, _) = used();
    let found = command(&["set", "s", "k", "\"new\""]).without_syncs(&disk).unwrap();
    assert!(found.acknowledged);
    assert_eq!(value(&found), "\"old\"");
}
