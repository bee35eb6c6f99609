//! A transaction over the tables of `schema.sql`. Each call is one statement, and so one round trip.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use osm_identity::ProcessInstance;
use osm_postgres::{Parameter, Row, ToSql, Transaction as ServerTransaction, Type};

use super::rows::{self, CLAIM, EVENT, MESSAGE, column};
use crate::claim::{Claim, Hold};
use crate::clock::{Clock, Moment, Now};
use crate::epoch::Epoch;
use crate::error::{Corruption, Error, Result};
use crate::event::{Event, Filter, Transition};
use crate::ledger::stored::{self, json, link, number};
use crate::ledger::{
    Grant, KnownOwners, Loss, Presence, Transaction, prefixes_above, prefixes_below, seal,
};
use crate::message::{Draft, Message};
use crate::owner::{Caller, Owner, OwnerId};
use crate::path::ClaimedPath;
use crate::resource::Resource;
use crate::rules::collision::Waiter;
use crate::scope::{Folder, Scope, ScopeId};

/// Events are read so many at a time where only some of them are wanted.
const PAGE: i64 = 1000;

/// Open claims of paths by their prefix or link: at one of several prefixes, between two, of a link. Each is found
/// through an index.
const NEAR: &str = "c.epoch IN (
    SELECT epoch FROM osm.claim WHERE scope = $1 AND prefix = ANY($2) AND ended IS NULL
    UNION SELECT epoch FROM osm.claim
        WHERE scope = $1 AND prefix >= $3 AND ($4 IS NULL OR prefix < $4) AND ended IS NULL
    UNION SELECT epoch FROM osm.claim WHERE scope = $1 AND link = $5 AND ended IS NULL
) ORDER BY c.epoch";

/// Whose clock counts.
pub(super) enum Time {
    /// The server's.
    OfServer {
        /// What tells its time from that of another server.
        generation: String,
    },
    /// One that a caller gave.
    Of(Box<dyn Clock>),
}

pub(super) struct PostgresTransaction<'a, 'b> {
    server: &'a mut ServerTransaction<'b>,
    time: &'a Time,
    presence: Presence,
    /// One time for the whole transaction, after it got its lock.
    now: Option<Now>,
    /// A few owners have many claims.
    owners: HashMap<i64, Arc<Owner>>,
}

impl<'a, 'b> PostgresTransaction<'a, 'b> {
    pub(super) fn new(
        server: &'a mut ServerTransaction<'b>,
        time: &'a Time,
        presence: Presence,
    ) -> Self {
        Self { server, time, presence, now: None, owners: HashMap::new() }
    }

    /// The link of a resource. Devices and inodes of two machines mean nothing to each other.
    fn link(&self, resource: &Resource) -> Option<String> {
        link(resource).filter(|_| self.presence == Presence::Process)
    }

    pub(super) fn owner(&mut self, id: i64, who: &str) -> Result<Arc<Owner>> {
        if let Some(owner) = self.owners.get(&id) {
            return Ok(Arc::clone(owner));
        }
        let owner = stored::owner(id, who)?;
        self.owners.insert(id, Arc::clone(&owner));
        Ok(owner)
    }

