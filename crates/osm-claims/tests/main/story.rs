//! One story for every ledger: each operation, and what each says no to.

use std::time::Duration;

use osm_claims::event::{Filter, KINDS};
use osm_claims::rules::{Change, Request, Standing};
use osm_claims::{
    Asker, Caller, Claims, End, Epoch, Keep, Reason, Scope, Token, USUAL_LEASE, USUAL_OFFER, Wish,
};
use osm_identity::{Liveness, Proof, ReadError, UnknownReason};

use crate::harness::{
    self, Fixture, Nature, refused, replayed, resource, with_process, without_process,
};

const DEAD: Liveness = Liveness::Dead(Proof::Zombie);

#[test]
fn in_memory() {
    story(&harness::in_memory());
}

#[test]
fn in_sqlite() {
    story(&harness::in_sqlite());
}

fn story(Fixture { claims, nature, .. }: &Fixture) {
    granting(claims);
    epochs(claims);
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
    looking_back(claims);
}

fn claim(claims: &Claims, asker: &Asker, name: &str) -> Token {
    claims.claim(asker, &resource(name), &Wish::default()).unwrap().claim.token()
}

fn granting(claims: &Claims) {
    let (ann, ben, wish) = (with_process("ann", 1), with_process("ben", 2), Wish::default());
    let task = resource("granting");
    assert!(claims.look(&ann, &task).unwrap().is_none());
    assert!(claims.list(&ann, true).unwrap().is_empty(), "reading makes nothing");
    let note = Wish { note: Some("as soon as I can".into()), ..wish.clone() };
    let granted = claims.claim(&ann, &task, &note).unwrap();
    assert_eq!(granted.change, Change::Grant(None));
    assert_eq!(granted.claim.note, note.note);
    assert_eq!(claims.claim(&ann, &task, &wish).unwrap().change, Change::Nothing, "once more");

    let error = claims.claim(&ben, &task, &wish).unwrap_err();
    let no = error.refusal().unwrap();
    assert_eq!((no.reason, no.verdict.as_ref()), (Reason::Held, Some(&Liveness::Alive)));
    assert_eq!(no.claim.as_ref().unwrap().owner.session, "ann");
    assert!(no.to_string().contains("ann"), "{no}");
    let hint = error.hint().unwrap();
    assert!(hint.contains("--wait"), "{hint}");

    let token = Some(granted.claim.token());
    assert_eq!(refused(claims.release(&ben, &task, None, false)), Reason::NotHeld);
    let released = claims.release(&ann, &task, token, false).unwrap();
    assert_eq!(released.change, Change::Close(End::Released));
    assert_eq!(refused(claims.check(&ann, &task, token)), Reason::Stale);
    let next = claims.claim(&ben, &task, &wish).unwrap().claim;
    assert!(next.epoch > granted.claim.epoch);

    claims.release(&ben, &task, None, true).unwrap();
    assert_eq!(refused(claims.claim(&ann, &task, &wish)), Reason::Completed);
    assert_eq!(refused(claims.take(&ann, &task, true, &wish)), Reason::Completed);
    let reopen = Wish { reopen: true, ..wish };
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
    let wish = Wish::default();
    for (token, expected) in
        [(first, Reason::Stale), (later, Reason::UnknownEpoch), (forged, Reason::UnknownEpoch)]
    {
        let token = Some(token);
        assert_eq!(refused(claims.check(&ann, &task, token)), expected);
        assert_eq!(refused(claims.renew(&ann, &task, token, &wish)), expected);
        assert_eq!(refused(claims.release(&ann, &task, token, false)), expected);
        assert_eq!(refused(claims.offer(&ann, &task, token, Some("ben"), &wish)), expected);
        assert_eq!(refused(claims.offer(&ann, &task, token, None, &wish)), expected);
    }
    assert_eq!(claims.check(&ann, &task, Some(second)).unwrap().token(), second);
    assert_eq!(claims.renew(&ann, &task, Some(second), &wish).unwrap().change, Change::Nothing);
    let nothing = resource("never claimed");
    assert_eq!(refused(claims.check(&ann, &nothing, None)), Reason::NotHeld);
}

