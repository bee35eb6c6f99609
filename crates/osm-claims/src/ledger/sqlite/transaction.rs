//! A transaction over the tables of `schema.sql`.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use jiff::Timestamp;
use osm_identity::ProcessInstance;
use rusqlite::{CachedStatement, Connection, OptionalExtension, Params, Row, params};

use super::check::Checked;
use super::fault::explain;
use super::mark::{Slot, weight};
use super::rows::{self, CLAIM, EVENT, MESSAGE, json, link, number};
use crate::claim::Claim;
use crate::clock::{Clock, Now};
use crate::epoch::Epoch;
use crate::error::{Corruption, Error, Result};
use crate::event::{Event, Filter, Transition};
use crate::ledger::{Grant, KnownOwners, Loss, Transaction, prefixes_above, prefixes_below, seal};
use crate::message::{Draft, Message};
use crate::owner::{Caller, Owner, OwnerId};
use crate::path::ClaimedPath;
use crate::resource::Resource;
use crate::rules::collision::Waiter;
use crate::scope::{Scope, ScopeId};

/// Open claims of paths by their prefix or link. Each is found through an index.
const AT_PREFIX: &str = "WHERE scope = ?1 AND prefix = ?2 AND ended IS NULL";
const BELOW_PREFIX: &str = "WHERE scope = ?1 AND prefix >= ?2 AND prefix < ?3 AND ended IS NULL";
const ALL_PREFIXES: &str = "WHERE scope = ?1 AND prefix IS NOT NULL AND ended IS NULL";
const OF_LINK: &str = "WHERE scope = ?1 AND link = ?2 AND ended IS NULL";

/// Messages to a session, and to all sessions of a scope, that the session has not acknowledged.
const UNREAD: &str =
    "WHERE (recipient = ?1 OR recipient IS NULL AND scope = ?2 AND at >= ?3 AND sender <> ?1)
    AND NOT EXISTS (SELECT 1 FROM receipt WHERE message = number AND session = ?1) ORDER BY number";
const ABOUT: &str = "WHERE scope = ?1 AND resource = ?2 ORDER BY number";

pub(super) struct SqliteTransaction<'a> {
    database: &'a Connection,
    path: &'a Path,
    clock: &'a dyn Clock,
    /// A few owners have many claims.
    owners: HashMap<i64, Arc<Owner>>,
    /// What was changed, for the high-water mark.
    change: Slot,
}

impl<'a> SqliteTransaction<'a> {
    pub(super) fn new(database: &'a Connection, path: &'a Path, clock: &'a dyn Clock) -> Self {
        let change = Slot { events: 0, epoch: 0, sum: 0 };
        Self { database, path, clock, owners: HashMap::new(), change }
    }

    /// The mark of the ledger with the changes of this transaction; `None` if there are none.
    pub(super) fn slot(&self, before: &Checked) -> Option<Slot> {
        (self.change.events > 0).then(|| Slot {
            events: self.change.events,
            epoch: self.change.epoch.max(before.epoch),
            sum: before.sum.unwrap_or(0).wrapping_add(self.change.sum),
        })
    }

    pub(super) fn error(&self, error: rusqlite::Error) -> Error {
        explain(self.path, error)
    }

