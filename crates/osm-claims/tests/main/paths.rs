//! One story of paths for every ledger: overlaps, sharing, worktrees, waiting, and automatic claims.

use std::time::Duration;

use osm_claims::rules::{Change, Standing};
use osm_claims::{
    Case, Claim, ClaimOptions, ClaimedPath, Claims, DEFAULT_IDLE, End, Error, Link, Mode, Outcome,
    PathKind, Reason, Requester, Resource, Result,
};
use osm_identity::{Liveness, Proof};

use crate::harness::{self, Fixture, Nature, refused, replayed, with_process};
use crate::lossy;
#[cfg(target_os = "linux")]
use crate::postgres;

const DEAD: Liveness = Liveness::Dead(Proof::Gone);

#[test]
fn in_memory() {
    story(&harness::in_memory());
}

#[test]
fn in_sqlite() {
    story(&harness::in_sqlite());
}

#[cfg(target_os = "linux")]
#[test]
fn in_postgres() {
    story(&postgres::fixture());
}

/// Each transaction may be carried out by another process of the server.
#[cfg(target_os = "linux")]
#[test]
fn in_postgres_through_a_pooler() {
    story(&postgres::through_a_pooler());
}

#[cfg(target_os = "linux")]
#[test]
fn in_postgres_far_away() {
    story(&postgres::far_away());
}

#[test]
fn with_latency() {
    story(&lossy::with_latency());
}

fn story(Fixture { claims, nature, .. }: &Fixture) {
    overlaps(claims);
    sharing(claims);
    altering(claims);
    several_at_once(claims);
    worktrees(claims);
    hard_links(claims);
    the_dead(claims, nature);
    taking_and_handing_over(claims, nature);
    a_waiting_writer(claims, nature);
    automatic(claims, nature);
    next_of_paths(claims);
}

/// A path of the first worktree: a folder if it ends with a slash, a glob if it looks like one.
fn path(text: &str) -> Resource {
    path_in("", text, Case::Distinct)
}

fn path_in(worktree: &str, text: &str, case: Case) -> Resource {
    let kind = match text {
        _ if text.contains(['*', '{']) => PathKind::Glob,
        _ if text.ends_with('/') => PathKind::Folder,
        _ => PathKind::File,
    };
    Resource::of_path(ClaimedPath::new(worktree, kind, text, case).unwrap(), None)
}

fn people() -> (Requester, Requester, Requester) {
    (with_process("ann", 1), with_process("ben", 2), with_process("cleo", 3))
}

fn mode(shared: bool, everywhere: bool) -> ClaimOptions {
    let mode = Mode { shared, everywhere, automatic: false };
    ClaimOptions { mode, ..ClaimOptions::default() }
}

fn claim(claims: &Claims, who: &Requester, text: &str) -> Result<Outcome> {
    claims.claim(who, &path(text), &ClaimOptions::default())
}

fn share(claims: &Claims, who: &Requester, text: &str) -> Result<Outcome> {
    claims.claim(who, &path(text), &mode(true, false))
}

fn release(claims: &Claims, who: &Requester, text: &str) {
    claims.release(who, &path(text), None, false).unwrap();
}

