//! Bare `osm`: one screen of 80 columns and 24 lines, or one line.

use crate::error::{CommandError, Exit};
use crate::invocation::Invocation;
use crate::ops::identity::name::handle_of;
use crate::ops::prompt::Collected;
use crate::ops::status::{self as ops, Relation, Status, StatusClaim, StatusOwner};
use crate::render::{Column, Style, Table, Text, Ui, brief, size, time};

/// How many claims of this session are shown.
const MOST_CLAIMS: usize = 4;
/// How many other sessions are shown.
const MOST_OTHERS: usize = 5;
/// The columns of a name in a list.
const NAME: usize = 28;
/// The parts of the bar of the budget.
const BAR: u64 = 20;

const OTHERS: &[Column] = &[
    Column::new("SESSION"),
    Column::new("AGENT").rank(3),
    Column::new("STATE"),
    Column::new("SINCE").rank(2),
    Column::new("HOLDS").shrinks(12),
    Column::new("WORKS IN").shrinks(10).rank(1),
];

/// What a new home shows: for whom, the command, what it is good for.
const FIRST: [[&str; 3]; 3] = [
    ["for you", "osm code-review", "build a prompt from files, diffs and notes"],
    ["for your agents", "osm agent install", "they claim files, and see each other"],
    ["for your tool", "osm session id --json", "one stable id for each terminal and agent"],
];

/// Shows everything at a glance.
pub(super) fn run(invocation: &Invocation, json: bool, ui: &mut Ui) {
    let status = ops::status(invocation);
    if json {
        return ui.json(&status);
    }
    for problem in &status.problems {
        ui.warn(&problem.message);
        if let Some(hint) = &problem.hint {
            ui.hint(hint);
        }
    }
    if status.first_run {
        return ui.aligned(&FIRST);
    }
    session(&status, ui);
    claims(&status.claims, ui);
    others(&status, invocation, ui);
    if let Some(prompt) = &status.prompt {
        ui.line("");
        ui.aligned(&[[Text::from("prompt"), gauge(prompt)]]);
    }
    ui.line("");
    let steps = status.next.iter();
    let rows: Vec<[Text; 2]> =
        steps.map(|it| [Style::Strong.of(&it.command), it.why.as_str().into()]).collect();
    ui.aligned(&rows);
}

/// Shows one line, for a prompt.
pub(crate) fn short(invocation: &Invocation, ui: &mut Ui) {
    ui.value(&ops::short(invocation).text());
}

/// An option of bare `osm` before a command.
pub(super) fn misplaced(option: &str) -> CommandError {
    let message = format!("{option} before a command means bare `osm`");
    CommandError::failed("usage", message)
        .with_hint(format!("write {option} after the command, if it has that option"))
        .exiting(Exit::Usage)
}

fn session(status: &Status, ui: &mut Ui) {
    let session = &status.session;
    let agent = session.agent.map(|it| format!(" {it}")).unwrap_or_default();
    let name = Style::Strong.of(&session.handle).then(agent);
    let mut rows: Vec<[Text; 2]> = vec![
        ["session".into(), name.then(Style::Faint.of(format!("  {}", session.id)))],
        ["because".into(), session.because.as_str().into()],
    ];
    if let Some(repository) = &status.repository {
        let branch = repository.branch.as_deref().unwrap_or("no branch");
        let folder = repository.worktree.display().to_string();
        rows.push(["works in".into(), Text::from(folder).then(format!(", {branch}"))]);
    }
    ui.aligned(&rows);
}

fn claims(claims: &[StatusClaim], ui: &mut Ui) {
    let rows: Vec<[Text; 3]> = claims.iter().take(MOST_CLAIMS).map(claim).collect();
    if rows.is_empty() {
        return;
    }
    ui.line("");
    ui.line(match claims.len() - rows.len() {
        0 => "Your claims".to_owned(),
        more => format!("Your claims ({more} more: osm claim mine)"),
    });
    ui.aligned(&rows);
}

