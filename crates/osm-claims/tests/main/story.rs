//! One story for every ledger: each operation, and what each says no to.

use std::time::Duration;

use osm_claims::event::{Filter, KINDS};
use osm_claims::rules::{Change, Request, Standing};
use osm_claims::{
    Caller, ClaimOptions, Claims, DEFAULT_LEASE, DEFAULT_OFFER, End, Epoch, HeldBy, MessageKind,
    Notices, Reason, Requester, Scope, Token,
};
use osm_identity::{Liveness, Proof, ReadError, UnknownReason};

use crate::harness::{
    self, Fixture, Nature, refused, replayed, resource, with_process, without_process,
};
use crate::lossy;
#[cfg(target_os = "linux")]
use crate::postgres;

const DEAD: Liveness = Liveness::Dead(Proof::Zombie);

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

/// As on a server that is far away; no operation fails.
#[test]
fn with_latency() {
    story(&lossy::with_latency());
}

fn story(Fixture { claims, nature, .. }: &Fixture) {
    granting(claims);
    epochs(claims);
    notes(claims);
    liveness(claims, nature);
    leases(claims, nature);
    handing_over(claims, nature);
    taking(claims, nature);
    coming_back(claims, nature);
    commands(claims, nature);
    callers(claims, nature);
    requests(claims);
    lapsed_requests(claims, nature);
    candidates(claims);
    scopes(claims);
    sweeping(claims, nature);
    crate::paths::altering(claims);
    looking_back(claims);
    messages(claims, nature);
}

fn claim(claims: &Claims, requester: &Requester, name: &str) -> Token {
    claims.claim(requester, &resource(name), &ClaimOptions::default()).unwrap().claim.token()
}

fn granting(claims: &Claims) {
    let (ann, ben, options) =
        (with_process("ann", 1), with_process("ben", 2), ClaimOptions::default());
    let task = resource("granting");
    assert!(claims.status(&ann, &task).unwrap().is_none());
    assert!(claims.list(&ann, true).unwrap().is_empty(), "reading makes nothing");
    let note = ClaimOptions { note: Some("as soon as I can".into()), ..options.clone() };
    let granted = claims.claim(&ann, &task, &note).unwrap();
    assert_eq!(granted.change, Change::Grant(None));
    assert_eq!(granted.claim.note, note.note);
    assert_eq!(claims.claim(&ann, &task, &options).unwrap().change, Change::Nothing, "once more");

    let error = claims.claim(&ben, &task, &options).unwrap_err();
    let no = error.refusal().unwrap();
    assert_eq!((no.reason, no.verdict.as_ref()), (Reason::Held, Some(&Liveness::Alive)));
    assert_eq!(no.claim.as_ref().unwrap().owner.session, "ann");

    let token = Some(granted.claim.token());
    assert_eq!(refused(claims.release(&ben, &task, None, false)), Reason::NotHeld);
    let released = claims.release(&ann, &task, token, false).unwrap();
    assert_eq!(released.change, Change::Close(End::Released));
    assert_eq!(refused(claims.check(&ann, &task, token)), Reason::Stale);
    let next = claims.claim(&ben, &task, &options).unwrap().claim;
    assert!(next.epoch > granted.claim.epoch);

    claims.release(&ben, &task, None, true).unwrap();
    assert_eq!(refused(claims.claim(&ann, &task, &options)), Reason::Completed);
    assert_eq!(refused(claims.take(&ann, &task, true, &options)), Reason::Completed);
    let reopen = ClaimOptions { reopen: true, ..options };
    claims.claim(&ann, &task, &reopen).unwrap();
    replayed(claims, &ann);
}