    fn query(&mut self, sql: &str, parameters: &[Parameter<'_>]) -> Result<Vec<Row>> {
        Ok(self.server.query(sql, parameters)?)
    }

    fn execute(&mut self, sql: &str, parameters: &[Parameter<'_>]) -> Result<u64> {
        Ok(self.server.execute(sql, parameters)?)
    }

    /// The number that a statement returns.
    fn id(&mut self, sql: &str, parameters: &[Parameter<'_>]) -> Result<i64> {
        let rows = self.query(sql, parameters)?;
        let row = rows.first().ok_or(Corruption::Value("a row was not added"))?;
        column(row, 0)
    }

    fn losses_of(&mut self, condition: &str, parameters: &[Parameter<'_>]) -> Result<Vec<Loss>> {
        let rows = self.query(&format!("{CLAIM} WHERE {condition}"), parameters)?;
        rows.iter().map(|row| self.loss(row)).collect()
    }

    fn claims(&mut self, condition: &str, parameters: &[Parameter<'_>]) -> Result<Vec<Claim>> {
        let losses = self.losses_of(condition, parameters)?;
        Ok(losses.into_iter().map(|loss| loss.claim).collect())
    }

    fn messages_of(&mut self, rest: &str, parameters: &[Parameter<'_>]) -> Result<Vec<Message>> {
        let rows = self.query(&format!("{MESSAGE} {rest} ORDER BY m.number"), parameters)?;
        rows.iter().map(rows::message).collect()
    }

    /// The scope, by what clones have in common; without that by its folder, or else by its path.
    fn known_scope(&mut self, scope: &Scope) -> Result<Option<(ScopeId, Scope)>> {
        let (key, mark) = (key(scope), scope.folders.last().map(Folder::mark));
        let mark = mark.filter(|_| scope.shared.is_none());
        let sql = "SELECT id, key, folder FROM osm.claim_scope
             WHERE key = $1 OR strpos(folder, $2) > 0 ORDER BY id DESC";
        let found = self.query(sql, &[text(&key), text(&mark)])?;
        let found = found.iter().map(rows::scope).collect::<Result<Vec<_>>>()?;
        let same = found.iter().find(|(_, known)| scope.has_folder_of(known));
        let namesake = || found.iter().find(|(_, known)| known.key == key && scope.may_be(known));
        Ok(same.or_else(namesake).cloned())
    }

    fn add(&mut self, scope: &Scope) -> Result<ScopeId> {
        let sql = "INSERT INTO osm.claim_scope (key, folder) VALUES ($1, $2) RETURNING id";
        let (key, folder) = (key(scope), scope.sightings().filter(|_| scope.shared.is_none()));
        self.id(sql, &[text(&key), text(&folder)]).map(ScopeId)
    }
}

/// A parameter of a statement.
macro_rules! parameters {
    ($($name:ident: $type:ident),*) => {
        $(fn $name(value: &(dyn ToSql + Sync)) -> Parameter<'_> {
            (value, Type::$type)
        })*
    };
}
parameters!(text: TEXT, int: INT8, ints: INT8_ARRAY, short: INT2, bytes: BYTEA, many: BYTEA_ARRAY, flag: BOOL);

/// What a scope is known by: where machines share a ledger, what they have in common.
fn key(scope: &Scope) -> String {
    scope.shared.as_ref().map_or_else(|| scope.key.clone(), crate::SharedScope::key)
}

/// A lease that the owner's machine renews, as its term and its start in microseconds.
fn lease(hold: &Hold) -> (Option<i64>, Option<i64>) {
    let lease = hold.presence();
    (lease.map(|lease| micros(lease.term)), lease.map(|lease| micros(lease.since.uptime)))
}

fn micros(time: Duration) -> i64 {
    i64::try_from(time.as_micros()).unwrap_or(i64::MAX)
}

impl Transaction for PostgresTransaction<'_, '_> {
    fn now(&mut self) -> Result<Now> {
        if let Some(now) = &self.now {
            return Ok(now.clone());
        }
        let now = match self.time {
            Time::Of(clock) => clock.now()?,
            Time::OfServer { generation } => {
                let sql = "SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::int8";
                let generation = generation.clone();
                let micros = self.id(sql, &[])?;
                let wall = Timestamp::from_microsecond(micros).map_err(|_| Error::Clock)?;
                let uptime =
                    Duration::from_micros(u64::try_from(micros).map_err(|_| Error::Clock)?);
                let wall_seconds = Some(wall.as_second());
                Now {
                    moment: Moment { machine: None, boot: generation, uptime, wall: wall_seconds },
                    wall,
                }
            }
        };
        self.now = Some(now.clone());
        Ok(now)
    }

    fn scope(&mut self, scope: &Scope) -> Result<Option<ScopeId>> {
        Ok(self.known_scope(scope)?.map(|(id, _)| id))
    }

    fn add_scope(&mut self, scope: &Scope) -> Result<ScopeId> {
        let known = self.known_scope(scope)?;
        if scope.shared.is_some() {
            return known.map_or_else(|| self.add(scope), |(id, _)| Ok(id));
        }
        let next = known.as_ref().map_or_else(|| scope.clone(), |(_, it)| scope.known_as(it));
        let id = match known {
            Some((id, before)) if before.key == next.key && before.folders == next.folders => {
                return Ok(id);
            }
            known => known.map_or(0, |(id, _)| id.0),
        };
        // A path belongs to one scope: the one that had it before gets another key.
        let sql = "SELECT id, key, folder FROM osm.claim_scope WHERE key = $1 AND id <> $2";
        let other = self.query(sql, &[text(&next.key), int(&id)])?;
        if let Some((other, before)) = other.first().map(rows::scope).transpose()? {
            let sql = "UPDATE osm.claim_scope SET key = $2 WHERE id = $1";
            self.execute(sql, &[int(&other.0), text(&before.retired())])?;
        }
        if id == 0 {
            return self.add(&next);
        }
        let sql = "UPDATE osm.claim_scope SET key = $2, folder = $3 WHERE id = $1";
        let sightings = next.sightings();
        self.execute(sql, &[int(&id), text(&next.key), text(&sightings)])?;
        Ok(ScopeId(id))
    }

    fn scope_of(&mut self, id: ScopeId) -> Result<Option<Scope>> {
        let sql = "SELECT id, key, folder FROM osm.claim_scope WHERE id = $1";
        let found = self.query(sql, &[int(&id.0)])?;
        Ok(found.first().map(rows::scope).transpose()?.map(|(_, scope)| scope))
    }

    fn owners(&mut self, caller: &Caller) -> Result<KnownOwners> {
        let sql = "(SELECT false, id, who FROM osm.claim_owner WHERE process = $1 ORDER BY id DESC LIMIT 1)
             UNION ALL
             (SELECT true, id, who FROM osm.claim_owner WHERE session = $2 ORDER BY id DESC LIMIT 1)";
        let process = caller.process.as_ref().map(ProcessInstance::key);
        let found = self.query(sql, &[text(&process), text(&caller.session)])?;
        let mut known = KnownOwners::default();
        for row in &found {
            let owner = self.owner(column(row, 1)?, column(row, 2)?)?;
            let is_by_session: bool = column(row, 0)?;
            let place = if is_by_session { &mut known.by_session } else { &mut known.by_process };
            *place = Some(owner);
        }
        Ok(known)
    }

    fn add_owner(&mut self, caller: &Caller) -> Result<Arc<Owner>> {
        let sql =
            "INSERT INTO osm.claim_owner (session, process, who) VALUES ($1, $2, $3) RETURNING id";
        let (process, who) = (caller.process.as_ref().map(ProcessInstance::key), json(caller));
        let id = self.id(sql, &[text(&caller.session), text(&process), text(&who)])?;
        Ok(Arc::new(Owner { id: OwnerId(id), who: caller.clone() }))
    }

    fn rename_owner(&mut self, id: OwnerId, caller: &Caller) -> Result<Arc<Owner>> {
        let sql = "SELECT who FROM osm.claim_owner WHERE id = $1";
        let rows = self.query(sql, &[int(&id.0)])?;
        let row = rows.first().ok_or(Corruption::Value("an owner is gone"))?;
        // The process is the same, and stays as it was seen when its claims were granted.
        let known = stored::owner(id.0, column(row, 0)?)?;
        let process = known.process.clone();
        let owner = Arc::new(Owner { id, who: Caller { process, ..caller.clone() } });
        for sql in [
            "UPDATE osm.claim_message SET sender = $2 WHERE sender = $1",
            "UPDATE osm.claim_message SET recipient = $2 WHERE recipient = $1",
            "INSERT INTO osm.claim_receipt (message, session)
             SELECT message, $2 FROM osm.claim_receipt WHERE session = $1 ON CONFLICT DO NOTHING",
        ] {
            self.execute(sql, &[text(&known.session), text(&caller.session)])?;
        }
        let sql = "UPDATE osm.claim_owner SET session = $2, who = $3 WHERE id = $1";
        let who = json(&owner.who);
        self.execute(sql, &[int(&id.0), text(&caller.session), text(&who)])?;
        self.owners.insert(id.0, Arc::clone(&owner));
        Ok(owner)
    }

    fn latest(&mut self, scope: ScopeId, resources: &[Resource]) -> Result<Vec<Option<Claim>>> {
        let condition = "c.epoch IN (
            SELECT last.epoch FROM unnest($2) AS wanted(name), LATERAL (
                SELECT epoch FROM osm.claim WHERE scope = $1 AND resource = wanted.name
                ORDER BY epoch DESC LIMIT 1) AS last)";
        let names: Vec<&[u8]> = resources.iter().map(Resource::stored).collect();
        let found = self.claims(condition, &[int(&scope.0), many(&names)])?;
        let found: HashMap<Resource, Claim> =
            found.into_iter().map(|claim| (claim.resource.clone(), claim)).collect();
        Ok(resources.iter().map(|resource| found.get(resource).cloned()).collect())
    }

    fn latest_of(
        &mut self,
        scope: ScopeId,
        resource: &Resource,
        owner: OwnerId,
    ) -> Result<Option<Claim>> {
        let condition =
            "c.scope = $1 AND c.resource = $2 AND c.owner = $3 ORDER BY c.epoch DESC LIMIT 1";
        let name = resource.stored();
        Ok(self.claims(condition, &[int(&scope.0), bytes(&name), int(&owner.0)])?.pop())
    }

    fn answered(&mut self, scope: ScopeId, request: &str) -> Result<Option<Claim>> {
        Ok(self.claims("c.scope = $1 AND c.request = $2", &[int(&scope.0), text(&request)])?.pop())
    }

    fn near(&mut self, scope: ScopeId, resource: &Resource) -> Result<Vec<Claim>> {
        let Some(prefix) = resource.path().map(ClaimedPath::prefix) else { return Ok(Vec::new()) };
        let above: Vec<&[u8]> = prefixes_above(&prefix).map(str::as_bytes).collect();
        let below = prefixes_below(&prefix);
        let from = below.as_ref().map_or(&b""[..], |(from, _)| from.as_bytes());
        let to = below.as_ref().map(|(_, to)| to.as_bytes());
        let link = self.link(resource);
        self.claims(NEAR, &[int(&scope.0), many(&above), bytes(&from), bytes(&to), text(&link)])
    }

    fn waiters(&mut self, scope: ScopeId) -> Result<Vec<Waiter>> {
        let sql = "SELECT resource, link, mode, session, process FROM osm.claim_waiter
             WHERE scope = $1 ORDER BY id";
        self.query(sql, &[int(&scope.0)])?.iter().map(rows::waiter).collect()
    }

    fn add_waiter(&mut self, scope: ScopeId, waiter: &Waiter) -> Result<()> {
        let sql =
            "INSERT INTO osm.claim_waiter (scope, resource, link, mode, session, key, process)
             VALUES ($1, $2, $3, $4, $5, $6, $7)";
        let (name, mode) = (waiter.resource.stored(), i16::from(waiter.mode.bits()));
        let link = self.link(&waiter.resource);
        self.execute(
            sql,
            &[
                int(&scope.0),
                bytes(&name),
                text(&link),
                short(&mode),
                text(&waiter.session),
                text(&waiter.process.key()),
                text(&json(&waiter.process)),
            ],
        )
        .map(drop)
    }

    fn remove_waiters(&mut self, process: &ProcessInstance) -> Result<()> {
        let sql = "DELETE FROM osm.claim_waiter WHERE key = $1";
        self.execute(sql, &[text(&process.key())]).map(drop)
    }

    fn open(&mut self, scope: Option<ScopeId>) -> Result<Vec<Claim>> {
        let scope = scope.map(|scope| scope.0);
        let condition = "c.ended IS NULL AND ($1 IS NULL OR c.scope = $1) ORDER BY c.epoch";
        self.claims(condition, &[int(&scope)])
    }

    fn open_of_others(&mut self, session: &str, me: OwnerId) -> Result<Vec<Claim>> {
        let condition = "c.ended IS NULL AND o.session = $1 AND o.id <> $2 ORDER BY c.epoch";
        self.claims(condition, &[text(&session), int(&me.0)])
    }

    fn losses(&mut self, owner: OwnerId) -> Result<Vec<Loss>> {
        let condition = "c.owner = $1 AND c.lost IS NOT NULL ORDER BY c.epoch";
        self.losses_of(condition, &[int(&owner.0)])
    }

    fn mark_told(&mut self, owner: OwnerId) -> Result<()> {
        let sql = "UPDATE osm.claim SET lost = true WHERE owner = $1 AND NOT lost";
        self.execute(sql, &[int(&owner.0)]).map(drop)
    }

    fn acknowledge(&mut self, owner: OwnerId, scope: ScopeId, resource: &Resource) -> Result<()> {
        let sql = "UPDATE osm.claim SET lost = NULL
             WHERE owner = $1 AND lost IS NOT NULL AND scope = $2 AND resource = $3";
        let name = resource.stored();
        self.execute(sql, &[int(&owner.0), int(&scope.0), bytes(&name)]).map(drop)
    }

    fn grant(&mut self, grant: &Grant) -> Result<Claim> {
        let seal = seal()?;
        // The number of the claim is that of the row, so the event takes it from there.
        let sql = "WITH granted AS (
                INSERT INTO osm.claim (seal, scope, resource, owner, mode, prefix, link, hold, term, renewed, since,
                    note, request)
                VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13) RETURNING epoch
            ), told AS (
                INSERT INTO osm.claim_event (at, scope, resource, epoch, actor, deed)
                SELECT $11, $2, $3, epoch, $14, $15 FROM granted
            ) SELECT epoch FROM granted";
        let claim = grant.claim(Epoch(0), seal);
        let (term, renewed) = lease(&claim.hold);
        let name = grant.resource.stored();
        let prefix = grant.resource.path().map(|path| path.prefix().into_bytes());
        let link = self.link(grant.resource);
        let epoch = Epoch(
            self.id(
                sql,
                &[
                    int(&i64::from(seal.0)),
                    int(&grant.scope.0),
                    bytes(&name),
                    int(&grant.owner.id.0),
                    short(&i16::from(grant.mode.bits())),
                    bytes(&prefix),
                    text(&link),
                    text(&json(&grant.hold)),
                    int(&term),
                    int(&renewed),
                    text(&grant.at.to_string()),
                    text(&grant.note),
                    text(&grant.request),
                    text(&grant.owner.session),
                    text(&json(&Transition::granted(&claim, grant.worktree.clone()))),
                ],
            )?
            .unsigned_abs(),
        );
        Ok(Claim { epoch, ..claim })
    }

    fn amend(
        &mut self,
        claim: &Claim,
        by: &str,
        at: Timestamp,
        transition: &Transition,
    ) -> Result<()> {
        let mut next = claim.clone();
        transition.apply(&mut next);
        let sql = "WITH amended AS (
                UPDATE osm.claim SET hold = $2, term = $3, renewed = $4, offer = $5, ended = $6, lost = $7, note = $8,
                    mode = $9
                WHERE epoch = $1 AND ended IS NULL RETURNING scope, resource
            ) INSERT INTO osm.claim_event (at, scope, resource, epoch, actor, deed)
              SELECT $10, scope, resource, $1, $11, $12 FROM amended";
        let (term, renewed) = lease(&next.hold);
        match self.execute(
            sql,
            &[
                int(&number(claim.epoch)),
                text(&json(&next.hold)),
                int(&term),
                int(&renewed),
                text(&next.offer.as_ref().map(json)),
                text(&next.ended.as_ref().map(json)),
                flag(&next.is_lost().then_some(false)),
                text(&next.note),
                short(&i16::from(next.mode.bits())),
                text(&at.to_string()),
                text(&by),
                text(&json(transition)),
            ],
        )? {
            1 => Ok(()),
            _ => Err(Corruption::Value("a claim that was open is gone").into()),
        }
    }

    fn send(&mut self, draft: &Draft) -> Result<Message> {
        let sql =
            "INSERT INTO osm.claim_message (scope, sent, sender, recipient, kind, resource, body)
             VALUES ($1, $2, $3, $4, $5, $6, $7) RETURNING number";
        let (sent, kind) = (draft.at.as_microsecond(), draft.kind.name());
        let about = draft.about.as_ref().map(Resource::stored);
        let number = self.id(
            sql,
            &[
                int(&draft.scope.0),
                int(&sent),
                text(&draft.from),
                text(&draft.to),
                text(&kind),
                bytes(&about),
                text(&draft.text),
            ],
        )?;
        Ok(Message { number: number.unsigned_abs(), draft: draft.clone() })
    }

    fn unread(
        &mut self,
        session: &str,
        here: Option<ScopeId>,
        since: Timestamp,
    ) -> Result<Vec<Message>> {
        let (here, since) = (here.map(|scope| scope.0), since.as_microsecond());
        let rest = "WHERE (m.recipient = $1
                OR m.recipient IS NULL AND m.scope = $2 AND m.sent >= $3 AND m.sender <> $1)
             AND NOT EXISTS (
                SELECT FROM osm.claim_receipt r WHERE r.message = m.number AND r.session = $1)";
        self.messages_of(rest, &[text(&session), int(&here), int(&since)])
    }

