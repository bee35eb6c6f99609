use std::sync::Arc;
use std::time::Duration;

use super::*;
use crate::claim::{Ended, Mode, Offer};
use crate::clock::{Lease, Moment};
use crate::epoch::{Epoch, Seal};
use crate::owner::{Caller, OwnerId};
use crate::resource::Resource;
use crate::scope::ScopeId;
use osm_identity::{Pid, ProcessInstance, Proof, ReadError, StartTime};

fn owner(id: i64) -> Arc<Owner> {
    Arc::new(Owner {
        id: OwnerId(id),
        who: Caller {
            session: format!("session-{id}"),
            process: None,
            agent: None,
            host: "here".into(),
            is_random: false,
            is_sole: true,
            is_process: false,
        },
    })
}

fn moment(seconds: u64) -> Moment {
    let uptime = Duration::from_secs(seconds);
    Moment { machine: Some("m".into()), boot: "b".into(), uptime, wall: None }
}

fn now(seconds: u64) -> Now {
    Now { moment: moment(seconds), wall: jiff::Timestamp::UNIX_EPOCH }
}

fn lease(seconds: u64) -> Lease {
    Lease { term: Duration::from_secs(seconds), since: moment(0) }
}

fn claim(owned_by: i64) -> Claim {
    Claim {
        scope: ScopeId(1),
        resource: Resource::new("r").unwrap(),
        epoch: Epoch(7),
        seal: Seal(1),
        owner: owner(owned_by),
        mode: Mode::default(),
        hold: Hold::Session,
        since: jiff::Timestamp::UNIX_EPOCH,
        note: None,
        request: None,
        offer: None,
        ended: None,
    }
}

fn ended(how: End) -> Claim {
    let ended =
        Ended { how, at: jiff::Timestamp::UNIX_EPOCH, by: "session-9".into(), evidence: None };
    Claim { ended: Some(ended), ..claim(1) }
}

const ALIVE: Liveness = Liveness::Alive;
const DEAD: Liveness = Liveness::Dead(Proof::Gone);
const UNKNOWN: Liveness = Liveness::Unknown(UnknownReason::Unreadable(ReadError::Denied));

fn ask(claim: Option<&Claim>, by: i64, request: &Request, verdict: &Liveness) -> String {
    match decide(&now(100), claim, &owner(by), request, verdict) {
        Ok(change) => format!("{change:?}"),
        Err(reason) => reason.code().to_owned(),
    }
}

#[test]
fn what_another_session_gets() {
    let held = claim(1);
    let rows: &[(&str, &Liveness, &str)] = &[
        ("claim", &ALIVE, "held"),
        ("claim", &Liveness::Suspended, "suspended"),
        ("claim", &UNKNOWN, "unknown_holder"),
        ("claim", &DEAD, "Grant(Some(Died))"),
        ("take", &ALIVE, "holder_alive"),
        ("take", &Liveness::Suspended, "Grant(Some(Taken))"),
        ("take", &UNKNOWN, "Grant(Some(Taken))"),
        ("take", &DEAD, "Grant(Some(Died))"),
        ("take alive", &ALIVE, "Grant(Some(Taken))"),
        ("sweep", &ALIVE, "held"),
        ("sweep", &Liveness::Suspended, "suspended"),
        ("sweep", &UNKNOWN, "unknown_holder"),
        ("sweep", &DEAD, "Close(Died)"),
        ("resume", &DEAD, "not_held"),
        ("accept", &DEAD, "not_offered"),
        ("release", &DEAD, "not_held"),
        ("check", &ALIVE, "not_held"),
        ("renew", &ALIVE, "not_held"),
        ("offer", &ALIVE, "not_held"),
    ];
    for (name, verdict, expected) in rows {
        assert_eq!(ask(Some(&held), 2, &request(name), verdict), *expected, "{name}, {verdict}");
    }
}

#[test]
fn what_the_owner_gets() {
    let held = claim(1);
    for (name, expected) in [
        ("claim", "Nothing"),
        ("take", "Nothing"),
        ("check", "Nothing"),
        ("renew", "Nothing"),
        ("release", "Close(Released)"),
        ("done", "Close(Completed)"),
        ("offer", "Offer"),
        ("withdraw", "not_offered"),
    ] {
        for verdict in [&ALIVE, &Liveness::Suspended, &UNKNOWN] {
            assert_eq!(ask(Some(&held), 1, &request(name), verdict), expected, "{name}");
        }
    }
}

