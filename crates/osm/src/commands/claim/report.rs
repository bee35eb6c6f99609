//! Claims as people and programs read them. The names in JSON are part of what programs rely on.

use std::fmt::Write;

use jiff::Timestamp;
use osm_claims::refusal::fate;
use osm_claims::rules::{Change, Standing};
use osm_claims::{Claim, Error, Hold, Listed, Outcome, Refused, Resource};
use osm_identity::Liveness;
use serde::Serialize;
use serde_json::{Value, json};

use super::desk::{Answer, Desk};
use crate::error::{CommandError, Exit};
use crate::render::brief;
use crate::render::time::{age, span};
use crate::render::{Column, Style, Table, Text, Ui};

/// One claim.
#[derive(Serialize)]
pub(super) struct Row<'a> {
    resource: &'a Resource,
    /// The bytes of the name in hexadecimal, if it is no text.
    #[serde(skip_serializing_if = "Option::is_none")]
    resource_hex: Option<String>,
    epoch: u64,
    token: String,
    session: &'a str,
    incarnation: i64,
    agent: Option<&'a str>,
    host: &'a str,
    pid: Option<u32>,
    held_by: &'static str,
    since: Timestamp,
    note: Option<&'a str>,
    offered_to: Option<&'a str>,
    ended: Option<Value>,
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
        epoch: claim.epoch.0,
        token: claim.token().to_string(),
        session: &claim.owner.session,
        incarnation: claim.owner.id.0,
        agent: claim.owner.agent.as_deref(),
        host: &claim.owner.host,
        pid: claim.process().map(|process| process.pid.0),
        held_by: match claim.hold {
            Hold::Session => "session",
            Hold::Process(_) => "process",
            Hold::Lease(_) => "lease",
        },
        since: claim.since,
        note: claim.note.as_deref(),
        offered_to: claim.offer.as_ref().map(|offer| offer.to.as_str()),
        ended: claim.ended.as_ref().map(|ended| json!(ended)),
    }
}

