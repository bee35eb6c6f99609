//! Resets: the session starts empty again, and its old document goes to the archive.

use std::sync::Arc;

use serde_json::json;

use super::save::event;
use super::{Session, revision_of};
use crate::audit::{Action, Event};
use crate::backend::{ArchiveKind, Current, Next, Transaction, Wait, update_settled};
use crate::document::{Document, LastReset};
use crate::error::Result;
use crate::layout;
use crate::metadata::{Metadata, ResetRecord};

impl Session {
    /// Empties the session: state and history go to the archive, unless `archive` is `false`.
    /// Returns the name of the archived document.
    pub fn reset(&mut self, archive: bool) -> Result<Option<String>> {
        self.reset_by(archive, false)
    }

    /// The same; `forced` if a dead holder's lock was broken for it.
    pub(crate) fn reset_by(&mut self, archive: bool, forced: bool) -> Result<Option<String>> {
        self.store_all()?;
        let (id, holder, usage) = (&self.id, &self.holder, self.usage.as_ref());
        let (ours, writer) = (&self.document, self.writer());
        let mut result = None;
        let mut next = |transaction: &mut dyn Transaction, current: Current| {
            let now = transaction.now();
            let (bytes, revision) = match current {
                Current::Missing => (None, 0),
                Current::Unchanged => (Some(Arc::new(ours.encode().join())), ours.revision),
                Current::Found(bytes, _) => {
                    let bytes = Arc::new(bytes);
                    (Some(Arc::clone(&bytes)), revision_of(bytes))
                }
            };
            let mut archived = None;
            if let Some(bytes) = bytes.filter(|_| archive) {
                let stem = layout::stem(id, "reset", now);
                archived = Some(transaction.archive(ArchiveKind::Archive, &stem, &bytes)?);
            }
            transaction.audit(&Event {
                before: json!({"revision": revision}),
                after: json!({"archive": archived}),
                forced,
                ..event(holder, id, Action::Reset, now)
            })?;
            let record = ResetRecord::new(id, now, archived.clone(), holder);
            Metadata::change(transaction, |it| it.resets.push(record))?;
            let mut fresh = Document::new(id.clone(), now);
            fresh.origin.clone_from(&ours.origin);
            fresh.revision = revision + 1;
            fresh.note(usage, now);
            fresh.remember("osm", "reset", now, &writer);
            let by = writer.author.clone();
            fresh.note_reset(&LastReset { at: now, archive: archived.clone(), by });
            let pieces = fresh.encode();
            result = Some((fresh, archived));
            Ok(Next::Replace(pieces))
        };
        let attended = self.attended.as_mut();
        let stamp = update_settled(attended, self.stamp, Wait::USUAL, &mut next)?;
        let Some((fresh, archived)) = result else { return Ok(None) };
        self.stamp = stamp;
        self.take_over(fresh, true);
        Ok(archived)
    }
}