#[test]
fn every_deed_of_an_owner_names_its_epoch() {
    let held = claim(1);
    let requests = [
        Request::Check,
        Request::Renew,
        Request::Offer,
        Request::Withdraw,
        Request::Note,
        |token| Request::Release { token, done: false },
    ];
    for request in requests {
        for (token, expected) in
            [("6", "stale"), ("8", "unknown_epoch"), ("7.00000002", "unknown_epoch")]
        {
            let token = Some(token.parse().unwrap());
            assert_eq!(ask(Some(&held), 1, &request(token), &ALIVE), expected);
        }
        let token = Some("7.00000001".parse().unwrap());
        let granted = ask(Some(&held), 1, &request(token), &ALIVE);
        assert!(!["stale", "unknown_epoch"].contains(&&*granted), "{granted}");
        let over = ended(End::Taken);
        assert_eq!(ask(Some(&over), 1, &request(token), &ALIVE), "stale");
    }
}

#[test]
fn what_ended_is_free_unless_it_is_done() {
    for how in [End::Released, End::Died, End::Expired, End::HandedOff, End::Taken] {
        assert_eq!(ask(Some(&ended(how)), 2, &request("claim"), &ALIVE), "Grant(None)");
    }
    let done = ended(End::Completed);
    assert_eq!(ask(Some(&done), 2, &request("claim"), &ALIVE), "completed");
    assert_eq!(ask(Some(&done), 2, &request("take"), &ALIVE), "completed");
    assert_eq!(
        ask(Some(&done), 2, &Request::Claim { reopen: true, alone: false }, &ALIVE),
        "Grant(None)"
    );
    assert_eq!(ask(Some(&done), 1, &request("done"), &ALIVE), "stale");
    assert_eq!(ask(None, 1, &request("claim"), &ALIVE), "Grant(None)");
    assert_eq!(ask(None, 1, &request("release"), &ALIVE), "not_held");
}

#[test]
fn a_lease_needs_no_verdict() {
    let runs = Claim { hold: Hold::Lease(lease(101)), ..claim(1) };
    let over = Claim { hold: Hold::Lease(lease(100)), ..claim(1) };
    for verdict in [&UNKNOWN, &DEAD, &ALIVE] {
        assert_eq!(ask(Some(&runs), 2, &request("claim"), verdict), "held");
        assert_eq!(ask(Some(&over), 2, &request("claim"), verdict), "Grant(Some(Expired))");
        assert_eq!(ask(Some(&runs), 1, &request("check"), verdict), "Nothing");
        assert_eq!(ask(Some(&over), 1, &request("check"), verdict), "lease_over");
        assert_eq!(ask(Some(&over), 1, &request("renew"), verdict), "Renew");
        assert_eq!(ask(Some(&over), 1, &request("claim"), verdict), "Renew");
    }
    let since = Moment { machine: None, boot: "other".into(), uptime: Duration::ZERO, wall: None };
    let elsewhere = Claim { hold: Hold::Lease(Lease { since, ..lease(1) }), ..claim(1) };
    assert_eq!(ask(Some(&elsewhere), 2, &request("claim"), &UNKNOWN), "unknown_holder");
}