fn liveness(claims: &Claims, nature: &Nature) {
    let (owner, ben, wish) = (with_process("owner", 10), with_process("ben", 2), Wish::default());
    let task = resource("liveness");
    let token = claim(claims, &owner, "liveness");
    for (verdict, reason) in [
        (Liveness::Suspended, Reason::Suspended),
        (Liveness::Unknown(UnknownReason::AnotherNamespace), Reason::Unknown),
        (Liveness::Unknown(UnknownReason::Unreadable(ReadError::Denied)), Reason::Unknown),
        (Liveness::Alive, Reason::Held),
    ] {
        nature.set(10, verdict);
        let error = claims.claim(&ben, &task, &wish).unwrap_err();
        assert_eq!(error.refusal().unwrap().reason, reason);
        assert_eq!(error.refusal().unwrap().verdict, Some(verdict));
        assert_eq!(claims.sweep(&ben, false, false).unwrap().freed(), 0);
    }
    nature.set(10, DEAD);
    let foreseen =
        claims.foresee(&ben, &task, &Request::Claim { reopen: false, alone: false }).unwrap();
    assert_eq!(foreseen.1, Change::Grant(Some(End::Died)));
    let granted = claims.claim(&ben, &task, &wish).unwrap();
    assert_eq!(granted.change, Change::Grant(Some(End::Died)));
    let ended = granted.ended.unwrap().ended.unwrap();
    assert_eq!((ended.how, ended.by.as_str()), (End::Died, "ben"));
    let proof = ended.evidence.unwrap();
    assert!(proof.contains("pid 10") && proof.contains("waits for its parent"), "{proof}");

    // Whoever was taken for dead and asks all the same is nobody, until its process is seen.
    assert_eq!(refused(claims.check(&owner, &task, Some(token))), Reason::AnchorGone);
    nature.set(10, Liveness::Alive);
    assert_eq!(refused(claims.check(&owner, &task, Some(token))), Reason::Stale);
    replayed(claims, &ben);
}

fn leases(claims: &Claims, nature: &Nature) {
    let (leased, ben, wish) = (without_process("leased"), with_process("ben", 2), Wish::default());
    let task = resource("leases");
    let token = Some(claim(claims, &leased, "leases"));
    let listed = claims.look(&leased, &task).unwrap().unwrap();
    assert_eq!((listed.left, listed.standing), (Some(USUAL_LEASE), Standing::Held));
    let second = Duration::from_secs(1);
    nature.pass(USUAL_LEASE.checked_sub(second).unwrap());
    let error = claims.claim(&ben, &task, &wish).unwrap_err();
    assert_eq!(error.refusal().unwrap().left, Some(second));
    assert!(error.to_string().contains("another 1 s"), "{error}");

    let renewed = claims.renew(&leased, &task, token, &wish).unwrap();
    assert_eq!(renewed.change, Change::Renew);
    nature.pass(USUAL_LEASE);
    assert_eq!(refused(claims.check(&leased, &task, token)), Reason::LeaseOver);
    claims.renew(&leased, &task, token, &wish).unwrap();
    assert!(claims.check(&leased, &task, token).is_ok(), "nobody took it in between");

    let short = Wish { term: Some(Duration::from_secs(5)), ..wish.clone() };
    claims.renew(&leased, &task, token, &short).unwrap();
    nature.pass(Duration::from_secs(5));
    let granted = claims.claim(&ben, &task, &wish).unwrap();
    assert_eq!(granted.change, Change::Grant(Some(End::Expired)));
    for lost in [
        claims.check(&leased, &task, token).map(drop),
        claims.renew(&leased, &task, token, &wish).map(drop),
    ] {
        assert_eq!(refused(lost), Reason::Stale);
    }
    let losses = claims.losses(&leased, false).unwrap();
    assert_eq!((losses.len(), losses[0].told), (1, false));
    claims.told(&leased).unwrap();
    assert!(claims.losses(&leased, false).unwrap()[0].told);
    assert_eq!(refused(claims.release(&leased, &task, token, false)), Reason::Stale);
    assert!(claims.losses(&leased, false).unwrap().is_empty(), "a release takes note of it");
    replayed(claims, &ben);
}

