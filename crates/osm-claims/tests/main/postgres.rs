//! The ledger on a real PostgreSQL server: the stories of the other ledgers, and what only a server does.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Barrier, Mutex};
use std::time::Duration;

use osm_claims::event::{self, Event};
use osm_claims::rules::Change;
use osm_claims::{
    Claim, ClaimOptions, Claims, End, Epoch, Error, Filter, Ledger, Outcome, PostgresLedger,
    Presence, Reason,
};
use osm_postgres::Server as Address;
use osm_testkit::postgres::proxy::{Fault, Proxy};
use osm_testkit::postgres::{Pooler, Server, Settings};
use osm_testkit::trials;

use crate::harness::{Fixture, Nature, refused, replayed, resource, with_process};

/// The server that the tests of this process share.
fn server() -> &'static Server {
    trials::need(Server::shared())
}

/// An address, without what this machine sets for its own servers.
fn address(url: &str) -> Address {
    Address::new(url, &|_| None).unwrap()
}

/// Claims in an empty ledger of one machine, which tells the time as `nature` does.
fn open(url: &str) -> Fixture {
    let nature = Nature::default();
    let clock = Box::new(nature.clone());
    let ledger = PostgresLedger::open_with_clock(address(url), Presence::Process, clock).unwrap();
    Fixture::new(&nature, ledger)
}

pub(crate) fn fixture() -> Fixture {
    open(&server().url(&server().database().unwrap()))
}

pub(crate) fn through_a_pooler() -> Fixture {
    let pooler = trials::need(Pooler::start(server(), 2));
    open(&pooler.url(&server().database().unwrap())).with(pooler)
}

/// The address of a database behind a proxy.
fn behind(proxy: &Proxy, database: &str) -> String {
    format!("postgres://osm@{}/{database}?sslmode=disable", proxy.address())
}

fn proxy() -> Proxy {
    Proxy::new(([127, 0, 0, 1], server().port()).into()).unwrap()
}

pub(crate) fn far_away() -> Fixture {
    let proxy = proxy();
    proxy.delay(Duration::from_millis(1));
    open(&behind(&proxy, &server().database().unwrap())).with(proxy)
}

/// Two connections to an empty ledger, which tells the time as `nature` does.
pub(crate) fn two_connections(nature: &Nature) -> [Box<dyn Ledger>; 2] {
    let url = server().url(&server().database().unwrap());
    [(), ()].map(|()| {
        let (presence, clock) = (Presence::Lease(crate::lease::TERM), Box::new(nature.clone()));
        let ledger = PostgresLedger::open_with_clock(address(&url), presence, clock).unwrap();
        Box::new(ledger) as Box<dyn Ledger>
    })
}

/// A ledger by the server's clock, as several machines use it.
fn by_its_own_clock(url: &str, term: Duration) -> Claims {
    let ledger = PostgresLedger::open(address(url), Presence::Lease(term)).unwrap();
    Claims::new(Box::new(ledger), Box::new(Nature::default()))
}

fn named(id: &str) -> ClaimOptions {
    ClaimOptions { request: Some(id.into()), ..ClaimOptions::default() }
}