#[test]
fn a_command_holds_for_its_session_while_it_runs() {
    let process = ProcessInstance {
        pid: Pid(7),
        start: StartTime(1),
        boot: "b".into(),
        namespace: "n".into(),
        inode: None,
        machine: None,
        seen: None,
        clock: None,
        name: "make".into(),
    };
    let held = Claim { hold: Hold::Process(process), ..claim(1) };
    for (by, name, verdict, expected) in [
        (1, "claim", &ALIVE, "Nothing"),
        (1, "run", &ALIVE, "held"),
        (1, "run", &Liveness::Suspended, "suspended"),
        (1, "run", &UNKNOWN, "unknown_holder"),
        (1, "check", &ALIVE, "Nothing"),
        // Others may hold it by now, so it needs a new grant.
        (1, "run", &DEAD, "Grant(Some(Died))"),
        (1, "claim", &DEAD, "Grant(Some(Died))"),
        (1, "take", &DEAD, "Grant(Some(Died))"),
        (1, "resume", &DEAD, "Grant(Some(Died))"),
        (1, "check", &DEAD, "process_over"),
        (1, "renew", &DEAD, "process_over"),
        (1, "offer", &DEAD, "process_over"),
        (1, "release", &DEAD, "Close(Released)"),
        (2, "claim", &DEAD, "Grant(Some(Died))"),
        (2, "claim", &ALIVE, "held"),
        (2, "check", &ALIVE, "not_held"),
    ] {
        assert_eq!(ask(Some(&held), by, &request(name), verdict), expected, "{by} {name}");
    }
    // What the command starts has the token, and no more rights than to check and to let go.
    let token = Some(held.token());
    let release = Request::Release { token, done: true };
    assert_eq!(ask(Some(&held), 2, &Request::Check(token), &ALIVE), "Nothing");
    assert_eq!(ask(Some(&held), 2, &release, &ALIVE), "Close(Completed)");
    assert_eq!(ask(Some(&held), 2, &Request::Offer(token), &ALIVE), "not_held");
    let without_seal = Some("7".parse().unwrap());
    assert_eq!(ask(Some(&held), 2, &Request::Check(without_seal), &ALIVE), "not_held");
    assert_eq!(ask(Some(&claim(1)), 2, &Request::Check(token), &ALIVE), "not_held");
    let session = claim(1);
    assert_eq!(ask(Some(&session), 1, &request("run"), &ALIVE), "Nothing", "it has it anyway");
}

#[test]
fn an_offer_reserves_for_one_session_and_a_time() {
    let offered = |seconds| {
        let offer = Offer { to: "session-2".into(), lease: lease(seconds), note: None };
        Claim { offer: Some(offer), ..claim(1) }
    };
    for (by, name, verdict, expected) in [
        (2, "accept", &ALIVE, "Grant(Some(HandedOff))"),
        (2, "claim", &ALIVE, "Grant(Some(HandedOff))"),
        (2, "claim", &DEAD, "Grant(Some(HandedOff))"),
        (3, "accept", &DEAD, "not_offered"),
        (3, "claim", &ALIVE, "held"),
        (3, "claim", &DEAD, "reserved"),
        (3, "sweep", &DEAD, "reserved"),
        (2, "sweep", &DEAD, "reserved"),
        (3, "take", &DEAD, "Grant(Some(Taken))"),
        (1, "withdraw", &ALIVE, "Withdraw"),
    ] {
        assert_eq!(ask(Some(&offered(101)), by, &request(name), verdict), expected, "{by} {name}");
    }
    assert_eq!(ask(Some(&offered(100)), 2, &request("accept"), &ALIVE), "not_offered");
    assert_eq!(ask(Some(&offered(100)), 3, &request("claim"), &DEAD), "Grant(Some(Died))");
}

#[test]
fn a_session_takes_up_what_it_had_before_it_died() {
    let mut before = claim(1);
    let mut who = owner(1).who.clone();
    who.session = "session-2".into();
    before.owner = Arc::new(Owner { id: OwnerId(1), who });
    assert_eq!(ask(Some(&before), 2, &request("resume"), &DEAD), "Grant(Some(Died))");
    assert_eq!(ask(Some(&before), 2, &request("resume"), &ALIVE), "held");
    assert_eq!(ask(Some(&before), 2, &request("check"), &DEAD), "not_held", "not in silence");
}

fn request(name: &str) -> Request {
    match name {
        "claim" => Request::Claim { reopen: false, alone: false },
        "run" => Request::Claim { reopen: false, alone: true },
        "take" => Request::Take { even_if_alive: false },
        "take alive" => Request::Take { even_if_alive: true },
        "check" => Request::Check(None),
        "renew" => Request::Renew(None),
        "release" => Request::Release { token: None, done: false },
        "done" => Request::Release { token: None, done: true },
        "offer" => Request::Offer(None),
        "withdraw" => Request::Withdraw(None),
        "accept" => Request::Accept,
        "resume" => Request::Resume,
        "sweep" => Request::Sweep,
        other => panic!("no request {other}"),
    }
}
