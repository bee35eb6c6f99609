//! One story, every backend: it uses every operation, and cannot tell which backend it is on.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::Duration;

use osm_store::backend::{
    ArchiveKind, Backend, Current, Entry, Listing, Next, Outcome, Page, Removal, Sharing, Stored,
    Transaction, Wait, update_settled,
};
use osm_store::{Error, Pieces};

use crate::harness::{
    Home, Single, clock, entry, get, id, increment, memory, myself, now, put, set_metadata, settled,
};
use crate::lossy::Lossy;

#[test]
fn files() {
    story(&Home::new().open());
}

#[test]
fn in_memory() {
    story(&memory());
}

#[test]
fn behind_a_network_that_loses_requests_and_replies() {
    let lossy = Lossy::new(clock());
    story(&lossy);
    let (requests, replies) = lossy.lost();
    assert!(requests > 50 && replies > 50, "{requests} requests and {replies} replies were lost");
}

#[test]
fn clones_of_a_memory_share_it() {
    let one = memory();
    let two = one.clone();
    put(&one, &id("x"), "shared").unwrap();
    assert_eq!(get(&two, &id("x")).as_deref(), Some("shared"));
    assert_eq!(get(&memory(), &id("x")), None);
    one.append_audit("a line").unwrap();
    assert_eq!(two.audit_lines().len(), 1);
}

pub(crate) fn story(backend: &dyn Backend) {
    an_empty_store(backend);
    a_document_lives(backend);
    sessions_are_attended(backend);
    an_exclusive_handle_keeps_others_out(backend);
    documents_are_removed(backend);
    batches_are_removed(backend);
    updates_are_one_step(backend);
    what_belongs_to_an_update_is_in_its_transaction(backend);
    lists_come_in_pages(backend);
    archives(backend);
    records(backend);
    assert!(backend.entries().unwrap().is_empty(), "the story cleans up after itself");
}

fn an_empty_store(backend: &dyn Backend) {
    let id = id("missing");
    assert!(backend.entries().unwrap().is_empty());
    assert!(matches!(backend.load(Stored::Session(&id), None).unwrap(), Current::Missing));
    assert!(backend.holders(&id).unwrap().is_empty());
    assert!(matches!(
        backend.remove_session(&id, true),
        Err(Error::NotFound(missing)) if missing == id
    ));
    for kind in ArchiveKind::ALL {
        assert!(backend.archives_of(kind).unwrap().is_empty());
    }
    assert_eq!(backend.metadata().unwrap(), None);
    assert_eq!(backend.sweep(now(), false).unwrap(), 0);
    assert!(backend.now().unwrap().duration_since(now()).abs().as_secs() < 60);
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
    let load = |known| backend.load(Stored::Session(&id), known).unwrap();
    assert!(matches!(load(Some(first)), Current::Unchanged));
    assert!(matches!(
        load(None),
        Current::Found(bytes, stamp) if bytes == b"summary\nfirst" && stamp == first
    ));

    let entry = entry(backend, &id).unwrap();
    assert_eq!((entry.size, entry.stamp, entry.active), (13, first, false));
    assert_eq!(entry.summary.as_deref(), Some(&b"summary"[..]));
    assert!(now().duration_since(entry.modified).abs().as_secs() < 60);

    let second = update(Some(first), &mut |current| {
        assert!(matches!(current, Current::Unchanged), "no update came in between");
        Ok(Some(b"summary\nother".to_vec().into()))
    });
    let second = second.unwrap().unwrap();
    assert_ne!(first, second, "the same size, but another version");

    let third = update(Some(first), &mut |current| {
        assert!(
            matches!(&current, Current::Found(bytes, stamp)
            if bytes == b"summary\nother" && *stamp == second),
            "an update came in between"
        );
        Ok(None)
    });
    assert_eq!(third.unwrap(), Some(second), "left as it was");
    let failed = update(None, &mut |_| Err(Error::NoState { command: "no".into() }));
    assert!(matches!(failed, Err(Error::NoState { .. })));
    assert!(matches!(load(Some(second)), Current::Unchanged));

    let large = "x".repeat(3_000_000);
    put(backend, &id, &large).unwrap();
    assert_eq!(get(backend, &id), Some(large));
    put(backend, &id, "").unwrap();
    assert_eq!(get(backend, &id).as_deref(), Some(""), "an empty document is a document");
    backend.remove_session(&id, false).unwrap();
}