fn epochs(claims: &Claims) {
    let ann = with_process("ann", 1);
    let task = resource("epochs");
    let first = claim(claims, &ann, "epochs");
    claims.release(&ann, &task, Some(first), false).unwrap();
    let second = claim(claims, &ann, "epochs");
    let later = Token { epoch: Epoch(second.epoch.0 + 1), seal: None };
    let forged = Token { epoch: second.epoch, seal: first.seal };
    let options = ClaimOptions::default();
    for (token, expected) in
        [(first, Reason::Stale), (later, Reason::UnknownEpoch), (forged, Reason::UnknownEpoch)]
    {
        let token = Some(token);
        assert_eq!(refused(claims.check(&ann, &task, token)), expected);
        assert_eq!(refused(claims.renew(&ann, &task, token, &options)), expected);
        assert_eq!(refused(claims.release(&ann, &task, token, false)), expected);
        assert_eq!(refused(claims.offer(&ann, &task, token, Some("ben"), &options)), expected);
        assert_eq!(refused(claims.offer(&ann, &task, token, None, &options)), expected);
    }
    assert_eq!(claims.check(&ann, &task, Some(second)).unwrap().token(), second);
    assert_eq!(claims.renew(&ann, &task, Some(second), &options).unwrap().change, Change::Nothing);
    let nothing = resource("never claimed");
    assert_eq!(refused(claims.check(&ann, &nothing, None)), Reason::NotHeld);
}

fn notes(claims: &Claims) {
    let (ann, ben, task) = (with_process("ann", 1), with_process("ben", 2), resource("notes"));
    let first = claim(claims, &ann, "notes");
    let options = ClaimOptions { note: Some("half done".into()), ..ClaimOptions::default() };
    let noted = claims.note(&ann, &task, Some(first), &options).unwrap();
    assert_eq!((noted.change, noted.claim.token()), (Change::Note, first));
    assert_eq!(refused(claims.note(&ben, &task, None, &options)), Reason::NotHeld);
    let note = || claims.status(&ann, &task).unwrap().unwrap().claim.note;
    assert_eq!(note().as_deref(), Some("half done"));
    claims.note(&ann, &task, None, &ClaimOptions::default()).unwrap();
    assert_eq!(note(), None);
}

fn liveness(claims: &Claims, nature: &Nature) {
    let (owner, ben, options) =
        (with_process("owner", 10), with_process("ben", 2), ClaimOptions::default());
    let task = resource("liveness");
    let token = claim(claims, &owner, "liveness");
    for (verdict, reason) in [
        (Liveness::Suspended, Reason::Suspended),
        (Liveness::Unknown(UnknownReason::AnotherNamespace), Reason::Unknown),
        (Liveness::Unknown(UnknownReason::Unreadable(ReadError::Denied)), Reason::Unknown),
        (Liveness::Alive, Reason::Held),
    ] {
        nature.set(10, verdict);
        let error = claims.claim(&ben, &task, &options).unwrap_err();
        assert_eq!(error.refusal().unwrap().reason, reason);
        assert_eq!(error.refusal().unwrap().verdict, Some(verdict));
        assert_eq!(claims.sweep(&ben, false, false).unwrap().freed(), 0);
    }
    nature.set(10, DEAD);
    let foreseen =
        claims.preview(&ben, &task, &Request::Claim { reopen: false, alone: false }).unwrap();
    assert_eq!(foreseen.1, Change::Grant(Some(End::Died)));
    let granted = claims.claim(&ben, &task, &options).unwrap();
    assert_eq!(granted.change, Change::Grant(Some(End::Died)));
    let ended = granted.ended.unwrap().ended.unwrap();
    assert_eq!((ended.how, ended.by.as_str()), (End::Died, "ben"));
    let proof = ended.evidence.unwrap();
    assert!(proof.contains("pid 10") && proof.contains("is a zombie"), "{proof}");

    // An owner that is taken for dead and asks is refused, until its process is seen.
    assert_eq!(refused(claims.check(&owner, &task, Some(token))), Reason::AnchorGone);
    nature.set(10, Liveness::Alive);
    assert_eq!(refused(claims.check(&owner, &task, Some(token))), Reason::Stale);
    replayed(claims, &ben);
}

