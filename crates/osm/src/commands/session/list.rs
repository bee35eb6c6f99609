//! `osm session list`: every session, for people and for programs.

use osm_store::Summary;
use osm_store::backend::Entry;
use serde::Serialize;

use super::format::{age, size};
use crate::cli::{ListArguments, ListFormat, ListSort};
use crate::context::Context;
use crate::error::CommandError;
use crate::ui::{Style, Ui};

/// One session; the names are what programs rely on.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Row {
    id: String,
    path: Option<String>,
    lock_path: Option<String>,
    size: u64,
    updated_at: jiff::Timestamp,
    created_at: jiff::Timestamp,
    is_active: bool,
    source: Option<String>,
    agent: Option<String>,
    host: Option<String>,
    repository: Option<String>,
    branch: Option<String>,
    worktree: Option<String>,
}

pub(super) fn run(
    arguments: &ListArguments,
    context: &Context,
    ui: &mut Ui,
) -> Result<(), CommandError> {
    let store = context.store()?;
    let mut rows: Vec<Row> = store.backend().entries()?.into_iter().map(row).collect();
    let matches =
        |wanted: &Option<String>, value: &Option<String>| wanted.is_none() || wanted == value;
    rows.retain(|row| {
        matches(&arguments.agent, &row.agent)
            && matches(&arguments.repository, &row.repository)
            && matches(&arguments.branch, &row.branch)
    });
    if arguments.sort == ListSort::Active {
        rows.sort_by(|one, other| {
            let key = |row: &Row| (!row.is_active, std::cmp::Reverse(row.updated_at));
            key(one).cmp(&key(other)).then_with(|| one.id.cmp(&other.id))
        });
    }
    if arguments.json || arguments.format == ListFormat::Json {
        let json = serde_json::to_string_pretty(&rows).expect("text and numbers are JSON");
        ui.line(&json);
        return Ok(());
    }
    if rows.is_empty() {
        ui.line("No sessions found");
        return Ok(());
    }
    let now = context.world.now();
    let current = context.session_id();
    let mut table = vec![
        ["ID", "USED", "SIZE", "SOURCE", "AGENT", "BRANCH", "STATE"].map(str::to_owned).to_vec(),
    ];
    for row in rows {
        let dash = |text: Option<String>| text.unwrap_or_else(|| "-".into());
        let mut state = if row.is_active { "live" } else { "idle" }.to_owned();
        if row.id == current.as_str() {
            state.push_str(&ui.styled(Style::Strong, " (this one)"));
        }
        table.push(vec![
            row.id,
            age(row.updated_at, now),
            size(row.size),
            dash(row.source),
            dash(row.agent),
            dash(row.branch),
            state,
        ]);
    }
    ui.table(&table);
    Ok(())
}

fn row(entry: Entry) -> Row {
    let summary = entry.summary.as_deref().and_then(Summary::parse);
    let shown = |path: Option<std::path::PathBuf>| path.map(|path| path.display().to_string());
    let modified = entry.modified;
    let (origin, last_used) = match &summary {
        Some(summary) => (summary.origin.clone(), summary.last_used.clone()),
        None => (None, None),
    };
    Row {
        id: entry.id.to_string(),
        path: shown(entry.path),
        lock_path: shown(entry.lock_path),
        size: entry.size,
        updated_at: summary.as_ref().and_then(|it| it.updated_at).unwrap_or(modified),
        created_at: summary.as_ref().and_then(|it| it.created_at).unwrap_or(modified),
        is_active: entry.active,
        agent: origin.as_ref().and_then(|origin| origin.agent.clone()),
        host: origin.as_ref().map(|origin| origin.host.clone()),
        source: origin.map(|origin| origin.source),
        repository: last_used.as_ref().and_then(|it| it.repository.clone()),
        branch: last_used.as_ref().and_then(|it| it.branch.clone()),
        worktree: last_used.and_then(|it| it.worktree),
    }
}