fn sessions_are_attended(backend: &dyn Backend) {
    let (id, holder) = (id("attended"), myself("first"));
    put(backend, &id, "{}").unwrap();
    let first = backend.share(&id, &holder, Wait::NONE).unwrap();
    let second = backend.share(&id, &myself("second"), Wait::NONE).unwrap();
    let commands = || -> Vec<_> {
        backend.holders(&id).unwrap().into_iter().map(|holder| holder.command).collect()
    };
    assert_eq!(commands(), ["first", "second"]);
    assert_eq!(backend.holders(&id).unwrap()[0], holder);
    assert!(entry(backend, &id).unwrap().active);
    put(backend, &id, "changed while it is open").unwrap();

    let refused = backend.remove_session(&id, true).unwrap_err();
    assert!(matches!(&refused, Error::Busy { holders, .. } if holders.len() == 2));
    assert!(refused.to_string().contains("`first`"), "{refused}");

    drop(first);
    assert_eq!(commands(), ["second"]);
    assert!(entry(backend, &id).unwrap().active);
    drop(second);
    assert!(commands().is_empty());
    assert!(!entry(backend, &id).unwrap().active);
    backend.remove_session(&id, false).unwrap();
}

fn an_exclusive_handle_keeps_others_out(backend: &dyn Backend) {
    let (id, holder) = (id("alone"), myself("alone"));
    put(backend, &id, "{}").unwrap();
    let shared = backend.share(&id, &holder, Wait::NONE).unwrap();
    let refused = backend.attend(&id, &holder, Sharing::Exclusive, Wait::NONE).err().unwrap();
    assert!(matches!(refused, Error::Busy { .. }), "{refused}");
    drop(shared);

    let mut alone = backend.attend(&id, &holder, Sharing::Exclusive, Wait::NONE).unwrap();
    for sharing in [Sharing::Shared, Sharing::Exclusive] {
        let refused = backend.attend(&id, &myself("other"), sharing, Wait::NONE).err().unwrap();
        assert!(refused.to_string().contains("`alone`"), "{refused}");
    }
    let mut remove = |_: &mut dyn Transaction, _| Ok(Next::Remove);
    assert_eq!(update_settled(alone.as_mut(), None, Wait::NONE, &mut remove).unwrap(), None);
    assert_eq!(get(backend, &id), None);
    // The lease ended with the session, and with it the right to write.
    let mut replace = |_: &mut dyn Transaction, _| Ok(Next::Replace(b"late".to_vec().into()));
    let late = update_settled(alone.as_mut(), None, Wait::NONE, &mut replace).unwrap_err();
    assert!(matches!(&late, Error::LostLease(lost) if *lost == id), "{late}");
    assert_eq!(get(backend, &id), None);
    drop(alone);

    put(backend, &id, "again").unwrap();
    let mut shared = backend.share(&id, &holder, Wait::NONE).unwrap();
    let refused = update_settled(shared.as_mut(), None, Wait::NONE, &mut remove).unwrap_err();
    assert!(matches!(refused, Error::Busy { .. }), "only an exclusive handle removes: {refused}");
    drop(shared);
    backend.remove_session(&id, false).unwrap();
}

fn documents_are_removed(backend: &dyn Backend) {
    let id = id("removed");
    let old = put(backend, &id, "line\nrest").unwrap();
    let new = put(backend, &id, "line\nmore").unwrap();
    let removal = |expected| Removal { what: Stored::Session(&id), expected, keep: true };
    assert!(matches!(
        backend.remove_one(removal(Some(old))),
        Err(Error::Changed(changed)) if changed == id
    ));
    assert_eq!(get(backend, &id).as_deref(), Some("line\nmore"));

    backend.remove_one(removal(Some(new))).unwrap();
    assert_eq!(get(backend, &id), None);
    let trash = backend.archives_of(ArchiveKind::Trash).unwrap();
    assert_eq!(trash.len(), 1);
    assert_eq!(trash[0].id, Some(id.clone()));
    assert!(trash[0].name.starts_with(&format!("{id}--trash--")), "{}", trash[0].name);
    let kept = backend.read_archived(ArchiveKind::Trash, &trash[0].name).unwrap();
    assert_eq!(kept, b"line\nmore");

    // A session of that name can start again, and be removed in the same second.
    put(backend, &id, "again").unwrap();
    backend.remove_one(removal(None)).unwrap();
    assert_eq!(backend.archives_of(ArchiveKind::Trash).unwrap().len(), 2);
    for item in backend.archives_of(ArchiveKind::Trash).unwrap() {
        backend.discard(ArchiveKind::Trash, &item.name).unwrap();
    }
    assert!(matches!(backend.remove_session(&id, true), Err(Error::NotFound(_))));
}

