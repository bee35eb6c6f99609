//! A transaction over the tables of `schema.sql`.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, Params, Row, params};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::fault::explain;
use crate::claim::{Claim, Ended, Hold, Offer};
use crate::epoch::{Epoch, Seal};
use crate::error::{Error, Result};
use crate::event::{Deed, Event, Filter};
use crate::ledger::{Book, Grant, Loss, seal};
use crate::owner::{Caller, Owner, OwnerId};
use crate::resource::Resource;
use crate::scope::{Scope, ScopeId};
use osm_identity::ProcessInstance;

/// The columns of a claim, in the order in which [`SqlBook::claim`] takes them.
const CLAIM: &str = "SELECT epoch, seal, scope, resource, owner, hold, since, note, request, offer, ended, lost FROM claim";

pub(super) struct SqlBook<'a> {
    database: &'a Connection,
    path: &'a Path,
    /// Owners are few and have many claims.
    owners: HashMap<i64, Arc<Owner>>,
}

/// A row of a claim whose texts are not yet understood.
struct RawClaim {
    epoch: u64,
    seal: u32,
    scope: i64,
    resource: Vec<u8>,
    owner: i64,
    hold: String,
    since: String,
    note: Option<String>,
    request: Option<String>,
    offer: Option<String>,
    ended: Option<String>,
    lost: Option<bool>,
}

impl RawClaim {
    fn from(row: &Row) -> rusqlite::Result<Self> {
        Ok(Self {
            epoch: row.get::<_, i64>(0)?.unsigned_abs(),
            seal: row.get(1)?,
            scope: row.get(2)?,
            resource: row.get(3)?,
            owner: row.get(4)?,
            hold: row.get(5)?,
            since: row.get(6)?,
            note: row.get(7)?,
            request: row.get(8)?,
            offer: row.get(9)?,
            ended: row.get(10)?,
            lost: row.get(11)?,
        })
    }
}

impl<'a> SqlBook<'a> {
    pub(super) fn new(database: &'a Connection, path: &'a Path) -> Self {
        Self { database, path, owners: HashMap::new() }
    }

    fn error(&self) -> impl Fn(rusqlite::Error) -> Error + use<'a> {
        let path = self.path;
        move |error| explain(path, error)
    }

    fn corrupt(&self, what: &str) -> Error {
        Error::Corrupt { path: self.path.to_owned(), what: what.to_owned() }
    }

    fn parse<T: DeserializeOwned>(&self, text: &str, what: &str) -> Result<T> {
        serde_json::from_str(text).map_err(|_| self.corrupt(what))
    }

    fn time(&self, text: &str) -> Result<Timestamp> {
        text.parse().map_err(|_| self.corrupt("a time is malformed"))
    }

    fn resource(&self, bytes: Vec<u8>) -> Result<Resource> {
        Resource::new(bytes).map_err(|_| self.corrupt("a resource has no name"))
    }

    fn execute(&self, sql: &str, parameters: impl Params) -> Result<usize> {
        let run = || self.database.prepare_cached(sql)?.execute(parameters);
        run().map_err(self.error())
    }

    fn one<T>(
        &self,
        sql: &str,
        parameters: impl Params,
        read: impl FnOnce(&Row) -> rusqlite::Result<T>,
    ) -> Result<Option<T>> {
        let run = || self.database.prepare_cached(sql)?.query_row(parameters, read).optional();
        run().map_err(self.error())
    }

    fn owner(&mut self, id: i64) -> Result<Arc<Owner>> {
        if let Some(owner) = self.owners.get(&id) {
            return Ok(Arc::clone(owner));
        }
        let who = self
            .one("SELECT who FROM owner WHERE id = ?1", [id], |row| row.get::<_, String>(0))?
            .ok_or_else(|| self.corrupt("a claim has no owner"))?;
        let who = self.parse(&who, "an owner is malformed")?;
        let owner = Arc::new(Owner { id: OwnerId(id), who });
        self.owners.insert(id, Arc::clone(&owner));
        Ok(owner)
    }

    fn claim(&mut self, raw: RawClaim) -> Result<Loss> {
        let json = "a claim is malformed";
        // Almost all claims hang on their session.
        let hold = match raw.hold.as_str() {
            "\"session\"" => Hold::Session,
            text => self.parse(text, json)?,
        };
        let offer: Option<Offer> = raw.offer.map(|it| self.parse(&it, json)).transpose()?;
        let ended: Option<Ended> = raw.ended.map(|it| self.parse(&it, json)).transpose()?;
        let claim = Claim {
            scope: ScopeId(raw.scope),
            resource: self.resource(raw.resource)?,
            epoch: Epoch(raw.epoch),
            seal: Seal(raw.seal),
            owner: self.owner(raw.owner)?,
            hold,
            since: self.time(&raw.since)?,
            note: raw.note,
            request: raw.request,
            offer,
            ended,
        };
        Ok(Loss { claim, told: raw.lost.unwrap_or(true) })
    }

    fn one_claim(&mut self, rest: &str, parameters: impl Params) -> Result<Option<Claim>> {
        let raw = self.one(&format!("{CLAIM} {rest}"), parameters, RawClaim::from)?;
        Ok(raw.map(|raw| self.claim(raw)).transpose()?.map(|loss| loss.claim))
    }

    fn claims(&mut self, rest: &str, parameters: impl Params) -> Result<Vec<Loss>> {
        let error = self.error();
        let mut statement =
            self.database.prepare_cached(&format!("{CLAIM} {rest}")).map_err(&error)?;
        let mut rows = statement.query(parameters).map_err(&error)?;
        let mut claims = Vec::new();
        while let Some(row) = rows.next().map_err(&error)? {
            let raw = RawClaim::from(row).map_err(&error)?;
            claims.push(self.claim(raw)?);
        }
        Ok(claims)
    }

    fn owner_where(&mut self, rest: &str, value: &str) -> Result<Option<Arc<Owner>>> {
        let sql = format!("SELECT id FROM owner WHERE {rest} = ?1 ORDER BY id DESC LIMIT 1");
        let id = self.one(&sql, [value], |row| row.get(0))?;
        id.map(|id| self.owner(id)).transpose()
    }

    fn scope_where(&self, column: &str, value: &str) -> Result<Option<(ScopeId, Scope)>> {
        let sql = format!("SELECT id, key, folder FROM scope WHERE {column} = ?1 ORDER BY id");
        self.one(&sql, [value], |row| {
            Ok((ScopeId(row.get(0)?), Scope { key: row.get(1)?, folder: row.get(2)? }))
        })
    }

    /// The scope by its folder, or else by its key.
    fn known_scope(&self, scope: &Scope) -> Result<Option<(ScopeId, Scope)>> {
        if let Some(folder) = &scope.folder
            && let Some(same) = self.scope_where("folder", folder)?
        {
            return Ok(Some(same));
        }
        let namesake = self.scope_where("key", &scope.key)?;
        Ok(namesake.filter(|(_, it)| scope.may_be(it.folder.as_deref())))
    }

    fn record(&self, claim: &Claim, by: &str, at: Timestamp, deed: &Deed) -> Result<()> {
        self.execute(
            "INSERT INTO event (at, scope, resource, epoch, actor, deed) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            params![
                at.to_string(),
                claim.scope.0,
                claim.resource.as_bytes(),
                number(claim.epoch),
                by,
                json(deed)
            ],
        )?;
        Ok(())
    }
}

