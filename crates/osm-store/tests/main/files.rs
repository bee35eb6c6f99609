//! What is on disk: names, times, stray files, the audit log.

use std::fs::{File, OpenOptions};
use std::time::{Duration, SystemTime};

use jiff::SignedDuration;
use osm_store::Error;
use osm_store::audit::Event;
use osm_store::backend::{ArchiveKind, Backend, Current, Stored, Wait};
use osm_store::layout::Temporary;

use crate::harness::{Home, Single, entry, get, id, myself, names, now, put};

#[test]
fn nothing_is_made_before_it_is_needed() {
    let home = Home::new();
    let backend = home.open();
    let x = id("x");
    assert!(backend.entries().unwrap().is_empty());
    assert!(matches!(backend.load(Stored::Session(&x), None).unwrap(), Current::Missing));
    assert!(backend.holders(&x).unwrap().is_empty());
    assert!(backend.remove_session(&x, true).is_err());
    assert_eq!(backend.sweep(now(), false).unwrap(), 0);
    assert_eq!(backend.metadata().unwrap(), None);
    assert!(!home.root().exists());

    put(&backend, &x, "{}").unwrap();
    assert_eq!(names(&home.root()), ["sessions"]);
    let extensions = ["json", "lock", "write.lock"].map(|it| format!("{x}.session.{it}"));
    let names_now: Vec<_> =
        names(&home.sessions()).into_iter().filter(|name| !name.contains(".holders")).collect();
    assert_eq!(names_now, extensions);
    backend.remove_session(&x, false).unwrap();
    assert_eq!(names(&home.sessions()), [""; 0], "nothing stays of a session that was removed");
}

#[test]
fn a_store_that_was_removed_or_moved_is_found_again() {
    let home = Home::new();
    let (backend, x) = (home.open(), id("x"));
    put(&backend, &x, "old").unwrap();
    let presence = backend.share(&x, &myself("me"), Wait::NONE).unwrap();
    if cfg!(unix) {
        std::fs::remove_dir_all(home.root()).unwrap();
    } else {
        drop(presence);
        std::fs::remove_dir_all(home.root()).unwrap();
    }
    assert_eq!(get(&backend, &x), None);
    put(&backend, &x, "new").unwrap();
    assert_eq!(
        get(&home.open(), &x).as_deref(),
        Some("new"),
        "not kept in a folder without a name"
    );
}

#[test]
fn a_reader_keeps_what_it_opened() {
    let home = Home::new();
    let (backend, x) = (home.open(), id("x"));
    put(&backend, &x, "old").unwrap();
    // Readers take no lock, and a save does not wait for them.
    let reader = File::open(backend.place(&x)).unwrap();
    match put(&backend, &x, "new") {
        Ok(_) => assert_eq!(get(&backend, &x).as_deref(), Some("new")),
        // Before Windows 10, and under Wine, no file is replaced while it is open: the
        // save is refused, and nothing is lost.
        Err(Error::Io { .. }) if cfg!(windows) => {
            assert_eq!(get(&backend, &x).as_deref(), Some("old"));
        }
        Err(error) => panic!("{error}"),
    }
    assert_eq!(std::io::read_to_string(reader).unwrap(), "old");
    put(&backend, &x, "newer").unwrap();
    assert_eq!(get(&backend, &x).as_deref(), Some("newer"));
}

#[test]
fn a_save_is_later_than_the_one_that_it_replaces() {
    let home = Home::new();
    let (backend, x) = (home.open(), id("x"));
    put(&backend, &x, "1").unwrap();
    let path = backend.place(&x);
    let set = |ahead: SignedDuration| {
        let time = SystemTime::from(now() + ahead);
        OpenOptions::new().write(true).open(&path).unwrap().set_modified(time).unwrap();
        entry(&backend, &x).unwrap()
    };
    let before = set(SignedDuration::from_mins(30));
    let stamp = put(&backend, &x, "2").unwrap();
    let after = entry(&backend, &x).unwrap();
    assert_eq!(after.stamp, stamp);
    assert!(after.modified > before.modified, "a clock that is a little off");
    assert!(after.modified.duration_since(before.modified).as_secs() < 3);

    let before = set(SignedDuration::from_hours(48));
    put(&backend, &x, "3").unwrap();
    let after = entry(&backend, &x).unwrap();
    assert!(
        after.modified < before.modified,
        "a clock that was set back: the new time is the truth"
    );
    assert!(after.modified.duration_since(now()).abs().as_secs() < 60);
}