fn overlaps(claims: &Claims) {
    let (ann, ben, _) = people();
    for (held, wanted, collides) in [
        ("o/a.rs", "o/a.rs", true),
        ("o/", "o/a.rs", true),
        ("o/a.rs", "o/", true),
        ("o/", "o/deep/er/", true),
        ("o/deep/", "o/", true),
        ("o/*.rs", "o/a.rs", true),
        ("o/*.rs", "o/", true),
        ("o/a*", "o/*b", true),
        ("o/**/x.rs", "o/deep/er/", true),
        ("{o,p}/x", "o/x", true),
        ("*/x", "o/", true),
        ("./", "o/deep/a.rs", true),
        ("o/a.rs", "o/b.rs", false),
        ("o/*.rs", "o/*.md", false),
        ("o/", "or/a.rs", false),
        ("o/*.rs", "o/deep/a.rs", false),
    ] {
        let held = if held == "./" { "" } else { held };
        let resource = if held.is_empty() {
            let top = ClaimedPath::new("", PathKind::Folder, "", Case::Distinct).unwrap();
            Resource::of_path(top, None)
        } else {
            path(held)
        };
        let options = ClaimOptions { note: Some("mine".into()), ..ClaimOptions::default() };
        claims.claim(&ann, &resource, &options).unwrap();
        match claim(claims, &ben, wanted) {
            Ok(_) => {
                assert!(!collides, "{held} and {wanted}");
                release(claims, &ben, wanted);
            }
            Err(error) => {
                assert!(collides, "{held} and {wanted}: {error}");
                let no = error.refusal().unwrap();
                assert_eq!((no.reason, no.verdict), (Reason::Held, Some(Liveness::Alive)));
                assert_eq!(no.resource.as_ref(), Some(&path(wanted)));
                let claim = no.claim.as_ref().unwrap();
                assert_eq!((&claim.resource, claim.note.as_deref()), (&resource, Some("mine")));
                let status = claims.status(&ben, &path(wanted)).unwrap().unwrap();
                assert_eq!(status.claim.epoch, claim.epoch, "why: {wanted}");
            }
        }
        // What a session holds does not stop it.
        assert!(claim(claims, &ann, wanted).is_ok(), "{held} and {wanted}");
        if path(wanted) != resource {
            release(claims, &ann, wanted);
        }
        claims.release(&ann, &resource, None, false).unwrap();
    }
    // In a folder that folds case, whichever of the two knows it.
    claims.claim(&ann, &path_in("", "Fold/A", Case::Folded), &ClaimOptions::default()).unwrap();
    assert_eq!(refused(claim(claims, &ben, "fold/a")), Reason::Held);
    claims.release(&ann, &path_in("", "Fold/A", Case::Folded), None, false).unwrap();
    // A path is never finished.
    claim(claims, &ann, "o/done").unwrap();
    claims.release(&ann, &path("o/done"), None, true).unwrap();
    claim(claims, &ben, "o/done").unwrap();
    release(claims, &ben, "o/done");
    replayed(claims, &ann);
}

fn sharing(claims: &Claims) {
    let (ann, ben, cleo) = people();
    let first = share(claims, &ann, "s/").unwrap().claim;
    let second = share(claims, &ben, "s/").unwrap().claim;
    assert!(second.epoch > first.epoch && first.mode.shared);
    assert_eq!(refused(claim(claims, &cleo, "s/a")), Reason::Held);
    assert_eq!(refused(claim(claims, &ann, "s/a")), Reason::Held, "ben shares it");
    assert_eq!(share(claims, &ann, "s/").unwrap().change, Change::Nothing);
    // Each owner has its own grant of one resource.
    for (who, token) in [(&ann, first.token()), (&ben, second.token())] {
        assert_eq!(claims.check(who, &path("s/"), None).unwrap().token(), token);
        assert_eq!(claims.check(who, &path("s/"), Some(token)).unwrap().token(), token);
    }
    assert_eq!(refused(claims.check(&ann, &path("s/"), Some(second.token()))), Reason::NotHeld);
    assert_eq!(refused(claims.release(&cleo, &path("s/"), None, false)), Reason::NotHeld);
    replayed(claims, &ann);
    claims.release(&ann, &path("s/"), Some(first.token()), false).unwrap();
    assert_eq!(refused(claims.check(&ann, &path("s/"), Some(first.token()))), Reason::Stale);
    assert_eq!(refused(claim(claims, &cleo, "s/a")), Reason::Held, "ben still has it");
    release(claims, &ben, "s/");
    claim(claims, &cleo, "s/a").unwrap();
    assert_eq!(refused(share(claims, &ann, "s/")), Reason::Held);
    release(claims, &cleo, "s/a");
}

/// A claim that is shared, then not, then again.
pub(crate) fn altering(claims: &Claims) {
    let (ann, ben, _) = people();
    let shared = share(claims, &ann, "m/").unwrap().claim;
    share(claims, &ben, "m/").unwrap();
    assert_eq!(refused(claim(claims, &ann, "m/")), Reason::Held, "not while ben shares it");
    release(claims, &ben, "m/");
    let altered = claim(claims, &ann, "m/").unwrap();
    assert_eq!((altered.change, altered.claim.epoch), (Change::Alter, shared.epoch));
    assert_eq!(refused(share(claims, &ben, "m/")), Reason::Held);
    assert_eq!(share(claims, &ann, "m/").unwrap().change, Change::Alter);
    share(claims, &ben, "m/").unwrap();
    replayed(claims, &ann);
    release(claims, &ann, "m/");
    release(claims, &ben, "m/");
}

