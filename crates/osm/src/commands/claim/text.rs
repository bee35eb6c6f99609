//! Claims as people read them.

use jiff::Timestamp;
use osm_claims::rules::{Change, Standing};
use osm_claims::{Claim, Hold, Listed, SharedScope};

use crate::documents::claim::{evidence, state, to_get};
use crate::ops::claim::words::{self, fate, one_line, to_the_second};
use crate::ops::claim::{Claimed, Legacy, Mine, Status};
use crate::ops::identity::name::{Handles, handle_of, label};
use crate::render::{Column, Style, Table, Text, Ui, brief, time};

/// What an operation on one resource came to.
pub(super) fn outcome(claimed: &Claimed, ui: &mut Ui) {
    let outcome = &claimed.outcome;
    let what = match outcome.change {
        Change::Close(_) => {
            let (resource, epoch) = (&outcome.claim.resource, outcome.claim.epoch);
            return line(ui, &format!("{resource} is released: epoch {epoch}"));
        }
        Change::Acknowledge => {
            let (resource, fate) = (&outcome.claim.resource, fate(&outcome.claim));
            return line(ui, &format!("{resource} was no longer yours: {fate}"));
        }
        Change::Grant(_) => "is yours",
        Change::Renew => "is yours for another term",
        Change::Nothing => "is yours already",
        Change::Offer => "is offered",
        Change::Withdraw => "is not offered any more",
        Change::Note if outcome.claim.note.is_none() => "has no note any more",
        Change::Note => "has a new note",
        Change::Alter => "is yours, changed",
    };
    claim(&outcome.claim, what, ui);
    for ended in &outcome.also_ended {
        line(ui, &format!("  ended for it: {}: {}", ended.resource, fate(ended)));
    }
    for other in &claimed.elsewhere {
        line(ui, &format!("  meets yours at merge: {}", words::elsewhere(other)));
    }
    if let Some(before) = &outcome.predecessor {
        line(ui, &format!("  before: {}", fate(before)));
        if let Some(note) = &before.note {
            line(ui, &format!("  note: {note}"));
        }
        claimed.legacy.iter().for_each(|it| legacy(it, ui));
    }
}

/// The most files that are shown; `--json` has all.
const MOST_FILES: usize = 10;

/// Where the session before worked, and what it did not commit.
fn legacy(left: &Legacy, ui: &mut Ui) {
    let branch = left.branch.as_ref().map(|it| format!(", branch {it}")).unwrap_or_default();
    let files = match &left.uncommitted {
        _ if !left.exists => ", which is gone".to_owned(),
        None => String::new(),
        Some(files) if files.is_empty() => ": everything is committed".into(),
        Some(files) if files.len() == 1 => ": 1 uncommitted file".into(),
        Some(files) => format!(": {} uncommitted files", files.len()),
    };
    line(ui, &format!("  worktree: {}{branch}{files}", left.worktree));
    let files = left.uncommitted.iter().flatten();
    files.clone().take(MOST_FILES).for_each(|file| line(ui, &format!("    {file}")));
    if let more @ 1.. = files.count().saturating_sub(MOST_FILES) {
        line(ui, &format!("    and {more} more: git -C {} status", left.worktree));
    }
}

/// Adds one line, whatever the names in it contain.
pub(super) fn line(ui: &mut Ui, text: &str) {
    ui.line(one_line(text));
}

/// One claim, in one line.
pub(super) fn claim(claim: &Claim, what: &str, ui: &mut Ui) {
    let lease = match &claim.hold {
        Hold::Lease(lease) => format!(", for {}", time::span(lease.term)),
        Hold::SessionLease(_) => ", while its process runs".to_owned(),
        Hold::Process(_) | Hold::ProcessLease(..) => ", while its command runs".to_owned(),
        Hold::Session | Hold::WhileUsed(_) => String::new(),
    };
    let lease = format!("{}{lease}", words::mode(claim.mode));
    let name = Style::Strong.of(one_line(&claim.resource.to_string()));
    ui.line(name.then(format!(" {what}: epoch {}{lease}", claim.token())));
}

/// The columns of `osm claims`; `SCOPE` only where claims of several scopes are listed.
const COLUMNS: &[Column] = &[
    Column::new("SCOPE").shrinks(12).rank(2),
    Column::new("RESOURCE").shrinks(16),
    Column::new("OWNER").shrinks(20),
    Column::new("AGENT").rank(3),
    Column::new("STATE").shrinks(12),
    Column::new("SINCE").rank(1),
    Column::new("EPOCH").rank(4),
    Column::new("NOTE").shrinks(8).rank(5),
];

/// The table that `osm claims` and `osm claim mine` show.
pub(super) fn table(rows: &[Listed], everywhere: bool, now: Timestamp, ui: &mut Ui) {
    let mut table = Table::new(if everywhere { COLUMNS } else { &COLUMNS[1..] });
    let handles = Handles::among(rows.iter().map(|it| it.claim.owner.session.as_str()));
    for listed in rows {
        let claim = &listed.claim;
        let handle = handles.of(&claim.owner.session);
        let owner: Text = match (listed.is_mine, listed.is_predecessors) {
            (true, _) => Style::Strong.of(format!("{handle} (you)")),
            (_, true) => format!("{handle} (you, before)").into(),
            _ => handle.into(),
        };
        let mut row = vec![
            claim.resource.to_string().into(),
            owner,
            claim.owner.agent.as_deref().unwrap_or("-").into(),
            colour(listed).of(state(listed)),
            time::age(claim.since, now).into(),
            claim.epoch.to_string().into(),
            brief(claim.note.as_deref().unwrap_or("-"), 40).into(),
        ];
        if everywhere {
            row.insert(0, listed.scope.name().into());
        }
        table.row(row);
    }
    ui.table(&table);
}