fn leases(claims: &Claims, nature: &Nature) {
    let (leased, ben, options) =
        (without_process("leased"), with_process("ben", 2), ClaimOptions::default());
    let task = resource("leases");
    let token = Some(claim(claims, &leased, "leases"));
    let listed = claims.status(&leased, &task).unwrap().unwrap();
    assert_eq!((listed.left, listed.standing), (Some(DEFAULT_LEASE), Standing::Held));
    let second = Duration::from_secs(1);
    nature.pass(DEFAULT_LEASE.checked_sub(second).unwrap());
    let error = claims.claim(&ben, &task, &options).unwrap_err();
    assert_eq!(error.refusal().unwrap().left, Some(second));

    let renewed = claims.renew(&leased, &task, token, &options).unwrap();
    assert_eq!(renewed.change, Change::Renew);
    nature.pass(DEFAULT_LEASE);
    assert_eq!(refused(claims.check(&leased, &task, token)), Reason::LeaseOver);
    claims.renew(&leased, &task, token, &options).unwrap();
    assert!(claims.check(&leased, &task, token).is_ok(), "it was not taken in between");

    let short = ClaimOptions { term: Some(Duration::from_secs(5)), ..options.clone() };
    claims.renew(&leased, &task, token, &short).unwrap();
    nature.pass(Duration::from_secs(5));
    let granted = claims.claim(&ben, &task, &options).unwrap();
    assert_eq!(granted.change, Change::Grant(Some(End::Expired)));
    for lost in [
        claims.check(&leased, &task, token).map(drop),
        claims.renew(&leased, &task, token, &options).map(drop),
    ] {
        assert_eq!(refused(lost), Reason::Stale);
    }
    let losses = claims.losses(&leased, false).unwrap();
    assert_eq!((losses.len(), losses[0].told), (1, false));
    claims.mark_told(&leased).unwrap();
    assert!(claims.losses(&leased, false).unwrap()[0].told);
    assert_eq!(refused(claims.release(&leased, &task, token, false)), Reason::Stale);
    assert!(claims.losses(&leased, false).unwrap().is_empty(), "a release takes note of it");
    replayed(claims, &ben);
}

fn handing_over(claims: &Claims, nature: &Nature) {
    let (ann, ben, eve) = (with_process("ann", 1), with_process("ben", 2), with_process("eve", 3));
    let (options, task) = (ClaimOptions::default(), resource("handing over"));
    let token = Some(claim(claims, &ann, "handing over"));
    assert_eq!(refused(claims.accept(&ben, &task, &options)), Reason::NotOffered);
    assert_eq!(refused(claims.offer(&ann, &task, token, None, &options)), Reason::NotOffered);
    let note = ClaimOptions { note: Some("half done".into()), ..options.clone() };
    let offered = claims.offer(&ann, &task, token, Some("ben"), &note).unwrap();
    assert_eq!(offered.claim.offer.as_ref().unwrap().note, note.note);
    assert!(claims.check(&ann, &task, token).is_ok(), "it is still hers");
    assert_eq!(claims.mine(&ben).unwrap().offered.len(), 1);
    assert_eq!(refused(claims.accept(&eve, &task, &options)), Reason::NotOffered);
    assert_eq!(refused(claims.claim(&eve, &task, &options)), Reason::Held);
    claims.offer(&ann, &task, token, None, &options).unwrap();
    assert_eq!(refused(claims.accept(&ben, &task, &options)), Reason::NotOffered);

    claims.offer(&ann, &task, token, Some("ben"), &options).unwrap();
    nature.pass(DEFAULT_OFFER);
    assert_eq!(refused(claims.accept(&ben, &task, &options)), Reason::NotOffered, "too late");
    claims.offer(&ann, &task, token, Some("ben"), &options).unwrap();
    let accepted = claims.accept(&ben, &task, &options).unwrap();
    assert_eq!(accepted.change, Change::Grant(Some(End::HandedOff)));
    let error = claims.check(&ann, &task, token).unwrap_err();
    let no = error.refusal().unwrap();
    assert_eq!(no.reason, Reason::Stale);
    let ended = no.claim.as_ref().unwrap().ended.as_ref().unwrap();
    assert_eq!((ended.how, ended.by.as_str()), (End::HandedOff, "ben"));

    // An offer outlives its owner.
    claims.offer(&ben, &task, None, Some("ann"), &options).unwrap();
    nature.set(2, DEAD);
    assert_eq!(refused(claims.claim(&eve, &task, &options)), Reason::Reserved);
    assert_eq!(claims.sweep(&eve, false, false).unwrap().kept(Reason::Reserved), 1);
    claims.claim(&ann, &task, &options).unwrap();
    nature.set(2, Liveness::Alive);
    replayed(claims, &ann);
}

