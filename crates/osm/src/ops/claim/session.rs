//! Which session an argument of a command about claims means.

use std::ffi::OsStr;

use osm_claims::Filter;
use osm_identity::SessionId;

use super::Error;
use super::client::Client;
use crate::ops::identity::name;

impl Client<'_> {
    /// The session that a name means: one that acted on claims, sent a message or is stored, or the current one.
    ///
    /// A full id is enough in any case. The ledger does not know a session that was only refused, and
    /// that is the one which asks the holder to hand over; the hash in an id prevents typing errors.
    pub(super) fn session_named(&self, name: &OsStr) -> Result<SessionId, Error> {
        let name = name.to_string_lossy();
        if let Ok(id) = name.parse() {
            return Ok(id);
        }
        let events = self.claims.log(&self.requester, true, &Filter::default());
        let acted = self.answer(events)?.into_iter().filter_map(|event| event.by.parse().ok());
        let here = self.answer(self.claims.messages(&self.requester, None))?;
        let unread = self.answer(self.claims.unread(&self.requester))?;
        let senders = here.into_iter().chain(unread);
        let senders = senders.filter_map(|message| message.draft.from.parse().ok());
        // Claims work without the store: a store that fails adds no candidates.
        let stored = self.invocation.store().ok().and_then(|store| store.list().ok());
        let stored = stored.unwrap_or_default().into_iter().map(|entry| entry.id);
        let mut known: Vec<SessionId> = acted.chain(senders).chain(stored).collect();
        known.push(self.invocation.session_id().clone());
        known.sort();
        known.dedup();
        Ok(name::found(&name, &known)?)
    }
}