#[test]
fn a_lost_reply_is_answered_once() {
    let proxy = proxy();
    let url = behind(&proxy, &server().database().unwrap());
    let claims = by_its_own_clock(&url, Duration::from_mins(10));
    let (ann, task) = (with_process("ann", 1), resource("task"));
    claims.claim(&ann, &resource("before"), &ClaimOptions::default()).unwrap();
    let grants = || {
        let events = claims.log(&ann, true, &Filter::default()).unwrap();
        events.iter().filter(|it| it.transition.name() == "granted").count()
    };

    proxy.lose(Fault::LoseReply("COMMIT\0"));
    let lost = claims.claim(&ann, &task, &named("one"));
    assert!(proxy.has_lost() && matches!(lost, Err(Error::CommitUnknown(_))), "{lost:?}");
    let again = claims.claim(&ann, &task, &named("one")).unwrap();
    assert_eq!((again.change, grants()), (Change::Renew, 2));

    // A request that did not arrive changed nothing.
    proxy.lose(Fault::LoseRequest("COMMIT\0"));
    let lost = claims.claim(&ann, &resource("other"), &named("two"));
    assert!(proxy.has_lost() && matches!(lost, Err(Error::CommitUnknown(_))), "{lost:?}");
    assert_eq!(grants(), 2);
    let granted = claims.claim(&ann, &resource("other"), &named("two")).unwrap();
    assert_eq!((granted.change, grants()), (Change::Grant(None), 3));
    assert_eq!(claims.claim(&ann, &task, &named("one")).unwrap().claim.epoch, again.claim.epoch);
    replayed(&claims, &ann);
}

/// Connections of the same users race for one resource, and each is granted it in its turn.
#[test]
fn one_of_many_is_granted_each_round() {
    const CLIENTS: u32 = 64;
    const ROUNDS: usize = 16;
    let url = server().url(&server().database().unwrap());
    let (gate, term) = (Barrier::new(CLIENTS as usize), Duration::from_mins(10));
    let wins: Vec<Mutex<Vec<Epoch>>> = (0..ROUNDS).map(|_| Mutex::default()).collect();
    std::thread::scope(|scope| {
        for client in 1..=CLIENTS {
            let (gate, wins, url) = (&gate, &wins, &url);
            scope.spawn(move || {
                let claims = by_its_own_clock(url, term);
                let me = with_process(&format!("client {client}"), client);
                let task = resource("task");
                for won in wins {
                    gate.wait();
                    let answer = claims.claim(&me, &task, &ClaimOptions::default());
                    if let Ok(outcome) = &answer {
                        won.lock().unwrap().push(outcome.claim.epoch);
                    } else {
                        assert_eq!(refused(answer), Reason::Held);
                    }
                    if gate.wait().is_leader() {
                        assert_eq!(won.lock().unwrap().len(), 1);
                    }
                    drop(claims.release(&me, &task, None, false));
                }
            });
        }
    });
    let epochs: Vec<Epoch> = wins.iter().map(|won| won.lock().unwrap()[0]).collect();
    assert!(epochs.is_sorted(), "{epochs:?}");
    let claims = by_its_own_clock(&url, term);
    replayed(&claims, &with_process("looker", 1000));
}

/// What a client was told.
type Told = (String, Epoch, End);

/// The server is killed again and again while clients claim and release; the log says who had what.
#[test]
fn a_server_that_is_killed_grants_nothing_twice() {
    const CLIENTS: u32 = 16;
    const KILLS: usize = 3;
    let settings = Settings { fsync: true, tcp: true, ..Settings::default() };
    let server = trials::need(Server::start(settings));
    let url = server.url(&server.database().unwrap());
    by_its_own_clock(&url, Duration::from_mins(10));
    let (is_over, acknowledged) = (AtomicBool::new(false), Mutex::new(Vec::<Told>::new()));
    let count = || acknowledged.lock().unwrap().len();
    std::thread::scope(|scope| {
        for client in 1..=CLIENTS {
            let (url, is_over, acknowledged) = (&url, &is_over, &acknowledged);
            scope.spawn(move || churn(url, client, is_over, acknowledged));
        }
        for kill in 0..KILLS {
            while count() < (kill + 1) * 40 {
                std::thread::sleep(Duration::from_millis(1));
            }
            server.kill().unwrap();
            server.begin().unwrap();
        }
        let after = count();
        while count() < after + 40 {
            std::thread::sleep(Duration::from_millis(1));
        }
        is_over.store(true, Ordering::SeqCst);
    });
    let claims = by_its_own_clock(&url, Duration::from_mins(10));
    let looker = with_process("looker", 1000);
    let events = claims.log(&looker, true, &Filter::default()).unwrap();
    event::replay(&events).unwrap();
    for (session, epoch, end) in acknowledged.into_inner().unwrap() {
        let of_it: Vec<&Event> = events.iter().filter(|it| it.epoch == epoch).collect();
        let kinds: Vec<_> = of_it.iter().map(|it| it.transition.name()).collect();
        assert_eq!(kinds, ["granted", end.name()], "epoch {epoch} of {session}");
        assert!(of_it.iter().all(|it| it.by == session), "epoch {epoch} of {session}");
    }
    let mut epochs: Vec<Epoch> = events
        .iter()
        .filter(|it| it.transition.name() == "granted")
        .map(|event| event.epoch)
        .collect();
    let all = epochs.len();
    epochs.dedup();
    assert_eq!(epochs.len(), all);
}

