//! Which files change when hooks are installed or removed, and how.
//!
//! Installing starts from the file as it was before osm changed it, so a newer osm replaces the hooks of an
//! older one. Removing gives back the same bytes if the file is as osm left it. If the user changed it since, only
//! what osm wrote is taken out, and the user's changes stay.

use std::path::PathBuf;

use super::file::{self, Found};
use super::place::{Places, Reach};
use super::record::{Entry, Kind, Record};
use super::{AgentError, Change, HookState, diff};
use crate::agent::Agent;
use crate::agent::codex_config;
use crate::agent::codex_trust::{self, Trusted};
use crate::agent::files::{self, Content, File, SERVER, is_ours};
use crate::agent::json_text::{self, Comments, Draft};
use crate::agent::table::Server;
use crate::{replacing, trust};

/// A change of one file.
pub(super) struct Step {
    pub(super) agent: &'static str,
    /// The file, as the agent names it.
    pub(super) path: PathBuf,
    found: Found,
    /// Its new text; `None` if it is removed.
    after: Option<String>,
    /// What the record says of it then.
    entry: Option<Entry>,
    is_program: bool,
    /// Whether it makes Codex trust hooks.
    trusts: bool,
    /// Folders to remove with it.
    folders: Vec<PathBuf>,
}

/// The steps that install the hooks of an agent; with `trust` Codex is made to trust them.
pub(super) fn install(
    agent: &'static Agent,
    places: &Places,
    record: &Record,
    trust: bool,
) -> Result<Vec<Step>, AgentError> {
    let mut steps: Vec<Step> = Vec::new();
    for mut file in places.files(agent) {
        if let Content::Codex(config) = &mut file.content {
            let path = places.path(agent, &file.place);
            // What the user trusts stays trusted.
            let is_trusted =
                |entry: &Entry| entry.edits.iter().any(|it| codex_trust::is_in(&it.inserted));
            if trust || record.find(&path).is_some_and(is_trusted) {
                config.trusted = trusted(&steps);
            }
        }
        steps.push(step(agent, places, record, &file)?);
    }
    Ok(steps)
}

/// The hooks that these steps write.
fn trusted(steps: &[Step]) -> Vec<Trusted> {
    let file = steps.iter().find(|step| step.path.extension().is_some_and(|it| it == "json"));
    let text =
        |step: &Step| codex_trust::hooks(&step.path, step.after.as_deref().unwrap_or_default());
    file.map(text).unwrap_or_default()
}

/// The step that writes one file.
fn step(
    agent: &'static Agent,
    places: &Places,
    record: &Record,
    file: &File,
) -> Result<Step, AgentError> {
    let base = places.base(agent);
    let path = places.path(agent, &file.place);
    let found = Found::read(&path, &base)?;
    let old = record.find(&path);
    if let (Some(text), Some(entry)) = (&found.text, old)
        && file.content.apply(text).is_ok_and(|draft| draft.edits.is_empty())
    {
        // Nothing is missing, whatever else the agent or the user changed since.
        return Ok(Step::unchanged(agent, path, found, entry.clone()));
    }
    let before = match old {
        Some(entry) => taken_back(&found, entry)?,
        None => found.text.clone(),
    };
    if file.content.is_own() && before.is_some() && before != wanted(&file.content) {
        return Err(AgentError::Foreign(path));
    }
    let draft = file.content.apply(before.as_deref().unwrap_or_default());
    let draft = draft
        .map_err(|error| AgentError::Invalid { path: path.clone(), reason: error.to_string() })?;
    if found.text.as_ref() != Some(&draft.text) {
        found.check_writable(&path)?;
    }
    let is_program = matches!(file.content, Content::Own { is_program: true, .. });
    // Nothing of ours is in a file that had all of it before.
    let entry = (!draft.edits.is_empty()).then(|| Entry {
        path: path.clone(),
        agent: agent.name.to_owned(),
        reach: places.reach,
        base,
        created: before.is_none(),
        folders: old.map_or_else(|| file::missing_folders(&found.real), |it| it.folders.clone()),
        kind: kind(&file.content),
        sha256: hash(&draft.text),
        edits: draft.edits,
    });
    let trusts = matches!(&file.content, Content::Codex(config) if !config.trusted.is_empty());
    let (agent, folders) = (agent.name, Vec::new());
    Ok(Step { agent, path, found, after: Some(draft.text), entry, is_program, trusts, folders })
}

/// The steps that take out everything that osm wrote.
pub(super) fn remove(
    places: &Places,
    record: &Record,
    is_meant: impl Fn(&str) -> bool,
) -> Result<Vec<Step>, AgentError> {
    let mut steps = Vec::new();
    let here = |entry: &&Entry| {
        entry.reach == places.reach
            && is_meant(&entry.agent)
            // A record has the files of all projects.
            && (places.reach == Reach::User || entry.base == places.project())
    };
    for entry in record.entries().iter().filter(here) {
        let found = Found::read(&entry.path, &entry.base)?;
        let after = taken_back(&found, entry)?;
        if found.text != after {
            found.check_writable(&entry.path)?;
        }
        let agent = Agent::named(&entry.agent).map_or("unknown", |agent| agent.name);
        let folders = if after.is_none() { entry.folders.clone() } else { Vec::new() };
        let path = entry.path.clone();
        steps.push(Step {
            agent,
            path,
            found,
            after,
            entry: None,
            is_program: false,
            trusts: false,
            folders,
        });
    }
    Ok(steps)
}

