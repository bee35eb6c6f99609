//! `osm session clean` and `osm session purge`: retention, carried out by hand.

use osm_identity::System;
use osm_store::cleanup::{Cleaner, Options, Report};
use osm_store::retention::{Mode, Policy};
use serde_json::{Value, json};

use super::elsewhere;
use crate::cli::{Format, Sure};
use crate::error::CommandError;
use crate::interaction::{Interaction as _, confirm};
use crate::invocation::Invocation;
use crate::render::Ui;
use crate::render::size;

pub(super) fn run(
    purge: bool,
    sure: Sure,
    format: Format,
    invocation: &Invocation,
    ui: &mut Ui,
) -> Result<(), CommandError> {
    let store = invocation.store()?;
    // A purge asks no limit, so a doubt about them does not hold it up.
    let policy =
        if purge { invocation.settings.policy() } else { invocation.settings.checked_policy()? };
    if !sure.dry_run {
        let question = if purge {
            "Delete every session that is not in use, for good?"
        } else {
            "Remove the sessions that the limits no longer allow?"
        };
        confirm(sure.yes, question, ui)?;
    }
    let mode = if purge { Mode::Purge } else { Mode::Clean };
    let report = clean(&store, policy, mode, sure.dry_run, invocation, ui)?;
    if format.json {
        ui.json(&to_json(&report));
    } else {
        show(&report, ui);
    }
    match report.failed.len() {
        0 => Ok(()),
        count => Err(CommandError::failed(format!("{count} could not be removed"))),
    }
}

fn clean(
    store: &osm_store::Store,
    policy: &Policy,
    mode: Mode,
    dry_run: bool,
    invocation: &Invocation,
    ui: &mut Ui,
) -> Result<Report, CommandError> {
    let current = [invocation.session_id().clone()];
    let holder = invocation.world.holder();
    let cleaner = Cleaner {
        backend: store.backend(),
        policy,
        holder: &holder,
        current: &current,
        processes: &System,
        now: invocation.world.now(),
    };
    let options = Options { dry_run, ..Options::default() };
    Ok(cleaner.clean_up(mode, &options, &mut |it| ui.progress(it.done, it.total))?)
}

fn show(report: &Report, ui: &mut Ui) {
    let verb = if report.dry_run { "would remove" } else { "removed" };
    for it in &report.removed {
        ui.line(format!("{verb} {} ({}, {})", it.id, size(it.size), it.reason));
    }
    for it in &report.discarded {
        ui.line(format!(
            "{verb} {}/{} ({}, {})",
            it.shelf.name(),
            it.name,
            size(it.size),
            it.reason
        ));
    }
    for it in &report.skipped {
        ui.line(format!("kept {} ({})", it.item, it.why));
    }
    elsewhere::warn_after(report, ui);
    for it in &report.failed {
        ui.warn(&format!("{}: {}", it.item, it.error));
    }
    for warning in &report.warnings {
        ui.warn(warning);
    }
    if report.is_empty() {
        ui.line("Nothing to remove");
    }
}

fn to_json(report: &Report) -> Value {
    let removed: Vec<Value> = report
        .removed
        .iter()
        .map(|it| json!({"id": it.id.as_str(), "size": it.size, "reason": it.reason.to_string()}))
        .collect();
    let discarded: Vec<Value> = report
        .discarded
        .iter()
        .map(|it| json!({"shelf": it.shelf.name(), "name": it.name, "size": it.size, "reason": it.reason.to_string()}))
        .collect();
    let skipped: Vec<Value> = report
        .skipped
        .iter()
        .map(|it| json!({"item": it.item.to_string(), "why": it.why.to_string()}))
        .collect();
    let failed: Vec<Value> = report
        .failed
        .iter()
        .map(|it| json!({"item": it.item.to_string(), "error": it.error.to_string()}))
        .collect();
    json!({
        "dryRun": report.dry_run,
        "removed": removed,
        "discarded": discarded,
        "skipped": skipped,
        "failed": failed,
        "litter": report.litter,
        "bytesFreed": report.bytes_freed,
    })
}
