//! `osm session history`: the commands that a session remembers.

use super::format::{age, brief};
use crate::cli::Format;
use crate::context::Context;
use crate::error::CommandError;
use crate::ui::Ui;

pub(super) fn run(
    id: Option<&str>,
    format: Format,
    context: &Context,
    ui: &mut Ui,
) -> Result<(), CommandError> {
    let id = context.named(id);
    let session = context.store()?.read(&id)?;
    if format.json {
        let export = session.to_export();
        ui.line(&serde_json::to_string_pretty(&export["history"]).expect("a history is JSON"));
        return Ok(());
    }
    if session.history.is_empty() {
        ui.line("No commands are remembered");
        return Ok(());
    }
    let now = context.world.now();
    let mut rows = vec![["NUMBER", "AGE", "MODE", "COMMAND"].map(str::to_owned).to_vec()];
    for (number, entry) in session.history.iter().enumerate() {
        rows.push(vec![
            (number + 1).to_string(),
            age(entry.timestamp, now),
            entry.mode_id.clone(),
            brief(&entry.command, 100),
        ]);
    }
    ui.table(&rows);
    Ok(())
}