/// Whether the hooks of an agent are as osm would write them.
pub(super) fn state(agent: &'static Agent, places: &Places, record: &Record) -> HookState {
    match install(agent, places, record, false) {
        Ok(steps) if steps.iter().all(|step| step.change() == Change::Unchanged) => {
            HookState::Installed
        }
        Ok(steps) if steps.iter().any(Step::has_ours) => HookState::Outdated,
        Ok(_) => HookState::Absent,
        Err(_) => HookState::Unreadable,
    }
}

fn kind(content: &Content) -> Kind {
    match content {
        Content::Own { .. } => Kind::Own,
        Content::Settings { comments: Comments::Refused, .. } => Kind::Json,
        Content::Settings { comments: Comments::Allowed, .. } => Kind::JsonWithComments,
        Content::Codex(_) => Kind::Toml,
    }
}

/// The text of a file of osm's own.
fn wanted(content: &Content) -> Option<String> {
    match content {
        Content::Own { text, .. } => Some(text.clone()),
        Content::Settings { .. } | Content::Codex(_) => None,
    }
}

/// A file without what osm wrote; `None` if it does not exist then.
fn taken_back(found: &Found, entry: &Entry) -> Result<Option<String>, AgentError> {
    let Some(text) = &found.text else { return Ok(None) };
    let is_left = |text: String| (!(entry.created && text.trim().is_empty())).then_some(text);
    if hash(text) == entry.sha256
        && let Some(before) = json_text::undone(text, &entry.edits)
    {
        return Ok(if entry.created && before.is_empty() { None } else { Some(before) });
    }
    let comments = match entry.kind {
        // The user made it their own.
        Kind::Own => return Ok(Some(text.clone())),
        Kind::Json => Comments::Refused,
        Kind::JsonWithComments | Kind::Toml => Comments::Allowed,
    };
    let is_valid = |text: &str| match entry.kind {
        Kind::Toml => codex_config::check(text).is_ok(),
        _ => text.trim().is_empty() || json_text::check(text, comments).is_ok(),
    };
    match json_text::withdrawn(text, &entry.edits).filter(|before| is_valid(before)) {
        Some(before) => return Ok(is_left(before)),
        // Trust in a hook that is gone has no effect, and a folder that exists is no harm.
        None if entry.kind == Kind::Toml => {
            return Ok(codex_config::without_server(text).or_else(|| Some(text.clone())));
        }
        None => {}
    }
    let mut draft = Draft::new(text.clone());
    let removed = draft.remove_hooks(comments, is_ours).and_then(|()| {
        let server = Agent::named(&entry.agent).and_then(|agent| agent.server);
        let Some(Server::Json { key, entry: server, .. }) = server else { return Ok(()) };
        let with_parent = entry.edits.iter().any(|it| it.inserted.contains(&format!("\"{key}\"")));
        draft.remove_member(comments, &[key, SERVER], &files::server_entry(server), with_parent)
    });
    removed.map_err(|error| AgentError::Invalid {
        path: entry.path.clone(),
        reason: error.to_string(),
    })?;
    let is_empty = draft.text.split_whitespace().collect::<String>() == "{}";
    Ok(if entry.created && is_empty { None } else { is_left(draft.text) })
}

fn hash(text: &str) -> String {
    trust::digest(text.as_bytes())
}

impl Step {
    /// What it does to the file.
    pub(super) fn change(&self) -> Change {
        match (&self.found.text, &self.after) {
            (before, after) if before == after => Change::Unchanged,
            (None, _) => Change::Created,
            (_, None) => Change::Removed,
            _ => Change::Changed,
        }
    }

    /// A file that has everything already.
    fn unchanged(agent: &'static Agent, path: PathBuf, found: Found, entry: Entry) -> Self {
        let (agent, after, folders) = (agent.name, found.text.clone(), Vec::new());
        let (is_program, trusts) = (false, false);
        Self { agent, path, found, after, entry: Some(entry), is_program, trusts, folders }
    }

    /// Whether it makes Codex trust hooks.
    pub(super) fn is_trust(&self) -> bool {
        self.trusts
    }

    /// Whether hooks or files of osm are there now.
    fn has_ours(&self) -> bool {
        match &self.found.text {
            Some(text) => is_ours(text) || self.change() == Change::Unchanged,
            None => false,
        }
    }

    /// The difference, for people.
    pub(super) fn diff(&self) -> String {
        let text = |text: &Option<String>| text.clone().unwrap_or_default();
        diff::unified(&self.path, &text(&self.found.text), &text(&self.after))
    }

    /// Makes the change.
    pub(super) fn make(self, record: &mut Record) -> Result<(), AgentError> {
        let change = self.change();
        if let Some(entry) = self.entry {
            let is_private = entry.reach == Reach::User;
            record.set(&self.path, Some(entry))?;
            if change != Change::Unchanged {
                file::make_folders(&self.found.real, is_private)?;
                let permissions = match (is_private, self.is_program) {
                    (true, false) => None,
                    (_, is_program) => replacing::shared_permissions(is_program),
                };
                self.found.replace(self.after.as_deref(), permissions)?;
            }
            return Ok(());
        }
        if change != Change::Unchanged {
            self.found.replace(self.after.as_deref(), None)?;
        }
        file::remove_folders(&self.folders);
        record.set(&self.path, None)
    }
}