fn taking(claims: &Claims, nature: &Nature) {
    let (owner, ben, options) =
        (with_process("robbed", 20), with_process("ben", 2), ClaimOptions::default());
    let task = resource("taking");
    let token = Some(claim(claims, &owner, "taking"));
    assert_eq!(refused(claims.take(&ben, &task, false, &options)), Reason::HolderAlive);
    nature.set(20, Liveness::Suspended);
    let why = ClaimOptions { reason: Some("he went home".into()), ..options };
    let taken = claims.take(&ben, &task, false, &why).unwrap();
    assert_eq!(taken.change, Change::Grant(Some(End::Taken)));
    nature.set(20, Liveness::Alive);
    let error = claims.check(&owner, &task, token).unwrap_err();
    let no = error.refusal().unwrap();
    assert_eq!(no.reason, Reason::Stale);
    let ended = no.claim.as_ref().unwrap().ended.as_ref().unwrap();
    assert_eq!((ended.how, ended.by.as_str()), (End::Taken, "ben"));
    assert!(ended.evidence.as_ref().unwrap().contains("he went home"), "{ended:?}");
    assert_eq!(no.notices, Notices::default(), "a check tells nothing else");
    assert_eq!(claims.mine(&owner).unwrap().lost.len(), 1);
    let other = claims.claim(&owner, &resource("taking, later"), &why).unwrap();
    let lost: Vec<_> = other.notices.losses.iter().map(|it| it.claim.resource.clone()).collect();
    assert_eq!(lost, std::slice::from_ref(&task), "a claim tells what was lost");
    let error = claims.claim(&ben, &resource("taking, later"), &why).unwrap_err();
    let others = &error.refusal().unwrap().notices.losses;
    assert!(others.iter().all(|it| it.claim.resource != task), "to its owner alone");
    claims.mark_told(&owner).unwrap();
    let again = claims.claim(&owner, &resource("taking, later"), &why).unwrap();
    assert!(again.notices.losses.is_empty(), "once");
    let back = claims.take(&owner, &task, true, &why).unwrap();
    assert!(Some(back.claim.epoch) > token.map(|it| it.epoch));
    assert!(claims.mine(&owner).unwrap().lost.is_empty(), "having it again settles it");
    assert_eq!(claims.take(&owner, &task, true, &why).unwrap().change, Change::Nothing);
    replayed(claims, &ben);
}

fn coming_back(claims: &Claims, nature: &Nature) {
    let (before, after) = (with_process("phoenix", 30), with_process("phoenix", 31));
    let (options, task) = (ClaimOptions::default(), resource("coming back"));
    let token = Some(claim(claims, &before, "coming back"));
    assert_eq!(refused(claims.claim(&after, &task, &options)), Reason::SessionElsewhere);
    nature.set(30, Liveness::Unknown(UnknownReason::Unreadable(ReadError::Denied)));
    assert_eq!(refused(claims.claim(&after, &task, &options)), Reason::SessionUnknown);
    nature.set(30, DEAD);
    assert_eq!(refused(claims.check(&after, &task, token)), Reason::NotHeld, "not in silence");
    let mine = claims.mine(&after).unwrap();
    assert_eq!((mine.held.len(), mine.resumable.len()), (0, 1));
    let resumable = |requester: &Requester| claims.notices(requester).unwrap().resumable.len();
    assert_eq!((resumable(&after), resumable(&with_process("stranger", 32))), (1, 0));
    let other = claims.claim(&after, &resource("something else"), &options).unwrap();
    let told: Vec<_> = other.notices.resumable.iter().map(|it| it.resource.clone()).collect();
    assert_eq!(told, std::slice::from_ref(&task), "a claim tells what can be resumed");
    assert_eq!(resumable(&after), 1, "what the new process holds is no matter of resuming");
    let resumed = claims.resume(&after, &task, &options).unwrap();
    assert_eq!(resumed.change, Change::Grant(Some(End::Died)));
    assert_eq!(resumable(&after), 0);
    assert_eq!(refused(claims.check(&after, &task, token)), Reason::Stale, "with a new epoch");
    let stranger = with_process("stranger", 32);
    assert_eq!(refused(claims.resume(&stranger, &task, &options)), Reason::NotHeld);
    replayed(claims, &after);
}