fn handing_over(claims: &Claims, nature: &Nature) {
    let (ann, ben, eve) = (with_process("ann", 1), with_process("ben", 2), with_process("eve", 3));
    let (wish, task) = (Wish::default(), resource("handing over"));
    let token = Some(claim(claims, &ann, "handing over"));
    assert_eq!(refused(claims.accept(&ben, &task, &wish)), Reason::NotOffered);
    assert_eq!(refused(claims.offer(&ann, &task, token, None, &wish)), Reason::NotOffered);
    let note = Wish { note: Some("half done".into()), ..wish.clone() };
    let offered = claims.offer(&ann, &task, token, Some("ben"), &note).unwrap();
    assert_eq!(offered.claim.offer.as_ref().unwrap().note, note.note);
    assert!(claims.check(&ann, &task, token).is_ok(), "it is still hers");
    assert_eq!(claims.mine(&ben).unwrap().offered.len(), 1);
    assert_eq!(refused(claims.accept(&eve, &task, &wish)), Reason::NotOffered);
    assert_eq!(refused(claims.claim(&eve, &task, &wish)), Reason::Held);
    claims.offer(&ann, &task, token, None, &wish).unwrap();
    assert_eq!(refused(claims.accept(&ben, &task, &wish)), Reason::NotOffered);

    claims.offer(&ann, &task, token, Some("ben"), &wish).unwrap();
    nature.pass(USUAL_OFFER);
    assert_eq!(refused(claims.accept(&ben, &task, &wish)), Reason::NotOffered, "too late");
    claims.offer(&ann, &task, token, Some("ben"), &wish).unwrap();
    let accepted = claims.accept(&ben, &task, &wish).unwrap();
    assert_eq!(accepted.change, Change::Grant(Some(End::HandedOff)));
    let error = claims.check(&ann, &task, token).unwrap_err();
    assert_eq!(error.refusal().unwrap().reason, Reason::Stale);
    assert!(error.to_string().contains("to ben"), "{error}");

    // An offer outlives its owner.
    claims.offer(&ben, &task, None, Some("ann"), &wish).unwrap();
    nature.set(2, DEAD);
    assert_eq!(refused(claims.claim(&eve, &task, &wish)), Reason::Reserved);
    assert_eq!(claims.sweep(&eve, false, false).unwrap().kept(Reason::Reserved), 1);
    claims.claim(&ann, &task, &wish).unwrap();
    nature.set(2, Liveness::Alive);
    replayed(claims, &ann);
}

fn taking(claims: &Claims, nature: &Nature) {
    let (owner, ben, wish) = (with_process("robbed", 20), with_process("ben", 2), Wish::default());
    let task = resource("taking");
    let token = Some(claim(claims, &owner, "taking"));
    assert_eq!(refused(claims.take(&ben, &task, false, &wish)), Reason::HolderAlive);
    nature.set(20, Liveness::Suspended);
    let why = Wish { reason: Some("he went home".into()), ..wish };
    let taken = claims.take(&ben, &task, false, &why).unwrap();
    assert_eq!(taken.change, Change::Grant(Some(End::Taken)));
    nature.set(20, Liveness::Alive);
    let error = claims.check(&owner, &task, token).unwrap_err();
    assert_eq!(error.refusal().unwrap().reason, Reason::Stale);
    let said = error.to_string();
    assert!(said.contains("ben took") && said.contains("he went home"), "{said}");
    assert_eq!(claims.mine(&owner).unwrap().lost.len(), 1);
    let back = claims.take(&owner, &task, true, &why).unwrap();
    assert!(Some(back.claim.epoch) > token.map(|it| it.epoch));
    assert!(claims.mine(&owner).unwrap().lost.is_empty(), "having it again settles it");
    assert_eq!(claims.take(&owner, &task, true, &why).unwrap().change, Change::Nothing);
    replayed(claims, &ben);
}

