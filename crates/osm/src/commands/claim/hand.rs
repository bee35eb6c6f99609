//! Claims that change hands: `handoff`, `accept`, `resume`, `take`.

use std::ffi::{OsStr, OsString};
use std::time::Duration;

use osm_claims::plain::plain;
use osm_claims::refusal::fate;
use osm_claims::rules::{Change, Request};
use osm_claims::{Claim, Resource, Wish};
use osm_identity::SessionId;
use serde_json::json;

use super::desk::{Answer, Desk};
use super::grant::{token, waiting};
use super::report;
use crate::cli::{ClaimGrant, ClaimHeld};
use crate::render::Ui;

pub(super) fn offer(
    desk: &Desk,
    held: &ClaimHeld,
    to: Option<&OsStr>,
    term: Option<Duration>,
    note: Option<String>,
    ui: &mut Ui,
) -> Answer {
    let resource = Desk::resource(&held.resource)?;
    let to = to.map(|to| SessionId::explicit(to).to_string());
    let wish = Wish { term, note, ..Wish::default() };
    let token = token(desk, held);
    let outcome = desk.claims.offer(&desk.asker, &resource, token, to.as_deref(), &wish)?;
    report::outcome(desk, &outcome, ui);
    if let (Some(to), false) = (to, desk.json) {
        ui.line(format!("  {to} takes it up with: osm claim accept {resource}"));
    }
    Ok(())
}

pub(super) fn accept(desk: &Desk, name: &OsStr, grant: &ClaimGrant, ui: &mut Ui) -> Answer {
    let resource = Desk::resource(name)?;
    let wish = desk.wish(grant, ui);
    let outcome = waiting(desk, grant, || desk.claims.accept(&desk.asker, &resource, &wish))?;
    report::outcome(desk, &outcome, ui);
    let offer = outcome.ended.as_ref().and_then(|it| it.offer.as_ref());
    if let (Some(note), false) = (offer.and_then(|it| it.note.as_deref()), desk.json) {
        ui.line(format!("  with it: {}", plain(note)));
    }
    Ok(())
}

pub(super) fn resume(desk: &Desk, names: &[OsString], ui: &mut Ui) -> Answer {
    let mut resources: Vec<Resource> =
        names.iter().map(|it| Desk::resource(it)).collect::<Result<_, _>>()?;
    if names.is_empty() {
        let here = desk.claims.list(&desk.asker, false)?;
        let before = here.into_iter().filter(|it| it.is_predecessors);
        resources.extend(before.map(|it| it.claim.resource));
    }
    if resources.is_empty() && !desk.json {
        ui.line("this session had nothing that it could take up");
    }
    let mut failed = None;
    let mut outcomes = Vec::new();
    for resource in &resources {
        match desk.claims.resume(&desk.asker, resource, &Wish::default()) {
            Ok(outcome) => outcomes.push(outcome),
            Err(error) => failed = failed.or(Some(error)),
        }
    }
    report::several(desk, "resumed", &outcomes, failed, ui)
}

pub(super) struct Take<'a> {
    pub(super) reason: &'a str,
    pub(super) even_if_alive: bool,
    pub(super) dry_run: bool,
}

pub(super) fn take(desk: &Desk, name: &OsStr, take: &Take, ui: &mut Ui) -> Answer {
    let resource = Desk::resource(name)?;
    if take.dry_run {
        let request = Request::Take { even_if_alive: take.even_if_alive };
        let (claim, change) = desk.claims.foresee(&desk.asker, &resource, &request)?;
        let open = claim.filter(Claim::is_open);
        if desk.json {
            ui.json(&json!({
                "dry_run": true,
                "would_take": matches!(change, Change::Grant(_)),
                "overrides": open.as_ref().map(report::row),
            }));
            return Ok(());
        }
        ui.line(&match (change, open) {
            (Change::Grant(_), Some(claim)) => {
                format!("{resource} would be taken: {}", fate(&claim))
            }
            (Change::Grant(_), None) => format!("{resource} would be claimed: nobody has it"),
            _ => format!("{resource} is yours already"),
        });
        return Ok(());
    }
    let wish = Wish { reason: Some(take.reason.to_owned()), ..Wish::default() };
    let outcome = desk.claims.take(&desk.asker, &resource, take.even_if_alive, &wish)?;
    report::outcome(desk, &outcome, ui);
    Ok(())
}