fn commands(claims: &Claims, nature: &Nature) {
    let (maker, other) = (with_process("maker", 60), with_process("other", 61));
    let task = resource("commands");
    let run = |pid| {
        let process = with_process("command", pid).caller.process.unwrap();
        ClaimOptions { held_by: HeldBy::Process(process), ..ClaimOptions::default() }
    };
    let token = claims.claim(&maker, &task, &run(62)).unwrap().claim.token();
    assert_eq!(refused(claims.claim(&maker, &task, &run(63))), Reason::Held, "one at a time");
    assert!(claims.check(&other, &task, Some(token)).is_ok(), "what the command starts");
    nature.set(62, DEAD);
    assert_eq!(refused(claims.check(&maker, &task, Some(token))), Reason::ProcessOver);
    assert_eq!(refused(claims.check(&other, &task, Some(token))), Reason::ProcessOver);
    let again = claims.claim(&maker, &task, &run(63)).unwrap();
    assert_eq!(again.change, Change::Grant(Some(End::Died)));
    assert!(again.claim.epoch > token.epoch);
    nature.set(63, DEAD);
    assert_eq!(claims.sweep(&other, false, false).unwrap().freed(), 1);
    assert!(claims.losses(&maker, true).unwrap().is_empty(), "a command that ended is no loss");
    replayed(claims, &maker);
}

fn callers(claims: &Claims, nature: &Nature) {
    let (options, task) = (ClaimOptions::default(), resource("callers"));
    let requester = with_process("caller", 40);
    let caller = |change: fn(&mut Caller)| {
        let mut other = requester.clone();
        change(&mut other.caller);
        other
    };
    let random = caller(|it| it.is_random = true);
    assert_eq!(refused(claims.claim(&random, &task, &options)), Reason::NoIdentity);
    let token = Some(claim(claims, &requester, "callers"));
    let unseen = caller(|it| it.process = None);
    assert_eq!(refused(claims.claim(&unseen, &task, &options)), Reason::Unconfirmed);
    let cleared = caller(|it| it.session = "cleared".into());
    assert!(claims.check(&cleared, &task, token).is_ok(), "one process, one owner");
    claims.renew(&cleared, &task, token, &options).unwrap();
    assert_eq!(claims.status(&cleared, &task).unwrap().unwrap().claim.owner.session, "cleared");
    let sibling = caller(|it| (it.session, it.is_sole) = ("sibling".into(), false));
    assert_eq!(refused(claims.claim(&sibling, &task, &options)), Reason::Held);

    // A helper that holds it: its death frees it.
    let helper = |pid| with_process("", pid).caller.process.unwrap();
    let (held, entrusted) = (resource("held by a helper"), resource("entrusted to a helper"));
    let keep = ClaimOptions { held_by: HeldBy::Process(helper(41)), ..options };
    claims.claim(&cleared, &held, &keep).unwrap();
    let token = claim(claims, &cleared, "entrusted to a helper");
    let stale = Token { epoch: Epoch(token.epoch.0 - 1), seal: None };
    let twice = claims.assign_process(&cleared, &entrusted, stale, &helper(41));
    assert_eq!(refused(twice), Reason::Stale);
    claims.assign_process(&cleared, &entrusted, token, &helper(41)).unwrap();
    nature.set(41, DEAD);
    for task in [&held, &entrusted] {
        let standing = claims.status(&sibling, task).unwrap().unwrap().standing;
        assert_eq!(standing, Standing::Free(End::Died));
    }
    replayed(claims, &cleared);
}

