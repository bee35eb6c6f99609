//! `osm session clean` and `osm session purge`.

use osm_identity::Handle;
use osm_store::cleanup::{Item, Report};
use osm_store::retention::Mode;
use serde_json::{Value, json};

use crate::cli::{Format, Sure};
use crate::error::{CommandError, Exit, Failure as _};
use crate::invocation::Invocation;
use crate::ops::session::{self, CleanRequest, Cleaned};
use crate::render::{Ui, size};

pub(super) fn run(
    mode: Mode,
    sure: Sure,
    format: Format,
    invocation: &Invocation,
    ui: &mut Ui,
) -> Result<(), CommandError> {
    let request = CleanRequest { mode, consent: super::consent(sure) };
    let Cleaned { report, interrupted } = session::clean(invocation, &request, ui)?;
    if format.json {
        ui.json(&to_json(&report));
    } else {
        show(&report, ui);
        if mode == Mode::Purge && !report.dry_run && interrupted.is_none() {
            show_kept(invocation, ui)?;
        }
    }
    match interrupted {
        // The report has said so.
        Some(interrupted) if format.json => return Err(CommandError::Told(interrupted.exit())),
        Some(interrupted) => return Err(interrupted.into()),
        None => {}
    }
    match report.failed.len() {
        0 => Ok(()),
        // The report has said which.
        _ if format.json => Err(CommandError::Told(Exit::Failure)),
        1 => Err(CommandError::failed("not_removed", "cannot remove 1 item")),
        count => Err(CommandError::failed("not_removed", format!("cannot remove {count} items"))),
    }
}

fn show(report: &Report, ui: &mut Ui) {
    let verb = if report.dry_run { "would remove" } else { "removed" };
    for it in &report.removed {
        ui.line(format!("{verb} {}: {}, {}", it.id.label(), size(it.size), it.reason));
    }
    for it in &report.discarded {
        let size = size(it.size);
        ui.line(format!("{verb} {}/{}: {size}, {}", it.kind.name(), it.name, it.reason));
    }
    for it in &report.skipped {
        ui.line(format!("kept {}: {}", label(&it.item), it.why));
    }
    for it in &report.failed {
        ui.warn(&format!("{}: {}", label(&it.item), it.error));
    }
    if let Some(leap) = &report.leap {
        ui.warn(&leap.to_string());
    }
    for warning in &report.warnings {
        ui.warn(&warning.to_string());
    }
    for it in &report.damaged {
        ui.warn(&format!("session {} is damaged: {}", it.id.label(), it.reason));
    }
    if let [first, ..] = report.damaged.as_slice() {
        ui.hint(&format!(
            "`osm session reset {}` quarantines the damaged file and starts an empty session",
            first.id
        ));
    }
    if report.is_empty() && !report.stopped {
        ui.line("Nothing to remove");
    }
}

/// Says which archives a purge leaves.
fn show_kept(invocation: &Invocation, ui: &mut Ui) -> Result<(), CommandError> {
    let kept = session::archives(invocation)?;
    let archives = match kept.len() {
        0 => return Ok(()),
        1 => "1 archived document stays".to_owned(),
        number => format!("{number} archived documents stay"),
    };
    ui.note(&format!(
        "{archives}: `osm session archives` lists, `osm session delete NAME` deletes them"
    ));
    Ok(())
}

fn label(item: &Item) -> String {
    match item {
        Item::Session(id) => id.label(),
        item => item.to_string(),
    }
}

/// The handle of a session; `None` for anything else.
fn handle(item: &Item) -> Option<String> {
    match item {
        Item::Session(id) => Some(Handle::of(id).to_string()),
        _ => None,
    }
}

fn to_json(report: &Report) -> Value {
    let removed: Vec<Value> = report
        .removed
        .iter()
        .map(|it| json!({"id": it.id.as_str(), "handle": Handle::of(&it.id).to_string(), "size": it.size, "reason": it.reason.to_string()}))
        .collect();
    let discarded: Vec<Value> = report
        .discarded
        .iter()
        .map(|it| json!({"kind": it.kind.name(), "name": it.name, "size": it.size, "reason": it.reason.to_string()}))
        .collect();
    let skipped: Vec<Value> = report
        .skipped
        .iter()
        .map(|it| json!({"item": it.item.to_string(), "handle": handle(&it.item), "why": it.why.to_string()}))
        .collect();
    let failed: Vec<Value> = report
        .failed
        .iter()
        .map(|it| json!({"item": it.item.to_string(), "handle": handle(&it.item), "error": it.error.to_string()}))
        .collect();
    let damaged: Vec<Value> = report
        .damaged
        .iter()
        .map(|it| json!({"id": it.id.as_str(), "handle": Handle::of(&it.id).to_string(), "reason": it.reason.to_string()}))
        .collect();
    json!({
        "dry_run": report.dry_run,
        "removed": removed,
        "discarded": discarded,
        "skipped": skipped,
        "failed": failed,
        "damaged": damaged,
        "interrupted": report.stopped,
        "stray_files": report.stray_files,
        "bytes_freed": report.bytes_freed,
        "bytes_trashed": report.bytes_trashed,
        "clock_jump": report.leap,
    })
}

/// What an automatic cleanup removed, and how to get it back; `None` if it removed nothing.
pub(super) fn automatic(report: &Report, trash_days: u32) -> Option<String> {
    let count = |number: usize, one: &str| match number {
        0 => None,
        1 => Some(format!("1 {one}")),
        number => Some(format!("{number} {one}s")),
    };
    let removed = count(report.removed.len(), "session").map(|sessions| {
        let term = match trash_days {
            0 => String::new(),
            days => format!(" for {}", count(days as usize, "day").unwrap_or_default()),
        };
        format!("moved {sessions} to the trash{term} (restore: `osm session archives`, then `osm session restore NAME`)")
    });
    let discarded = count(report.discarded.len(), "archived document");
    let discarded = discarded.map(|archives| format!("deleted {archives} for good"));
    let parts: Vec<String> = [removed, discarded].into_iter().flatten().collect();
    (!parts.is_empty()).then(|| format!("automatic cleanup {}", parts.join(" and ")))
}
