//! One story, every backend: it walks through every operation, and cannot tell which one it is on.

use std::sync::mpsc;
use std::time::Duration;

use osm_store::backend::{Backend, Current, Shelf, Wait};
use osm_store::{Error, MemoryBackend, Pieces};

use crate::harness::{Home, entry, get, id, increment, myself, now, put, set_metadata, time};

#[test]
fn files() {
    story(&Home::new().open());
}

#[test]
fn memory() {
    story(&MemoryBackend::new());
}

#[test]
fn clones_of_a_memory_share_it() {
    let one = MemoryBackend::new();
    let two = one.clone();
    put(&one, &id("x"), "shared").unwrap();
    assert_eq!(get(&two, &id("x")).as_deref(), Some("shared"));
    assert_eq!(get(&MemoryBackend::new(), &id("x")), None);
    one.append_audit("a line").unwrap();
    assert_eq!(two.audit(), ["a line"]);
}

pub(crate) fn story(backend: &dyn Backend) {
    an_empty_store(backend);
    a_document_lives(backend);
    sessions_are_attended(backend);
    documents_are_removed(backend);
    changes_are_one_step(backend);
    shelves(backend);
    records(backend);
    assert!(backend.entries().unwrap().is_empty(), "the story cleans up after itself");
}

fn an_empty_store(backend: &dyn Backend) {
    let id = id("nobody");
    assert!(backend.entries().unwrap().is_empty());
    assert!(matches!(backend.load(&id, None).unwrap(), Current::Missing));
    assert!(backend.holders(&id).unwrap().is_empty());
    assert!(matches!(
        backend.remove(&id, true, now(), &mut |_| panic!("there is nothing to show")),
        Err(Error::NotFound(missing)) if missing == id
    ));
    for shelf in Shelf::ALL {
        assert!(backend.shelved(shelf).unwrap().is_empty());
    }
    assert_eq!(backend.metadata().unwrap(), None);
    assert_eq!(backend.sweep_litter(now(), false).unwrap(), 0);
}

fn a_document_lives(backend: &dyn Backend) {
    let (id, holder) = (id("life"), myself("story"));
    let update = |known, next: &mut dyn FnMut(Current) -> osm_store::Result<Option<Pieces>>| {
        backend.update(&id, known, &holder, Wait::USUAL, next)
    };

    let nothing = update(None, &mut |current| {
        assert!(matches!(current, Current::Missing));
        Ok(None)
    });
    assert_eq!(nothing.unwrap(), None, "still nothing");

    let first =
        update(None, &mut |_| Ok(Some(b"summary\nfirst".to_vec().into()))).unwrap().unwrap();
    assert!(matches!(backend.load(&id, Some(first)).unwrap(), Current::Unchanged));
    assert!(matches!(
        backend.load(&id, None).unwrap(),
        Current::Found(bytes, stamp) if bytes == b"summary\nfirst" && stamp == first
    ));

    let entry = entry(backend, &id).unwrap();
    assert_eq!((entry.size, entry.stamp, entry.active), (13, first, false));
    assert_eq!(entry.summary.as_deref(), Some(&b"summary"[..]));
    assert!(now().duration_since(entry.modified).abs().as_secs() < 60);

    let second = update(Some(first), &mut |current| {
        assert!(matches!(current, Current::Unchanged), "nobody came in between");
        Ok(Some(b"summary\nother".to_vec().into()))
    });
    let second = second.unwrap().unwrap();
    assert_ne!(first, second, "the same size, but another one");

    let third = update(Some(first), &mut |current| {
        assert!(
            matches!(&current, Current::Found(bytes, stamp)
            if bytes == b"summary\nother" && *stamp == second),
            "somebody came in between"
        );
        Ok(None)
    });
    assert_eq!(third.unwrap(), Some(second), "left as it was");
    let failed = update(None, &mut |_| Err(Error::Invalid("no".into())));
    assert!(matches!(failed, Err(Error::Invalid(_))));
    assert!(matches!(backend.load(&id, Some(second)).unwrap(), Current::Unchanged));

    let large = "x".repeat(3_000_000);
    put(backend, &id, &large).unwrap();
    assert_eq!(get(backend, &id), Some(large));
    put(backend, &id, "").unwrap();
    assert_eq!(get(backend, &id).as_deref(), Some(""), "nothing is something too");
    assert!(backend.remove(&id, false, now(), &mut |_| true).unwrap());
}