    fn mark_read(&mut self, session: &str, messages: &[u64]) -> Result<()> {
        let numbers: Vec<i64> =
            messages.iter().map(|it| i64::try_from(*it).unwrap_or(i64::MAX)).collect();
        let sql = "INSERT INTO osm.claim_receipt (message, session)
             SELECT number, $2 FROM osm.claim_message WHERE number = ANY($1) ON CONFLICT DO NOTHING";
        self.execute(sql, &[ints(&numbers), text(&session)]).map(drop)
    }

    fn messages(&mut self, scope: ScopeId, about: Option<&Resource>) -> Result<Vec<Message>> {
        let about = about.map(Resource::stored);
        let rest = "WHERE m.scope = $1 AND ($2 IS NULL OR m.resource = $2)";
        self.messages_of(rest, &[int(&scope.0), bytes(&about)])
    }

    fn renew_leases(&mut self, owner: OwnerId) -> Result<usize> {
        let now = micros(self.now()?.moment.uptime);
        let sql = "UPDATE osm.claim SET renewed = $2
             WHERE owner = $1 AND ended IS NULL AND renewed + term > $2";
        let renewed = self.execute(sql, &[int(&owner.0), int(&now)])?;
        Ok(usize::try_from(renewed).unwrap_or(usize::MAX))
    }

    fn events(&mut self, filter: &Filter) -> Result<Vec<Event>> {
        let sql = format!(
            "{EVENT} WHERE number < $1 AND ($2 IS NULL OR scope = $2) AND ($3 IS NULL OR resource = $3)
             ORDER BY number DESC LIMIT $4"
        );
        let scope = filter.scope.map(|scope| scope.0);
        let resource = filter.resource.as_ref().map(Resource::stored);
        let (mut before, mut events) = (i64::MAX, Vec::new());
        loop {
            let page =
                self.query(&sql, &[int(&before), int(&scope), bytes(&resource), int(&PAGE)])?;
            for row in &page {
                let event = rows::event(row)?;
                before = i64::try_from(event.number).unwrap_or(0);
                if filter.last.is_some_and(|last| events.len() >= last) {
                    break;
                }
                events.extend(Some(event).filter(|event| filter.admits(event)));
            }
            let is_enough = filter.last.is_some_and(|last| events.len() >= last);
            if is_enough || i64::try_from(page.len()).unwrap_or(0) < PAGE {
                events.reverse();
                return Ok(events);
            }
        }
    }
}