fn requests(claims: &Claims) {
    let (ann, ben) = (with_process("ann", 1), with_process("ben", 2));
    let named = ClaimOptions { request: Some("request-1".into()), ..ClaimOptions::default() };
    let (task, other) = (resource("requests"), resource("other requests"));
    let first = claims.claim(&ann, &task, &named).unwrap().claim;
    let again = claims.claim(&ann, &task, &named).unwrap();
    assert_eq!((again.change, &again.claim), (Change::Nothing, &first));
    assert_eq!(claims.next(&ann, std::slice::from_ref(&other), &named).unwrap().claim, first);
    assert_eq!(refused(claims.claim(&ann, &other, &named)), Reason::RequestReused);
    assert_eq!(refused(claims.claim(&ben, &task, &named)), Reason::RequestReused);
    claims.release(&ann, &task, None, false).unwrap();
    assert_eq!(refused(claims.claim(&ann, &task, &named)), Reason::RequestReused);
}

fn lapsed_requests(claims: &Claims, nature: &Nature) {
    let (night, task) = (without_process("night"), resource("lapsed"));
    let named = ClaimOptions {
        request: Some("lapsed-1".into()),
        term: Some(Duration::from_secs(10)),
        ..ClaimOptions::default()
    };
    let first = claims.claim(&night, &task, &named).unwrap().claim;
    nature.pass(Duration::from_secs(11));
    let again = claims.claim(&night, &task, &named).unwrap();
    assert_eq!(
        (again.change, again.claim.epoch),
        (Change::Renew, first.epoch),
        "its lease restarts"
    );
    assert!(claims.check(&night, &task, None).is_ok());
    let next = claims.next(&night, &[resource("another")], &named).unwrap();
    assert_eq!(next.claim.resource, task);
    claims.release(&night, &task, None, false).unwrap();
    let error = claims.claim(&night, &task, &named).unwrap_err();
    let no = error.refusal().unwrap();
    assert_eq!(no.reason, Reason::RequestReused);
    let how = no.claim.as_ref().and_then(|it| it.ended.as_ref()).map(|it| it.how);
    assert_eq!(how, Some(End::Released));
}

fn candidates(claims: &Claims) {
    let (ann, ben, options) =
        (with_process("ann", 1), with_process("ben", 2), ClaimOptions::default());
    let names = ["first", "second", "third"].map(resource);
    claim(claims, &ben, "first");
    let next = claims.next(&ann, &names, &options).unwrap();
    assert_eq!(next.claim.resource, names[1]);
    assert_eq!(next.skipped, [(names[0].clone(), Reason::Held)]);
    assert_eq!(
        claims.next(&ann, &names, &options).unwrap().claim.resource,
        names[2],
        "another one"
    );
    let error = claims.next(&ann, &names, &options).unwrap_err();
    let no = error.refusal().unwrap();
    assert_eq!((no.reason, &*no.tally), (Reason::NothingFree, &[(Reason::Held, 3)][..]));
    assert_eq!(refused(claims.next(&ann, &[], &options)), Reason::NothingFree);
    replayed(claims, &ann);
}

fn scopes(claims: &Claims) {
    let (here, ben) = (with_process("ann", 1), with_process("ben", 2));
    let elsewhere = Requester { scope: Scope::named("elsewhere"), ..ben };
    claim(claims, &here, "scopes");
    claim(claims, &elsewhere, "scopes");
    assert_eq!(claims.list(&elsewhere, false).unwrap().len(), 1);
    assert!(claims.list(&elsewhere, true).unwrap().len() > 1);
    repositories(claims, &here, &elsewhere);
    replayed(claims, &here);
}