impl Book for SqlBook<'_> {
    fn scope(&mut self, scope: &Scope) -> Result<Option<ScopeId>> {
        Ok(self.known_scope(scope)?.map(|(id, _)| id))
    }

    fn add_scope(&mut self, scope: &Scope) -> Result<ScopeId> {
        let known = self.known_scope(scope)?;
        let next = known.as_ref().map_or_else(|| scope.clone(), |(_, it)| scope.known_as(it));
        let id = match known {
            Some((id, before)) if before == next => return Ok(id),
            known => known.map(|(id, _)| id),
        };
        // A path is one scope's: whoever had it before is called otherwise.
        if let Some((other, before)) = self.scope_where("key", &next.key)?
            && Some(other) != id
        {
            let key = Scope::retired(&before.key, before.folder.as_deref());
            self.execute("UPDATE scope SET key = ?2 WHERE id = ?1", params![other.0, key])?;
        }
        let Some(id) = id else {
            let sql = "INSERT INTO scope (key, folder) VALUES (?1, ?2)";
            self.execute(sql, params![next.key, next.folder])?;
            return Ok(ScopeId(self.database.last_insert_rowid()));
        };
        let sql = "UPDATE scope SET key = ?2, folder = ?3 WHERE id = ?1";
        self.execute(sql, params![id.0, next.key, next.folder])?;
        Ok(id)
    }

    fn scope_of(&mut self, id: ScopeId) -> Result<Option<Scope>> {
        self.one("SELECT key, folder FROM scope WHERE id = ?1", [id.0], |row| {
            Ok(Scope { key: row.get(0)?, folder: row.get(1)? })
        })
    }

    fn owner_of_process(&mut self, process: &ProcessInstance) -> Result<Option<Arc<Owner>>> {
        self.owner_where("process", &process.key())
    }

    fn owner_of_session(&mut self, session: &str) -> Result<Option<Arc<Owner>>> {
        self.owner_where("session", session)
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
        self.execute(
            "UPDATE owner SET session = ?2, who = ?3 WHERE id = ?1",
            params![id.0, caller.session, json(caller)],
        )?;
        self.owners.remove(&id.0);
        self.owner(id.0)
    }

    fn latest(&mut self, scope: ScopeId, resource: &Resource) -> Result<Option<Claim>> {
        self.one_claim(
            "WHERE scope = ?1 AND resource = ?2 ORDER BY epoch DESC LIMIT 1",
            params![scope.0, resource.as_bytes()],
        )
    }

    fn latest_of(
        &mut self,
        scope: ScopeId,
        resource: &Resource,
        owner: OwnerId,
    ) -> Result<Option<Claim>> {
        self.one_claim(
            "WHERE scope = ?1 AND resource = ?2 AND owner = ?3 ORDER BY epoch DESC LIMIT 1",
            params![scope.0, resource.as_bytes(), owner.0],
        )
    }

    fn answered(&mut self, scope: ScopeId, request: &str) -> Result<Option<Claim>> {
        self.one_claim("WHERE scope = ?1 AND request = ?2", params![scope.0, request])
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

    fn tell(&mut self, owner: OwnerId) -> Result<()> {
        self.execute("UPDATE claim SET lost = 1 WHERE owner = ?1 AND lost = 0", [owner.0])?;
        Ok(())
    }

    fn acknowledge(&mut self, owner: OwnerId, scope: ScopeId, resource: &Resource) -> Result<()> {
        self.execute(
            "UPDATE claim SET lost = NULL WHERE owner = ?1 AND lost IS NOT NULL AND scope = ?2 AND resource = ?3",
            params![owner.0, scope.0, resource.as_bytes()],
        )?;
        Ok(())
    }

    fn grant(&mut self, grant: &Grant) -> Result<Claim> {
        let seal = seal();
        self.execute(
            "INSERT INTO claim (seal, scope, resource, owner, hold, since, note, request) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
            params![
                seal.0,
                grant.scope.0,
                grant.resource.as_bytes(),
                grant.owner.id.0,
                json(&grant.hold),
                grant.at.to_string(),
                grant.note,
                grant.request
            ],
        )?;
        let epoch = Epoch(self.database.last_insert_rowid().unsigned_abs());
        let claim = grant.claim(epoch, seal);
        self.record(&claim, &grant.owner.session, grant.at, &Deed::granted(&claim))?;
        Ok(claim)
    }

    fn amend(&mut self, claim: &Claim, by: &str, at: Timestamp, deed: &Deed) -> Result<()> {
        let mut next = claim.clone();
        deed.apply(&mut next);
        let lost = next.is_lost().then_some(false);
        let changed = self.execute(
            "UPDATE claim SET hold = ?2, offer = ?3, ended = ?4, lost = ?5 WHERE epoch = ?1 AND ended IS NULL",
            params![
                number(claim.epoch),
                json(&next.hold),
                next.offer.as_ref().map(json),
                next.ended.as_ref().map(json),
                lost
            ],
        )?;
        if changed != 1 {
            return Err(self.corrupt("a claim that was open is gone"));
        }
        self.record(claim, by, at, deed)
    }

    fn events(&mut self, filter: &Filter) -> Result<Vec<Event>> {
        let mut conditions = Vec::new();
        let mut values: Vec<&dyn rusqlite::ToSql> = Vec::new();
        let scope = filter.scope.map(|scope| scope.0);
        let resource = filter.resource.as_ref().map(Resource::as_bytes);
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
        let sql = format!(
            "SELECT number, at, scope, resource, epoch, actor, deed FROM event {clause} ORDER BY number DESC"
        );
        let error = self.error();
        let mut statement = self.database.prepare_cached(&sql).map_err(&error)?;
        let mut rows = statement.query(values.as_slice()).map_err(&error)?;
        let mut events = Vec::new();
        let is_enough = |events: &Vec<Event>| filter.last.is_some_and(|last| events.len() >= last);
        while !is_enough(&events)
            && let Some(row) = rows.next().map_err(&error)?
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

impl SqlBook<'_> {
    fn event(&self, row: &Row) -> Result<Event> {
        let error = self.error();
        let texts = || -> rusqlite::Result<(String, Vec<u8>, String, String)> {
            Ok((row.get(1)?, row.get(3)?, row.get(5)?, row.get(6)?))
        };
        let (at, resource, by, deed) = texts().map_err(&error)?;
        Ok(Event {
            number: row.get::<_, i64>(0).map_err(&error)?.unsigned_abs(),
            at: self.time(&at)?,
            scope: ScopeId(row.get(2).map_err(&error)?),
            resource: self.resource(resource)?,
            epoch: Epoch(row.get::<_, i64>(4).map_err(&error)?.unsigned_abs()),
            by,
            deed: self.parse(&deed, "an event is malformed")?,
        })
    }
}

fn number(epoch: Epoch) -> i64 {
    i64::try_from(epoch.0).unwrap_or(i64::MAX)
}

fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("texts and numbers are JSON")
}
