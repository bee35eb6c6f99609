//! `osm claim repair`: what is known of a damaged ledger, and where its files are kept.

use osm_claims::repair::Findings;
use serde_json::json;

use super::{Answer, finish, text};
use crate::cli::{Format, Sure};
use crate::documents::claim as keys;
use crate::invocation::Invocation;
use crate::ops::claim::words::to_the_second;
use crate::ops::claim::{self as ops, RepairRequest};
use crate::ops::identity::name::handle_of;
use crate::render::Ui;

pub(super) fn run(sure: Sure, format: Format, invocation: &Invocation, ui: &mut Ui) -> Answer {
    let request = RepairRequest { yes: sure.yes, dry_run: sure.dry_run };
    let repair = finish(ops::repair(invocation, request, ui), format.json, invocation, ui)?;
    let copy = repair.copy.as_ref().map(|it| it.display().to_string());
    let findings = repair.findings.filter(|it| it.damage.is_some());
    if format.json {
        let mut document = findings.as_ref().map_or_else(|| json!({ "damage": null }), as_json);
        document["dry_run"] = json!(sure.dry_run);
        document["repaired"] = json!(copy.is_some());
        document["copy"] = json!(copy);
        ui.json(&document);
        return Ok(());
    }
    let Some(findings) = findings else {
        text::line(ui, &format!("nothing to repair: {} is whole", invocation.ledger_place()));
        return Ok(());
    };
    as_text(&findings, copy.is_some(), ui);
    if let Some(copy) = copy {
        text::line(ui, &format!("repaired; the damaged files are in {copy}"));
    }
    Ok(())
}

fn as_json(findings: &Findings) -> serde_json::Value {
    let lost: Vec<_> = findings.lost.iter().map(ToString::to_string).collect();
    json!({
        "damage": findings.damage.as_ref().map(ToString::to_string),
        "claims": findings.claims.iter().map(keys::row).collect::<Vec<_>>(),
        "lost": lost,
        "changes_recorded": findings.changes.0,
        "changes_found": findings.changes.1,
        "last_epoch": findings.last_epoch,
        "next_epoch": findings.next_epoch,
    })
}

fn as_text(findings: &Findings, is_repaired: bool, ui: &mut Ui) {
    if let Some(damage) = &findings.damage {
        text::line(ui, &format!("damage: {damage}"));
    }
    let recorded = findings.changes.0.map_or_else(|| "none".to_owned(), |it| it.to_string());
    let (found, last) = (findings.changes.1, findings.last_epoch);
    ui.line(format!("changes: {found} can be read, {recorded} recorded; last known epoch: {last}"));
    let held = if is_repaired { "stays held" } else { "would stay held" };
    for claim in &findings.claims {
        let (resource, owner) = (&claim.resource, handle_of(&claim.owner.session));
        let (epoch, since) = (claim.epoch, to_the_second(claim.since));
        text::line(ui, &format!("{resource} {held}: {owner}, epoch {epoch}, since {since}"));
    }
    for resource in &findings.lost {
        text::line(ui, &format!("{resource}: cannot be read completely; its claims are lost"));
    }
    let start = if is_repaired { "start" } else { "would start" };
    ui.line(format!("new epochs {start} at {}", findings.next_epoch));
}