/// A repository is one scope as long as it is not proven to be another.
fn repositories(claims: &Claims, ann: &Requester, ben: &Requester) {
    let seen = |caller: &Requester, path: &str, folder: &str| Requester {
        scope: Scope {
            key: format!("repo:{path}/.git"),
            folders: vec![folder.parse().unwrap()],
            shared: None,
        },
        ..caller.clone()
    };
    let (options, task) = (ClaimOptions::default(), resource("folder"));
    let first = seen(ann, "/a", "boot:1:2:3:lasting:4.5");
    claim(claims, &first, "folder");
    for (path, folder, why) in [
        ("/b", "boot:1:2:3:lasting:4.5", "one folder by two paths"),
        ("/a", "boot:1:2:3:lasting:4.5", "one folder by its path"),
        ("/b", "boot:1:2:0:changing:f:/a", "statx is refused"),
        ("/a", "boot:1:9:9:lasting:4.5", ".git is made again"),
        ("/c", "boot:1:9:9:lasting:4.5", "what was once the same stays the same"),
        ("/a", "boot:7:8:9:changing:f:/x", "another file system is there"),
        ("/d", "boot:7:6:9:changing:f:/x", "the folder has another inode and another path"),
        ("/e", "boot:7:8:5:changing:f:/y", "the folder has another time of birth, and is moved"),
    ] {
        // A scope has the path of the last request.
        claims.claim(&first, &task, &options).unwrap();
        let taken = claims.claim(&seen(ben, path, folder), &task, &options);
        assert_eq!(refused(taken), Reason::Held, "{why}");
        // What the ledger grants, and be it nothing new, it keeps with the sighting.
        let again = claims.claim(&seen(ann, path, folder), &task, &options).unwrap();
        assert_eq!(again.change, Change::Nothing, "{why}");
        assert!(claims.check(&first, &task, None).is_ok(), "{why}");
    }

    let new = seen(ben, "/n", "boot:1:2:9:lasting:4.9");
    assert!(claims.status(&new, &task).unwrap().is_none(), "the inode is reused");
    let (one, other) = (
        seen(ann, "/p", "boot:1:20:30:lasting:40.50"),
        seen(ben, "/p", "boot:1:21:31:lasting:41.51"),
    );
    claim(claims, &one, "folder");
    assert!(claims.status(&other, &task).unwrap().is_none(), "another repository in its place");
    claims.claim(&other, &task, &options).unwrap();
    assert!(claims.check(&one, &task, None).is_ok(), "the first one is still what it was");
    let remounted = seen(ben, "/p", "boot:7:21:31:lasting:41.51");
    assert!(claims.check(&remounted, &task, None).is_ok(), "a device is mounted again");
    let later = seen(ben, "/p", "next boot:1:22:32:lasting:42.52");
    assert!(claims.check(&later, &task, None).is_ok(), "after a restart the path tells");
}

fn sweeping(claims: &Claims, nature: &Nature) {
    let ann = with_process("ann", 1);
    for (number, verdict) in [
        (50, DEAD),
        (51, Liveness::Suspended),
        (52, Liveness::Unknown(UnknownReason::AnotherMachine)),
        (53, Liveness::Alive),
    ] {
        let name = format!("sweep {number}");
        let mut owner = with_process(&name, number);
        owner.scope = Scope::named("sweep");
        claim(claims, &owner, &name);
        nature.set(number, verdict);
    }
    let sweeper = Requester { scope: Scope::named("sweep"), ..ann };
    for (dry, freed) in [(true, 1), (false, 1), (false, 0)] {
        let swept = claims.sweep(&sweeper, false, dry).unwrap();
        assert_eq!((swept.freed(), swept.failed()), (freed, 0));
        for reason in [Reason::Suspended, Reason::Unknown, Reason::Held] {
            assert_eq!(swept.kept(reason), 1, "{reason:?}");
        }
    }
    replayed(claims, &sweeper);
}

fn looking_back(claims: &Claims) {
    let ann = with_process("ann", 1);
    let all = claims.log(&ann, true, &Filter::default()).unwrap();
    assert!(all.windows(2).all(|two| two[0].number < two[1].number));
    for kind in KINDS {
        let filter = Filter { kind: Some((*kind).into()), ..Filter::default() };
        let some = claims.log(&ann, true, &filter).unwrap();
        assert!(!some.is_empty(), "nothing was {kind}");
        assert!(some.iter().all(|event| event.transition.name() == *kind));
    }
    let of = Filter { resource: Some(resource("taking")), last: Some(2), ..Filter::default() };
    let kinds: Vec<_> =
        claims.log(&ann, false, &of).unwrap().iter().map(|it| it.transition.name()).collect();
    assert_eq!(kinds, ["taken", "granted"]);
    let unused = Requester { scope: Scope::named("unused"), ..ann };
    assert!(claims.log(&unused, false, &Filter::default()).unwrap().is_empty());
}

