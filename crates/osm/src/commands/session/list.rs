//! `osm session list`: every session, for people and for programs.

use std::path::{Component, Path, PathBuf};

use osm_identity::{Repository, SessionId};
use osm_store::backend::Entry;
use osm_store::{Summary, spread};
use serde::{Serialize, Serializer};

use crate::cli::{ListArguments, ListFormat, ListSort};
use crate::error::CommandError;
use crate::invocation::Invocation;
use crate::render::size;
use crate::render::time::age;
use crate::render::{Column, Style, Table, Text, Ui};

/// One session; the names are what programs rely on.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Row {
    #[serde(serialize_with = "as_text")]
    id: SessionId,
    path: Option<Shown>,
    lock_path: Option<Shown>,
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

fn as_text<S: Serializer>(id: &SessionId, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(id.as_str())
}

/// A path as people read it.
struct Shown(PathBuf);

impl Serialize for Shown {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0.display())
    }
}

const COLUMNS: &[Column] = &[
    Column::new("ID"),
    Column::new("USED").rank(1),
    Column::new("SIZE").rank(5),
    Column::new("SOURCE").rank(4),
    Column::new("AGENT").rank(2).shrinks(8),
    Column::new("BRANCH").rank(3).shrinks(8),
    Column::new("STATE").rank(1),
];

pub(super) fn run(
    arguments: &ListArguments,
    invocation: &Invocation,
    ui: &mut Ui,
) -> Result<(), CommandError> {
    let store = invocation.store()?;
    let matches =
        |wanted: &Option<String>, value: &Option<String>| wanted.is_none() || wanted == value;
    let folder = invocation.world.folder().unwrap_or_default();
    let repositories = arguments.repository.as_deref().map(|path| meant(&folder, path));
    let is_in = |names: &Vec<String>, row: &Row| {
        row.repository.as_ref().is_some_and(|repository| names.contains(repository))
    };
    let is_wanted = |row: &Row| {
        matches(&arguments.agent, &row.agent)
            && repositories.as_ref().is_none_or(|names| is_in(names, row))
            && matches(&arguments.branch, &row.branch)
    };
    let shares = spread(store.backend().list()?, |entries| {
        entries.into_iter().map(row).filter(is_wanted).collect::<Vec<_>>()
    });
    let mut rows: Vec<Row> = shares.into_iter().flatten().collect();
    if arguments.sort == ListSort::Active {
        rows.sort_by(|one, other| {
            let key = |row: &Row| (!row.is_active, std::cmp::Reverse(row.updated_at));
            key(one).cmp(&key(other)).then_with(|| one.id.cmp(&other.id))
        });
    }
    if arguments.json || arguments.format == ListFormat::Json {
        // Nobody but programs asks for these.
        for row in &mut rows {
            row.path = store.backend().place(&row.id).map(Shown);
            row.lock_path = store.backend().lock_place(&row.id).map(Shown);
        }
        ui.json(&rows);
        return Ok(());
    }
    if rows.is_empty() {
        ui.line("No sessions found");
        return Ok(());
    }
    let now = invocation.world.now();
    let current = invocation.session_id();
    let mut table = Table::new(COLUMNS);
    for row in &rows {
        let mut state = if row.is_active { Style::Good.of("live") } else { "idle".into() };
        if row.id == *current {
            state = state.then(Style::Strong.of(" (this one)"));
        }
        let (age, size) = (age(row.updated_at, now).into(), size(row.size).into());
        let [source, agent, branch] = [&row.source, &row.agent, &row.branch]
            .map(|text| Text::from(text.as_deref().unwrap_or("-")));
        table.row([row.id.as_str().into(), age, size, source, agent, branch, state]);
    }
    ui.table(&table);
    Ok(())
}

/// The repositories that a path may mean: the one around it; itself, if there is none any more.
fn meant(folder: &Path, path: &str) -> Vec<String> {
    let path = folder.join(path);
    let mut cleaned = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => drop(cleaned.pop()),
            part => cleaned.push(part),
        }
    }
    let path = path.canonicalize().unwrap_or_else(|_| cleaned.clone());
    let around = Repository::around(&path).map(|it| it.folder().to_owned());
    [around, Some(path), Some(cleaned)]
        .into_iter()
        .flatten()
        .map(|it| it.display().to_string())
        .collect()
}

fn row(entry: Entry) -> Row {
    let modified = entry.modified;
    let summary = entry.summary.as_deref().and_then(Summary::parse).unwrap_or_default();
    let (source, agent, host) = match summary.origin {
        Some(origin) => (Some(origin.source), origin.agent, Some(origin.host)),
        None => (None, None, None),
    };
    let last_used = summary.last_used.unwrap_or_default();
    Row {
        id: entry.id,
        path: None,
        lock_path: None,
        size: entry.size,
        updated_at: summary.updated_at.unwrap_or(modified),
        created_at: summary.created_at.unwrap_or(modified),
        is_active: entry.active,
        source,
        agent,
        host,
        repository: last_used.repository,
        branch: last_used.branch,
        worktree: last_used.worktree,
    }
}
