//! Disks that are full, have no inodes left, or cannot be written: a clear error, the old data
//! intact, nothing left behind; and once there is room again, work goes on.
//!
//! Each runs in a process of its own whose mounts no other process sees. Needs root.

#![expect(clippy::disallowed_methods, reason = "what is removed here is no user's")]

use std::io::ErrorKind;
use std::path::Path;
use std::process::Command;

use osm_store::backend::{ArchiveKind, Backend, Wait};
use osm_store::{Error, FsBackend, Result};
use osm_testkit::{tools, trials};

use crate::child::Child;
use crate::harness::{Home, Single, clock, entry, get, id, myself, names, now, put, set_metadata};

fn on_disk(options: &str, errand: &str) {
    let unshare = trials::need(tools::root().and_then(|()| tools::program("unshare")));
    let home = Home::new();
    std::fs::create_dir(home.root()).unwrap();
    let root = home.root().display().to_string();
    let script =
        format!("mount -t tmpfs -o mode=0700,{options} tmpfs '{root}' && exec \"$0\" \"$@\"");
    let mut command = Command::new(unshare);
    command.arg("--mount");
    Child::start_after(command, &script, errand, &home.root()).finish();
}

#[test]
fn full() {
    on_disk("size=256k", "disk full");
}

#[test]
fn out_of_inodes() {
    on_disk("size=1m,nr_inodes=10", "disk inodes");
}

#[test]
fn read_only() {
    on_disk("size=1m", "disk read-only");
}

/// That something failed for want of room, and says so.
#[track_caller]
fn failed<T>(result: Result<T>, kind: ErrorKind) {
    match result {
        Ok(_) => panic!("there was no room for that"),
        Err(Error::Io { source, .. }) if source.kind() == kind => {}
        Err(error) => panic!("{error}"),
    }
}

/// What the child does.
pub(crate) fn errand(backend: &FsBackend, root: &Path, kind: &str) {
    let x = id("x");
    let document = "x".repeat(20_000);
    put(backend, &x, &document).unwrap();
    set_metadata(backend, b"{}").unwrap();
    let intact = || {
        assert_eq!(get(backend, &x).as_deref(), Some(document.as_str()));
        assert_eq!(backend.metadata().unwrap().as_deref(), Some(&b"{}"[..]));
        assert!(!entry(backend, &x).unwrap().active);
        assert!(backend.holders(&x).unwrap().is_empty());
        for folder in ["", "sessions", "sessions/archive", "sessions/trash"] {
            let left = names(&root.join(folder));
            assert!(left.iter().all(|name| !name.starts_with(".tmp-")), "{left:?}");
        }
    };
    match kind {
        "full" => {
            let filler = root.join("filler");
            // The archive's folder must be there for a save to get as far as the content.
            backend.archive(ArchiveKind::Archive, "before", b"{}").unwrap();
            std::fs::write(&filler, vec![0; 1 << 20]).unwrap_err();
            failed(put(backend, &x, &"y".repeat(20_000)), ErrorKind::StorageFull);
            failed(
                backend.archive(ArchiveKind::Archive, "stem", &vec![0; 20_000]),
                ErrorKind::StorageFull,
            );
            failed(set_metadata(backend, &[b' '; 10_000]), ErrorKind::StorageFull);
            intact();
            crate::fallback::a_save_that_fails(root);
            assert_eq!(backend.archives_of(ArchiveKind::Archive).unwrap().len(), 1);
            drop(backend.share(&x, &myself("nameless"), Wait::NONE).unwrap());
            std::fs::remove_file(filler).unwrap();
        }
        "inodes" => {
            // As though the session had never been opened here.
            std::fs::remove_file(root.join("sessions").join(format!("{x}.session.lock"))).unwrap();
            let mut fillers = Vec::new();
            loop {
                let filler = root.join(format!("filler{}", fillers.len()));
                if std::fs::write(&filler, "").is_err() {
                    break;
                }
                fillers.push(filler);
            }
            failed(put(backend, &x, "other"), ErrorKind::StorageFull);
            failed(put(backend, &id("new"), "other"), ErrorKind::StorageFull);
            failed(backend.share(&x, &myself("me"), Wait::NONE).map(drop), ErrorKind::StorageFull);
            failed(backend.archive(ArchiveKind::Archive, "stem", b"{}"), ErrorKind::StorageFull);
            failed(backend.remove_session(&x, true), ErrorKind::StorageFull);
            intact();
            crate::fallback::in_memory(root, "No space left");
            for filler in fillers {
                std::fs::remove_file(filler).unwrap();
            }
        }
        "read-only" => {
            let mount = |options: &str| {
                let status = Command::new("mount").args(["-o", options]).arg(root).status();
                assert!(status.unwrap().success());
            };
            mount("remount,ro");
            let kind = ErrorKind::ReadOnlyFilesystem;
            failed(put(backend, &x, "other"), kind);
            failed(backend.share(&x, &myself("me"), Wait::NONE).map(drop), kind);
            failed(set_metadata(backend, b"other"), kind);
            failed(backend.append_audit("line"), kind);
            failed(backend.archive(ArchiveKind::Archive, "stem", b"{}"), kind);
            failed(backend.remove_session(&x, false), kind);
            intact();
            crate::fallback::in_memory(root, "Read-only file system");
            assert_eq!(backend.sweep(now(), true).unwrap(), 0);
            let again = FsBackend::open(root, clock()).unwrap();
            assert_eq!(again.entries().unwrap().len(), 1, "reading goes on");
            mount("remount,rw");
        }
        _ => panic!("no such disk: {kind}"),
    }
    put(backend, &x, "there is room again").unwrap();
    assert_eq!(get(backend, &x).as_deref(), Some("there is room again"));
}

#[test]
fn a_container_asks_each_lock() {
    let unshare = trials::need(tools::root().and_then(|()| tools::program("unshare")));
    let home = Home::new();
    let backend = home.open();
    for name in ["a", "b"] {
        put(&backend, &id(name), "{}").unwrap();
        drop(backend.share(&id(name), &myself("before"), Wait::NONE).unwrap());
    }
    let _open = backend.share(&id("b"), &myself("me"), Wait::NONE).unwrap();
    let mut command = Command::new(unshare);
    command.args(["--pid", "--fork", "--mount-proc"]);
    // From in there we are not to be seen, and neither are our locks in /proc/locks.
    let mut child = Child::start_after(command, "exec \"$0\" \"$@\"", "list", &home.root());
    child.expect(&format!("{} false", id("a")));
    child.expect(&format!("{} true", id("b")));
    child.expect("end");
    child.finish();
}
