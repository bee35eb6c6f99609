//! Claims as programs read them.

use std::fmt::Write;
use std::time::Duration;

use jiff::Timestamp;
use osm_claims::claim::Ended;
use osm_claims::rules::{Change, Standing};
use osm_claims::{
    Claim, End, Event, Hold, Listed, Message, Mode, Outcome, Reason, Refused, Resource,
};
use osm_identity::Liveness;
use serde::Serialize;
use serde_json::{Value, json};

use crate::ops::claim::words::{quoted, verdict};
use crate::ops::claim::{
    Batch, Checked, ClaimList, Claimed, Elsewhere, Error, Mine, Status, words,
};
use crate::ops::identity::name::handle_of;
use crate::render::{brief, time};

/// One claim.
#[derive(Serialize)]
pub(crate) struct Row<'a> {
    resource: &'a Resource,
    /// The bytes of the name in hexadecimal, if they are not UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    resource_hex: Option<String>,
    #[serde(flatten)]
    path: Option<PathRow<'a>>,
    epoch: u64,
    token: String,
    session: &'a str,
    handle: String,
    incarnation: i64,
    agent: Option<&'a str>,
    host: &'a str,
    pid: Option<u32>,
    held_by: &'static str,
    since: Timestamp,
    note: Option<&'a str>,
    offered_to: Option<&'a str>,
    offered_to_handle: Option<String>,
    ended: Option<Value>,
}

/// What a claim of paths has beside that.
#[derive(Serialize)]
struct PathRow<'a> {
    /// The path, from the top of the worktree.
    path: String,
    /// The worktree; `null` for the first one of the repository.
    worktree: Option<&'a str>,
    shared: bool,
    everywhere: bool,
    automatic: bool,
}

fn path_row(claim: &Claim) -> Option<PathRow<'_>> {
    let path = claim.resource.path()?;
    let Mode { shared, everywhere, automatic } = claim.mode;
    let worktree = Some(path.worktree.as_str()).filter(|name| !name.is_empty());
    Some(PathRow { path: path.to_string(), worktree, shared, everywhere, automatic })
}

pub(crate) fn row(claim: &Claim) -> Row<'_> {
    let hex = |bytes: &[u8]| {
        bytes.iter().fold(String::new(), |mut text, byte| {
            write!(text, "{byte:02x}").expect("writing to a string succeeds");
            text
        })
    };
    Row {
        resource: &claim.resource,
        resource_hex: claim.resource.text().is_none().then(|| hex(claim.resource.as_bytes())),
        path: path_row(claim),
        epoch: claim.epoch.0,
        token: claim.token().to_string(),
        session: &claim.owner.session,
        handle: handle_of(&claim.owner.session),
        incarnation: claim.owner.id.0,
        agent: claim.owner.agent.as_deref(),
        host: &claim.owner.host,
        pid: claim.process().map(|process| process.pid.0),
        held_by: match claim.hold {
            Hold::Session | Hold::SessionLease(_) | Hold::WhileUsed(_) => "session",
            Hold::Process(_) | Hold::ProcessLease(..) => "process",
            Hold::Lease(_) => "lease",
        },
        since: claim.since,
        note: claim.note.as_deref(),
        offered_to: claim.offer.as_ref().map(|offer| offer.to.as_str()),
        offered_to_handle: claim.offer.as_ref().map(|offer| handle_of(&offer.to)),
        ended: claim.ended.as_ref().map(ended),
    }
}

/// How a claim ended.
fn ended(ended: &Ended) -> Value {
    let mut value = json!(ended);
    value["by_handle"] = json!(handle_of(&ended.by));
    value
}

/// A claim with what is known of its owner.
pub(crate) fn listed(listed: &Listed) -> Value {
    let mut value = json!(row(&listed.claim));
    let mut add = |name: &str, more: Value| {
        value.as_object_mut().expect("a row is an object").insert(name.into(), more);
    };
    add("scope", json!(listed.scope.key));
    add("verdict", json!(listed.verdict.name()));
    add("evidence", json!(evidence(listed)));
    add("mine", json!(listed.is_mine));
    add("free", json!(matches!(listed.standing, Standing::Free(_))));
    add("left_seconds", json!(listed.left.map(|left| left.as_secs())));
    value
}

