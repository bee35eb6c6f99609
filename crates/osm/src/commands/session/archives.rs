//! `osm session archives` and `osm session restore`.

use osm_identity::{Handle, SessionId};
use serde::Serialize;

use crate::cli::{Force, Format, Sure};
use crate::error::CommandError;
use crate::invocation::Invocation;
use crate::ops::session::{self, Archive, RestoreRequest};
use crate::render::time::age;
use crate::render::{Column, Table, Ui, size};

const COLUMNS: &[Column] = &[
    Column::new("KIND").rank(1),
    Column::new("AGE").rank(2),
    Column::new("SIZE").rank(3),
    Column::new("SESSION").rank(4),
    Column::new("NAME"),
];

#[derive(Serialize)]
struct Row<'a> {
    kind: &'static str,
    name: &'a str,
    session: Option<&'a str>,
    handle: Option<String>,
    size: u64,
    at: jiff::Timestamp,
}

fn row(Archive { kind, document }: &Archive) -> Row<'_> {
    Row {
        kind: kind.name(),
        name: &document.name,
        session: document.id.as_ref().map(SessionId::as_str),
        handle: document.id.as_ref().map(|id| Handle::of(id).to_string()),
        size: document.size,
        at: document.modified,
    }
}

pub(super) fn list(
    format: Format,
    invocation: &Invocation,
    ui: &mut Ui,
) -> Result<(), CommandError> {
    let all = session::archives(invocation)?;
    if format.json {
        ui.json(&all.iter().map(row).collect::<Vec<_>>());
        return Ok(());
    }
    if all.is_empty() {
        ui.line("No archives found");
        return Ok(());
    }
    let now = invocation.world.now();
    let mut table = Table::new(COLUMNS);
    for Archive { kind, document } in &all {
        let (age, size) = (age(document.modified, now), size(document.size));
        let handle = document.id.as_ref().map(|id| Handle::of(id).to_string());
        let handle = handle.unwrap_or_else(|| "-".to_owned());
        let name = document.name.as_str().into();
        table.row([kind.name().into(), age.into(), size.into(), handle.into(), name]);
    }
    ui.table(&table);
    Ok(())
}

pub(super) fn restore(
    name: &str,
    id: Option<&str>,
    force: Force,
    sure: Sure,
    invocation: &Invocation,
    ui: &mut Ui,
) -> Result<(), CommandError> {
    let request = RestoreRequest {
        name: name.to_owned(),
        id: id.map(str::to_owned),
        force: force.force,
        consent: super::consent(sure),
    };
    let restored = session::restore(invocation, &request, ui)?;
    if restored.dry_run {
        ui.line(format!("would restore {name} as {}", restored.id.label()));
        return Ok(());
    }
    ui.line(format!("restored {}", restored.id.label()));
    if let Some(archived) = restored.archived {
        ui.line(format!("the session that it replaced is archived as {archived}"));
    }
    Ok(())
}
