//! `osm session info` and `osm session path`.

use super::format::{age, brief, size};
use crate::cli::Format;
use crate::context::Context;
use crate::error::CommandError;
use crate::ui::{Style, Ui};

pub(super) fn run(
    id: Option<&str>,
    format: Format,
    context: &Context,
    ui: &mut Ui,
) -> Result<(), CommandError> {
    let id = context.named(id);
    let store = context.store()?;
    let session = store.read(&id)?;
    if format.json {
        let json = serde_json::to_string_pretty(&session.to_export()).expect("a session is JSON");
        ui.line(&json);
        return Ok(());
    }
    let now = context.world.now();
    let holders = store.backend().holders(&id)?;
    let mut rows = vec![
        vec!["session".to_owned(), ui.styled(Style::Strong, id.as_str())],
        vec![
            "created".to_owned(),
            format!("{} ({} ago)", session.created_at, age(session.created_at, now)),
        ],
        vec![
            "saved".to_owned(),
            format!(
                "{} ({} ago), {} times",
                session.updated_at,
                age(session.updated_at, now),
                session.revision
            ),
        ],
    ];
    if let Some(origin) = &session.origin {
        let agent =
            origin.agent.as_ref().map(|agent| format!(", agent {agent}")).unwrap_or_default();
        rows.push(vec![
            "found by".to_owned(),
            format!("{}{agent}, on {}", origin.source, origin.host),
        ]);
    }
    if let Some(used) = &session.last_used {
        let branch = used.branch.as_ref().map(|it| format!(", branch {it}")).unwrap_or_default();
        let place = used.worktree.as_ref().or(used.folder.as_ref()).cloned().unwrap_or_default();
        rows.push(vec!["used in".to_owned(), format!("{place}{branch}")]);
    }
    if let Some(path) = store.backend().place(&id) {
        rows.push(vec!["file".to_owned(), path.display().to_string()]);
    }
    for holder in &holders {
        rows.push(vec!["open in".to_owned(), holder.to_string()]);
    }
    ui.table(&rows);

    for (title, zone) in [("Shared state", "shared"), ("State of commands", "script")] {
        let entries: Vec<Vec<String>> = session.state[zone]
            .as_object()
            .into_iter()
            .flatten()
            .map(|(name, value)| {
                let text = value.to_string();
                vec![name.clone(), size(text.len() as u64), brief(&text, 60)]
            })
            .collect();
        if !entries.is_empty() {
            ui.line("");
            ui.line(title);
            ui.table(&entries);
        }
    }
    if !session.history.is_empty() {
        ui.line("");
        ui.line(&format!("Last commands ({} are remembered)", session.history.len()));
        let last: Vec<Vec<String>> = session
            .history
            .iter()
            .rev()
            .take(5)
            .map(|entry| {
                vec![age(entry.timestamp, now), entry.mode_id.clone(), brief(&entry.command, 60)]
            })
            .collect();
        ui.table(&last);
    }
    Ok(())
}

pub(super) fn path(id: Option<&str>, context: &Context, ui: &mut Ui) -> Result<(), CommandError> {
    let home = context.world.home().ok_or_else(|| {
        CommandError::failed("there is no folder for sessions")
            .with_hint("set HOME, or OSM_HOME to a folder")
    })?;
    let layout = osm_store::layout::Layout::new(&home);
    let path = match id {
        None => layout.sessions(),
        Some(id) => layout.document(&context.named(Some(id))),
    };
    ui.line(&path.display().to_string());
    Ok(())
}
