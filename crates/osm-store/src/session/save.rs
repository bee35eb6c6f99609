//! Saves.
//!
//! A save shows us the newest document, applies our changes to it by the rules of `merge.rs`, adds
//! the command to the history and replaces the document, all in one step of the backend.
//!
//! If the reply is lost, the save is neither repeated nor forgotten: the handle of the session is
//! asked whether it was carried out, at once and, if the store cannot be reached, before the next
//! save. So a command is never twice in the history, and no acknowledged change is lost.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;
use osm_identity::SessionId;
use serde_json::json;

use super::{Edit, Notice, Session, place, put, stored, within_limits};
use crate::audit::{Action, Event, Who};
use crate::backend::{
    ArchiveKind, Backend, Current, Holder, Next, Outcome, Transaction, Wait, update_settled,
};
use crate::document::{Document, Unreadable, Writer};
use crate::error::{Damage, Damaged, Error, Result};
use crate::key::Key;
use crate::layout;
use crate::merge::merge;

impl Session {
    /// Applies our changes to the newest document and replaces it, in one step.
    pub(super) fn save(&mut self, command: Option<(&str, &str)>, wait: Wait) -> Result<()> {
        self.settle()?;
        let reader = Reader { backend: self.backend.as_ref(), id: &self.id, holder: &self.holder };
        let (ours, edits, usage) = (&self.document, &self.edits, self.usage.as_ref());
        let (keeps_old, writer) = (self.keeps_old, self.writer());
        let mut saved = None;
        let mut notices = Vec::new();
        let mut next = |transaction: &mut dyn Transaction, current: Current| {
            let now = transaction.now();
            notices.clear();
            let mut document = match current {
                Current::Unchanged => ours.clone(),
                Current::Missing => Document::new(reader.id.clone(), now),
                Current::Found(bytes, _) => reader.read(bytes, transaction, &mut notices)?,
            };
            apply(edits, keeps_old, &mut document, now, &writer)
                .map_err(|reason| reader.corrupt(reason))?;
            document.revision += 1;
            document.updated_at = now.max(document.updated_at);
            document.note(usage, now);
            if let Some((mode, command)) = command {
                document.remember(mode, command, now, &writer);
            }
            let pieces = within_limits(reader.backend, reader.id, document.encode())?;
            saved = Some(document);
            Ok(Next::Replace(pieces))
        };
        let stamp = match update_settled(self.attended.as_mut(), self.stamp, wait, &mut next) {
            Ok(stamp) => stamp,
            Err(error) => {
                self.waiting.clone_from(&self.edits);
                if error.is_unknown_outcome() {
                    self.unsettled = saved;
                }
                return Err(error);
            }
        };
        if let Some(document) = saved {
            self.take_over(document, true);
            self.stamp = stamp;
        }
        self.notices.extend(notices);
        Ok(())
    }

    /// Finds out whether a save whose reply was lost was carried out.
    pub(super) fn settle(&mut self) -> Result<()> {
        if self.unsettled.is_none() {
            return Ok(());
        }
        let outcome = self.attended.outcome()?;
        let document = self.unsettled.take();
        if let (Outcome::CarriedOut(stamp), Some(document)) = (outcome, document) {
            // What was saved then is no change any more; what was changed since still is.
            let saved = std::mem::take(&mut self.waiting);
            for (key, done) in saved {
                match self.edits.get_mut(&key) {
                    Some(edit) if *edit == done => drop(self.edits.remove(&key)),
                    Some(edit) => edit.base = done.ours,
                    None => drop(self.edits.insert(key, Edit { base: done.ours, ours: done.base })),
                }
            }
            self.take_over(document, false);
            self.stamp = stamp;
        }
        Ok(())
    }
}

/// Reads stored documents, and archives those that cannot be used.
pub(super) struct Reader<'a> {
    pub(super) backend: &'a dyn Backend,
    pub(super) id: &'a SessionId,
    pub(super) holder: &'a Holder,
}

impl Reader<'_> {
    pub(super) fn read(
        &self,
        bytes: Vec<u8>,
        transaction: &mut dyn Transaction,
        notices: &mut Vec<Notice>,
    ) -> Result<Document> {
        let bytes = Arc::new(bytes);
        let now = transaction.now();
        match Document::decode(Arc::clone(&bytes)) {
            Ok((mut document, upgraded)) => {
                if upgraded {
                    let stem = layout::stem(self.id, "upgrade", now);
                    let name = transaction.archive(ArchiveKind::Archive, &stem, &bytes)?;
                    let after = json!({"archive": name});
                    transaction.audit(&Event { after, ..self.event(Action::Migrate, now) })?;
                    notices.push(Notice::Upgraded { name });
                }
                if document.id != *self.id {
                    notices.push(Notice::Adopted { from: document.id.clone() });
                    document.id = self.id.clone();
                }
                Ok(document)
            }
            Err(Unreadable::Newer(version)) => {
                Err(Error::Newer { place: place(self.backend, self.id), version })
            }
            Err(Unreadable::Corrupt(reason)) => {
                let stem = layout::stem(self.id, "corrupt", now);
                let name = transaction.archive(ArchiveKind::Quarantine, &stem, &bytes)?;
                let after = json!({"quarantine": name, "reason": reason.to_string()});
                transaction.audit(&Event { after, ..self.event(Action::Quarantine, now) })?;
                notices.push(Notice::Quarantined { reason, name });
                Ok(Document::new(self.id.clone(), now))
            }
        }
    }

    fn event(&self, what: Action, now: Timestamp) -> Event {
        event(self.holder, self.id, what, now)
    }

    pub(super) fn corrupt(&self, reason: Damage) -> Error {
        let place = place(self.backend, self.id);
        Error::Corrupt { what: Damaged::Session, place, reason }
    }
}

/// An event that is audited before what it reports is done: nothing of consequence happens that the
/// audit log does not have.
pub(super) fn event(holder: &Holder, id: &SessionId, what: Action, now: Timestamp) -> Event {
    let who = Who::new(holder, Some(id));
    Event { session: Some(id.clone()), ..Event::new(now, who, what) }
}

/// Applies our changes to a document that other processes may have changed, too.
fn apply(
    edits: &BTreeMap<Key, Edit>,
    keeps_old: bool,
    document: &mut Document,
    now: Timestamp,
    writer: &Writer,
) -> std::result::Result<(), Damage> {
    let mut merged = Vec::new();
    let mut overwrites = false;
    for (key, edit) in edits {
        let theirs = stored(document, key)?;
        let value = merge(edit.base.as_ref(), edit.ours.as_ref(), theirs.as_ref());
        overwrites |= theirs != edit.base && value == edit.ours && theirs != value;
        merged.push((key, value));
    }
    // The value that loses stays in the history, even if it was saved without a command.
    if (overwrites || keeps_old) && !document.is_remembered() {
        document.remember("osm", "(before a change from elsewhere)", now, writer);
    }
    for (key, value) in merged {
        put(document, key, value.as_ref());
    }
    Ok(())
}