/// A refusal.
pub(crate) fn refused(refused: &Refused) -> Value {
    let tally = |(reason, count): &(Reason, usize)| (reason.code().into(), json!(count));
    let remedy = words::remedy(refused);
    json!({
        "granted": false,
        "reason": refused.reason.code(),
        "exit": words::exit(refused.reason),
        "message": words::refusal(refused),
        "remedy": remedy,
        "hints": [remedy],
        "resource": refused.resource,
        "claim": refused.claim.as_deref().map(row),
        "verdict": refused.verdict.map(Liveness::name),
        "evidence": refused.verdict.map(Liveness::evidence),
        "left_seconds": refused.left.map(|left| left.as_secs()),
        "candidates": refused.tally.iter().map(tally).collect::<serde_json::Map<_, _>>(),
    })
}

/// What a request for a claim got.
pub(crate) fn claimed(claimed: &Claimed) -> Value {
    let Outcome { claim, change, ended, skipped, .. } = &claimed.outcome;
    let skipped = skipped
        .iter()
        .map(|(resource, reason)| json!({ "resource": resource, "reason": reason.code() }));
    json!({
        "granted": true,
        "fresh": matches!(change, Change::Grant(_)),
        "claim": row(claim),
        "scope": claimed.scope,
        "ended": ended.as_ref().map(row),
        "also_ended": claimed.outcome.also_ended.iter().map(row).collect::<Vec<_>>(),
        "meets_at_merge": claimed.elsewhere.iter().map(elsewhere).collect::<Vec<_>>(),
        "predecessor": predecessor(claimed),
        "skipped": skipped.collect::<Vec<_>>(),
    })
}

/// A claim of the same paths in another worktree.
fn elsewhere(other: &Elsewhere) -> Value {
    let mut value = json!(row(&other.claim));
    value["works_in"] = json!(other.worktree);
    value
}

/// A claim of several that were changed.
pub(crate) fn changed(claimed: &Claimed) -> Value {
    let mut value = json!(row(&claimed.outcome.claim));
    if matches!(claimed.outcome.change, Change::Acknowledge) {
        value["acknowledged"] = json!(true);
    }
    if claimed.outcome.predecessor.is_some() {
        value["predecessor"] = predecessor(claimed);
    }
    value
}

/// The claim of the session that left the work unfinished, and what it left.
fn predecessor(claimed: &Claimed) -> Value {
    let Some(claim) = &claimed.outcome.predecessor else { return Value::Null };
    let mut value = json!(row(claim));
    value["left"] = json!(claimed.legacy);
    value
}

/// An event.
pub(crate) fn event(event: &Event) -> Value {
    json!({
        "number": event.number,
        "at": event.at,
        "kind": event.transition.name(),
        "resource": event.resource,
        "epoch": event.epoch.0,
        "by": event.by,
        "by_handle": handle_of(&event.by),
        "evidence": event.transition.evidence(),
        "deed": event.transition,
    })
}

/// A message in the log, with the keys of an event.
pub(crate) fn message(message: &Message) -> Value {
    json!({
        "number": message.number,
        "at": message.at,
        "kind": message.kind.name(),
        "resource": message.about,
        "epoch": null,
        "by": message.from,
        "by_handle": handle_of(&message.from),
        "evidence": message.text,
        "to": message.to,
        "deed": null,
    })
}

/// What a request for all of some resources got.
pub(crate) fn claimed_all(all: &[Claimed]) -> Value {
    match all {
        [one] => claimed(one),
        all => json!({ "granted": true, "claims": all.iter().map(claimed).collect::<Vec<_>>() }),
    }
}

/// A claim that the session holds.
pub(crate) fn checked(checked: &Checked) -> Value {
    json!({ "granted": true, "claim": row(&checked.claim) })
}

/// Open claims.
pub(crate) fn list(list: &ClaimList) -> Vec<Value> {
    list.claims.iter().map(listed).collect()
}

/// What concerns the session.
pub(crate) fn mine(mine: &Mine) -> Value {
    let rows = |rows: &[Listed]| rows.iter().map(listed).collect::<Vec<_>>();
    json!({
        "session": mine.session,
        "handle": handle_of(&mine.session),
        "held": rows(&mine.owned.held),
        "resumable": rows(&mine.owned.resumable),
        "offered": rows(&mine.owned.offered),
        "lost": rows(&mine.owned.lost),
    })
}