/// Messages to holders, to sessions and to all, until each is acknowledged.
fn messages(claims: &Claims, nature: &Nature) {
    let at = |session: &str, pid| {
        let scope = Scope::named("messages");
        Requester { scope, ..with_process(session, pid) }
    };
    let (ann, ben, cid) = (at("ann-m", 701), at("ben-m", 702), at("cid-m", 703));
    let task = resource("messages");
    let texts = |who: &Requester| -> Vec<String> {
        let notices = claims.notices(who).unwrap();
        let unread = claims.unread(who).unwrap();
        assert_eq!(notices.messages, unread);
        unread.into_iter().map(|message| message.draft.text).collect()
    };
    assert!(claims.ask(&ben, &task, "may I?").unwrap().is_empty(), "no session holds it");
    claim(claims, &ann, "messages");
    assert!(claims.ask(&ann, &task, "may I?").unwrap().is_empty(), "not to itself");
    let sent = claims.ask(&ben, &task, "may I?").unwrap();
    let about = (sent[0].to.as_deref(), sent[0].kind, sent[0].about.as_ref());
    assert_eq!(about, (Some("ann-m"), MessageKind::Asked, Some(&task)));
    claims.send(&ann, None, MessageKind::Told, None, "lunch").unwrap();
    assert_eq!((texts(&ann), texts(&ben)), (vec!["may I?".into()], vec!["lunch".into()]));
    assert_eq!(texts(&cid), ["lunch"]);
    assert!(texts(&with_process("dan", 704)).is_empty(), "another scope");
    // A refusal carries it, too, and it is repeated until it is acknowledged.
    let error = claims.claim(&ben, &task, &ClaimOptions::default()).unwrap_err();
    assert_eq!(error.refusal().unwrap().notices.messages[0].text, "lunch");
    claims.acknowledge(&ben, &[sent[0].number, u64::MAX]).unwrap();
    assert_eq!(texts(&ann), ["may I?"], "only its recipient acknowledges a message");
    // A conversation that is cleared keeps what it did not acknowledge, and what it did.
    claims.send(&ben, Some("ann-m"), MessageKind::Told, None, "later").unwrap();
    claims.acknowledge(&ann, &[sent[0].number]).unwrap();
    let renamed = at("ann-cleared", 701);
    claims.claim(&renamed, &resource("messages-2"), &ClaimOptions::default()).unwrap();
    assert_eq!(texts(&renamed), ["later"]);
    let log: Vec<_> = claims.messages(&cid, Some(&task)).unwrap();
    assert_eq!(log.len(), 1, "what is acknowledged stays");
    assert_eq!(claims.messages(&cid, None).unwrap().len(), 3);
    // A session that comes later was not meant.
    nature.pass(Duration::from_hours(25));
    assert!(texts(&cid).is_empty());

    // A request that waits is told to the holder, while its process lives.
    let waiting = |claims: &Claims| claims.notices(&renamed).unwrap().waiting;
    let wait = ClaimOptions { waiting: ben.caller.process.clone(), ..ClaimOptions::default() };
    assert_eq!(refused(claims.claim_all(&ben, std::slice::from_ref(&task), &wait)), Reason::Held);
    let told = waiting(claims);
    assert_eq!((told.len(), told[0].session.as_str(), &told[0].resource), (1, "ben-m", &task));
    assert!(claims.notices(&cid).unwrap().waiting.is_empty());
    nature.set(702, DEAD);
    assert!(waiting(claims).is_empty());
    nature.set(702, Liveness::Alive);
    claims.release(&renamed, &task, None, false).unwrap();
    claims.claim_all(&ben, &[task], &wait).unwrap();
    assert!(waiting(claims).is_empty());
}
