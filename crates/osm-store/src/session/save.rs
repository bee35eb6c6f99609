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

use super::{Notice, Session, place, put, stored, within_limits};
use crate::audit::{Action, Event, Who};
use crate::backend::{
    ArchiveKind, Backend, Current, Holder, Next, Outcome, Transaction, Wait, update_settled,
};
use crate::document::{Document, Unreadable, Writer};
use crate::error::{Damage, Damaged, Error, Result};
use crate::journal::Edit;
use crate::key::Key;
use crate::layout;
use crate::merge::merge;

impl Session {
    /// Applies our changes to the newest document and replaces it, in one step. Returns the keys whose
    /// values another process had changed and that have ours now.
    pub(super) fn save(&mut self, command: Option<(&str, &str)>, wait: Wait) -> Result<Vec<Key>> {
        self.attach()?;
        self.settle()?;
        let reader = Reader { backend: self.backend.as_ref(), id: &self.id, holder: &self.holder };
        let (ours, edits, usage) = (&self.document, &self.edits, self.usage.as_ref());
        let (keeps_old, writer) = (self.keeps_old, self.writer());
        let journal = self.away.written().map(|journal| journal.name().to_owned());
        let mut saved = None;
        let mut overwritten = Vec::new();
        let mut notices = Vec::new();
        let mut next = |transaction: &mut dyn Transaction, current: Current| {
            let now = transaction.now();
            notices.clear();
            let mut document = match current {
                Current::Unchanged => ours.clone(),
                Current::Missing => Document::new(reader.id.clone(), now),
                Current::Found(bytes, _) => reader.read(bytes, transaction, &mut notices)?,
            };
            overwritten = apply(edits, keeps_old, &mut document, now, &writer)
                .map_err(|reason| reader.corrupt(reason))?;
            document.revision += 1;
            document.updated_at = now.max(document.updated_at);
            document.note(usage, now);
            if let Some((mode, command)) = command {
                document.remember(mode, command, now, &writer);
            }
            if let Some(journal) = &journal {
                document.note_journal(journal);
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
                    self.unsettled = saved.map(|document| (document, self.edits.clone()));
                }
                return Err(error);
            }
        };
        if let Some(document) = saved {
            self.take_over(document, true);
            self.stamp = stamp;
        }
        self.away.settled();
        self.notices.extend(notices);
        Ok(overwritten)
    }

    /// Finds out whether a save whose reply was lost was carried out.
    pub(super) fn settle(&mut self) -> Result<()> {
        if self.unsettled.is_none() {
            return Ok(());
        }
        let outcome = self.attended.outcome()?;
        let unsettled = self.unsettled.take();
        if let (Outcome::CarriedOut(stamp), Some((document, saved))) = (outcome, unsettled) {
            rebase(&mut self.edits, &saved);
            rebase(&mut self.waiting, &saved);
            self.take_over(document, false);
            self.stamp = stamp;
            if self.edits.is_empty() {
                self.away.settled();
            }
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

/// What was saved is no change any more; what was changed since still is.
fn rebase(edits: &mut BTreeMap<Key, Edit>, saved: &BTreeMap<Key, Edit>) {
    for (key, done) in saved {
        match edits.get_mut(key) {
            Some(edit) if edit == done => drop(edits.remove(key)),
            Some(edit) => edit.base.clone_from(&done.ours),
            None => {
                let back = Edit { base: done.ours.clone(), ours: done.base.clone() };
                edits.insert(key.clone(), back);
            }
        }
    }
}

/// Applies our changes to a document that other processes may have changed, too. Returns the keys
/// whose changed values lost.
fn apply(
    edits: &BTreeMap<Key, Edit>,
    keeps_old: bool,
    document: &mut Document,
    now: Timestamp,
    writer: &Writer,
) -> std::result::Result<Vec<Key>, Damage> {
    let mut merged = Vec::new();
    let mut overwritten = Vec::new();
    for (key, edit) in edits {
        let theirs = stored(document, key)?;
        let value = merge(edit.base.as_ref(), edit.ours.as_ref(), theirs.as_ref());
        if theirs != edit.base && value == edit.ours && theirs != value {
            overwritten.push(key.clone());
        }
        merged.push((key, value));
    }
    // The value that loses stays in the history, even if it was saved without a command.
    if (!overwritten.is_empty() || keeps_old) && !document.is_remembered() {
        document.remember("osm", "(before a change from elsewhere)", now, writer);
    }
    for (key, value) in merged {
        put(document, key, value.as_ref());
    }
    Ok(overwritten)
}