fn coming_back(claims: &Claims, nature: &Nature) {
    let (before, after) = (with_process("phoenix", 30), with_process("phoenix", 31));
    let (wish, task) = (Wish::default(), resource("coming back"));
    let token = Some(claim(claims, &before, "coming back"));
    assert_eq!(refused(claims.claim(&after, &task, &wish)), Reason::SessionElsewhere);
    nature.set(30, Liveness::Unknown(UnknownReason::Unreadable(ReadError::Denied)));
    assert_eq!(refused(claims.claim(&after, &task, &wish)), Reason::SessionUnknown);
    nature.set(30, DEAD);
    assert_eq!(refused(claims.check(&after, &task, token)), Reason::NotHeld, "not in silence");
    let mine = claims.mine(&after).unwrap();
    assert_eq!((mine.held.len(), mine.resumable.len()), (0, 1));
    let resumable = |asker: &Asker| claims.resumable(asker).unwrap().len();
    assert_eq!((resumable(&after), resumable(&with_process("stranger", 32))), (1, 0));
    claim(claims, &after, "something else");
    assert_eq!(resumable(&after), 1, "what the new process holds is no matter of resuming");
    let resumed = claims.resume(&after, &task, &wish).unwrap();
    assert_eq!(resumed.change, Change::Grant(Some(End::Died)));
    assert_eq!(resumable(&after), 0);
    assert_eq!(refused(claims.check(&after, &task, token)), Reason::Stale, "with a new epoch");
    let stranger = with_process("stranger", 32);
    assert_eq!(refused(claims.resume(&stranger, &task, &wish)), Reason::NotHeld);
    replayed(claims, &after);
}