/// A claim with what is known of its owner.
pub(super) fn listed(listed: &Listed) -> Value {
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
pub(super) fn refused(refused: &Refused) -> Value {
    let tally =
        |(reason, count): &(osm_claims::Reason, usize)| (reason.code().into(), json!(count));
    json!({
        "granted": false,
        "reason": refused.reason.code(),
        "exit": refused.reason.exit(),
        "message": refused.to_string(),
        "remedy": refused.remedy(),
        "resource": refused.resource,
        "claim": refused.claim.as_deref().map(row),
        "verdict": refused.verdict.map(Liveness::name),
        "evidence": refused.verdict.map(Liveness::evidence),
        "left_seconds": refused.left.map(|left| left.as_secs()),
        "candidates": refused.tally.iter().map(tally).collect::<serde_json::Map<_, _>>(),
    })
}

/// What an operation came to.
pub(super) fn outcome(desk: &Desk, outcome: &Outcome, ui: &mut Ui) {
    if desk.json {
        let skipped = |(resource, reason): &(Resource, osm_claims::Reason)| json!({"resource": resource, "reason": reason.code()});
        ui.json(&json!({
            "granted": true,
            "fresh": matches!(outcome.change, Change::Grant(_)),
            "claim": row(&outcome.claim),
            "scope": desk.asker.scope.key,
            "ended": outcome.ended.as_ref().map(row),
            "skipped": outcome.skipped.iter().map(skipped).collect::<Vec<_>>(),
        }));
        return;
    }
    let what = match outcome.change {
        Change::Close(_) => {
            let (resource, epoch) = (&outcome.claim.resource, outcome.claim.epoch);
            return ui.line(format!("{resource} is released: epoch {epoch}"));
        }
        Change::Grant(_) => "is yours",
        Change::Renew => "is yours for another term",
        Change::Nothing => "is yours already",
        Change::Offer => "is offered",
        Change::Withdraw => "is offered no more",
    };
    claim(desk, &outcome.claim, what, ui);
    if let Some(ended) = &outcome.ended {
        ui.line(format!("  before: {}", fate(ended)));
    }
}

/// One claim, in one line.
pub(super) fn claim(desk: &Desk, claim: &Claim, what: &str, ui: &mut Ui) {
    if desk.json {
        return ui.json(&json!({ "granted": true, "claim": row(claim) }));
    }
    let name = Style::Strong.of(claim.resource.to_string());
    let lease = match &claim.hold {
        Hold::Lease(lease) => format!(", for {}", span(lease.term)),
        Hold::Process(_) => ", while its command runs".to_owned(),
        Hold::Session => String::new(),
    };
    ui.line(name.then(format!(" {what}: epoch {}{lease}", claim.token())));
}

/// What was done to several claims, and the first refusal: one document for programs.
pub(super) fn several(
    desk: &Desk,
    done: &str,
    outcomes: &[Outcome],
    failed: Option<Error>,
    ui: &mut Ui,
) -> Answer {
    if !desk.json {
        for it in outcomes {
            outcome(desk, it, ui);
        }
        return failed.map_or(Ok(()), |error| Err(error.into()));
    }
    let refusal = failed.as_ref().and_then(Error::refusal);
    let exit = refusal.map(|it| Exit::Claim(it.reason));
    if failed.is_none() || refusal.is_some() {
        let mut document = refusal.map_or_else(|| json!({}), refused);
        document[done] = outcomes.iter().map(|it| json!(row(&it.claim))).collect();
        ui.json(&document);
    }
    match (exit, failed) {
        (Some(exit), _) => Err(CommandError::Told(exit)),
        (None, Some(error)) => Err(error.into()),
        (None, None) => Ok(()),
    }
}

/// Says what an earlier incarnation of this session held, and how to take it up.
pub(super) fn resumable(desk: &Desk, ui: &mut Ui) {
    let Ok(resumable) = desk.claims.resumable(&desk.asker) else { return };
    let names: Vec<String> = resumable.iter().map(|it| it.claim.resource.to_string()).collect();
    if !names.is_empty() {
        ui.warn(&format!("this session had before its process died: {}", names.join(", ")));
        ui.hint("take it up with `osm claim resume`, or leave it to others");
    }
}

/// The state of a claim, for a table.
pub(super) fn state(listed: &Listed) -> String {
    let mut state = match (&listed.claim.hold, listed.left) {
        (Hold::Lease(_), Some(left)) => format!("lease, {} left", span(left)),
        (Hold::Lease(_), None) if matches!(listed.standing, Standing::Free(_)) => {
            "lease over".to_owned()
        }
        (Hold::Lease(_), None) => "unknown: its lease is another machine's".to_owned(),
        _ => listed.verdict.to_string(),
    };
    if let Some(offer) = listed.claim.offer.as_ref().filter(|_| listed.is_offered) {
        let note = offer.note.as_ref().map(|note| format!(" ({})", brief(note, 40)));
        let note = note.unwrap_or_default();
        write!(state, ", offered to {}{note}", offer.to).expect("writing to a string succeeds");
    }
    state
}

/// What a state rests on.
pub(super) fn evidence(listed: &Listed) -> String {
    match (listed.claim.process(), &listed.claim.hold) {
        (Some(process), _) => format!("{process}: {}", listed.verdict.evidence()),
        (None, Hold::Lease(_)) => state(listed),
        (None, _) => listed.verdict.evidence().to_owned(),
    }
}

const SCOPE: Column = Column::new("SCOPE").rank(1).shrinks(12);
const COLUMNS: [Column; 7] = [
    Column::new("RESOURCE").shrinks(12),
    Column::new("OWNER").rank(1),
    Column::new("AGENT").rank(4),
    Column::new("STATE").rank(2).shrinks(8),
    Column::new("SINCE").rank(5),
    Column::new("EPOCH").rank(6),
    Column::new("NOTE").rank(3).shrinks(8),
];

/// The table that `osm claims` and `osm claim mine` show.
pub(super) fn table(rows: &[Listed], everywhere: bool, now: Timestamp, ui: &mut Ui) {
    let columns: Vec<Column> = everywhere.then_some(SCOPE).into_iter().chain(COLUMNS).collect();
    let mut table = Table::new(&columns);
    for listed in rows {
        let claim = &listed.claim;
        let owner = match (listed.is_mine, listed.is_predecessors) {
            (true, _) => Style::Strong.of(format!("{} (you)", claim.owner.session)),
            (_, true) => format!("{} (you, before)", claim.owner.session).into(),
            _ => claim.owner.session.as_str().into(),
        };
        let style = match listed.verdict {
            Liveness::Alive => Style::Good,
            Liveness::Suspended | Liveness::Unknown(_) => Style::Caution,
            Liveness::Dead(_) => Style::Bad,
        };
        let scope = everywhere.then(|| Text::from(listed.scope.shown()));
        table.row(scope.into_iter().chain([
            claim.resource.to_string().into(),
            owner,
            claim.owner.agent.as_deref().unwrap_or("-").into(),
            style.of(state(listed)),
            age(claim.since, now).into(),
            claim.epoch.to_string().into(),
            claim.note.as_deref().unwrap_or("-").into(),
        ]));
    }
    ui.table(&table);
}
