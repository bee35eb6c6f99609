//! `osm session history`: the history of a session.

use osm_store::Export;
use serde_json::json;

use super::info::NOTHING_KEPT;
use crate::cli::Format;
use crate::error::CommandError;
use crate::invocation::Invocation;
use crate::ops::session;
use crate::render::Ui;
use crate::render::time::age;
use crate::render::{author, brief};

pub(super) fn run(
    id: Option<&str>,
    format: Format,
    invocation: &Invocation,
    ui: &mut Ui,
) -> Result<(), CommandError> {
    let Some(session) = session::info(invocation, id)?.session else {
        if format.json {
            ui.json(&json!([]));
        } else {
            ui.line(NOTHING_KEPT);
        }
        return Ok(());
    };
    if format.json {
        match session::export(&session)? {
            Export::Plain(export) => ui.json(&export["history"]),
            Export::Stored(_) => ui.json(&session::commands(&session)),
        }
        return Ok(());
    }
    if session.history.is_empty() {
        ui.line("No commands in the history");
        return Ok(());
    }
    let now = invocation.world.now();
    let mut rows = vec![["NUMBER", "AGE", "BY", "MODE", "COMMAND"].map(str::to_owned).to_vec()];
    for entry in &session.history {
        rows.push(vec![
            entry.number.to_string(),
            age(entry.timestamp, now),
            entry.by.as_ref().map_or_else(|| "-".to_owned(), author),
            entry.mode_id.clone(),
            brief(&entry.command, 100),
        ]);
    }
    ui.aligned(&rows);
    Ok(())
}