fn sessions_are_attended(backend: &dyn Backend) {
    let (id, holder) = (id("attended"), myself("first"));
    put(backend, &id, "{}").unwrap();
    let first = backend.attend(&id, &holder, Wait::NONE).unwrap();
    let second = backend.attend(&id, &myself("second"), Wait::NONE).unwrap();
    let commands = || -> Vec<_> {
        backend.holders(&id).unwrap().into_iter().map(|holder| holder.command).collect()
    };
    assert_eq!(commands(), ["first", "second"]);
    assert_eq!(backend.holders(&id).unwrap()[0], holder);
    assert!(entry(backend, &id).unwrap().active);
    put(backend, &id, "changed while it is open").unwrap();

    let refused = backend.remove(&id, true, now(), &mut |_| panic!("it is open")).unwrap_err();
    assert!(matches!(&refused, Error::Busy { holders, .. } if holders.len() == 2));
    assert!(refused.to_string().contains("`first`"), "{refused}");

    drop(first);
    assert_eq!(commands(), ["second"]);
    assert!(entry(backend, &id).unwrap().active);
    drop(second);
    assert!(commands().is_empty());
    assert!(!entry(backend, &id).unwrap().active);
    assert!(backend.remove(&id, false, now(), &mut |entry| !entry.active).unwrap());
}

fn documents_are_removed(backend: &dyn Backend) {
    let id = id("removed");
    let stamp = put(backend, &id, "line\nrest").unwrap();
    let mut seen = None;
    let mut no = |entry: &osm_store::backend::Entry| {
        seen = Some(entry.clone());
        false
    };
    assert!(!backend.remove(&id, true, now(), &mut no).unwrap());
    let seen = seen.unwrap();
    assert_eq!((&seen.id, seen.stamp, seen.active), (&id, stamp, false));
    assert_eq!(seen.summary.as_deref(), Some(&b"line"[..]));
    assert_eq!(get(backend, &id).as_deref(), Some("line\nrest"));

    let when = time("2025-11-26T14:03:00.9Z");
    assert!(backend.remove(&id, true, when, &mut |_| true).unwrap());
    assert_eq!(get(backend, &id), None);
    let trash = backend.shelved(Shelf::Trash).unwrap();
    let expected = format!("{id}--trash--2025-11-26T14-03-00Z--000.session.json.gz");
    assert_eq!(trash.len(), 1);
    assert_eq!((&trash[0].name, &trash[0].id), (&expected, &Some(id.clone())));
    assert_eq!(backend.read_shelved(Shelf::Trash, &expected).unwrap(), b"line\nrest");

    // A session of that name can begin anew, and be removed in the same second.
    put(backend, &id, "again").unwrap();
    assert!(backend.remove(&id, true, when, &mut |_| true).unwrap());
    assert_eq!(
        backend.shelved(Shelf::Trash).unwrap()[1].name,
        expected.replace("--000.", "--001.")
    );
    for item in backend.shelved(Shelf::Trash).unwrap() {
        backend.discard(Shelf::Trash, &item.name).unwrap();
    }
    assert!(matches!(backend.remove(&id, true, when, &mut |_| true), Err(Error::NotFound(_))));
}

