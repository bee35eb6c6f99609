//! `osm claim sweep`: what it examined and freed.

use osm_claims::{End, Reason, SweepReport};
use serde_json::json;

use super::{Answer, finish, notices, text};
use crate::cli::ClaimPlace;
use crate::documents::claim as keys;
use crate::error::{CommandError, Exit};
use crate::invocation::Invocation;
use crate::ops::claim as ops;
use crate::ops::identity::name::handle_of;
use crate::render::Ui;

/// Why a claim is not freed, in the order of the report.
const KEPT: [Reason; 4] = [Reason::Held, Reason::Suspended, Reason::Unknown, Reason::Reserved];

pub(super) fn run(
    place: &ClaimPlace,
    everywhere: bool,
    dry_run: bool,
    invocation: &Invocation,
    ui: &mut Ui,
) -> Answer {
    let answer = ops::sweep(invocation, place.scope.as_deref(), everywhere, dry_run, ui);
    let swept = finish(answer, place.format.json, invocation, ui)?;
    let failed = swept.report.examined.iter().find_map(|it| it.failure.as_ref()).map(|failure| {
        let count = swept.report.failed();
        let noun = if count == 1 { "claim" } else { "claims" };
        format!("{count} {noun} could not be examined: {failure}")
    });
    if place.format.json {
        as_json(&swept.report, dry_run, failed.as_deref(), ui);
    } else {
        as_text(&swept.report, dry_run, ui);
    }
    notices(&swept.notices, invocation, ui);
    match failed {
        Some(_) if place.format.json => Err(CommandError::Told(Exit::Partial)),
        Some(message) => Err(CommandError::failed("partial", message).exiting(Exit::Partial)),
        None => Ok(()),
    }
}

fn as_json(report: &SweepReport, dry_run: bool, failed: Option<&str>, ui: &mut Ui) {
    let mut counts = serde_json::Map::new();
    counts.insert("examined".into(), json!(report.examined.len()));
    counts.insert("freed".into(), json!(report.freed()));
    for reason in KEPT {
        counts.insert(reason.code().into(), json!(report.kept(reason)));
    }
    counts.insert("failed".into(), json!(report.failed()));
    let claims: Vec<_> = report
        .examined
        .iter()
        .map(|it| {
            json!({
                "claim": keys::row(&it.claim),
                "freed": it.outcome.ok().map(End::name),
                "kept": it.outcome.err().map(Reason::code),
                "failure": it.failure.as_ref().map(ToString::to_string),
            })
        })
        .collect();
    let mut document = json!({ "dry_run": dry_run, "counts": counts, "claims": claims });
    if let Some(message) = failed {
        document["reason"] = json!("partial");
        document["message"] = json!(message);
    }
    ui.json(&document);
}

fn as_text(report: &SweepReport, dry_run: bool, ui: &mut Ui) {
    let freed = if dry_run { "would be freed" } else { "freed" };
    for it in report.examined.iter().filter(|it| it.outcome.is_ok()) {
        let (resource, epoch) = (&it.claim.resource, it.claim.epoch);
        let owner = handle_of(&it.claim.owner.session);
        text::line(ui, &format!("{resource} {freed}: {owner} (epoch {epoch})"));
    }
    let mut parts = vec![format!("{} {freed}", report.freed())];
    let counted = KEPT.into_iter().map(|reason| (reason.code(), report.kept(reason)));
    let counted = counted.chain([("failed", report.failed())]);
    parts.extend(counted.filter(|(_, it)| *it > 0).map(|(name, it)| format!("{it} {name}")));
    ui.line(format!("{} examined: {}", report.examined.len(), parts.join(", ")));
}
