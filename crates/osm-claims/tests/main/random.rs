//! Random lives of several callers, in memory and in SQLite side by side: what one says, the other
//! says too, and the events of both lead to what is there.

use std::time::Duration;

use osm_claims::event::Filter;
use osm_claims::{ClaimOptions, Claims, Epoch, Requester, Token};
use osm_identity::{Liveness, Proof, ReadError, UnknownReason};
use proptest::prelude::*;

use crate::harness::{
    Fixture, in_memory, in_sqlite, replayed, resource, with_process, without_process,
};

const CALLERS: usize = 6;
const RESOURCES: [&str; 3] = ["one", "two", "three"];

#[derive(Clone, Debug)]
enum Step {
    Claim,
    Next,
    Check(Presented),
    Renew(Presented),
    Release(Presented, bool),
    Offer(Presented, usize),
    Withdraw(Presented),
    Accept,
    Resume,
    Take(bool),
    Sweep,
    See(usize, Liveness),
    Pass(u64),
}

/// Which epoch a caller names.
#[derive(Clone, Copy, Debug)]
enum Presented {
    None,
    /// The last one that anybody was told, less so many.
    Recent(u64),
}

fn presented() -> impl Strategy<Value = Presented> {
    prop_oneof![Just(Presented::None), (0_u64..4).prop_map(Presented::Recent)]
}

fn verdict() -> impl Strategy<Value = Liveness> {
    prop_oneof![
        Just(Liveness::Alive),
        Just(Liveness::Suspended),
        Just(Liveness::Dead(Proof::Gone)),
        Just(Liveness::Unknown(UnknownReason::Unreadable(ReadError::Denied))),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => Just(Step::Claim),
        2 => Just(Step::Next),
        2 => presented().prop_map(Step::Check),
        2 => presented().prop_map(Step::Renew),
        3 => (presented(), any::<bool>()).prop_map(|(token, done)| Step::Release(token, done)),
        3 => (presented(), 0..CALLERS).prop_map(|(token, to)| Step::Offer(token, to)),
        1 => presented().prop_map(Step::Withdraw),
        2 => Just(Step::Accept),
        2 => Just(Step::Resume),
        2 => any::<bool>().prop_map(Step::Take),
        2 => Just(Step::Sweep),
        3 => (0..CALLERS, verdict()).prop_map(|(caller, verdict)| Step::See(caller, verdict)),
        2 => (1_u64..2_000).prop_map(Step::Pass),
    ]
}

/// Callers: two processes of one session, two of their own, a process that changes its name, and a
/// session without a process.
fn caller(number: usize) -> Requester {
    let pid = u32::try_from(number).unwrap() + 1;
    match number {
        0 | 1 => with_process("shared", pid),
        4 => with_process("before", 4),
        5 => without_process("leased"),
        _ => with_process(&format!("session-{number}"), pid),
    }
}

