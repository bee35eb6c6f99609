//! Rows of `schema.sql` as claims, owners and events.

use jiff::Timestamp;
use rusqlite::Row;
use rusqlite::types::{FromSql, ValueRef};
use serde::de::DeserializeOwned;

use super::transaction::SqliteTransaction;
use crate::claim::{Claim, Hold, Mode};
use crate::epoch::{Epoch, Seal};
use crate::error::{Corruption, Result};
use crate::event::Event;
use crate::ledger::Loss;
use crate::ledger::stored::{self, parse};
use crate::message::{Draft, Message, MessageKind};
use crate::resource::{Link, Resource};
use crate::rules::collision::Waiter;
use crate::scope::ScopeId;

pub(super) use crate::ledger::stored::{json, link, number, owner};

/// The columns of a claim, in the order in which [`SqliteTransaction::claim`] reads them.
pub(super) const CLAIM: &str = "SELECT epoch, seal, scope, owner, hold, since, note, request, offer, ended, lost, resource, mode, link FROM claim";

/// The columns of an event, in the order in which [`SqliteTransaction::event`] reads them.
pub(super) const EVENT: &str = "SELECT number, at, scope, resource, epoch, actor, deed FROM event";

/// The columns of a message, as [`SqliteTransaction::message`] reads them.
pub(super) const MESSAGE: &str =
    "SELECT number, scope, at, sender, recipient, kind, resource, body FROM message";

impl SqliteTransaction<'_> {
    fn column<T: FromSql>(&self, row: &Row, place: usize) -> Result<T> {
        row.get(place).map_err(|error| self.error(error))
    }

    fn text<'r>(&self, row: &'r Row, place: usize) -> Result<Option<&'r str>> {
        let value = row.get_ref(place).map_err(|error| self.error(error))?;
        value.as_str_or_null().map_err(|_| Corruption::Value("a text is not UTF-8").into())
    }

    fn json<T: DeserializeOwned>(&self, row: &Row, place: usize) -> Result<Option<T>> {
        self.text(row, place)?.map(parse).transpose()
    }

    fn time(&self, row: &Row, place: usize) -> Result<Timestamp> {
        stored::read_time(self.text(row, place)?.unwrap_or_default())
    }

    fn resource(&self, row: &Row, place: usize, link: Option<Link>) -> Result<Resource> {
        let value = row.get_ref(place).map_err(|error| self.error(error))?;
        stored::read_resource(value.as_blob().unwrap_or_default(), link)
    }

    fn link(&self, row: &Row, place: usize) -> Result<Option<Link>> {
        self.text(row, place)?.map(stored::read_link).transpose()
    }

    fn mode(&self, row: &Row, place: usize) -> Result<Mode> {
        stored::read_mode(self.column(row, place)?)
    }

    /// A request that waits: the resource, the link, the mode, the session, the process.
    pub(super) fn waiter(&self, row: &Row) -> Result<Waiter> {
        Ok(Waiter {
            resource: self.resource(row, 0, self.link(row, 1)?)?,
            mode: self.mode(row, 2)?,
            session: self.column(row, 3)?,
            process: parse(self.text(row, 4)?.unwrap_or_default())?,
        })
    }

    /// A claim; its resource is read if the caller does not know it.
    pub(super) fn claim(&mut self, row: &Row, resource: Option<&Resource>) -> Result<Loss> {
        // Almost all claims hang on their session.
        let hold = match self.text(row, 4)?.unwrap_or_default() {
            "\"session\"" => Hold::Session,
            text => parse(text)?,
        };
        let claim = Claim {
            scope: ScopeId(self.column(row, 2)?),
            resource: match resource {
                Some(resource) => resource.clone(),
                None => self.resource(row, 11, self.link(row, 13)?)?,
            },
            epoch: Epoch(self.column::<i64>(row, 0)?.unsigned_abs()),
            seal: Seal(self.column(row, 1)?),
            owner: self.owner(self.column(row, 3)?)?,
            mode: self.mode(row, 12)?,
            hold,
            since: self.time(row, 5)?,
            note: self.column(row, 6)?,
            request: self.column(row, 7)?,
            offer: self.json(row, 8)?,
            ended: self.json(row, 9)?,
        };
        Ok(Loss { claim, told: self.column::<Option<bool>>(row, 10)?.unwrap_or(true) })
    }

    pub(super) fn message(&self, row: &Row) -> Result<Message> {
        let kind = MessageKind::named(self.text(row, 5)?.unwrap_or_default());
        let has_resource = !matches!(row.get_ref(6), Ok(ValueRef::Null));
        let draft = Draft {
            scope: ScopeId(self.column(row, 1)?),
            at: self.time(row, 2)?,
            from: self.column(row, 3)?,
            to: self.column(row, 4)?,
            // A later version may have other kinds, whose words are to be known in any case.
            kind: kind.unwrap_or(MessageKind::Told),
            about: has_resource.then(|| self.resource(row, 6, None)).transpose()?,
            text: self.column(row, 7)?,
        };
        Ok(Message { number: self.column::<i64>(row, 0)?.unsigned_abs(), draft })
    }

    pub(super) fn event(&self, row: &Row) -> Result<Event> {
        Ok(Event {
            number: self.column::<i64>(row, 0)?.unsigned_abs(),
            at: self.time(row, 1)?,
            scope: ScopeId(self.column(row, 2)?),
            resource: self.resource(row, 3, None)?,
            epoch: Epoch(self.column::<i64>(row, 4)?.unsigned_abs()),
            by: self.column(row, 5)?,
            transition: parse(self.text(row, 6)?.unwrap_or_default())?,
        })
    }
}