/// One resource: who holds it, and what would free it.
pub(crate) fn status(resource: &Resource, status: &Status) -> Value {
    let claim = status.claim.as_ref();
    json!({
        "resource": resource,
        "claimed": claim.is_some_and(|it| it.claim.is_open()),
        "claim": claim.map(listed),
        "remedy": to_get(claim),
    })
}

/// What was done to several claims, under the name `done`, with the first refusal. `None` if the first
/// error is not a refusal by the rules.
pub(crate) fn batch(batch: &Batch, done: &str) -> Option<Value> {
    let mut document = match &batch.failed {
        None => json!({}),
        Some(error) => refused(error.refusal()?),
    };
    document[done] = batch.outcomes.iter().map(changed).collect();
    Some(document)
}

/// The document of an error that the rules are the reason of.
pub(crate) fn refusal(error: &Error) -> Option<Value> {
    match error {
        Error::Refused(why) => Some(refused(why)),
        Error::NothingHeld { .. } => Some(refused(&Refused::because(Reason::NotHeld))),
        _ => None,
    }
}

/// The state of a claim.
pub(crate) fn state(listed: &Listed) -> String {
    let mut state = match (&listed.claim.hold, listed.left) {
        (Hold::Lease(_), Some(left)) => format!("lease, {} left", time::span(left)),
        (Hold::Lease(_), None) if matches!(listed.standing, Standing::Free(_)) => {
            "lease over".to_owned()
        }
        (Hold::Lease(_), None) => "unknown: the lease of another machine".to_owned(),
        (hold, left) if hold.presence().is_some() => presence(listed, left),
        _ => verdict(&listed.verdict),
    };
    state.push_str(&words::mode(listed.claim.mode));
    if let Some(offer) = listed.claim.offer.as_ref().filter(|_| listed.is_offered) {
        let note = offer.note.as_ref().map(|note| format!(" ({})", brief(note, 40)));
        let note = note.unwrap_or_default();
        write!(state, ", offered to {}{note}", handle_of(&offer.to))
            .expect("writing to a string succeeds");
    }
    state
}

/// The state of a claim that other machines know by a lease: what is known of its process, if that is of this
/// machine, and the lease.
fn presence(listed: &Listed, left: Option<Duration>) -> String {
    let host = &listed.claim.owner.host;
    let seen = match listed.verdict {
        Liveness::Unknown(_) => String::new(),
        _ => format!("{}, ", verdict(&listed.verdict)),
    };
    match left {
        Some(left) => format!("{seen}lease, {} left, on {host}", time::span(left)),
        None => format!("{seen}lease over, on {host}"),
    }
}

/// The evidence for a state.
pub(crate) fn evidence(listed: &Listed) -> String {
    match (listed.claim.process(), &listed.claim.hold) {
        (Some(_), hold) if hold.presence().is_some() => state(listed),
        (Some(process), _) => format!("{process}: {}", listed.verdict.evidence()),
        (None, Hold::Lease(_)) => state(listed),
        (None, _) => listed.verdict.evidence().to_owned(),
    }
}

/// What would free a resource.
pub(crate) fn to_get(listed: Option<&Listed>) -> String {
    let free = || "it is free: claim it".to_owned();
    let Some(listed) = listed else { return free() };
    let name = quoted(&listed.claim.resource);
    if let Some(ended) = &listed.claim.ended {
        return match ended.how {
            End::Completed => {
                format!("the work is done; to do it again: osm claim --reopen {name}")
            }
            _ => free(),
        };
    }
    if listed.is_mine {
        return "it is yours".into();
    }
    match (listed.standing, &listed.claim.hold) {
        (Standing::Free(_), _) if listed.is_offered => {
            "wait until the offer ends: it is reserved for the session that it was offered to"
                .into()
        }
        (Standing::Free(_), _) => "the holder is gone: claim it".into(),
        (Standing::Held, hold) if hold.lease().is_some() => {
            "the holder releases it or hands it off, or its lease ends".into()
        }
        (Standing::Held, _) => "the holder releases it or hands it off, or its process ends".into(),
        (Standing::Suspended, _) => format!(
            "the holder's process continues and releases it, or ends; or osm claim take {name} \
             --reason WHY"
        ),
        (Standing::Unknown(_), _) => format!(
            "the holder releases it; osm cannot prove it dead, so the only other way is osm claim \
             take {name} --reason WHY"
        ),
    }
}