fn several_at_once(claims: &Claims) {
    let (ann, ben, _) = people();
    claim(claims, &ann, "all/b").unwrap();
    let wanted = ["all/a", "all/b", "all/c"].map(path);
    assert_eq!(refused(claims.claim_all(&ben, &wanted, &ClaimOptions::default())), Reason::Held);
    assert!(claims.mine(&ben).unwrap().held.is_empty(), "all or none");
    release(claims, &ann, "all/b");
    // They may overlap each other.
    let wanted = ["all/", "all/a", "all/*"].map(path);
    let granted = claims.claim_all(&ben, &wanted, &ClaimOptions::default()).unwrap();
    assert_eq!(granted.len(), 3);
    assert_eq!(refused(claim(claims, &ann, "all/z")), Reason::Held);
    for it in &wanted {
        claims.release(&ben, it, None, false).unwrap();
    }
}

fn worktrees(claims: &Claims) {
    let (ann, ben, cleo) = people();
    let second = path_in("second", "w/a", Case::Distinct);
    claim(claims, &ann, "w/a").unwrap();
    let outcome = claims.claim(&ben, &second, &ClaimOptions::default()).unwrap();
    let met: Vec<&str> = outcome.elsewhere.iter().map(|it| it.owner.session.as_str()).collect();
    assert_eq!((outcome.change, met), (Change::Grant(None), vec!["ann"]));
    let third = path_in("third", "w/", Case::Distinct);
    assert_eq!(refused(claims.claim(&cleo, &third, &mode(false, true))), Reason::Held);
    claims.release(&ben, &second, None, false).unwrap();
    release(claims, &ann, "w/a");
    claims.claim(&cleo, &third, &mode(false, true)).unwrap();
    assert_eq!(refused(claim(claims, &ann, "w/a")), Reason::Held, "it counts everywhere");
    claims.release(&cleo, &third, None, false).unwrap();
    assert!(claim(claims, &ann, "w/a").unwrap().elsewhere.is_empty());
    release(claims, &ann, "w/a");
}

fn hard_links(claims: &Claims) {
    let (ann, ben, _) = people();
    let file = |text: &str, inode| {
        let path = ClaimedPath::new("", PathKind::File, text, Case::Distinct).unwrap();
        Resource::of_path(path, Some(Link { device: 1, inode }))
    };
    let options = ClaimOptions::default();
    claims.claim(&ann, &file("l/one", 7), &options).unwrap();
    assert_eq!(refused(claims.claim(&ben, &file("l/two", 7), &options)), Reason::Held);
    claims.claim(&ben, &file("l/three", 8), &options).unwrap();
    release(claims, &ann, "l/one");
    release(claims, &ben, "l/three");
}

fn the_dead(claims: &Claims, nature: &Nature) {
    let (ann, ben, cleo) = people();
    let gone = with_process("gone", 20);
    claim(claims, &gone, "d/").unwrap();
    share(claims, &cleo, "e/").unwrap();
    claims.claim(&gone, &path("e/"), &mode(true, false)).unwrap();
    nature.set(20, DEAD);
    // A dead reader does not stop a writer; a living one does.
    assert_eq!(refused(claim(claims, &ann, "e/")), Reason::Held);
    release(claims, &cleo, "e/");
    let outcome = claim(claims, &ann, "e/x").unwrap();
    let ended = outcome.ended.unwrap();
    assert_eq!((&ended.resource, ended.ended.map(|it| it.how)), (&path("e/"), Some(End::Died)));
    // An overlapping claim of the dead ends, so that no two open claims exclude each other.
    let outcome = claim(claims, &ben, "d/a").unwrap();
    assert_eq!(outcome.predecessor.map(|it| it.resource), Some(path("d/")));
    let again = with_process("gone", 21);
    assert_eq!(
        refused(claims.resume(&again, &path("d/"), &ClaimOptions::default())),
        Reason::NotHeld
    );
    // The sweep looks at each claim.
    claims.claim(&again, &path("f/"), &mode(true, false)).unwrap();
    share(claims, &ann, "f/").unwrap();
    nature.set(21, DEAD);
    assert_eq!(claims.sweep(&ann, false, false).unwrap().freed(), 1);
    assert!(claims.check(&ann, &path("f/"), None).is_ok());
    replayed(claims, &ann);
    for (who, text) in [(&ann, "e/x"), (&ben, "d/a"), (&ann, "f/")] {
        release(claims, who, text);
    }
}