fn changes_are_one_step(backend: &dyn Backend) {
    let id = id("counted");
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let holder = myself("count");
                for _ in 0..50 {
                    increment(backend, &id, &holder);
                }
            });
        }
    });
    assert_eq!(get(backend, &id).as_deref(), Some("000200"), "no change was lost");

    let (changing, begun) = mpsc::channel();
    let (go_on, told) = mpsc::channel::<()>();
    std::thread::scope(|scope| {
        let (id, other) = (&id, &crate::harness::id("other"));
        scope.spawn(move || {
            let mut next = |_| {
                changing.send(()).unwrap();
                told.recv().unwrap();
                Ok(Some(b"slow".to_vec().into()))
            };
            backend.update(id, None, &myself("slow"), Wait::USUAL, &mut next).unwrap();
        });
        begun.recv().unwrap();
        let mut never = |_| panic!("somebody else is changing it");
        let short = Wait(Duration::from_millis(20));
        let refused = backend.update(id, None, &myself("quick"), short, &mut never).unwrap_err();
        assert!(
            matches!(&refused, Error::Busy { holders, .. }
                if holders.len() == 1 && holders[0].command == "slow"),
            "{refused}"
        );
        assert!(matches!(backend.remove(id, false, now(), &mut |_| true), Err(Error::Busy { .. })));
        assert_eq!(get(backend, id).as_deref(), Some("000200"), "reading goes on");
        put(backend, other, "and so does everybody else").unwrap();
        go_on.send(()).unwrap();
        put(backend, id, "last").unwrap();
        assert!(backend.remove(other, false, now(), &mut |_| true).unwrap());
    });
    assert_eq!(get(backend, &id).as_deref(), Some("last"), "who waited came after");
    assert!(backend.remove(&id, false, now(), &mut |_| true).unwrap());
}

fn shelves(backend: &dyn Backend) {
    for (number, shelf) in Shelf::ALL.into_iter().enumerate() {
        let stem = osm_store::layout::stem(&id("shelved"), "word", time("2026-01-02T03:04:05Z"));
        let first = backend.shelve(shelf, &stem, b"first").unwrap();
        std::thread::sleep(Duration::from_millis(20));
        let second = backend.shelve(shelf, &stem, b"second").unwrap();
        let third = backend.shelve(shelf, "a-different-stem", b"third").unwrap();
        assert!(first.starts_with(&format!("{stem}--000.session.json")));
        assert!(second.starts_with(&format!("{stem}--001.session.json")));

        let items = backend.shelved(shelf).unwrap();
        let names: Vec<_> = items.iter().map(|item| item.name.clone()).collect();
        assert_eq!(names[0], first, "oldest first");
        assert_eq!(items.len(), 3);
        assert_eq!(items[0].id, Some(id("shelved")));
        assert_eq!(items.iter().find(|item| item.name == third).unwrap().id, None);
        for (name, content) in [(&first, "first"), (&second, "second"), (&third, "third")] {
            assert_eq!(backend.read_shelved(shelf, name).unwrap(), content.as_bytes());
        }
        let elsewhere = Shelf::ALL[(number + 1) % Shelf::ALL.len()];
        assert!(matches!(backend.read_shelved(elsewhere, &first), Err(Error::NotShelved(_))));
        for name in names {
            backend.discard(shelf, &name).unwrap();
            assert!(matches!(backend.discard(shelf, &name), Err(Error::NotShelved(_))));
            assert!(matches!(backend.read_shelved(shelf, &name), Err(Error::NotShelved(_))));
        }
        for name in ["", "..", "../x.session.json", "/x.session.json", "a\\b.session.json.gz"] {
            assert!(matches!(backend.read_shelved(shelf, name), Err(Error::NotShelved(_))));
            assert!(matches!(backend.discard(shelf, name), Err(Error::NotShelved(_))));
        }
        assert!(matches!(backend.shelve(shelf, "../x", b""), Err(Error::Invalid(_))));
        assert!(backend.shelved(shelf).unwrap().is_empty());
    }
}

fn records(backend: &dyn Backend) {
    let cleanup = backend.lock_cleanup(&myself("one")).unwrap().expect("nobody else cleans");
    assert!(backend.lock_cleanup(&myself("two")).unwrap().is_none());
    drop(cleanup);
    assert!(backend.lock_cleanup(&myself("two")).unwrap().is_some());

    set_metadata(backend, b"{\"a\":1}").unwrap();
    set_metadata(backend, b"{}").unwrap();
    assert_eq!(backend.metadata().unwrap().as_deref(), Some(&b"{}"[..]));

    backend.append_audit("{\"event\":1}").unwrap();
    backend.append_audit("{\"event\":2}").unwrap();
    assert!(matches!(backend.append_audit("two\nlines"), Err(Error::Invalid(_))));
}