fn claim(claim: &StatusClaim) -> [Text<'_>; 3] {
    let relation = match claim.relation {
        Relation::Held => Style::Good.of("held"),
        Relation::Offered => Style::Caution.of("offered to you"),
        Relation::Resumable => Style::Caution.of("left by your dead process"),
        Relation::Lost => Style::Bad.of("lost"),
    };
    let about = claim.fate.as_deref().or(claim.note.as_deref()).unwrap_or_default();
    [brief(&claim.resource, NAME).into(), relation, brief(about, 60).into()]
}

fn others(status: &Status, invocation: &Invocation, ui: &mut Ui) {
    if status.others.is_empty() {
        return;
    }
    let now = invocation.world.now();
    let mut table = Table::new(OTHERS);
    for other in status.others.iter().take(MOST_OTHERS) {
        let style = match (other.is_gone, other.state) {
            (true, _) => Style::Bad,
            (false, "alive" | "lease") => Style::Good,
            (false, _) => Style::Caution,
        };
        table.row([
            handle_of(&other.session).into(),
            other.agent.as_deref().unwrap_or("-").into(),
            style.of(other.state),
            time::age(other.since, now).into(),
            holds(other).into(),
            works_in(other),
        ]);
    }
    ui.line("");
    ui.line(match status.others.len().saturating_sub(MOST_OTHERS) {
        0 => "Other sessions here".to_owned(),
        more => format!("Other sessions here ({more} more: osm claims)"),
    });
    ui.table(&table);
}

/// The last claim of a session, and how many more it has.
fn holds(other: &StatusOwner) -> String {
    let last = other.resources.last().map(|it| brief(it, NAME)).unwrap_or_default();
    match other.resources.len() {
        0 | 1 => last,
        count => format!("{last} +{}", count - 1),
    }
}

fn works_in(other: &StatusOwner) -> Text<'_> {
    let folder = other.worktree.as_deref().and_then(|it| it.rsplit(['/', '\\']).next());
    let branch = other.branch.as_deref().map(|it| format!(" ({it})")).unwrap_or_default();
    let text = Text::from(format!("{}{branch}", folder.unwrap_or("-")));
    match other.uncommitted {
        Some(1) => text.then(Style::Bad.of(", 1 file not committed")),
        Some(count @ 2..) => text.then(Style::Bad.of(format!(", {count} files not committed"))),
        _ => text,
    }
}

/// What the prompt has collected, against its budget.
fn gauge(prompt: &Collected) -> Text<'static> {
    let count = |count: usize, one: &str| match count {
        0 => None,
        1 => Some(format!("1 {one}")),
        count => Some(format!("{count} {one}s")),
    };
    let parts = [
        count(prompt.files, "file"),
        count(prompt.folders, "folder"),
        count(prompt.diffs, "diff"),
        count(prompt.notes, "note"),
        count(prompt.commands, "command"),
        count(prompt.missing, "missing file"),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    let least = if prompt.is_complete { "about" } else { "at least about" };
    let text = Text::from(format!(
        "{}: {}, {least} {} tokens",
        parts.join(", "),
        size(prompt.bytes),
        prompt.estimated_tokens
    ));
    let Some(budget) = prompt.budget.filter(|it| *it > 0) else { return text };
    let full = prompt.estimated_tokens.saturating_mul(BAR).div_ceil(budget).min(BAR);
    let full = usize::try_from(full).unwrap_or_default();
    let style = match prompt.estimated_tokens.saturating_mul(100) / budget {
        ..80 => Style::Good,
        80..=100 => Style::Caution,
        _ => Style::Bad,
    };
    let whole = usize::try_from(BAR).unwrap_or_default();
    text.then(format!(" of {budget} "))
        .then(style.of("█".repeat(full)))
        .then(Style::Faint.of("░".repeat(whole - full)))
}
