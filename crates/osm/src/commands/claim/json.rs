//! Claims as programs read them. The keys are part of what programs rely on.

use std::fmt::Write;

use jiff::Timestamp;
use osm_claims::claim::Ended;
use osm_claims::rules::{Change, Standing};
use osm_claims::{Claim, Event, Hold, Listed, Mode, Outcome, Reason, Refused, Resource};
use osm_identity::Liveness;
use serde::Serialize;
use serde_json::{Value, json};

use super::text;
use crate::ops::claim::{Claimed, Elsewhere, words};
use crate::ops::identity::name::handle_of;

/// One claim.
#[derive(Serialize)]
pub(super) struct Row<'a> {
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

pub(super) fn row(claim: &Claim) -> Row<'_> {
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
            Hold::Process(_) => "process",
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
pub(super) fn listed(listed: &Listed) -> Value {
    let mut value = json!(row(&listed.claim));
    let mut add = |name: &str, more: Value| {
        value.as_object_mut().expect("a row is an object").insert(name.into(), more);
    };
    add("scope", json!(listed.scope.key));
    add("verdict", json!(listed.verdict.name()));
    add("evidence", json!(text::evidence(listed)));
    add("mine", json!(listed.is_mine));
    add("free", json!(matches!(listed.standing, Standing::Free(_))));
    add("left_seconds", json!(listed.left.map(|left| left.as_secs())));
    value
}

/// A refusal.
pub(super) fn refused(refused: &Refused) -> Value {
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
pub(super) fn claimed(claimed: &Claimed) -> Value {
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
pub(super) fn changed(claimed: &Claimed) -> Value {
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
pub(super) fn event(event: &Event) -> Value {
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
