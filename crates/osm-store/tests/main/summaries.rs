//! What a list keeps at hand for the next one changes nothing but its speed.

#![expect(clippy::disallowed_methods, reason = "these are the files of a test")]

use std::fs;
use std::path::PathBuf;

use osm_store::FsBackend;
use osm_store::backend::{Backend, Entry, Listing, Page};
use osm_store::layout::SUMMARIES;

use crate::harness::{Home, Single, id, put};

/// Enough sessions for such a file.
const MANY: usize = 300;

fn many(home: &Home) -> (FsBackend, PathBuf) {
    let backend = home.open();
    put(&backend, &id("s0"), "first 0\nrest").unwrap();
    for number in 1..MANY {
        let place = backend.place(&id(&format!("s{number}")));
        fs::write(place, format!("first {number}\nrest")).unwrap();
    }
    (backend, home.root().join(SUMMARIES))
}

/// A list, which must be what the documents say.
fn listed(backend: &FsBackend) -> Vec<Entry> {
    let entries = backend.entries().unwrap();
    assert_eq!(backend.list(&Page::default()).unwrap(), Listing::whole(entries.clone()));
    entries
}

#[test]
fn a_list_is_the_same_with_and_without() {
    let home = Home::new();
    let (backend, file) = many(&home);
    assert_eq!(listed(&backend).len(), MANY);
    let kept = fs::read_to_string(&file).unwrap();
    assert_eq!(kept.lines().count(), MANY);
    listed(&backend);
    assert_eq!(fs::read_to_string(&file).unwrap(), kept, "nothing changed");

    let changed = put(&backend, &id("s7"), "another\nline").unwrap();
    let entries = listed(&backend);
    let entry = entries.iter().find(|entry| entry.id == id("s7")).unwrap();
    assert_eq!((entry.stamp, entry.summary.as_deref()), (changed, Some(&b"another"[..])));
    assert_eq!(fs::read_to_string(&file).unwrap(), kept, "one change is not worth writing");
    for number in 0..MANY / 2 {
        let place = backend.place(&id(&format!("s{number}")));
        fs::write(place, format!("changed {number}\nrest, and more")).unwrap();
    }
    listed(&backend);
    assert!(fs::read_to_string(&file).unwrap().contains("changed 149\n"), "many are");
}

#[test]
fn nothing_that_is_not_ours_is_believed() {
    let home = Home::new();
    let (backend, file) = many(&home);
    listed(&backend);
    let kept = fs::read(&file).unwrap();
    let text = String::from_utf8(kept.clone()).unwrap();
    let backwards: String = text.lines().rev().flat_map(|line| [line, "\n"]).collect();
    let another = {
        let elsewhere = Home::new();
        let (backend, file) = many(&elsewhere);
        for number in 0..MANY {
            let place = backend.place(&id(&format!("s{number}")));
            fs::write(place, "elsewhere\n").unwrap();
        }
        listed(&backend);
        fs::read(file).unwrap()
    };
    for foreign in [
        text.replace("first", "worst").into_bytes(),
        text.replace("ex--s1", "ex--s2").into_bytes(),
        backwards.into_bytes(),
        kept[..kept.len() / 2].to_vec(),
        vec![0; kept.len()],
        [kept.as_slice(), b"\xff\xff no end"].concat(),
        another,
        Vec::new(),
    ] {
        fs::write(&file, &foreign).unwrap();
        listed(&backend);
    }
    fs::remove_file(&file).unwrap();
    fs::create_dir(&file).unwrap();
    listed(&backend);
}

#[cfg(unix)]
#[test]
fn it_is_private_and_never_followed() {
    use std::os::unix::fs::{PermissionsExt, symlink};

    let home = Home::new();
    let (backend, file) = many(&home);
    let outside = home.outside().join("mine");
    fs::write(&outside, "mine").unwrap();
    symlink(&outside, &file).unwrap();
    listed(&backend);
    assert_eq!(fs::read_to_string(&outside).unwrap(), "mine");
    let facts = fs::symlink_metadata(&file).unwrap();
    assert!(facts.is_file());
    assert_eq!(facts.permissions().mode() & 0o777, 0o600);
}

#[test]
fn what_is_gone_is_to_be_found_nowhere() {
    let home = Home::new();
    let (backend, file) = many(&home);
    listed(&backend);
    fs::remove_file(backend.place(&id("s42"))).unwrap();
    listed(&backend);
    let kept = fs::read_to_string(&file).unwrap();
    assert!(!kept.contains(id("s42").as_str()), "removed by hand");
    assert_eq!(kept.lines().count(), MANY - 1);

    backend.remove_session(&id("s43"), false).unwrap();
    assert!(!file.exists());
}

#[test]
fn a_few_sessions_have_none() {
    let home = Home::new();
    let backend = home.open();
    for name in ["a", "b"] {
        put(&backend, &id(name), "{}").unwrap();
    }
    listed(&backend);
    assert!(!home.root().join(SUMMARIES).exists());
}