fn batches_are_removed(backend: &dyn Backend) {
    let ids: Vec<_> = (0..6).map(|number| id(&format!("batch-{number}"))).collect();
    for id in &ids {
        put(backend, id, "{}").unwrap();
    }
    let open = backend.share(&ids[2], &myself("open"), Wait::NONE).unwrap();
    let missing = id("batch-missing");
    let mut left: Vec<_> = ids.iter().chain([&missing]).collect();
    let mut busy = 0;
    for _ in 0..30 {
        let removal = |id| Removal { what: Stored::Session(id), expected: None, keep: false };
        let batch: Vec<_> = left.iter().map(|id| removal(id)).collect();
        let mut again = Vec::new();
        backend.remove(&batch, &mut |number, result| {
            match result {
                Ok(()) | Err(Error::NotFound(_)) => {}
                Err(Error::Busy { .. }) => busy += 1,
                Err(Error::UnknownOutcome(_)) => again.push(left[number]),
                Err(error) => panic!("{error}"),
            }
            ControlFlow::Continue(())
        });
        left = again;
    }
    assert!(left.is_empty());
    assert_eq!(busy, 1, "the one that is open stays");
    let there: Vec<_> = backend.entries().unwrap().into_iter().map(|entry| entry.id).collect();
    assert_eq!(there, [ids[2].clone()]);
    drop(open);
    backend.remove_session(&ids[2], false).unwrap();
}

fn updates_are_one_step(backend: &dyn Backend) {
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
    assert_eq!(get(backend, &id).as_deref(), Some("000200"), "none was lost, none done twice");

    let (changing, begun) = mpsc::channel();
    let (go_on, told) = mpsc::channel::<()>();
    let calls = &AtomicUsize::new(0);
    std::thread::scope(|scope| {
        let (id, other) = (&id, &crate::harness::id("other"));
        // Dropped if an assertion fails, so that the other thread ends, too.
        let go_on = go_on;
        scope.spawn(move || {
            let mut next = |_| {
                // Where a commit is lost, it is called again.
                if calls.fetch_add(1, Ordering::SeqCst) == 0 {
                    changing.send(()).unwrap();
                    let _ended = told.recv();
                }
                Ok(Some(b"slow".to_vec().into()))
            };
            backend.update(id, None, &myself("slow"), Wait::USUAL, &mut next).unwrap();
        });
        begun.recv().unwrap();
        let mut never = |_| panic!("another update is under way");
        let short = Wait(Duration::from_millis(20));
        let refused = backend.update(id, None, &myself("quick"), short, &mut never).unwrap_err();
        assert!(
            // Where requests are lost, the lease of a handle that was closed can be there until it expires.
            matches!(&refused, Error::Busy { holders, .. }
                if holders.iter().filter(|it| it.command == "slow").count() == 1),
            "{refused}"
        );
        assert!(matches!(backend.remove_session(id, false), Err(Error::Busy { .. })));
        assert_eq!(get(backend, id).as_deref(), Some("000200"), "reading goes on");
        put(backend, other, "and so do other sessions").unwrap();
        go_on.send(()).unwrap();
        put(backend, id, "last").unwrap();
        backend.remove_session(other, false).unwrap();
    });
    let last = get(backend, &id);
    let came_again = calls.load(Ordering::SeqCst) > 1 && last.as_deref() == Some("slow");
    assert!(came_again || last.as_deref() == Some("last"), "the update that waited came after");
    backend.remove_session(&id, false).unwrap();
}

/// Archives, audit events and the shared record, from inside the callback.
fn what_belongs_to_an_update_is_in_its_transaction(backend: &dyn Backend) {
    let id = id("transaction");
    let mut attended = backend.share(&id, &myself("story"), Wait::NONE).unwrap();
    let mut next = |transaction: &mut dyn Transaction, _| {
        assert_eq!(transaction.record().unwrap(), None);
        transaction.set_record(b"{\"inside\":1}".to_vec())?;
        assert_eq!(transaction.record().unwrap().as_deref(), Some(&b"{\"inside\":1}"[..]));
        transaction.archive(ArchiveKind::Archive, "inside", b"old")?;
        assert!(transaction.now().duration_since(now()).abs().as_secs() < 60);
        Ok(Next::Replace(b"new".to_vec().into()))
    };
    let stamp = update_settled(attended.as_mut(), None, Wait::USUAL, &mut next).unwrap();
    assert_eq!(settled_outcome(attended.as_mut()), Outcome::CarriedOut(stamp));
    assert_eq!(backend.metadata().unwrap().as_deref(), Some(&b"{\"inside\":1}"[..]));
    let archives = backend.archives_of(ArchiveKind::Archive).unwrap();
    assert_eq!(archives.len(), 1, "once");
    backend.discard(ArchiveKind::Archive, &archives[0].name).unwrap();

    let mut fails = |transaction: &mut dyn Transaction, _| {
        transaction.set_record(b"never".to_vec())?;
        Err(Error::NoState { command: "no".into() })
    };
    update_settled(attended.as_mut(), stamp, Wait::USUAL, &mut fails).unwrap_err();
    assert_eq!(settled_outcome(attended.as_mut()), Outcome::NotCarriedOut);
    assert_eq!(backend.metadata().unwrap().as_deref(), Some(&b"{\"inside\":1}"[..]));
    drop(attended);
    backend.remove_session(&id, false).unwrap();
}

