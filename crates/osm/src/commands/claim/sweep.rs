//! `osm claim sweep`: frees what the dead hold, and says what it examined.

use osm_claims::Reason;
use serde_json::json;

use super::desk::{Answer, Desk};
use super::report;
use crate::error::{CommandError, Exit};
use crate::render::Ui;

pub(super) fn run(desk: &Desk, everywhere: bool, dry_run: bool, ui: &mut Ui) -> Answer {
    let swept = desk.claims.sweep(&desk.asker, everywhere, dry_run)?;
    let kept = [Reason::Held, Reason::Suspended, Reason::Unknown, Reason::Reserved];
    if desk.json {
        let mut counts = serde_json::Map::new();
        counts.insert("examined".into(), json!(swept.examined.len()));
        counts.insert("freed".into(), json!(swept.freed()));
        for reason in kept {
            counts.insert(reason.code().into(), json!(swept.kept(reason)));
        }
        counts.insert("failed".into(), json!(swept.failed()));
        let claims: Vec<_> = swept
            .examined
            .iter()
            .map(|it| {
                json!({
                    "claim": report::row(&it.claim),
                    "freed": it.outcome.ok().map(osm_claims::End::name),
                    "kept": it.outcome.err().map(Reason::code),
                    "failure": it.failure,
                })
            })
            .collect();
        ui.json(&json!({ "dry_run": dry_run, "counts": counts, "claims": claims }));
    } else {
        let would = if dry_run { "would be freed" } else { "freed" };
        for it in swept.examined.iter().filter(|it| it.outcome.is_ok()) {
            ui.line(format!(
                "{} {would}: {} (epoch {})",
                it.claim.resource, it.claim.owner.session, it.claim.epoch
            ));
        }
        let mut parts = vec![format!("{} {would}", swept.freed())];
        let counted = kept.into_iter().map(|reason| (reason.code(), swept.kept(reason)));
        let counted = counted.chain([("failed", swept.failed())]);
        parts.extend(counted.filter(|(_, it)| *it > 0).map(|(name, it)| format!("{it} {name}")));
        ui.line(format!("{} examined: {}", swept.examined.len(), parts.join(", ")));
    }
    match swept.examined.iter().find_map(|it| it.failure.as_ref()) {
        Some(failure) => {
            let message = format!("{} could not be decided: {failure}", swept.failed());
            Err(CommandError::failed(message).exiting(Exit::Partial))
        }
        None => Ok(()),
    }
}