    fn statement(&self, sql: &str) -> Result<CachedStatement<'a>> {
        self.database.prepare_cached(sql).map_err(|error| self.error(error))
    }

    fn execute(&self, sql: &str, parameters: impl Params) -> Result<usize> {
        self.statement(sql)?.execute(parameters).map_err(|error| self.error(error))
    }

    fn one<T>(
        &self,
        sql: &str,
        parameters: impl Params,
        read: impl FnOnce(&Row) -> rusqlite::Result<T>,
    ) -> Result<Option<T>> {
        let found = self.statement(sql)?.query_row(parameters, read).optional();
        found.map_err(|error| self.error(error))
    }

    pub(super) fn owner(&mut self, id: i64) -> Result<Arc<Owner>> {
        if let Some(owner) = self.owners.get(&id) {
            return Ok(Arc::clone(owner));
        }
        let sql = "SELECT who FROM owner WHERE id = ?1";
        let who = self
            .one(sql, [id], |row| row.get::<_, String>(0))?
            .ok_or(Corruption::Value("a claim has no owner"))?;
        self.remember(id, &who)
    }

    fn remember(&mut self, id: i64, who: &str) -> Result<Arc<Owner>> {
        let owner = rows::owner(id, who)?;
        self.owners.insert(id, Arc::clone(&owner));
        Ok(owner)
    }

    fn claims(&mut self, rest: &str, parameters: impl Params) -> Result<Vec<Loss>> {
        let mut statement = self.statement(&format!("{CLAIM} {rest}"))?;
        let mut rows = statement.query(parameters).map_err(|error| self.error(error))?;
        let mut claims = Vec::new();
        while let Some(row) = rows.next().map_err(|error| self.error(error))? {
            claims.push(self.claim(row, None)?);
        }
        Ok(claims)
    }

    fn messages_of(&self, rest: &str, parameters: impl Params) -> Result<Vec<Message>> {
        let mut statement = self.statement(&format!("{MESSAGE} {rest}"))?;
        let mut rows = statement.query(parameters).map_err(|error| self.error(error))?;
        let mut messages = Vec::new();
        while let Some(row) = rows.next().map_err(|error| self.error(error))? {
            messages.push(self.message(row)?);
        }
        Ok(messages)
    }

    fn one_claim(&mut self, rest: &str, parameters: impl Params) -> Result<Option<Claim>> {
        Ok(self.claims(rest, parameters)?.pop().map(|loss| loss.claim))
    }

    /// The scopes of a condition, the latest first.
    fn scopes(&self, condition: &str, parameters: impl Params) -> Result<Vec<(ScopeId, Scope)>> {
        let sql = format!("SELECT id, key, folder FROM scope WHERE {condition} ORDER BY id DESC");
        let mut statement = self.statement(&sql)?;
        let found =
            statement.query_map(parameters, |row| Ok((ScopeId(row.get(0)?), stored(row, 1)?)));
        found.and_then(Iterator::collect).map_err(|error| self.error(error))
    }

    fn scope_with_key(&self, key: &str) -> Result<Option<(ScopeId, Scope)>> {
        Ok(self.scopes("key = ?1", [key])?.pop())
    }

    /// The scope by its folder, or else by its key.
    fn known_scope(&self, scope: &Scope) -> Result<Option<(ScopeId, Scope)>> {
        for folder in &scope.folders {
            let is_it = |(_, known): &(ScopeId, Scope)| scope.has_folder_of(known);
            let prefix = folder.prefix();
            let first = "folder >= ?1 AND folder < ?1 || char(0x10ffff)";
            if let Some(same) = self.scopes(first, [prefix])?.into_iter().find(is_it) {
                return Ok(Some(same));
            }
            // It was seen otherwise before, or later than the first time.
            let any = "folder IS NOT NULL AND instr(folder, ?1)";
            if let Some(same) = self.scopes(any, [folder.mark()])?.into_iter().find(is_it) {
                return Ok(Some(same));
            }
        }
        let namesake = self.scope_with_key(&scope.key)?;
        Ok(namesake.filter(|(_, known)| scope.may_be(known)))
    }

    fn record(
        &mut self,
        claim: &Claim,
        by: &str,
        at: Timestamp,
        transition: &Transition,
    ) -> Result<()> {
        self.execute(
            "INSERT INTO event (at, scope, resource, epoch, actor, deed) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            params![
                at.to_string(),
                claim.scope.0,
                claim.resource.stored(),
                number(claim.epoch),
                by,
                json(transition)
            ],
        )?;
        self.change.events = self.database.last_insert_rowid().unsigned_abs();
        Ok(())
    }
}

