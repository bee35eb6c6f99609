//! All sessions of a store.

use std::collections::hash_map::Entry as Place;
use std::collections::{HashMap, HashSet};
use std::path::{Component, Path, PathBuf};

use jiff::Timestamp;
use osm_identity::{Handle, Repository, SessionId};
use osm_store::backend::Entry;
use osm_store::{Error, Summary, spread};
use serde::{Serialize, Serializer};

use super::SessionError;
use crate::invocation::Invocation;
use crate::ops::identity::name;
use crate::ops::path_text;

/// Which sessions, in which order.
#[derive(Clone, Debug, Default)]
pub struct ListRequest {
    /// Only sessions of this agent.
    pub agent: Option<String>,
    /// Only sessions last used in the repository around this folder.
    pub repository: Option<String>,
    /// Only sessions last used on this branch.
    pub branch: Option<String>,
    /// The order.
    pub order: Order,
}

/// An order of sessions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// By id.
    #[default]
    Id,
    /// Open sessions first, then the last used.
    Active,
}

/// One session. Programs rely on these names; those in camelCase are fixed by document 004.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// The session.
    #[serde(serialize_with = "as_text")]
    pub id: SessionId,
    /// Its handle, with digits where two sessions of the list share one.
    pub handle: String,
    /// Its file; `None` where sessions are not files.
    #[serde(serialize_with = "path_text::optional")]
    pub path: Option<PathBuf>,
    /// The lock file of the processes that have it open.
    #[serde(rename = "lockPath", serialize_with = "path_text::optional")]
    pub lock_path: Option<PathBuf>,
    /// Bytes of its document.
    pub size: u64,
    /// When it was last saved.
    #[serde(rename = "updatedAt")]
    pub updated_at: Timestamp,
    /// When it was created.
    #[serde(rename = "createdAt")]
    pub created_at: Timestamp,
    /// A process has it open.
    #[serde(rename = "isActive")]
    pub is_active: bool,
    /// Its document is damaged.
    #[serde(rename = "isDamaged")]
    pub is_damaged: bool,
    /// The detector that found it.
    pub source: Option<String>,
    /// The agent, if it is an agent's.
    pub agent: Option<String>,
    /// The machine that it was created on.
    pub host: Option<String>,
    /// The repository that it was last used in.
    pub repository: Option<String>,
    /// The branch that it was last used on.
    pub branch: Option<String>,
    /// The working tree that it was last used in.
    pub worktree: Option<String>,
}

fn as_text<S: Serializer>(id: &SessionId, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(id.as_str())
}

/// Lists sessions.
pub fn list(invocation: &Invocation, request: &ListRequest) -> Result<Vec<Row>, SessionError> {
    let store = invocation.store()?;
    let matches =
        |wanted: &Option<String>, value: &Option<String>| wanted.is_none() || wanted == value;
    let folder = invocation.world.folder().unwrap_or_default();
    let repositories = request.repository.as_deref().map(|path| repositories(&folder, path));
    let is_in = |names: &Vec<String>, row: &Row| {
        row.repository.as_ref().is_some_and(|repository| names.contains(repository))
    };
    let is_wanted = |row: &Row| {
        matches(&request.agent, &row.agent)
            && repositories.as_ref().is_none_or(|names| is_in(names, row))
            && matches(&request.branch, &row.branch)
    };
    // Rows are large: the room for all of them is made at once.
    let shares = spread(store.list()?, |entries| {
        let mut rows = Vec::with_capacity(entries.len());
        rows.extend(entries.into_iter().map(row).filter(is_wanted));
        rows
    });
    let mut rows = Vec::with_capacity(shares.iter().map(Vec::len).sum());
    for mut share in shares {
        rows.append(&mut share);
    }
    // Only a first line that cannot be read, or does not fit the file, asks for a look at all of it.
    for row in rows.iter_mut().filter(|row| row.is_damaged) {
        row.is_damaged = matches!(store.read(&row.id), Err(Error::Corrupt { .. }));
    }
    tell_apart(&mut rows);
    if request.order == Order::Active {
        rows.sort_by(|one, other| {
            let key = |row: &Row| (!row.is_active, std::cmp::Reverse(row.updated_at));
            key(one).cmp(&key(other)).then_with(|| one.id.cmp(&other.id))
        });
    }
    Ok(rows)
}

/// Adds digits to handles that several sessions share.
fn tell_apart(rows: &mut [Row]) {
    let mut first: HashMap<&str, usize> = HashMap::with_capacity(rows.len());
    let mut shared: HashSet<usize> = HashSet::new();
    for (at, row) in rows.iter().enumerate() {
        match first.entry(&row.handle) {
            Place::Vacant(place) => {
                place.insert(at);
            }
            Place::Occupied(other) => shared.extend([at, *other.get()]),
        }
    }
    for at in shared {
        rows[at].handle = name::with_digits(&rows[at].id);
    }
}

/// Adds the paths of files, which only programs need: a list can have a hundred thousand rows.
pub(crate) fn add_paths(invocation: &Invocation, rows: &mut [Row]) -> Result<(), SessionError> {
    let store = invocation.store()?;
    let Some(files) = store.backend().files() else { return Ok(()) };
    for row in rows {
        row.path = Some(files.layout().document(&row.id));
        row.lock_path = Some(files.layout().presence_lock(&row.id));
    }
    Ok(())
}

/// The repositories that a path may mean: the one around it, or itself if that no longer exists.
fn repositories(folder: &Path, path: &str) -> Vec<String> {
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
    let summary = entry.summary.as_deref().and_then(Summary::parse);
    // A look at the whole document follows.
    let is_damaged = summary.as_ref().is_none_or(|it| !it.fits(entry.size));
    let summary = summary.unwrap_or_default();
    let (source, agent, host) = match summary.origin {
        Some(origin) => (Some(origin.source), origin.agent, Some(origin.host)),
        None => (None, None, None),
    };
    let last_used = summary.last_used.unwrap_or_default();
    Row {
        handle: Handle::of(&entry.id).to_string(),
        id: entry.id,
        path: None,
        lock_path: None,
        size: entry.size,
        updated_at: summary.updated_at.unwrap_or(modified),
        created_at: summary.created_at.unwrap_or(modified),
        is_active: entry.active,
        is_damaged,
        source,
        agent,
        host,
        repository: last_used.repository,
        branch: last_used.branch,
        worktree: last_used.worktree,
    }
}