/// Does a step, and says what came of it in words that are the same for every ledger.
fn run(fixture: &Fixture, by: usize, name: &str, step: &Step, last: Epoch) -> String {
    let (claims, nature) = (&fixture.claims, &fixture.nature);
    let (requester, resource, options) = (caller(by), resource(name), ClaimOptions::default());
    let token = |presented: Presented| match presented {
        Presented::None => None,
        Presented::Recent(back) => {
            Some(Token { epoch: Epoch(last.0.saturating_sub(back)), seal: None })
        }
    };
    let outcome = match step {
        Step::Claim => claims.claim(&requester, &resource, &options),
        Step::Next => claims.next(&requester, &RESOURCES.map(crate::harness::resource), &options),
        Step::Check(shown) => {
            return told(claims.check(&requester, &resource, token(*shown)).map(|it| it.epoch));
        }
        Step::Renew(shown) => claims.renew(&requester, &resource, token(*shown), &options),
        Step::Release(shown, done) => claims.release(&requester, &resource, token(*shown), *done),
        Step::Offer(shown, to) => {
            let to = caller(*to).caller.session;
            claims.offer(&requester, &resource, token(*shown), Some(&to), &options)
        }
        Step::Withdraw(shown) => claims.offer(&requester, &resource, token(*shown), None, &options),
        Step::Accept => claims.accept(&requester, &resource, &options),
        Step::Resume => claims.resume(&requester, &resource, &options),
        Step::Take(even_if_alive) => claims.take(&requester, &resource, *even_if_alive, &options),
        Step::Sweep => {
            let swept = claims.sweep(&requester, true, false).unwrap();
            let came: Vec<_> =
                swept.examined.iter().map(|it| (it.claim.epoch, it.outcome)).collect();
            return format!("{came:?}");
        }
        Step::See(seen, verdict) => {
            nature.set(u32::try_from(*seen).unwrap() + 1, *verdict);
            return String::new();
        }
        Step::Pass(seconds) => {
            nature.pass(Duration::from_secs(*seconds));
            return String::new();
        }
    };
    told(outcome.map(|it| {
        let resumable: Vec<_> = it.notices.resumable.iter().map(|it| it.epoch).collect();
        let lost: Vec<_> = it.notices.losses.iter().map(|it| it.claim.epoch).collect();
        let ended = it.ended.map(|it| it.epoch);
        (it.change, it.claim.epoch, ended, it.skipped, resumable, lost)
    }))
}

fn told<T: std::fmt::Debug>(result: osm_claims::Result<T>) -> String {
    match result {
        Ok(value) => format!("{value:?}"),
        Err(error) => {
            let no = error.refusal().unwrap_or_else(|| panic!("{error}"));
            let claim = no.claim.as_ref().map(|it| (it.epoch, &it.owner.session, &it.ended));
            format!(
                "{:?}",
                (no.reason, &no.resource, claim, &no.holders, no.verdict, no.left, &no.tally)
            )
        }
    }
}

/// What is there, without the seals, which are random.
fn shown(claims: &Claims, requester: &Requester) -> String {
    let open = claims.list(requester, true).unwrap();
    let rows: Vec<_> = open
        .iter()
        .map(|it| {
            let claim = &it.claim;
            let owner = (claim.owner.id, &claim.owner.session, &claim.owner.process);
            (claim.epoch, &claim.resource, owner, &claim.hold, &claim.offer, it.standing)
        })
        .collect();
    let losses = (0..CALLERS).map(|number| {
        let lost = claims.losses(&caller(number), true).unwrap_or_default();
        lost.iter().map(|it| (it.claim.epoch, it.told)).collect::<Vec<_>>()
    });
    format!("{rows:?} {:?}", losses.collect::<Vec<_>>())
}

/// The epochs that were granted, in the order of the events.
fn granted(claims: &Claims, requester: &Requester) -> Vec<Epoch> {
    let filter = Filter { kind: Some("granted".into()), ..Filter::default() };
    claims.log(requester, true, &filter).unwrap().iter().map(|event| event.epoch).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn both_ledgers_do_the_same(
        steps in prop::collection::vec((0..CALLERS, 0..RESOURCES.len(), step()), 1..60),
    ) {
        let (memory, sqlite) = (in_memory(), in_sqlite());
        let watcher = with_process("watcher", 100);
        for (by, name, step) in &steps {
            let last = granted(&memory.claims, &watcher).last().copied().unwrap_or_default();
            let said = [&memory, &sqlite].map(|it| run(it, *by, RESOURCES[*name], step, last));
            prop_assert_eq!(&said[0], &said[1]);
            let there = [&memory, &sqlite].map(|it| shown(&it.claims, &watcher));
            prop_assert_eq!(&there[0], &there[1]);
            for fixture in [&memory, &sqlite] {
                replayed(&fixture.claims, &watcher);
                let epochs = granted(&fixture.claims, &watcher);
                prop_assert!(epochs.windows(2).all(|two| two[0] < two[1]), "{epochs:?}");
            }
        }
    }
}
