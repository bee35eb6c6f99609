//! `osm session list`: every session, for people and for programs.

use std::borrow::Cow;
use std::path::{Component, Path, PathBuf};

use osm_identity::{Repository, SessionId};
use osm_store::backend::Entry;
use osm_store::{Summary, spread};
use serde::{Serialize, Serializer};

use super::format::{age, size};
use crate::cli::{ListArguments, ListFormat, ListSort};
use crate::context::Context;
use crate::error::CommandError;
use crate::ui::{Style, Ui};

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

pub(super) fn run(
    arguments: &ListArguments,
    context: &Context,
    ui: &mut Ui,
) -> Result<(), CommandError> {
    let store = context.store()?;
    let matches =
        |wanted: &Option<String>, value: &Option<String>| wanted.is_none() || wanted == value;
    let folder = context.world.folder().unwrap_or_default();
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
    let heading = ["ID", "USED", "SIZE", "SOURCE", "AGENT", "BRANCH", "STATE"];
    let mut table = vec![heading.map(Cow::Borrowed)];
    table.extend(rows.iter().map(|row| {
        let mut state = Cow::Borrowed(if row.is_active { "live" } else { "idle" });
        if row.id == current {
            state.to_mut().push_str(&ui.styled(Style::Strong, " (this one)"));
        }
        let age = Cow::Owned(age(row.updated_at, now));
        let size = Cow::Owned(size(row.size));
        let [source, agent, branch] = [&row.source, &row.agent, &row.branch]
            .map(|text| Cow::Borrowed(text.as_deref().unwrap_or("-")));
        [Cow::Borrowed(row.id.as_str()), age, size, source, agent, branch, state]
    }));
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
