//! Messages between sessions: `osm ask`, `osm tell`, `osm inbox`, and what a hook delivers.
//!
//! A message to a resource goes to the sessions that hold it when it is sent: they can answer, and a later
//! holder was not asked.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use osm_claims::rules::collision::Waiter;
use osm_claims::{Message, MessageKind, Notices, Resource};

use super::client::Client;
use super::{Error, paths};
use crate::error::Exit;
use crate::interaction::{Interaction, Silence};
use crate::invocation::Invocation;

/// The longest text of a message.
const MOST_BYTES: usize = 4096;

/// Why a message is not sent.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MessageError {
    /// There is no session to send it to.
    #[error("no other running session holds {0}, and no other session has that name")]
    NoRecipient(String),
    /// It says nothing.
    #[error("the text of a message must not be empty")]
    Empty,
    /// It is too long.
    #[error("the text of a message has at most {MOST_BYTES} bytes, this one has {0}")]
    TooLong(usize),
}

impl MessageError {
    pub(super) fn reason(&self) -> &'static str {
        match self {
            Self::NoRecipient(_) => "no_recipient",
            Self::Empty | Self::TooLong(_) => "invalid_message",
        }
    }

    pub(super) fn exit(&self) -> Exit {
        match self {
            Self::NoRecipient(_) => Exit::Failure,
            Self::Empty | Self::TooLong(_) => Exit::Usage,
        }
    }

    /// What to do about it.
    pub(super) fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::NoRecipient(_) => "list holders and sessions: osm claims, osm session list",
            Self::TooLong(_) => "write the text to a file, and name the file in the message",
            Self::Empty => return None,
        };
        Some(hint.into())
    }
}

/// A question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AskRequest {
    /// A resource, a session or a path, tried in this order.
    pub target: OsString,
    /// The words.
    pub text: String,
    /// The scope, instead of the repository around the folder.
    pub scope: Option<String>,
}

/// What a session did not acknowledge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inbox {
    /// The messages.
    pub messages: Vec<Message>,
    /// The requests that wait for its claims.
    pub waiting: Vec<Waiter>,
    /// What else it must be told.
    pub notices: Notices,
}

/// Sends a question to the holders of a resource, or to a session.
pub fn ask(
    invocation: &Invocation,
    request: &AskRequest,
    interaction: &mut dyn Interaction,
) -> Result<Vec<Message>, Error> {
    let AskRequest { target, text, scope } = request;
    check(text)?;
    let scope = scope.as_deref();
    let client = Client::open(invocation, scope, interaction)?;
    let holders =
        |resource: &Resource| client.answer(client.claims.ask(&client.requester, resource, text));
    let resource = paths::resource(invocation, target, scope)?;
    let sent = holders(&resource)?;
    if !sent.is_empty() || resource.path().is_some() {
        return received(sent, target);
    }
    let session = client.session_named(target).ok().map(|id| id.to_string());
    if let Some(session) = session.filter(|it| *it != client.requester.caller.session) {
        let kind = MessageKind::Asked;
        let sent = client.claims.send(&client.requester, Some(&session), kind, None, text);
        return Ok(vec![client.answer(sent)?]);
    }
    // What is no path of a worktree is held by no session.
    match paths::path_resource(invocation, target, scope) {
        Ok(path) => received(holders(&path)?, target),
        Err(_) => received(Vec::new(), target),
    }
}

fn received(sent: Vec<Message>, target: &OsStr) -> Result<Vec<Message>, Error> {
    if sent.is_empty() {
        return Err(MessageError::NoRecipient(target.to_string_lossy().into_owned()).into());
    }
    Ok(sent)
}

/// Sends a message to every other session of the scope.
pub fn tell_all(
    invocation: &Invocation,
    text: &str,
    scope: Option<&str>,
    interaction: &mut dyn Interaction,
) -> Result<Message, Error> {
    check(text)?;
    let client = Client::open(invocation, scope, interaction)?;
    let sent = client.claims.send(&client.requester, None, MessageKind::Told, None, text);
    client.answer(sent)
}

/// The messages to this session. The front end shows them, and then calls [`acknowledge`].
pub fn inbox(
    invocation: &Invocation,
    scope: Option<&str>,
    interaction: &mut dyn Interaction,
) -> Result<Inbox, Error> {
    let client = Client::open_anywhere(invocation, scope, interaction)?;
    let told = client.answer(client.claims.notices(&client.requester))?;
    let Notices { losses, resumable, messages, waiting } = told;
    let notices = Notices { losses, resumable, ..Notices::default() };
    Ok(Inbox { messages, waiting, notices })
}

/// Records that this session knows messages.
pub fn acknowledge(invocation: &Invocation, messages: &[u64]) -> Result<(), Error> {
    if messages.is_empty() {
        return Ok(());
    }
    let client = Client::open_anywhere(invocation, None, &mut Silence)?;
    client.answer(client.claims.acknowledge(&client.requester, messages))
}

/// Tells a session that a file which it holds changed.
pub(crate) fn tell_changed(
    invocation: &Invocation,
    folder: &Path,
    session: &str,
    about: &Resource,
    text: &str,
) -> Result<(), Error> {
    let site = paths::Site::around(invocation, folder, None)?;
    let client = site.client(invocation, None)?;
    let kind = MessageKind::Changed;
    let sent = client.claims.send(&client.requester, Some(session), kind, Some(about), text);
    client.answer(sent).map(drop)
}

/// What this session must be told where it works.
pub(crate) fn notices(invocation: &Invocation, folder: &Path) -> Result<Notices, Error> {
    let client = match paths::Site::around(invocation, folder, None) {
        Ok(site) => site.client(invocation, None)?,
        Err(_) => Client::open_anywhere(invocation, None, &mut Silence)?,
    };
    client.answer(client.claims.notices(&client.requester))
}

fn check(text: &str) -> Result<(), MessageError> {
    match text.len() {
        _ if text.trim().is_empty() => Err(MessageError::Empty),
        length if length > MOST_BYTES => Err(MessageError::TooLong(length)),
        _ => Ok(()),
    }
}