impl Transaction for SqliteTransaction<'_> {
    fn now(&mut self) -> Result<Now> {
        self.clock.now()
    }

    fn scope(&mut self, scope: &Scope) -> Result<Option<ScopeId>> {
        Ok(self.known_scope(scope)?.map(|(id, _)| id))
    }

    fn add_scope(&mut self, scope: &Scope) -> Result<ScopeId> {
        let known = self.known_scope(scope)?;
        let next = known.as_ref().map_or_else(|| scope.clone(), |(_, it)| scope.known_as(it));
        let id = match known {
            Some((id, before)) if before.key == next.key && before.folders == next.folders => {
                return Ok(id);
            }
            known => known.map(|(id, _)| id),
        };
        // A path belongs to one scope: the one that had it before gets another key.
        if let Some((other, before)) = self.scope_with_key(&next.key)?
            && Some(other) != id
        {
            let sql = "UPDATE scope SET key = ?2 WHERE id = ?1";
            self.execute(sql, params![other.0, before.retired()])?;
        }
        let Some(id) = id else {
            let sql = "INSERT INTO scope (key, folder) VALUES (?1, ?2)";
            self.execute(sql, params![next.key, next.sightings()])?;
            return Ok(ScopeId(self.database.last_insert_rowid()));
        };
        let sql = "UPDATE scope SET key = ?2, folder = ?3 WHERE id = ?1";
        self.execute(sql, params![id.0, next.key, next.sightings()])?;
        Ok(id)
    }

    fn scope_of(&mut self, id: ScopeId) -> Result<Option<Scope>> {
        self.one("SELECT key, folder FROM scope WHERE id = ?1", [id.0], |row| stored(row, 0))
    }

    fn owners(&mut self, caller: &Caller) -> Result<KnownOwners> {
        // Both in one statement, which is compiled once and is one answer.
        let sql = "SELECT 0, id, who FROM (SELECT id, who FROM owner WHERE process = ?1 ORDER BY id DESC LIMIT 1)
             UNION ALL
             SELECT 1, id, who FROM (SELECT id, who FROM owner WHERE session = ?2 ORDER BY id DESC LIMIT 1)";
        let mut statement = self.statement(sql)?;
        let process = caller.process.as_ref().map(ProcessInstance::key);
        let found = statement.query_map(params![process, caller.session], |row| {
            Ok((row.get::<_, bool>(0)?, row.get::<_, i64>(1)?, row.get::<_, String>(2)?))
        });
        let found: rusqlite::Result<Vec<_>> = found.and_then(Iterator::collect);
        let mut known = KnownOwners::default();
        for (is_by_session, id, who) in found.map_err(|error| self.error(error))? {
            let owner = match self.owners.get(&id) {
                Some(owner) => Arc::clone(owner),
                None => self.remember(id, &who)?,
            };
            let place = if is_by_session { &mut known.by_session } else { &mut known.by_process };
            *place = Some(owner);
        }
        Ok(known)
    }

    fn add_owner(&mut self, caller: &Caller) -> Result<Arc<Owner>> {
        self.execute(
            "INSERT INTO owner (session, process, who) VALUES (?1, ?2, ?3)",
            params![
                caller.session,
                caller.process.as_ref().map(ProcessInstance::key),
                json(caller)
            ],
        )?;
        let id = self.database.last_insert_rowid();
        Ok(Arc::new(Owner { id: OwnerId(id), who: caller.clone() }))
    }

    fn rename_owner(&mut self, id: OwnerId, caller: &Caller) -> Result<Arc<Owner>> {
        // The process is the same, and stays as it was seen when its claims were granted.
        let known = self.owner(id.0)?;
        let who = Caller { process: known.process.clone(), ..caller.clone() };
        for sql in [
            "UPDATE message SET sender = ?2 WHERE sender = ?1",
            "UPDATE message SET recipient = ?2 WHERE recipient = ?1",
            "UPDATE OR IGNORE receipt SET session = ?2 WHERE session = ?1",
        ] {
            self.execute(sql, params![known.session, caller.session])?;
        }
        self.execute(
            "UPDATE owner SET session = ?2, who = ?3 WHERE id = ?1",
            params![id.0, caller.session, json(&who)],
        )?;
        self.owners.remove(&id.0);
        self.owner(id.0)
    }

    fn latest(&mut self, scope: ScopeId, resources: &[Resource]) -> Result<Vec<Option<Claim>>> {
        let sql = format!("{CLAIM} WHERE scope = ?1 AND resource = ?2 ORDER BY epoch DESC LIMIT 1");
        let mut statement = self.statement(&sql)?;
        let mut latest = Vec::with_capacity(resources.len());
        for resource in resources {
            let parameters = params![scope.0, resource.stored()];
            let mut rows = statement.query(parameters).map_err(|error| self.error(error))?;
            latest.push(match rows.next().map_err(|error| self.error(error))? {
                Some(row) => Some(self.claim(row, Some(resource))?.claim),
                None => None,
            });
        }
        Ok(latest)
    }

    fn latest_of(
        &mut self,
        scope: ScopeId,
        resource: &Resource,
        owner: OwnerId,
    ) -> Result<Option<Claim>> {
        self.one_claim(
            "WHERE scope = ?1 AND resource = ?2 AND owner = ?3 ORDER BY epoch DESC LIMIT 1",
            params![scope.0, resource.stored(), owner.0],
        )
    }

    fn answered(&mut self, scope: ScopeId, request: &str) -> Result<Option<Claim>> {
        self.one_claim("WHERE scope = ?1 AND request = ?2", params![scope.0, request])
    }

    fn near(&mut self, scope: ScopeId, resource: &Resource) -> Result<Vec<Claim>> {
        let Some(prefix) = resource.path().map(ClaimedPath::prefix) else { return Ok(Vec::new()) };
        let mut near = Vec::new();
        for above in prefixes_above(&prefix) {
            near.extend(self.claims(AT_PREFIX, params![scope.0, above])?);
        }
        near.extend(match prefixes_below(&prefix) {
            Some((from, to)) => self.claims(BELOW_PREFIX, params![scope.0, from, to])?,
            None => self.claims(ALL_PREFIXES, [scope.0])?,
        });
        if let Some(link) = link(resource) {
            near.extend(self.claims(OF_LINK, params![scope.0, link])?);
        }
        let mut near: Vec<Claim> = near.into_iter().map(|loss| loss.claim).collect();
        near.sort_by_key(|claim| claim.epoch);
        near.dedup_by_key(|claim| claim.epoch);
        Ok(near)
    }

    fn waiters(&mut self, scope: ScopeId) -> Result<Vec<Waiter>> {
        let sql = "SELECT resource, link, mode, session, process FROM waiter WHERE scope = ?1";
        let mut statement = self.statement(sql)?;
        let mut rows = statement.query([scope.0]).map_err(|error| self.error(error))?;
        let mut waiters = Vec::new();
        while let Some(row) = rows.next().map_err(|error| self.error(error))? {
            waiters.push(self.waiter(row)?);
        }
        Ok(waiters)
    }

    fn add_waiter(&mut self, scope: ScopeId, waiter: &Waiter) -> Result<()> {
        self.execute(
            "INSERT INTO waiter (scope, resource, link, mode, session, key, process) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            params![
                scope.0,
                waiter.resource.stored(),
                link(&waiter.resource),
                waiter.mode.bits(),
                waiter.session,
                waiter.process.key(),
                json(&waiter.process)
            ],
        )?;
        Ok(())
    }

    fn remove_waiters(&mut self, process: &ProcessInstance) -> Result<()> {
        self.execute("DELETE FROM waiter WHERE key = ?1", [process.key()])?;
        Ok(())
    }

    fn open(&mut self, scope: Option<ScopeId>) -> Result<Vec<Claim>> {
        let losses = match scope {
            Some(scope) => {
                self.claims("WHERE ended IS NULL AND scope = ?1 ORDER BY epoch", [scope.0])
            }
            None => self.claims("WHERE ended IS NULL ORDER BY epoch", []),
        };
        Ok(losses?.into_iter().map(|loss| loss.claim).collect())
    }

    fn open_of_others(&mut self, session: &str, me: OwnerId) -> Result<Vec<Claim>> {
        let losses = self.claims(
            "WHERE ended IS NULL AND owner IN (SELECT id FROM owner WHERE session = ?1 AND id <> ?2) ORDER BY epoch",
            params![session, me.0],
        );
        Ok(losses?.into_iter().map(|loss| loss.claim).collect())
    }

    fn losses(&mut self, owner: OwnerId) -> Result<Vec<Loss>> {
        self.claims("WHERE owner = ?1 AND lost IS NOT NULL ORDER BY epoch", [owner.0])
    }

    fn mark_told(&mut self, owner: OwnerId) -> Result<()> {
        self.execute("UPDATE claim SET lost = 1 WHERE owner = ?1 AND lost = 0", [owner.0])?;
        Ok(())
    }

    fn acknowledge(&mut self, owner: OwnerId, scope: ScopeId, resource: &Resource) -> Result<()> {
        self.execute(
            "UPDATE claim SET lost = NULL WHERE owner = ?1 AND lost IS NOT NULL AND scope = ?2 AND resource = ?3",
            params![owner.0, scope.0, resource.stored()],
        )?;
        Ok(())
    }

    fn grant(&mut self, grant: &Grant) -> Result<Claim> {
        let seal = seal()?;
        self.execute(
            "INSERT INTO claim (seal, scope, resource, owner, hold, since, note, request, mode, prefix, link) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
            params![
                seal.0,
                grant.scope.0,
                grant.resource.stored(),
                grant.owner.id.0,
                json(&grant.hold),
                grant.at.to_string(),
                grant.note,
                grant.request,
                grant.mode.bits(),
                grant.resource.path().map(ClaimedPath::prefix),
                link(grant.resource)
            ],
        )?;
        let epoch = Epoch(self.database.last_insert_rowid().unsigned_abs());
        let claim = grant.claim(epoch, seal);
        self.change.epoch = epoch.0;
        self.change.sum = self.change.sum.wrapping_add(weight(&claim));
        let granted = Transition::granted(&claim, grant.worktree.clone());
        self.record(&claim, &grant.owner.session, grant.at, &granted)?;
        Ok(claim)
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
        let lost = next.is_lost().then_some(false);
        let after = if next.is_open() { weight(&next) } else { 0 };
        self.change.sum = self.change.sum.wrapping_sub(weight(claim)).wrapping_add(after);
        let changed = self.execute(
            "UPDATE claim SET hold = ?2, offer = ?3, ended = ?4, lost = ?5, note = ?6, mode = ?7 WHERE epoch = ?1 AND ended IS NULL",
            params![
                number(claim.epoch),
                json(&next.hold),
                next.offer.as_ref().map(json),
                next.ended.as_ref().map(json),
                lost,
                next.note,
                next.mode.bits()
            ],
        )?;
        if changed != 1 {
            return Err(Corruption::Value("a claim that was open is gone").into());
        }
        self.record(claim, by, at, transition)
    }

    fn send(&mut self, draft: &Draft) -> Result<Message> {
        self.execute(
            "INSERT INTO message (scope, at, sender, recipient, kind, resource, body) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            params![
                draft.scope.0,
                draft.at.to_string(),
                draft.from,
                draft.to,
                draft.kind.name(),
                draft.about.as_ref().map(Resource::stored),
                draft.text
            ],
        )?;
        let number = self.database.last_insert_rowid().unsigned_abs();
        Ok(Message { number, draft: draft.clone() })
    }

    fn unread(
        &mut self,
        session: &str,
        here: Option<ScopeId>,
        since: Timestamp,
    ) -> Result<Vec<Message>> {
        let here = here.map(|scope| scope.0);
        // Times are texts of different precision: a message of the first second may be left out.
        self.messages_of(UNREAD, params![session, here, since.to_string()])
    }

    fn mark_read(&mut self, session: &str, messages: &[u64]) -> Result<()> {
        for message in messages {
            self.execute(
                "INSERT OR IGNORE INTO receipt (message, session) SELECT number, ?2 FROM message WHERE number = ?1",
                params![i64::try_from(*message).unwrap_or(i64::MAX), session],
            )?;
        }
        Ok(())
    }

    fn messages(&mut self, scope: ScopeId, about: Option<&Resource>) -> Result<Vec<Message>> {
        match about {
            Some(about) => self.messages_of(ABOUT, params![scope.0, about.stored()]),
            None => self.messages_of("WHERE scope = ?1 ORDER BY number", [scope.0]),
        }
    }

    fn events(&mut self, filter: &Filter) -> Result<Vec<Event>> {
        let mut conditions = Vec::new();
        let mut values: Vec<&dyn rusqlite::ToSql> = Vec::new();
        let scope = filter.scope.map(|scope| scope.0);
        let resource = filter.resource.as_ref().map(Resource::stored);
        if let Some(scope) = &scope {
            conditions.push("scope = ?");
            values.push(scope);
        }
        if let Some(resource) = &resource {
            conditions.push("resource = ?");
            values.push(resource);
        }
        let clause = match conditions.join(" AND ") {
            none if none.is_empty() => none,
            some => format!("WHERE {some}"),
        };
        let mut statement = self.statement(&format!("{EVENT} {clause} ORDER BY number DESC"))?;
        let mut rows = statement.query(values.as_slice()).map_err(|error| self.error(error))?;
        let mut events = Vec::new();
        let is_enough = |events: &Vec<Event>| filter.last.is_some_and(|last| events.len() >= last);
        while !is_enough(&events)
            && let Some(row) = rows.next().map_err(|error| self.error(error))?
        {
            let event = self.event(row)?;
            if filter.admits(&event) {
                events.push(event);
            }
        }
        events.reverse();
        Ok(events)
    }
}

