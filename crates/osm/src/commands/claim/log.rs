//! `osm claim log`: what happened, and who owned what at a time.

use jiff::{SignedDuration, Timestamp};
use osm_claims::event::{Deed, Event, Filter, replay};
use osm_claims::refusal::shown;
use osm_identity::SessionId;
use serde_json::{Value, json};

use super::desk::{Answer, Desk};
use crate::cli::ClaimCommand;
use crate::error::{CommandError, Exit};
use crate::render::Ui;
use crate::render::brief;

pub(super) fn run(desk: &Desk, line: &ClaimCommand, ui: &mut Ui) -> Answer {
    let ClaimCommand::Log { resource, by, kind, since, until, at, last, all, .. } = line else {
        return Ok(());
    };
    let now = desk.invocation.world.now();
    let time = |text: &Option<String>| text.as_ref().map(|it| moment(it, now)).transpose();
    let at = time(at)?;
    let filter = Filter {
        scope: None,
        resource: resource.as_ref().map(|it| Desk::resource(it)).transpose()?,
        session: by.as_deref().map(|it| SessionId::explicit(it.as_ref()).to_string()),
        kind: kind.clone(),
        since: time(since)?,
        until: at.map_or_else(|| time(until), |at| Ok(Some(at)))?,
        last: *last,
    };
    let events = desk.claims.log(&desk.asker, *all, &filter)?;
    if let Some(at) = at {
        return owner_then(desk, &events, at, ui);
    }
    show(desk, &events, ui);
    Ok(())
}

fn show(desk: &Desk, events: &[Event], ui: &mut Ui) {
    if desk.json {
        let rows: Vec<Value> = events.iter().map(json_event).collect();
        return ui.json(&json!(rows));
    }
    if events.is_empty() {
        return ui.line("nothing happened");
    }
    let head = ["TIME", "EVENT", "RESOURCE", "EPOCH", "BY", "DETAIL"];
    let mut table = vec![head.map(str::to_owned).to_vec()];
    for event in events {
        table.push(vec![
            shown(event.at).to_string(),
            event.deed.name().to_owned(),
            event.resource.to_string(),
            event.epoch.to_string(),
            event.by.clone(),
            brief(&detail(&event.deed), 100),
        ]);
    }
    ui.aligned(&table);
}

/// What is to be said about an event beside its kind.
fn detail(deed: &Deed) -> String {
    match deed {
        Deed::Granted { session, .. } => format!("to {session}"),
        Deed::Offered(offer) => match &offer.note {
            Some(note) => format!("to {}: {note}", offer.to),
            None => format!("to {}", offer.to),
        },
        other => other.evidence().unwrap_or_default().to_owned(),
    }
}

fn json_event(event: &Event) -> Value {
    json!({
        "number": event.number,
        "at": event.at,
        "kind": event.deed.name(),
        "resource": event.resource,
        "epoch": event.epoch.0,
        "by": event.by,
        "evidence": event.deed.evidence(),
        "deed": event.deed,
    })
}

/// Who owned the resource when the last of these events, which are all of it, had happened.
fn owner_then(desk: &Desk, events: &[Event], at: Timestamp, ui: &mut Ui) -> Answer {
    let open = replay(events).map_err(|flaw| {
        CommandError::failed(format!("the log contradicts itself: {flaw:?}"))
            .with_hint("`osm claim log` shows it; the ledger may have been changed by hand")
    })?;
    let owner = open.values().next().and_then(|standing| {
        // A claim begins with its grant.
        let granted = events.iter().find(|event| event.epoch == standing.epoch)?;
        match &granted.deed {
            Deed::Granted { session, .. } => Some((session.clone(), granted.at, granted.epoch)),
            _ => None,
        }
    });
    if desk.json {
        let owner = owner.map(|(session, since, epoch)| {
            json!({ "session": session, "since": since, "epoch": epoch.0 })
        });
        ui.json(&json!({ "at": at, "owner": owner }));
        return Ok(());
    }
    ui.line(&match owner {
        Some((session, since, epoch)) => {
            format!("{session}, epoch {epoch}, since {}", shown(since))
        }
        None => format!("nobody owned it at {at}"),
    });
    Ok(())
}

/// A time, or how long ago it was.
fn moment(text: &str, now: Timestamp) -> Result<Timestamp, CommandError> {
    if let Ok(time) = text.parse() {
        return Ok(time);
    }
    let ago = text.parse::<SignedDuration>().ok().and_then(|ago| now.checked_sub(ago).ok());
    ago.ok_or_else(|| {
        CommandError::failed(format!("{text:?} is no time"))
            .with_hint("write it as 2026-11-15T14:03:00Z, or how long ago: 90s, 10m, 24h")
            .exiting(Exit::Usage)
    })
}