#[test]
fn the_list_shows_what_can_be_read() {
    let home = Home::new();
    let backend = home.open();
    let texts = [
        ("a", "short"),
        ("b", "first line\nsecond"),
        ("c", ""),
        ("d", &"x".repeat(5000)),
        ("e", &format!("{}\n", "y".repeat(4000))),
    ];
    for (name, text) in texts {
        put(&backend, &id(name), text).unwrap();
    }
    std::fs::write(home.sessions().join("notes.txt"), "mine").unwrap();
    std::fs::write(home.sessions().join("no id.session.json"), "mine").unwrap();
    std::fs::create_dir(home.sessions().join(format!("{}.session.json", id("dir")))).unwrap();
    backend.archive(ArchiveKind::Archive, "stem", b"{}").unwrap();

    let entries = backend.entries().unwrap();
    let summaries: Vec<_> = entries
        .iter()
        .map(|entry| {
            let summary =
                entry.summary.as_deref().map(|line| String::from_utf8(line.to_vec()).unwrap());
            (entry.id.to_string(), entry.size, summary)
        })
        .collect();
    let line = |text: &str| Some(text.to_owned());
    assert_eq!(
        summaries,
        [
            (id("a").to_string(), 5, line("short")),
            (id("b").to_string(), 17, line("first line")),
            (id("c").to_string(), 0, line("")),
            (id("d").to_string(), 5000, None),
            (id("e").to_string(), 4001, line(&"y".repeat(4000))),
        ]
    );
    assert!(entries.iter().all(|entry| !entry.active));
}

#[test]
fn a_long_list_is_whole_and_in_order() {
    let home = Home::new();
    let backend = home.open();
    put(&backend, &id("first"), "{}").unwrap();
    // Enough for several threads; Wine takes its time with every file.
    let many = if cfg!(windows) { 601 } else { 3001 };
    let mut expected: Vec<_> = (0..many).map(|number| id(&format!("s{number}"))).collect();
    for id in &expected {
        std::fs::write(backend.place(id), format!("{id}\nrest")).unwrap();
    }
    expected.push(id("first"));
    expected.sort();
    let open: Vec<_> = [5, many - 1].map(|at: usize| expected[at].clone()).into();
    let _open: Vec<_> =
        open.iter().map(|id| backend.share(id, &myself("me"), Wait::NONE).unwrap()).collect();
    let entries = backend.entries().unwrap();
    let ids: Vec<_> = entries.iter().map(|entry| entry.id.clone()).collect();
    assert_eq!(ids, expected);
    for entry in entries {
        assert_eq!(entry.active, open.contains(&entry.id), "{}", entry.id);
        if entry.id != id("first") {
            assert_eq!(entry.summary.as_deref(), Some(entry.id.as_str().as_bytes()));
        }
    }
}

#[test]
fn a_document_that_is_too_large_is_not_read() {
    let home = Home::new();
    let (backend, x) = (home.open(), id("x"));
    put(&backend, &x, "{}").unwrap();
    let size = 1 << 30;
    let file = OpenOptions::new().write(true).open(backend.place(&x)).unwrap();
    file.set_len(size).unwrap();
    drop(file);
    let refused = backend.load(Stored::Session(&x), None).unwrap_err();
    assert!(matches!(refused, Error::TooLarge { .. }), "{refused}");
    assert!(refused.to_string().contains(&size.to_string()), "{refused}");
    let mut never = |_| panic!("there is nothing to show");
    assert!(backend.update(&x, None, &myself("me"), Wait::NONE, &mut never).is_err());
    assert_eq!(entry(&backend, &x).unwrap().size, size, "but it is listed");
}

/// A gigabyte is refused by its size, before any of it is in memory.
#[cfg(target_os = "linux")]
#[test]
fn a_huge_document_takes_no_memory() {
    let home = Home::new();
    let (backend, x) = (home.open(), id("x"));
    put(&backend, &x, "{}").unwrap();
    let path = backend.place(&x);
    OpenOptions::new().write(true).open(&path).unwrap().set_len(1 << 30).unwrap();
    let worker = crate::worker::program();
    let root = home.root();
    for arguments in [["get", "x", "k"], ["set", "x", "k"]] {
        let command = arguments.iter().chain(&["1"][..usize::from(arguments[0] == "set")]);
        // Less address space than the document has bytes.
        let output = std::process::Command::new("sh")
            .args(["-c", "ulimit -v 400000; exec \"$0\" \"$@\""])
            .arg(&worker)
            .arg(&root)
            .args(command)
            .output()
            .unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(said.contains("1073741824 bytes exceed the limit"), "{said}");
    }
    assert_eq!(path.metadata().unwrap().len(), 1 << 30, "and it is left alone");
}

/// Makes a file with a time.
fn make(home: &Home, path: &str, age: Duration) {
    let path = home.root().join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    let file = File::create(path).unwrap();
    file.set_modified(SystemTime::from(now()) - age).unwrap();
}