/// Claims one of few resources and releases it, again and again, whatever becomes of the server.
fn churn(url: &str, client: u32, is_over: &AtomicBool, acknowledged: &Mutex<Vec<Told>>) {
    let session = format!("client {client}");
    let me = with_process(&session, client);
    // The server may be away when a client starts.
    let claims = loop {
        match PostgresLedger::open(address(url), Presence::Lease(Duration::from_mins(10))) {
            Ok(ledger) => break Claims::new(Box::new(ledger), Box::new(Nature::default())),
            Err(_) => std::thread::sleep(Duration::from_millis(5)),
        }
    };
    for round in 0.. {
        let task = resource(&format!("task {}", (round + client as usize) % 4));
        let options = named(&format!("{session} {round}"));
        let Some(claim) = answered(|| claims.claim(&me, &task, &options)) else {
            if is_over.load(Ordering::SeqCst) {
                return;
            }
            continue;
        };
        let token = Some(claim.token());
        // A release whose reply was lost is refused when it is repeated.
        if answered(|| claims.release(&me, &task, token, false)).is_some() {
            let told = (session.clone(), claim.epoch, End::Released);
            acknowledged.lock().unwrap().push(told);
        }
        if is_over.load(Ordering::SeqCst) {
            return;
        }
    }
}

/// The claim that a request is answered with, once the server is there; `None` if it is refused.
fn answered(request: impl Fn() -> osm_claims::Result<Outcome>) -> Option<Claim> {
    loop {
        match request() {
            Ok(outcome) => return Some(outcome.claim),
            Err(Error::Refused(_)) => return None,
            Err(Error::Server(_) | Error::CommitUnknown(_) | Error::Busy { .. }) => {
                std::thread::sleep(Duration::from_millis(5));
            }
            Err(error) => panic!("{error}"),
        }
    }
}

/// A server that is away is no ledger in which everything is free.
#[test]
fn a_server_that_is_away_grants_nothing() {
    let proxy = proxy();
    let url = behind(&proxy, &server().database().unwrap());
    let claims = by_its_own_clock(&url, Duration::from_mins(10));
    drop(proxy);
    let answer = claims.claim(&with_process("ann", 1), &resource("task"), &ClaimOptions::default());
    let error = answer.unwrap_err();
    assert!(matches!(error, Error::Server(_)), "{error}");
    let place = url.split(['@', '/']).nth(3).unwrap().to_owned();
    assert!(error.to_string().contains(&place), "{error} names {place}");
}

/// Nothing but the notification ends the wait, or the test hangs.
#[test]
fn a_waiter_is_notified() {
    let url = server().url(&server().database().unwrap());
    let claims = by_its_own_clock(&url, Duration::from_mins(10));
    let mut watch = claims.watch().unwrap();
    let other = by_its_own_clock(&url, Duration::from_mins(10));
    let ann = with_process("ann", 1);
    other.claim(&ann, &resource("task"), &ClaimOptions::default()).unwrap();
    let process = ann.caller.process.unwrap();
    claims.watch_for(&mut *watch, &process, Duration::from_mins(10)).unwrap();
}