fn commands(claims: &Claims, nature: &Nature) {
    let (maker, other) = (with_process("maker", 60), with_process("other", 61));
    let task = resource("commands");
    let run = |pid| {
        let process = with_process("command", pid).caller.process.unwrap();
        Wish { keep: Keep::Process(process), ..Wish::default() }
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
    let (wish, task) = (Wish::default(), resource("callers"));
    let asker = with_process("caller", 40);
    let caller = |change: fn(&mut Caller)| {
        let mut other = asker.clone();
        change(&mut other.caller);
        other
    };
    let random = caller(|it| it.is_random = true);
    assert_eq!(refused(claims.claim(&random, &task, &wish)), Reason::NoIdentity);
    let token = Some(claim(claims, &asker, "callers"));
    let unseen = caller(|it| it.process = None);
    assert_eq!(refused(claims.claim(&unseen, &task, &wish)), Reason::Unconfirmed);
    let cleared = caller(|it| it.session = "cleared".into());
    assert!(claims.check(&cleared, &task, token).is_ok(), "one process, one owner");
    claims.renew(&cleared, &task, token, &wish).unwrap();
    assert_eq!(claims.look(&cleared, &task).unwrap().unwrap().claim.owner.session, "cleared");
    let sibling = caller(|it| (it.session, it.is_sole) = ("sibling".into(), false));
    assert_eq!(refused(claims.claim(&sibling, &task, &wish)), Reason::Held);

    // A helper that holds: its death frees it, whoever started it.
    let helper = |pid| with_process("", pid).caller.process.unwrap();
    let (held, entrusted) = (resource("held by a helper"), resource("entrusted to a helper"));
    let keep = Wish { keep: Keep::Process(helper(41)), ..wish };
    claims.claim(&cleared, &held, &keep).unwrap();
    let token = claim(claims, &cleared, "entrusted to a helper");
    let stale = Token { epoch: Epoch(token.epoch.0 - 1), seal: None };
    let twice = claims.entrust(&cleared, &entrusted, stale, &helper(41));
    assert_eq!(refused(twice), Reason::Stale);
    claims.entrust(&cleared, &entrusted, token, &helper(41)).unwrap();
    nature.set(41, DEAD);
    for task in [&held, &entrusted] {
        let standing = claims.look(&sibling, task).unwrap().unwrap().standing;
        assert_eq!(standing, Standing::Free(End::Died));
    }
    replayed(claims, &cleared);
}

fn requests(claims: &Claims) {
    let (ann, ben) = (with_process("ann", 1), with_process("ben", 2));
    let named = Wish { request: Some("request-1".into()), ..Wish::default() };
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
    let named = Wish {
        request: Some("lapsed-1".into()),
        term: Some(Duration::from_secs(10)),
        ..Wish::default()
    };
    let first = claims.claim(&night, &task, &named).unwrap().claim;
    nature.pass(Duration::from_secs(11));
    let again = claims.claim(&night, &task, &named).unwrap();
    assert_eq!((again.change, again.claim.epoch), (Change::Renew, first.epoch), "it runs anew");
    assert!(claims.check(&night, &task, None).is_ok());
    let next = claims.next(&night, &[resource("another")], &named).unwrap();
    assert_eq!(next.claim.resource, task);
    claims.release(&night, &task, None, false).unwrap();
    let error = claims.claim(&night, &task, &named).unwrap_err();
    let said = error.to_string();
    assert_eq!(error.refusal().unwrap().reason, Reason::RequestReused);
    assert!(said.contains("answered before") && said.contains("released"), "{said}");
}

fn candidates(claims: &Claims) {
    let (ann, ben, wish) = (with_process("ann", 1), with_process("ben", 2), Wish::default());
    let names = ["first", "second", "third"].map(resource);
    claim(claims, &ben, "first");
    let next = claims.next(&ann, &names, &wish).unwrap();
    assert_eq!(next.claim.resource, names[1]);
    assert_eq!(next.skipped, [(names[0].clone(), Reason::Held)]);
    assert_eq!(claims.next(&ann, &names, &wish).unwrap().claim.resource, names[2], "another one");
    let error = claims.next(&ann, &names, &wish).unwrap_err();
    let no = error.refusal().unwrap();
    assert_eq!((no.reason, &*no.tally), (Reason::NothingFree, &[(Reason::Held, 3)][..]));
    assert_eq!(refused(claims.next(&ann, &[], &wish)), Reason::NothingFree);
    replayed(claims, &ann);
}

fn scopes(claims: &Claims) {
    let (here, ben) = (with_process("ann", 1), with_process("ben", 2));
    let elsewhere = Asker { scope: Scope::named("elsewhere"), ..ben };
    claim(claims, &here, "scopes");
    claim(claims, &elsewhere, "scopes");
    assert_eq!(claims.list(&elsewhere, false).unwrap().len(), 1);
    assert!(claims.list(&elsewhere, true).unwrap().len() > 1);
    let folder = |key: &str, caller: &Asker| Asker {
        scope: Scope { key: key.into(), folder: Some("boot:1:2".into()) },
        ..caller.clone()
    };
    let (path, other_path) = (folder("repo:/a/.git", &here), folder("repo:/b/.git", &elsewhere));
    claim(claims, &path, "folder");
    let taken = claims.claim(&other_path, &resource("folder"), &Wish::default());
    assert_eq!(refused(taken), Reason::Held, "one folder by two paths");
    let another = |folder: &str| Asker {
        scope: Scope { key: "repo:/a/.git".into(), folder: Some(folder.into()) },
        ..elsewhere.clone()
    };
    let (new, wish, task) = (another("boot:1:3"), Wish::default(), resource("folder"));
    assert!(claims.look(&new, &task).unwrap().is_none(), "another folder in its place");
    claims.claim(&new, &task, &wish).unwrap();
    assert!(claims.check(&path, &task, None).is_ok(), "the first one is still what it was");
    let mounted_anew = another("boot:7:3");
    assert!(claims.check(&mounted_anew, &task, None).is_ok(), "a device is mounted again");
    let later = another("next boot:1:9");
    assert!(claims.check(&later, &task, None).is_ok(), "after a restart the path tells");
    replayed(claims, &here);
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
    let sweeper = Asker { scope: Scope::named("sweep"), ..ann };
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
        assert!(some.iter().all(|event| event.deed.name() == *kind));
    }
    let of = Filter { resource: Some(resource("taking")), last: Some(2), ..Filter::default() };
    let kinds: Vec<_> =
        claims.log(&ann, false, &of).unwrap().iter().map(|it| it.deed.name()).collect();
    assert_eq!(kinds, ["taken", "granted"]);
    let unused = Asker { scope: Scope::named("unused"), ..ann };
    assert!(claims.log(&unused, false, &Filter::default()).unwrap().is_empty());
}