#[test]
fn litter_is_told_from_what_is_in_use() {
    let home = Home::new();
    let backend = home.open();
    put(&backend, &id("kept"), "{}").unwrap();
    let open = backend.share(&id("open"), &myself("me"), Wait::NONE).unwrap();
    let (new, old) = (Duration::ZERO, Duration::from_hours(2));
    let temporary = |pid, random| Temporary { pid, pid_space: 0, random }.name();
    let mine = temporary(std::process::id(), 1);
    make(&home, &mine, new);
    make(&home, &format!("sessions/{mine}"), new);
    for place in ["", "sessions/", "sessions/archive/", "sessions/trash/"] {
        make(&home, &format!("{place}{}", temporary(1, 2)), old);
    }
    make(&home, "sessions/.tmp-session-1234", old);
    make(&home, &format!("sessions/{}.session.lock", id("gone")), old);
    make(&home, &format!("sessions/{}.session.write.lock", id("gone")), old);
    make(&home, &format!("sessions/{}.session.lock", id("new")), new);
    make(&home, "sessions/archive/never-filled--000.session.json", old);
    make(&home, "sessions/archive/being-filled--000.session.json", new);
    let lock = home.sessions().join(format!("{}.session.lock", id("open")));
    if cfg!(unix) {
        File::open(lock).unwrap().set_modified(SystemTime::from(now()) - old).unwrap();
    }

    assert_eq!(backend.sweep(now(), true).unwrap(), 7);
    assert_eq!(backend.sweep(now(), false).unwrap(), 7);
    assert_eq!(backend.sweep(now(), false).unwrap(), 0);
    assert_eq!(names(&home.root()), [mine.as_str(), "sessions"]);
    let left: Vec<_> =
        names(&home.sessions()).into_iter().filter(|name| !name.contains(".holders")).collect();
    assert_eq!(
        left,
        [
            mine.as_str(),
            ".tmp-session-1234",
            "archive",
            &format!("{}.session.json", id("kept")),
            &format!("{}.session.lock", id("kept")),
            &format!("{}.session.write.lock", id("kept")),
            &format!("{}.session.lock", id("new")),
            &format!("{}.session.lock", id("open")),
            "trash",
        ]
    );
    assert_eq!(names(&home.sessions().join("archive")), ["being-filled--000.session.json"]);
    drop(open);
}

#[test]
fn what_was_never_filled_is_not_shown() {
    let home = Home::new();
    let backend = home.open();
    make(&home, "sessions/archive/empty--000.session.json", Duration::ZERO);
    let name = backend.archive(ArchiveKind::Archive, "empty", b"full").unwrap();
    assert_eq!(name, "empty--001.session.json");
    assert_eq!(backend.archives_of(ArchiveKind::Archive).unwrap().len(), 1);
}

#[test]
fn a_shelf_has_an_end() {
    let home = Home::new();
    let backend = home.open();
    for number in 0..1000 {
        make(&home, &format!("sessions/archive/full--{number:03}.session.json"), Duration::ZERO);
    }
    let refused = backend.archive(ArchiveKind::Archive, "full", b"{}").unwrap_err();
    assert!(
        matches!(&refused, Error::Io { source, .. }
        if source.kind() == std::io::ErrorKind::AlreadyExists),
        "{refused}"
    );
    assert_eq!(names(&home.sessions().join("archive")).len(), 1000, "and nothing is left behind");
}

#[test]
fn the_audit_keeps_every_line_and_rotates() {
    let home = Home::new();
    let backend = home.open();
    let filler = "x".repeat(300_000);
    let lines = |name: &str| lines_or_none(&home, name);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| (0..15).for_each(|_| backend.append_audit(&filler).unwrap()));
        }
    });
    assert_eq!(
        lines("audit.jsonl") + lines("audit.1.jsonl") + lines_or_none(&home, "audit.2.jsonl"),
        30
    );
    assert!(lines("audit.1.jsonl") >= 14);

    for _ in 0..80 {
        backend.append_audit(&filler).unwrap();
    }
    let kept: Vec<_> =
        names(&home.root()).into_iter().filter(|name| name.contains(".jsonl")).collect();
    assert_eq!(kept, ["audit.1.jsonl", "audit.2.jsonl", "audit.3.jsonl", "audit.jsonl"]);
}

fn lines_or_none(home: &Home, name: &str) -> usize {
    // A process that sees half a line begins a new one: a blank line is no event.
    let text = std::fs::read_to_string(home.root().join(name)).unwrap_or_default();
    text.lines().filter(|line| !line.is_empty()).count()
}

#[test]
fn a_torn_line_of_the_audit_spoils_no_other() {
    let home = Home::new();
    let backend = home.open();
    backend.append_audit("one").unwrap();
    std::fs::write(home.root().join("audit.jsonl"), "one\n{\"to").unwrap();
    backend.append_audit("two").unwrap();
    let text = std::fs::read_to_string(home.root().join("audit.jsonl")).unwrap();
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(lines[..2], ["one", "{\"to"]);
    assert_eq!(Event::parse(lines[2]).unwrap().reason.as_deref(), Some("two"));
}

#[test]
fn damaged_trash_is_told() {
    let home = Home::new();
    let backend = home.open();
    let name = backend.archive(ArchiveKind::Trash, "stem", b"document").unwrap();
    let path = home.sessions().join("trash").join(&name);
    let packed = std::fs::read(&path).unwrap();
    std::fs::write(&path, &packed[..packed.len() - 3]).unwrap();
    let refused = backend.read_archived(ArchiveKind::Trash, &name).unwrap_err();
    assert!(matches!(refused, Error::Corrupt { .. }), "{refused}");
    assert!(refused.to_string().contains(&name), "{refused}");
}
