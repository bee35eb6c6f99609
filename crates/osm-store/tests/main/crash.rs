//! Killed, or failed, at every system call: the document is the old one or the new one.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Output;

use osm_testkit::stops::{FolderBy, Stops, copy_folder};
use osm_testkit::{tools, trials};

use crate::worker::{program, say};

/// Everything by which a store is read or changed.
const CALLS: &str = "openat,open,creat,write,pwrite64,writev,read,pread64,fsync,fdatasync,rename,\
    renameat,renameat2,unlink,unlinkat,mkdir,mkdirat,ftruncate,fchmod,chmod,flock,newfstatat,statx,\
    fstat,getdents64,linkat,link";

/// A store to begin with, copied for every attempt.
struct Stage {
    folder: tempfile::TempDir,
    template: PathBuf,
    archived: String,
}

impl Stage {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let template = folder.path().join("template");
        fs::create_dir(&template).unwrap();
        say(&template, &["set", "s", "k", "\"archived\""]);
        let archived = say(&template, &["reset", "s"]);
        say(&template, &["set", "s", "k", "\"old\""]);
        for number in 0..7 {
            say(&template, &["set", &format!("more-{number}"), "k", "\"more\""]);
        }
        Self { folder, template, archived }
    }

    /// A fresh copy.
    fn copy(&self, name: &str) -> PathBuf {
        let root = self.folder.path().join(name);
        drop(fs::remove_dir_all(&root));
        copy_folder(&self.template, &root).unwrap();
        root
    }
}

/// The value of `s`, which must be readable whatever happened.
fn value(root: &Path) -> String {
    say(root, &["get", "s", "k"])
}

fn names(root: &Path, kind: &str) -> Vec<String> {
    let folder = root.join("sessions").join(kind);
    let entries = fs::read_dir(folder).into_iter().flatten();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

/// Tries every call of a command, and says how many points that were.
fn at_every_call(
    name: &str,
    arguments: impl Fn(&Stage) -> Vec<String>,
    holds: impl Fn(&Stage, &Path, &Output, &str),
    again: impl Fn(&Stage, &Path),
) {
    trials::need(tools::program("strace"));
    let stage = Stage::new();
    let arguments = arguments(&stage);
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let log = stage.folder.path().join("log");
    let (program, folder_by) = (program(), FolderBy::Argument);
    let stops = Stops { launcher: Vec::new(), program, folder_by, calls: CALLS, log };
    let points = stops.points(&stage.copy("count"), &arguments).unwrap();
    for point in &points {
        let root = stage.copy("attempt");
        let output = stops.run(&root, &arguments, Some(point)).unwrap();
        holds(&stage, &root, &output, point);
        again(&stage, &root);
        say(&root, &["clean"]);
        let stray_files: Vec<String> =
            names(&root, "").into_iter().filter(|name| name.starts_with(".tmp")).collect();
        assert!(stray_files.is_empty(), "{arguments:?} {point}: {stray_files:?}");
    }
    let points = points.len();
    assert!(points > 30, "{points}");
    let mut stderr = std::io::stderr();
    writeln!(stderr, "{name}: killed or failed at {points} points").unwrap();
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

#[test]
fn a_save() {
    at_every_call(
        "save",
        |_| words(&["set", "s", "k", "\"new\""]),
        |_, root, output, point| {
            let value = value(root);
            assert!(value == "\"old\"" || value == "\"new\"", "{point}: {value}");
            assert!(
                !output.status.success() || value == "\"new\"",
                "{point}: acknowledged and lost"
            );
        },
        |_, root| {
            say(root, &["set", "s", "k", "\"next\""]);
            assert_eq!(value(root), "\"next\"");
        },
    );
}

#[test]
fn a_reset_with_its_archive() {
    at_every_call(
        "reset and archive",
        |_| words(&["reset", "s"]),
        |stage, root, _, point| {
            let value = value(root);
            let (archives, before) =
                (names(root, "archive").len(), names(&stage.template, "archive").len());
            let safe = value == "\"old\"" || (value == "null" && archives > before);
            assert!(safe, "{point}: {value}, {archives} archives");
        },
        |_, root| drop(say(root, &["reset", "s"])),
    );
}

#[test]
fn a_restore() {
    at_every_call(
        "restore",
        |stage| words(&["restore", &stage.archived, "s"]),
        |stage, root, _, point| {
            let value = value(root);
            assert!(value == "\"old\"" || value == "\"archived\"", "{point}: {value}");
            assert!(
                names(root, "archive").contains(&stage.archived),
                "{point}: the archive is lost"
            );
        },
        |stage, root| {
            say(root, &["restore", &stage.archived, "s"]);
            assert_eq!(value(root), "\"archived\"");
        },
    );
}

#[test]
fn a_deletion() {
    at_every_call(
        "delete",
        |_| words(&["delete", "s"]),
        |stage, root, output, point| {
            let document = "ex--s_";
            let is_it = |name: &String| name.starts_with(document) && !name.contains("lock");
            let kept = names(root, "").iter().any(is_it);
            assert!(kept || names(root, "trash").iter().any(is_it), "{point}: it is lost");
            assert!(!output.status.success() || !kept, "{point}: acknowledged and still there");
            if kept {
                assert_eq!(value(root), value(&stage.template), "{point}");
            }
        },
        |_, root| drop(say(root, &["set", "s", "k", "\"next\""])),
    );
}

#[test]
fn a_cleanup() {
    at_every_call(
        "clean",
        |_| words(&["clean"]),
        |stage, root, _, point| {
            let sessions = |root: &Path| root.join("sessions");
            let (after, trash) = (names(root, ""), names(root, "trash"));
            for name in names(&stage.template, "") {
                let Some(id) = name.strip_suffix(".session.json") else { continue };
                let kept = after.contains(&name);
                assert!(kept || trash.iter().any(|it| it.starts_with(id)), "{point}: {id} is lost");
                if kept {
                    let (old, new) =
                        (sessions(&stage.template).join(&name), sessions(root).join(&name));
                    assert_eq!(fs::read(old).unwrap(), fs::read(new).unwrap(), "{point}");
                }
            }
        },
        |_, root| drop(say(root, &["clean"])),
    );
}
