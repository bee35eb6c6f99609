//! Files and folders that are not what they should be: refused by name, never followed, never waited
//! for.

#![expect(clippy::disallowed_methods, reason = "what is moved here is no user's")]

use std::fs::Permissions;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
use std::path::Path;
use std::process::Command;

use osm_store::backend::{ArchiveKind, Backend, Stored, Wait};
use osm_store::{Error, FsBackend, Result};
use osm_testkit::{tools, trials};

use crate::child::Child;
use crate::harness::{Home, Single, clock, entry, get, id, myself, names, now, put};

const OTHER_USER: u32 = 65534;

fn permissions(path: &Path) -> u32 {
    path.symlink_metadata().unwrap().mode() & 0o7777
}

fn set_permissions(path: &Path, mode: u32) {
    std::fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

/// That something was refused because of one file, which is named.
#[track_caller]
fn refused<T>(result: Result<T>, path: &Path) -> String {
    match result {
        Ok(_) => panic!("{} was accepted", path.display()),
        Err(error @ Error::Unsafe { .. }) => {
            assert!(error.to_string().contains(path.to_str().unwrap()), "{error}");
            error.to_string()
        }
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn everything_is_private_under_any_umask() {
    for umask in ["000", "022", "077"] {
        let home = Home::new();
        let script = format!("umask {umask}; exec \"$0\" \"$@\"");
        let mut child =
            Child::start_after(Command::new("/usr/bin/env"), &script, "everything", &home.root());
        child.expect("done");
        let mut folders = vec![home.root()];
        let mut files = 0;
        while let Some(folder) = folders.pop() {
            assert_eq!(permissions(&folder), 0o700, "{}", folder.display());
            for name in names(&folder) {
                let path = folder.join(name);
                if path.is_dir() {
                    folders.push(path);
                } else {
                    files += 1;
                    assert_eq!(permissions(&path), 0o600, "{}", path.display());
                }
            }
        }
        assert!(files >= 5, "only {files} files");
        child.go_on();
        child.finish();
    }
}

/// What can stand where a file should be.
const IMPOSTORS: [&str; 5] = ["folder", "link", "dangling link", "FIFO", "link to a folder"];

fn put_impostor(what: &str, path: &Path, outside: &Path) {
    let target = outside.join("outside.txt");
    std::fs::write(&target, "outside").unwrap();
    match what {
        "folder" => std::fs::create_dir(path).unwrap(),
        "link" => symlink(&target, path).unwrap(),
        "dangling link" => symlink(outside.join("nowhere"), path).unwrap(),
        "link to a folder" => symlink(outside, path).unwrap(),
        "FIFO" => {
            assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
        }
        _ => panic!("{what}"),
    }
}

#[test]
fn documents_that_are_no_files_are_refused() {
    for what in IMPOSTORS {
        let home = Home::new();
        let (backend, x) = (home.open(), id("x"));
        put(&backend, &id("good"), "{}").unwrap();
        let path = backend.place(&x);
        put_impostor(what, &path, home.outside());

        let said = refused(backend.load(Stored::Session(&x), None), &path);
        assert!(said.contains("not a file"), "{said}");
        refused(backend.load(Stored::Session(&x), Some(osm_store::backend::Stamp([0; 4]))), &path);
        refused(put(&backend, &x, "{}"), &path);
        refused(backend.remove_session(&x, true), &path);
        assert!(entry(&backend, &x).is_none());
        assert_eq!(backend.entries().unwrap().len(), 1, "the others are there");
        assert!(path.symlink_metadata().is_ok(), "and it is left alone");
        unharmed(&home);
    }
}

#[test]
fn locks_and_records_that_are_no_files_are_refused() {
    for what in IMPOSTORS {
        let home = Home::new();
        let (backend, x) = (home.open(), id("x"));
        put(&backend, &id("good"), "{}").unwrap();
        backend.archive(ArchiveKind::Archive, "good", b"{}").unwrap();
        let root = home.root();
        let place = |path: &str| {
            let path = root.join(path);
            put_impostor(what, &path, home.outside());
            path
        };
        let presence = place(&format!("sessions/{x}.session.lock"));
        refused(backend.share(&x, &myself("me"), Wait::NONE).map(drop), &presence);
        let y = id("y");
        let write = place(&format!("sessions/{y}.session.write.lock"));
        refused(put(&backend, &y, "{}"), &write);
        let cleanup = place("cleanup.lock");
        refused(backend.lock_cleanup(&myself("me")).map(drop), &cleanup);
        let metadata = place("metadata.json");
        refused(backend.metadata(), &metadata);
        let audit = place("audit.jsonl");
        refused(backend.append_audit("line"), &audit);
        let name = "bad--000.session.json";
        let archived = place(&format!("sessions/archive/{name}"));
        refused(backend.read_archived(ArchiveKind::Archive, name), &archived);
        refused(backend.discard(ArchiveKind::Archive, name), &archived);
        assert_eq!(backend.archives_of(ArchiveKind::Archive).unwrap().len(), 1);
        assert_eq!(
            backend.archive(ArchiveKind::Archive, "bad", b"{}").unwrap(),
            "bad--001.session.json",
            "its name is taken"
        );
        backend.sweep(now() + jiff::SignedDuration::from_hours(9), false).unwrap();
        for path in [presence, write, cleanup, metadata, audit, archived] {
            assert!(path.symlink_metadata().is_ok(), "{} is left alone", path.display());
        }
        unharmed(&home);
    }
}

/// That nothing outside the store was touched.
fn unharmed(home: &Home) {
    let outside = home.outside();
    assert_eq!(std::fs::read_to_string(outside.join("outside.txt")).unwrap(), "outside");
    assert_eq!(names(outside), ["outside.txt", "store"]);
}

#[test]
fn folders_that_lead_elsewhere_are_refused() {
    let home = Home::new();
    let elsewhere = home.outside().join("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    std::fs::create_dir(home.root()).unwrap();
    symlink(&elsewhere, home.sessions()).unwrap();
    refused(FsBackend::open(&home.root(), clock()), &home.sessions());

    std::fs::remove_file(home.sessions()).unwrap();
    std::fs::write(home.sessions(), "a file").unwrap();
    refused(FsBackend::open(&home.root(), clock()), &home.sessions());

    std::fs::remove_file(home.sessions()).unwrap();
    let backend = home.open();
    put(&backend, &id("x"), "{}").unwrap();
    let kind = home.sessions().join("archive");
    symlink(&elsewhere, &kind).unwrap();
    refused(backend.archive(ArchiveKind::Archive, "stem", b"{}"), &kind);
    refused(backend.archives_of(ArchiveKind::Archive), &kind);
    let trash = home.sessions().join("trash");
    symlink(&elsewhere, &trash).unwrap();
    refused(backend.remove_session(&id("x"), true), &trash);
    assert_eq!(get(&backend, &id("x")).as_deref(), Some("{}"), "not removed, for it was not kept");

    // Swapped while the store is open.
    std::fs::rename(home.sessions(), home.outside().join("moved")).unwrap();
    symlink(&elsewhere, home.sessions()).unwrap();
    refused(backend.load(Stored::Session(&id("x")), None), &home.sessions());
    refused(put(&backend, &id("x"), "{}"), &home.sessions());
    refused(backend.entries(), &home.sessions());
    assert_eq!(names(&elsewhere), [""; 0]);
    std::fs::create_dir(elsewhere.join("archive")).unwrap();
    refused(backend.archive(ArchiveKind::Archive, "stem", b"{}"), &home.sessions());
    assert_eq!(names(&elsewhere.join("archive")), [""; 0]);
}

#[test]
fn the_root_may_be_reached_by_a_link() {
    let home = Home::new();
    let real = home.outside().join("dotfiles");
    std::fs::create_dir(&real).unwrap();
    set_permissions(&real, 0o755);
    symlink(&real, home.root()).unwrap();
    let backend = home.open();
    put(&backend, &id("x"), "{}").unwrap();
    assert_eq!(names(&real), ["sessions"]);
    assert_eq!(permissions(&real), 0o755, "what the user chose is the user's affair");
    assert_eq!(permissions(&real.join("sessions")), 0o700);
}

#[test]
fn a_root_that_cannot_be_made_is_told() {
    let home = Home::new();
    symlink(home.outside().join("nowhere"), home.root()).unwrap();
    let refused = put(&home.open(), &id("x"), "{}").unwrap_err();
    assert!(refused.to_string().contains(home.root().to_str().unwrap()), "{refused}");
    assert!(matches!(refused, Error::Io { .. }));

    let home = Home::new();
    std::fs::write(home.root(), "a file").unwrap();
    assert!(
        self::refused(FsBackend::open(&home.root(), clock()), &home.root()).contains("a folder")
    );
}

#[test]
fn folders_that_others_can_write_to_are_refused() {
    let home = Home::new();
    let backend = home.open();
    put(&backend, &id("x"), "{}").unwrap();
    for path in [home.sessions(), home.root()] {
        set_permissions(&path, 0o777);
        let said = refused(FsBackend::open(&home.root(), clock()), &path);
        assert!(said.contains("0777"), "{said}");
        refused(backend.append_audit("line").and_then(|()| put(&backend, &id("x"), "{}")), &path);
        set_permissions(&path, 0o700);
    }
    for mode in [0o755, 0o770, 0o711] {
        set_permissions(&home.sessions(), mode);
        let backend = home.open();
        assert_eq!(get(&backend, &id("x")).as_deref(), Some("{}"));
        assert_eq!(permissions(&home.sessions()), 0o700, "closed to others");
    }
}

#[test]
fn files_of_another_user_are_refused() {
    trials::need(tools::root());
    let home = Home::new();
    let (backend, x) = (home.open(), id("x"));
    put(&backend, &x, "{}").unwrap();
    drop(backend.share(&x, &myself("me"), Wait::NONE).unwrap());
    let give = |path: &Path, user| chown(path, Some(user), None).unwrap();

    let document = backend.place(&x);
    give(&document, OTHER_USER);
    assert!(refused(backend.load(Stored::Session(&x), None), &document).contains("65534"));
    refused(put(&backend, &x, "{}"), &document);
    refused(backend.remove_session(&x, false), &document);
    assert_eq!(entry(&backend, &x).unwrap().summary, None, "listed, not read");
    give(&document, 0);
    for extension in ["session.lock", "session.write.lock"] {
        let lock = home.sessions().join(format!("{x}.{extension}"));
        give(&lock, OTHER_USER);
        refused(
            backend
                .share(&x, &myself("me"), Wait::NONE)
                .and_then(|_presence| put(&backend, &x, "{}")),
            &lock,
        );
        give(&lock, 0);
    }
    for folder in [home.sessions(), home.root()] {
        give(&folder, OTHER_USER);
        refused(FsBackend::open(&home.root(), clock()), &folder);
        give(&folder, 0);
    }
    assert_eq!(get(&home.open(), &x).as_deref(), Some("{}"));
}
