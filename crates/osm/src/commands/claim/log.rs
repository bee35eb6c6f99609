//! `osm claim log`: its arguments, its table, and who owned a resource at a time.

use jiff::{SignedDuration, Timestamp};
use osm_claims::Message;
use osm_claims::event::{Event, Filter, Transition};
use serde_json::json;

use super::{Answer, finish, resource};
use crate::cli::ClaimCommand;
use crate::documents::claim as keys;
use crate::error::{Exit, Failure};
use crate::invocation::Invocation;
use crate::ops::claim::words::to_the_second;
use crate::ops::claim::{self as ops, HistoryRequest};
use crate::ops::identity::name::{Handles, handle_of, label};
use crate::render::{Column, Table, Text, Ui, brief};

/// A text that is neither a time nor a duration.
#[derive(Debug, thiserror::Error)]
#[error("invalid time {0:?}")]
struct InvalidTime(String);

impl Failure for InvalidTime {
    fn reason(&self) -> &'static str {
        "invalid_time"
    }

    fn exit(&self) -> Exit {
        Exit::Usage
    }

    fn hints(&self) -> Vec<String> {
        vec!["write it as 2026-11-15T14:03:00Z, or how long ago: 90s, 10m, 24h".into()]
    }
}

pub(super) fn run(line: &ClaimCommand, invocation: &Invocation, ui: &mut Ui) -> Answer {
    let ClaimCommand::Log { resource: name, by, kind, since, until, at, last, all, place } = line
    else {
        return Ok(());
    };
    let now = invocation.world.now();
    let time = |text: &Option<String>| text.as_ref().map(|it| moment(it, now)).transpose();
    let at = time(at)?;
    let filter = Filter {
        scope: None,
        resource: name.as_ref().map(|it| resource(it, place, invocation)).transpose()?,
        session: None,
        kind: kind.clone(),
        since: time(since)?,
        until: at.map_or_else(|| time(until), |at| Ok(Some(at)))?,
        last: *last,
    };
    let by = by.as_ref().map(Into::into);
    let request = HistoryRequest { filter, by, everywhere: *all, scope: place.scope.clone() };
    let json = place.format.json;
    let history = finish(ops::log(invocation, &request, ui), json, invocation, ui)?;
    match at {
        Some(at) => owner_at(&history.events, at, json, ui)?,
        None if json => {
            let events = history.events.iter().map(|it| (it.at, json!(keys::event(it))));
            let messages = history.messages.iter().map(|it| (it.at, keys::message(it)));
            let mut all: Vec<_> = events.chain(messages).collect();
            all.sort_by_key(|(at, _)| *at);
            ui.json(&all.into_iter().map(|(_, it)| it).collect::<Vec<_>>());
        }
        None => show(&history.events, &history.messages, ui),
    }
    super::notices(&history.notices, invocation, ui);
    Ok(())
}

const COLUMNS: &[Column] = &[
    Column::new("TIME").rank(1),
    Column::new("EVENT"),
    Column::new("RESOURCE").shrinks(16),
    Column::new("EPOCH").rank(2),
    Column::new("BY").shrinks(16),
    Column::new("DETAIL").shrinks(12).rank(3),
];

fn show(events: &[Event], messages: &[Message], ui: &mut Ui) {
    if events.is_empty() && messages.is_empty() {
        return ui.line("no events");
    }
    let senders = messages.iter().map(|message| message.from.as_str());
    let handles = Handles::among(events.iter().map(|event| event.by.as_str()).chain(senders));
    let event = |event: &Event| {
        let row = [
            to_the_second(event.at).to_string(),
            event.transition.name().to_owned(),
            event.resource.to_string(),
            event.epoch.to_string(),
            handles.of(&event.by),
            brief(&detail(&event.transition), 100),
        ];
        (event.at, row)
    };
    let message = |message: &Message| {
        let to = message.to.as_deref().map_or_else(|| "all".to_owned(), handle_of);
        let row = [
            to_the_second(message.at).to_string(),
            message.kind.name().to_owned(),
            message.about.as_ref().map_or_else(|| "-".to_owned(), ToString::to_string),
            "-".to_owned(),
            handles.of(&message.from),
            brief(&format!("to {to}: {}", message.text), 100),
        ];
        (message.at, row)
    };
    let mut rows: Vec<_> = events.iter().map(event).chain(messages.iter().map(message)).collect();
    rows.sort_by_key(|(at, _)| *at);
    let mut table = Table::new(COLUMNS);
    for (_, row) in rows {
        table.row(row.map(Text::from));
    }
    ui.table(&table);
}

/// What there is to say about an event beside its kind.
fn detail(transition: &Transition) -> String {
    match transition {
        Transition::Granted { session, .. } => format!("to {}", handle_of(session)),
        Transition::Offered(offer) => match &offer.note {
            Some(note) => format!("to {}: {note}", handle_of(&offer.to)),
            None => format!("to {}", handle_of(&offer.to)),
        },
        other => other.evidence().unwrap_or_default().to_owned(),
    }
}

fn owner_at(events: &[Event], at: Timestamp, json: bool, ui: &mut Ui) -> Answer {
    let owners = ops::owners_at(events)?;
    if json {
        let owners: Vec<_> = owners
            .into_iter()
            .map(|it| {
                let handle = handle_of(&it.session);
                let (session, since, epoch) = (it.session, it.since, it.epoch.0);
                json!({ "session": session, "handle": handle, "since": since, "epoch": epoch })
            })
            .collect();
        // A name has one owner; paths that are shared have several.
        ui.json(&json!({ "at": at, "owner": owners.first(), "owners": owners }));
        return Ok(());
    }
    if owners.is_empty() {
        ui.line(format!("it had no owner at {at}"));
    }
    for it in owners {
        let (session, since) = (label(&it.session), to_the_second(it.since));
        ui.line(format!("{session}, epoch {}, since {since}", it.epoch));
    }
    Ok(())
}

/// A time, or how long ago it was.
fn moment(text: &str, now: Timestamp) -> Result<Timestamp, InvalidTime> {
    if let Ok(time) = text.parse() {
        return Ok(time);
    }
    let ago = text.parse::<SignedDuration>().ok().and_then(|ago| now.checked_sub(ago).ok());
    ago.ok_or_else(|| InvalidTime(text.to_owned()))
}