/// The columns of `osm claims --done`; `SCOPE` only where work of several scopes is listed.
const DONE_COLUMNS: &[Column] = &[
    Column::new("SCOPE").shrinks(12).rank(2),
    Column::new("RESOURCE").shrinks(16),
    Column::new("BY").shrinks(20),
    Column::new("AGENT").rank(3),
    Column::new("DONE").rank(1),
    Column::new("EPOCH").rank(4),
    Column::new("NOTE").shrinks(8).rank(5),
];

/// The table that `osm claims --done` shows.
pub(super) fn done(rows: &[Listed], everywhere: bool, now: Timestamp, ui: &mut Ui) {
    let mut table = Table::new(if everywhere { DONE_COLUMNS } else { &DONE_COLUMNS[1..] });
    let handles = Handles::among(rows.iter().map(|it| it.claim.owner.session.as_str()));
    for listed in rows {
        let claim = &listed.claim;
        let at = claim.ended.as_ref().map_or(claim.since, |ended| ended.at);
        let mut row: Vec<Text> = vec![
            claim.resource.to_string().into(),
            handles.of(&claim.owner.session).into(),
            claim.owner.agent.as_deref().unwrap_or("-").into(),
            time::age(at, now).into(),
            claim.epoch.to_string().into(),
            brief(claim.note.as_deref().unwrap_or("-"), 40).into(),
        ];
        if everywhere {
            row.insert(0, listed.scope.name().into());
        }
        table.row(row);
    }
    ui.table(&table);
}

/// Where else these claims count, and by what the scope is known there.
pub(super) fn shared(scope: Option<&SharedScope>, server: &str, ui: &mut Ui) {
    let place = match scope {
        None => "on every machine".to_owned(),
        Some(SharedScope::Named(name)) => format!("on every machine, in the scope {name}"),
        Some(SharedScope::RootCommit(commit)) => {
            let commit = commit.get(..12).unwrap_or(commit);
            format!("in every clone with the root commit {commit}")
        }
    };
    line(ui, &format!("shared {place}: {server}"));
}

fn colour(listed: &Listed) -> Style {
    match listed.standing {
        Standing::Held => Style::Good,
        Standing::Suspended | Standing::Unknown(_) => Style::Caution,
        Standing::Free(_) => Style::Bad,
    }
}

/// What concerns this session.
pub(super) fn mine(mine: &Mine, now: Timestamp, ui: &mut Ui) {
    let owned = &mine.owned;
    let parts: [(&str, &[Listed]); 3] = [
        ("held", &owned.held),
        ("held before this session's process died (`osm claim resume`)", &owned.resumable),
        ("offered to this session (`osm claim accept`)", &owned.offered),
    ];
    if owned.held.is_empty() {
        ui.line("this session holds no claims");
    }
    for (title, rows) in parts.iter().filter(|(_, rows)| !rows.is_empty()) {
        ui.line(*title);
        table(rows, true, now, ui);
    }
    if !owned.lost.is_empty() {
        ui.line("lost (`osm release` acknowledges)");
    }
    for loss in &owned.lost {
        let (scope, resource) = (loss.scope.name(), &loss.claim.resource);
        line(ui, &format!("  {resource} in {scope}: {}", fate(&loss.claim)));
    }
}

/// One resource: who holds it, the evidence, and what would free it.
pub(super) fn status(status: &Status, resource: &str, ui: &mut Ui) {
    let Some(listed) = &status.claim else {
        return line(ui, &format!("{resource} was never claimed in {}", status.scope.name()));
    };
    let claim = &listed.claim;
    let mut rows = vec![vec![Text::from("resource"), Style::Strong.of(resource)]];
    let mut add = |name: &'static str, value: String| rows.push(vec![name.into(), value.into()]);
    add("scope", listed.scope.name().to_owned());
    if claim.is_open() {
        let you = if listed.is_mine { " (you)" } else { "" };
        add("owner", format!("{}{you}", handle_of(&claim.owner.session)));
        add("id", claim.owner.session.clone());
        if let Some(agent) = &claim.owner.agent {
            add("agent", agent.clone());
        }
        add("host", claim.owner.host.clone());
        add("since", to_the_second(claim.since).to_string());
        add("epoch", claim.token().to_string());
        add("evidence", evidence(listed));
        if let Some(note) = &claim.note {
            add("note", brief(note, 200));
        }
        if let Some(offer) = claim.offer.as_ref().filter(|_| listed.is_offered) {
            add("offered to", label(&offer.to));
            if let Some(note) = &offer.note {
                add("with", brief(note, 200));
            }
        }
    } else {
        add("last", fate(claim));
    }
    add("to get it", to_get(Some(listed)));
    ui.aligned(&rows);
}
