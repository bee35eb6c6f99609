//! `osm ask`, `osm tell`, `osm inbox`: messages between sessions as text or JSON.

use super::claim;
use crate::cli::{Ask, Inbox, Tell};
use crate::documents::message as documents;
use crate::error::CommandError;
use crate::invocation::Invocation;
use crate::ops::claim::{self as ops, AskRequest, words};
use crate::ops::identity::name::handle_of;
use crate::render::Ui;

/// How commands about messages end.
type Answer = Result<(), CommandError>;

pub(super) fn ask(line: &Ask, invocation: &Invocation, ui: &mut Ui) -> Answer {
    let (target, text) = (line.target.clone(), line.text.clone());
    let request = AskRequest { target, text, scope: line.place.scope.clone() };
    let json = line.place.format.json;
    let sent = claim::finish(ops::ask(invocation, &request, ui), json, invocation, ui)?;
    if json {
        ui.json(&documents::sent(&sent));
        return Ok(());
    }
    for message in &sent {
        let to = message.to.as_deref().map(handle_of).unwrap_or_default();
        let about = message.about.as_ref().map(|it| format!(", who holds {it}"));
        ui.line(words::one_line(&format!("asked {to}{}", about.unwrap_or_default())));
    }
    Ok(())
}

pub(super) fn tell(line: &Tell, invocation: &Invocation, ui: &mut Ui) -> Answer {
    let (scope, json) = (line.place.scope.as_deref(), line.place.format.json);
    let answer = ops::tell_all(invocation, &line.text, scope, ui);
    let sent = claim::finish(answer, json, invocation, ui)?;
    if json {
        ui.json(&documents::sent(&[sent]));
    } else {
        ui.line("sent to all sessions of this scope");
    }
    Ok(())
}

pub(super) fn inbox(line: &Inbox, invocation: &Invocation, ui: &mut Ui) -> Answer {
    let (scope, json) = (line.place.scope.as_deref(), line.place.format.json);
    let answer = ops::inbox(invocation, scope, ui);
    let inbox = claim::finish(answer, json, invocation, ui)?;
    if json {
        ui.json(&documents::inbox(&inbox));
    } else if inbox.messages.is_empty() && inbox.waiting.is_empty() {
        ui.line("no messages");
    }
    if !json {
        inbox.messages.iter().for_each(|it| ui.line(words::message(it)));
        inbox.waiting.iter().for_each(|it| ui.line(words::waiter(it)));
    }
    ops::tell_notices(&inbox.notices, invocation, ui);
    if !line.keep {
        let shown: Vec<u64> = inbox.messages.iter().map(|it| it.number).collect();
        ops::acknowledge(invocation, &shown)?;
    }
    Ok(())
}