fn taking_and_handing_over(claims: &Claims, nature: &Nature) {
    let (ann, ben, cleo) = people();
    let options = ClaimOptions::default();
    share(claims, &ann, "t/").unwrap();
    share(claims, &ben, "t/x").unwrap();
    assert_eq!(refused(claims.take(&cleo, &path("t/"), false, &options)), Reason::HolderAlive);
    let taken = claims.take(&cleo, &path("t/"), true, &options).unwrap();
    let ended = taken.ended.iter().chain(&taken.also_ended);
    let how = |it: &Claim| it.ended.as_ref().map(|it| it.how);
    assert_eq!(ended.map(how).collect::<Vec<_>>(), [Some(End::Taken); 2]);
    assert_eq!(claims.notices(&ben).unwrap().losses.len(), 1);
    assert_eq!(refused(claims.check(&ann, &path("t/"), None)), Reason::Stale);
    for (who, text) in [(&ann, "t/"), (&ben, "t/x")] {
        let known = claims.release(who, &path(text), None, false).unwrap();
        assert_eq!(known.change, Change::Acknowledge);
    }
    claims.offer(&cleo, &path("t/"), None, Some("ann"), &options).unwrap();
    assert_eq!(refused(claims.accept(&ben, &path("t/"), &options)), Reason::NotOffered);
    let accepted = claims.accept(&ann, &path("t/"), &options).unwrap();
    assert_eq!(accepted.ended.and_then(|it| how(&it)), Some(End::HandedOff));
    release(claims, &ann, "t/");
    // A resumed claim stays as it was.
    let before = with_process("later", 30);
    share(claims, &before, "t/").unwrap();
    nature.set(30, DEAD);
    let after = with_process("later", 31);
    let resumed = claims.resume(&after, &path("t/"), &options).unwrap();
    assert!(resumed.claim.mode.shared && resumed.claim.owner.session == "later");
    release(claims, &after, "t/");
    replayed(claims, &ann);
}

fn a_waiting_writer(claims: &Claims, nature: &Nature) {
    let (ann, ben, cleo) = people();
    let waits = |pid| ClaimOptions {
        waiting: with_process("osm", pid).caller.process,
        ..ClaimOptions::default()
    };
    share(claims, &ann, "q/").unwrap();
    let file = [path("q/a")];
    assert_eq!(refused(claims.claim_all(&ben, &file, &waits(40))), Reason::Held);
    let no = share(claims, &cleo, "q/").unwrap_err();
    let no = no.refusal().unwrap();
    assert_eq!((no.reason, no.can_change()), (Reason::WriterWaits, true));
    assert_eq!(no.holders.first().map(|it| it.pid.0), Some(40), "its end wakes the reader");
    share(claims, &cleo, "q/b").unwrap();
    assert_eq!(share(claims, &ann, "q/a").unwrap().change, Change::Grant(None), "no new reader");
    release(claims, &ann, "q/a");
    release(claims, &ann, "q/");
    claims.claim_all(&ben, &file, &waits(40)).unwrap();
    assert_eq!(refused(share(claims, &ann, "q/a")), Reason::Held);
    release(claims, &ben, "q/a");
    share(claims, &ann, "q/a").unwrap();
    // A writer that gave up or died stops none.
    assert_eq!(refused(claims.claim_all(&ben, &file, &waits(41))), Reason::Held);
    assert_eq!(refused(share(claims, &cleo, "q/a")), Reason::WriterWaits);
    nature.set(41, DEAD);
    share(claims, &cleo, "q/a").unwrap();
    release(claims, &cleo, "q/a");
    assert_eq!(refused(claims.claim_all(&ben, &file, &waits(42))), Reason::Held);
    claims.stop_waiting(&waits(42).waiting.unwrap()).unwrap();
    share(claims, &cleo, "q/a").unwrap();
    for (who, text) in [(&ann, "q/a"), (&cleo, "q/a"), (&cleo, "q/b")] {
        release(claims, who, text);
    }
}

