//! Rows of `schema.sql` as claims, owners and events.

use std::time::Duration;

use jiff::Timestamp;
use osm_postgres::{FromSql, Row};

use super::transaction::PostgresTransaction;
use crate::claim::{Claim, Hold, Mode};
use crate::epoch::{Epoch, Seal};
use crate::error::{Corruption, Result};
use crate::event::Event;
use crate::ledger::Loss;
use crate::ledger::stored::{self, parse};
use crate::message::{Draft, Message, MessageKind};
use crate::resource::Resource;
use crate::rules::collision::Waiter;
use crate::scope::{Scope, ScopeId};

/// The columns of a claim and its owner, in the order in which [`PostgresTransaction::loss`] reads them.
pub(super) const CLAIM: &str = "SELECT c.epoch, c.seal, c.scope, c.owner, o.who, c.hold, c.renewed, c.since, c.note, \
     c.request, c.offer, c.ended, c.lost, c.resource, c.mode, c.link \
     FROM osm.claim c JOIN osm.claim_owner o ON o.id = c.owner";

/// The columns of an event, in the order in which [`event`] reads them.
pub(super) const EVENT: &str =
    "SELECT number, at, scope, resource, epoch, actor, deed FROM osm.claim_event";

/// The columns of a message, in the order in which [`message`] reads them.
pub(super) const MESSAGE: &str = "SELECT m.number, m.scope, m.sent, m.sender, m.recipient, m.kind, m.resource, m.body FROM osm.claim_message m";

/// A value of a row.
pub(super) fn column<'r, T: FromSql<'r>>(row: &'r Row, place: usize) -> Result<T> {
    row.try_get(place).map_err(|_| Corruption::Value("a column has another type").into())
}

impl PostgresTransaction<'_, '_> {
    /// A claim, and whether its owner was told that it is lost.
    pub(super) fn loss(&mut self, row: &Row) -> Result<Loss> {
        let mut hold: Hold = match column::<&str>(row, 5)? {
            "\"session\"" => Hold::Session,
            text => parse(text)?,
        };
        if let Some((lease, renewed)) = hold.presence().zip(column::<Option<i64>>(row, 6)?) {
            let uptime = Duration::from_micros(renewed.unsigned_abs());
            let since = crate::clock::Moment { uptime, ..lease.since.clone() };
            hold = hold.restarted(&since);
        }
        let json = |place| column::<Option<&str>>(row, place);
        let claim = Claim {
            scope: ScopeId(column(row, 2)?),
            resource: resource(row, 13, 15)?,
            epoch: Epoch(column::<i64>(row, 0)?.unsigned_abs()),
            seal: Seal(u32::try_from(column::<i64>(row, 1)?).unwrap_or_default()),
            owner: self.owner(column(row, 3)?, column(row, 4)?)?,
            mode: mode(row, 14)?,
            hold,
            since: stored::read_time(column(row, 7)?)?,
            note: column(row, 8)?,
            request: column(row, 9)?,
            offer: json(10)?.map(parse).transpose()?,
            ended: json(11)?.map(parse).transpose()?,
        };
        Ok(Loss { claim, told: column::<Option<bool>>(row, 12)?.unwrap_or(true) })
    }
}

pub(super) fn event(row: &Row) -> Result<Event> {
    Ok(Event {
        number: column::<i64>(row, 0)?.unsigned_abs(),
        at: stored::read_time(column(row, 1)?)?,
        scope: ScopeId(column(row, 2)?),
        resource: stored::read_resource(column(row, 3)?, None)?,
        epoch: Epoch(column::<i64>(row, 4)?.unsigned_abs()),
        by: column(row, 5)?,
        transition: parse(column(row, 6)?)?,
    })
}

pub(super) fn message(row: &Row) -> Result<Message> {
    let about = column::<Option<&[u8]>>(row, 6)?;
    let draft = Draft {
        scope: ScopeId(column(row, 1)?),
        at: Timestamp::from_microsecond(column(row, 2)?)
            .map_err(|_| Corruption::Value("a time is malformed"))?,
        from: column(row, 3)?,
        to: column(row, 4)?,
        // A later version may have other kinds, whose words are to be known in any case.
        kind: MessageKind::named(column(row, 5)?).unwrap_or(MessageKind::Told),
        about: about.map(|bytes| stored::read_resource(bytes, None)).transpose()?,
        text: column(row, 7)?,
    };
    Ok(Message { number: column::<i64>(row, 0)?.unsigned_abs(), draft })
}

/// A request that waits: the resource, the link, the mode, the session, the process.
pub(super) fn waiter(row: &Row) -> Result<Waiter> {
    Ok(Waiter {
        resource: resource(row, 0, 1)?,
        mode: mode(row, 2)?,
        session: column(row, 3)?,
        process: parse(column(row, 4)?)?,
    })
}

/// A scope: its number, its key and its folders.
pub(super) fn scope(row: &Row) -> Result<(ScopeId, Scope)> {
    Ok((ScopeId(column(row, 0)?), Scope::stored(column(row, 1)?, column(row, 2)?)))
}

fn resource(row: &Row, name: usize, link: usize) -> Result<Resource> {
    let link = column::<Option<&str>>(row, link)?.map(stored::read_link).transpose()?;
    stored::read_resource(column(row, name)?, link)
}

fn mode(row: &Row, place: usize) -> Result<Mode> {
    stored::read_mode(column::<i16>(row, place)?.into())
}