/// A scope, whose key is in this column and its folders in the next.
fn stored(row: &Row, key: usize) -> rusqlite::Result<Scope> {
    let sightings: Option<String> = row.get(key + 1)?;
    Ok(Scope::stored(row.get(key)?, sightings.as_deref()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a look costs must not grow with the claims of other paths.
    #[test]
    fn claims_of_paths_and_messages_are_found_through_an_index() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("claims.db");
        std::fs::write(&file, "").unwrap();
        super::super::create(&file).unwrap();
        let database = Connection::open(&file).unwrap();
        for (rest, index) in [
            (AT_PREFIX, "claim_prefix (scope=? AND prefix=?)"),
            (BELOW_PREFIX, "claim_prefix (scope=? AND prefix>? AND prefix<?)"),
            (ALL_PREFIXES, "claim_prefix (scope=?"),
            (OF_LINK, "claim_link (scope=? AND link=?)"),
        ] {
            let plan = plan(&database, CLAIM, rest);
            assert!(plan.contains(index), "{rest}: {plan}");
        }
        let plan = plan(&database, MESSAGE, UNREAD);
        for index in [
            "message_recipient (recipient=?)",
            "message_recipient (recipient=? AND scope=? AND at>?)",
        ] {
            assert!(plan.contains(index), "{plan}");
        }
    }

    fn plan(database: &Connection, select: &str, rest: &str) -> String {
        let sql = format!("EXPLAIN QUERY PLAN {select} {rest}");
        let mut statement = database.prepare(&sql).unwrap();
        let parameters = rusqlite::params_from_iter(vec![1; statement.parameter_count()]);
        let rows = statement.query_map(parameters, |row| row.get::<_, String>(3)).unwrap();
        rows.map(|row| row.unwrap() + "\n").collect()
    }
}