fn automatic(claims: &Claims, nature: &Nature) {
    let (ann, ben, _) = people();
    let mode = Mode { automatic: true, ..Mode::default() };
    let options = ClaimOptions { mode, ..ClaimOptions::default() };
    let file = [path("auto/a")];
    assert_eq!(claims.holding(&ann, &file).unwrap(), None);
    let granted = claims.claim_all(&ann, &file, &options).unwrap().remove(0).claim;
    let holding = claims.holding(&ann, &file).unwrap().unwrap();
    assert_eq!(holding[0].epoch, granted.epoch);
    assert_eq!(claims.holding(&ben, &file).unwrap(), None);
    // Use is recorded, but not at every use.
    nature.pass(Duration::from_mins(2));
    assert_eq!(claims.holding(&ann, &file).unwrap(), None);
    assert_eq!(claims.claim_all(&ann, &file, &options).unwrap()[0].change, Change::Renew);
    assert!(claims.holding(&ann, &file).unwrap().is_some());
    nature.pass(Duration::from_mins(14));
    assert_eq!(refused(claim(claims, &ben, "auto/a")), Reason::Held);
    nature.pass(Duration::from_mins(1));
    let listed = claims.status(&ann, &file[0]).unwrap().unwrap();
    assert_eq!(listed.standing, Standing::Free(End::Expired));
    let taken = claim(claims, &ben, "auto/a").unwrap();
    assert_eq!(taken.ended.map(|it| it.ended.unwrap().how), Some(End::Expired));
    assert_eq!(claims.notices(&ann).unwrap().losses.len(), 1, "its owner is told");
    claims.release(&ann, &file[0], None, false).unwrap();
    // What is held by a folder or a glob needs no claim of its own; what is shared does.
    for text in ["auto/", "auto/*"] {
        release_all(claims, &ben);
        claim(claims, &ben, text).unwrap();
        assert!(claims.holding(&ben, &file).unwrap().is_some(), "{text}");
        let again = claims.claim_all(&ben, &file, &options).unwrap().remove(0);
        assert_eq!((again.change, again.claim.resource), (Change::Nothing, path(text)));
    }
    release_all(claims, &ben);
    share(claims, &ben, "auto/").unwrap();
    assert_eq!(claims.holding(&ben, &file).unwrap(), None);
    release_all(claims, &ben);
    // An edit of a file that the session shares needs it alone.
    for who in [&ann, &ben] {
        share(claims, who, "auto/a").unwrap();
    }
    assert_eq!(refused(claims.claim_all(&ann, &file, &options)), Reason::Held);
    release_all(claims, &ben);
    let edited = claims.claim_all(&ann, &file, &options).unwrap().remove(0);
    assert_eq!((edited.change, edited.claim.mode), (Change::Alter, Mode::default()));
    nature.pass(DEFAULT_IDLE * 2);
    assert_eq!(refused(claim(claims, &ben, "auto/a")), Reason::Held, "it was asked for");
    release_all(claims, &ann);
    // An explicit claim takes the place of an automatic one, and is never idle.
    claims.claim_all(&ann, &file, &options).unwrap();
    assert_eq!(claim(claims, &ann, "auto/a").unwrap().change, Change::Alter);
    nature.pass(DEFAULT_IDLE * 2);
    assert_eq!(refused(claim(claims, &ben, "auto/a")), Reason::Held);
    assert_eq!(claims.claim_all(&ann, &file, &options).unwrap()[0].change, Change::Nothing);
    release_all(claims, &ann);
    replayed(claims, &ann);
}

fn release_all(claims: &Claims, who: &Requester) {
    for held in claims.mine(who).unwrap().held {
        claims.release(who, &held.claim.resource, None, false).unwrap();
    }
}

fn next_of_paths(claims: &Claims) {
    let (ann, ben, _) = people();
    claim(claims, &ann, "n/").unwrap();
    let candidates = ["n/a", "n/b", "p/a"].map(path);
    let outcome = claims.next(&ben, &candidates, &ClaimOptions::default()).unwrap();
    assert_eq!((&outcome.claim.resource, outcome.skipped.len()), (&candidates[2], 2));
    let error = claims.next(&ben, &candidates[..2], &ClaimOptions::default()).unwrap_err();
    assert!(matches!(&error, Error::Refused(it) if it.reason == Reason::NothingFree));
    assert!(error.refusal().unwrap().can_change());
    release(claims, &ann, "n/");
    release(claims, &ben, "p/a");
}