fn settled_outcome(attended: &mut dyn osm_store::backend::Attended) -> Outcome {
    (0..10).find_map(|_| attended.outcome().ok()).unwrap()
}

fn lists_come_in_pages(backend: &dyn Backend) {
    let mut ids: Vec<_> = (0..5).map(|number| id(&format!("page-{number}"))).collect();
    ids.sort();
    for id in &ids {
        put(backend, id, "{}").unwrap();
        backend.archive(ArchiveKind::Archive, id.as_str(), b"{}").unwrap();
    }
    for limit in [1, 2, 4, 5, 6] {
        for exact in [true, false] {
            let mut page = Page { limit: Some(limit), exact, ..Page::default() };
            let (mut seen, mut names) = (Vec::new(), Vec::new());
            loop {
                let Listing::<Entry> { items, next } = backend.list(&page).unwrap();
                assert!(items.len() <= limit);
                seen.extend(items.into_iter().map(|entry| entry.id));
                page.after = next;
                if page.after.is_none() {
                    break;
                }
            }
            assert_eq!(seen, ids, "pages of {limit}");
            loop {
                let Listing { items, next } =
                    backend.archived(ArchiveKind::Archive, &page).unwrap();
                assert!(items.len() <= limit);
                names.extend(items.into_iter().map(|item| item.name));
                page.after = next;
                if page.after.is_none() {
                    break;
                }
            }
            assert_eq!(names.len(), ids.len(), "pages of {limit}");
        }
    }
    for id in &ids {
        backend.remove_session(id, false).unwrap();
    }
    for item in backend.archives_of(ArchiveKind::Archive).unwrap() {
        backend.discard(ArchiveKind::Archive, &item.name).unwrap();
    }
}

fn archives(backend: &dyn Backend) {
    for (number, kind) in ArchiveKind::ALL.into_iter().enumerate() {
        let when = "2026-01-02T03:04:05Z".parse().unwrap();
        let stem = osm_store::layout::stem(&id("archived"), "word", when);
        let first = backend.archive(kind, &stem, b"first").unwrap();
        std::thread::sleep(Duration::from_millis(20));
        let second = backend.archive(kind, &stem, b"second").unwrap();
        let third = backend.archive(kind, "a-different-stem", b"third").unwrap();
        assert!(first.starts_with(&format!("{stem}--000.session.json")));
        assert!(second.starts_with(&format!("{stem}--001.session.json")));

        let items = backend.archives_of(kind).unwrap();
        let names: Vec<_> = items.iter().map(|item| item.name.clone()).collect();
        assert_eq!(names[0], first, "oldest first");
        assert_eq!(items.len(), 3);
        assert_eq!(items[0].id, Some(id("archived")));
        assert_eq!(items.iter().find(|item| item.name == third).unwrap().id, None);
        for (name, content) in [(&first, "first"), (&second, "second"), (&third, "third")] {
            assert_eq!(backend.read_archived(kind, name).unwrap(), content.as_bytes());
        }
        let elsewhere = ArchiveKind::ALL[(number + 1) % ArchiveKind::ALL.len()];
        assert!(matches!(backend.read_archived(elsewhere, &first), Err(Error::ArchiveNotFound(_))));
        for name in names {
            backend.discard(kind, &name).unwrap();
            assert!(matches!(backend.discard(kind, &name), Err(Error::ArchiveNotFound(_))));
            assert!(matches!(backend.read_archived(kind, &name), Err(Error::ArchiveNotFound(_))));
        }
        for name in ["", "..", "../x.session.json", "/x.session.json", "a\\b.session.json.gz"] {
            assert!(matches!(backend.read_archived(kind, name), Err(Error::ArchiveNotFound(_))));
            assert!(matches!(backend.discard(kind, name), Err(Error::ArchiveNotFound(_))));
        }
        assert!(matches!(backend.archive(kind, "../x", b""), Err(Error::InvalidArchiveName(_))));
        assert!(backend.archives_of(kind).unwrap().is_empty());
    }
}

fn records(backend: &dyn Backend) {
    let cleanup = backend.lock_cleanup(&myself("one")).unwrap().expect("no other cleanup runs");
    assert!(backend.lock_cleanup(&myself("two")).unwrap().is_none());
    drop(cleanup);
    assert!(backend.lock_cleanup(&myself("two")).unwrap().is_some());

    set_metadata(backend, b"{\"a\":1}").unwrap();
    set_metadata(backend, b"{}").unwrap();
    assert_eq!(backend.metadata().unwrap().as_deref(), Some(&b"{}"[..]));
    settled(|| backend.append_audit("one")).unwrap();
    settled(|| backend.append_audit("two\nlines")).unwrap();
}
