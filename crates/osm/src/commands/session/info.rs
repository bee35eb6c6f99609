//! `osm session info` and `osm session path`.

use std::path::Path;

use osm_identity::{Handle, SessionId};
use osm_store::Export;
use osm_store::backend::Holder;
use serde_json::{Value, json};

use crate::cli::Format;
use crate::error::CommandError;
use crate::invocation::Invocation;
use crate::ops::session::{self, Info};
use crate::render::time::{age, ago};
use crate::render::{Style, Text, Ui, brief, size};

/// Said of this session before its first change.
pub(super) const NOTHING_KEPT: &str = "Nothing kept yet";

/// Enough bytes for the line that shows a value.
const SHOWN: usize = 1000;

pub(super) fn run(
    id: Option<&str>,
    format: Format,
    invocation: &Invocation,
    ui: &mut Ui,
) -> Result<(), CommandError> {
    let Info { id, session, holders, file } = session::info(invocation, id)?;
    let Some(session) = session else {
        show_empty(&id, &holders, file.as_deref(), format, ui);
        return Ok(());
    };
    if format.json {
        let mut export = session::export(&session)?;
        if let Export::Plain(document) = &mut export {
            document["handle"] = json!(Handle::of(&session.id).to_string());
        }
        return ui.export(&export);
    }
    let now = invocation.world.now();
    let mut rows = vec![
        [Text::from("session"), Style::Strong.of(Handle::of(&session.id).to_string())],
        ["id".into(), session.id.as_str().into()],
        [
            "created".into(),
            format!("{} ({})", session.created_at, ago(session.created_at, now)).into(),
        ],
        [
            "saved".into(),
            format!(
                "{} ({}), {}",
                session.updated_at,
                ago(session.updated_at, now),
                if session.revision == 1 {
                    "once".into()
                } else {
                    format!("{} times", session.revision)
                }
            )
            .into(),
        ],
    ];
    if let Some(origin) = &session.origin {
        let agent =
            origin.agent.as_ref().map(|agent| format!(", agent {agent}")).unwrap_or_default();
        let found = format!("{}{agent}, on {}", origin.source, origin.host);
        rows.push(["found by".into(), found.into()]);
    }
    if let Some(used) = &session.last_used {
        let branch = used.branch.as_ref().map(|it| format!(", branch {it}")).unwrap_or_default();
        let place = used.worktree.as_ref().or(used.folder.as_ref()).cloned().unwrap_or_default();
        rows.push(["used in".into(), format!("{place}{branch}").into()]);
    }
    if let Some(path) = file {
        rows.push(["file".into(), path.display().to_string().into()]);
    }
    for holder in &holders {
        rows.push(["open in".into(), holder.to_string().into()]);
    }
    ui.aligned(&rows);

    for (title, zone) in [("Shared state", "shared"), ("State of commands", "script")] {
        let entries = session::keys(&session, zone, SHOWN)?
            .into_iter()
            .map(|it| {
                let size = it.size.map_or_else(|| "large".to_owned(), size);
                vec![it.name, size, brief(&it.beginning, 60)]
            })
            .collect::<Vec<Vec<String>>>();
        if !entries.is_empty() {
            ui.line("");
            ui.line(title);
            ui.aligned(&entries);
        }
    }
    if !session.history.is_empty() {
        ui.line("");
        ui.line(format!("Last commands ({} kept)", session.history.len()));
        let last: Vec<Vec<String>> = session
            .history
            .iter()
            .rev()
            .take(5)
            .map(|entry| {
                vec![age(entry.timestamp, now), entry.mode_id.clone(), brief(&entry.command, 60)]
            })
            .collect();
        ui.aligned(&last);
    }
    Ok(())
}

/// This session, before anything is kept of it.
fn show_empty(
    id: &SessionId,
    holders: &[Holder],
    file: Option<&Path>,
    format: Format,
    ui: &mut Ui,
) {
    let handle = Handle::of(id).to_string();
    if format.json {
        let (none, empty): ([Value; 0], _) = ([], json!({}));
        return ui.json(&json!({
            "session_id": id.as_str(), "handle": handle, "revision": 0,
            "shared_state": empty, "script_state": empty, "history": none,
        }));
    }
    let mut rows =
        vec![[Text::from("session"), Style::Strong.of(handle)], ["id".into(), id.as_str().into()]];
    if let Some(path) = file {
        rows.push(["file".into(), format!("{} (not written yet)", path.display()).into()]);
    }
    for holder in holders {
        rows.push(["open in".into(), holder.to_string().into()]);
    }
    ui.aligned(&rows);
    ui.line("");
    ui.line(NOTHING_KEPT);
}

pub(super) fn path(
    id: Option<&str>,
    folder: bool,
    invocation: &Invocation,
    ui: &mut Ui,
) -> Result<(), CommandError> {
    let path = if folder { session::folder(invocation) } else { session::path(invocation, id) }?;
    ui.value(&path.display().to_string());
    Ok(())
}
