//! Looking at claims.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::time::Duration;

use super::{Asker, Claims};
use crate::claim::Claim;
use crate::clock::Now;
use crate::error::Result;
use crate::event::{Event, Filter};
use crate::ledger::{Book, Loss};
use crate::liveness::Remembered;
use crate::owner::OwnerId;
use crate::resource::Resource;
use crate::rules::{self, Standing};
use crate::scope::{Scope, ScopeId};
use osm_identity::Liveness;

/// An open claim, with what is known of its owner.
#[derive(Clone, Debug)]
pub struct Listed {
    /// The claim.
    pub claim: Claim,
    /// Where it counts.
    pub scope: Scope,
    /// What is known of the process that it hangs on.
    pub verdict: Liveness,
    /// What it is to others.
    pub standing: Standing,
    /// How long its lease still runs.
    pub left: Option<Duration>,
    /// It is the caller's.
    pub is_mine: bool,
    /// It was the caller's session's, in an incarnation that is over.
    pub is_predecessors: bool,
    /// An offer of it stands.
    pub is_offered: bool,
}

impl Listed {
    /// The caller may take it up.
    fn is_resumable(&self) -> bool {
        self.is_predecessors && matches!(self.standing, Standing::Free(_))
    }
}

/// What a session has to do with claims.
#[derive(Clone, Debug, Default)]
pub struct Owned {
    /// What it holds.
    pub held: Vec<Listed>,
    /// What an earlier incarnation of it holds, and it may take up.
    pub resumable: Vec<Listed>,
    /// What was offered to it.
    pub offered: Vec<Listed>,
    /// What it lost and has not acknowledged.
    pub lost: Vec<Listed>,
}

/// What is the same for all claims that are looked at together.
struct Look<'a> {
    asker: &'a Asker,
    me: OwnerId,
    now: Now,
    sight: Remembered<'a>,
    /// Scopes are few and have many claims.
    scopes: HashMap<ScopeId, Scope>,
}

impl<'a> Look<'a> {
    fn new(claims: &'a Claims, asker: &'a Asker, book: &mut dyn Book) -> Self {
        Self {
            // A caller whom nobody can know may look all the same.
            me: claims.find(book, asker).unwrap_or_else(|_| asker.stranger()).id,
            now: claims.ledger.now(),
            sight: Remembered::new(&*claims.sight),
            scopes: HashMap::new(),
            asker,
        }
    }

    fn at(&mut self, claim: Claim, book: &mut dyn Book) -> Result<Listed> {
        let verdict = claim.verdict(&self.sight);
        let scope = match self.scopes.entry(claim.scope) {
            Entry::Occupied(known) => known.get().clone(),
            Entry::Vacant(place) => {
                let scope = book.scope_of(claim.scope)?.unwrap_or_else(|| Scope::named("?"));
                place.insert(scope).clone()
            }
        };
        let is_mine = self.me == claim.owner.id;
        Ok(Listed {
            standing: rules::standing(&self.now, &claim, &verdict),
            left: rules::left(&self.now, &claim),
            is_offered: claim.is_open() && rules::is_reserved(&self.now, &claim),
            is_predecessors: !is_mine && claim.owner.session == self.asker.caller.session,
            is_mine,
            verdict,
            scope,
            claim,
        })
    }
}

impl Claims {
    /// The open claims of the caller's scope, or of all.
    pub fn list(&self, asker: &Asker, everywhere: bool) -> Result<Vec<Listed>> {
        self.read(|book| {
            let mut look = Look::new(self, asker, book);
            let open = open(book, asker, everywhere)?;
            open.into_iter().map(|claim| look.at(claim, book)).collect()
        })
    }

    /// The last claim of a resource, open or ended.
    pub fn look(&self, asker: &Asker, resource: &Resource) -> Result<Option<Listed>> {
        self.read(|book| {
            let Some(scope) = book.scope(&asker.scope)? else { return Ok(None) };
            let Some(claim) = book.latest(scope, resource)? else { return Ok(None) };
            Look::new(self, asker, book).at(claim, book).map(Some)
        })
    }

    /// What the caller has to do with claims, in all scopes.
    pub fn mine(&self, asker: &Asker) -> Result<Owned> {
        let mut owned = Owned::default();
        for listed in self.list(asker, true)? {
            let offered = listed.claim.offer.as_ref().map(|offer| &offer.to);
            if listed.is_mine {
                owned.held.push(listed);
            } else if listed.is_resumable() {
                owned.resumable.push(listed);
            } else if listed.is_offered && offered == Some(&asker.caller.session) {
                owned.offered.push(listed);
            }
        }
        owned.lost = self.read(|book| {
            let me = self.find(book, asker)?;
            let mut look = Look::new(self, asker, book);
            let lost = book.losses(me.id)?;
            lost.into_iter().map(|loss| look.at(loss.claim, book)).collect()
        })?;
        Ok(owned)
    }

    /// What an earlier incarnation of the caller holds, and the caller may take up, in all scopes.
    ///
    /// It is asked with every claim, so it looks at the caller's session alone.
    pub fn resumable(&self, asker: &Asker) -> Result<Vec<Listed>> {
        self.read(|book| {
            let mut look = Look::new(self, asker, book);
            let before = book.open_of_others(&asker.caller.session, look.me)?;
            let listed = before.into_iter().map(|claim| look.at(claim, book));
            listed.filter(|it| it.as_ref().map_or(true, Listed::is_resumable)).collect()
        })
    }

    /// What the caller lost in its scope, or anywhere, and has not acknowledged.
    pub fn losses(&self, asker: &Asker, everywhere: bool) -> Result<Vec<Loss>> {
        self.read(|book| {
            let me = self.find(book, asker)?;
            let mut losses = book.losses(me.id)?;
            if !everywhere {
                let here = book.scope(&asker.scope)?;
                losses.retain(|loss| Some(loss.claim.scope) == here);
            }
            Ok(losses)
        })
    }

    /// Notes that the caller was told of what it lost.
    pub fn told(&self, asker: &Asker) -> Result<()> {
        self.write(|book| {
            let me = self.find(book, asker)?;
            book.tell(me.id)
        })
    }

    /// What happened.
    pub fn log(&self, asker: &Asker, everywhere: bool, filter: &Filter) -> Result<Vec<Event>> {
        self.read(|book| {
            let mut filter = filter.clone();
            if !everywhere {
                match book.scope(&asker.scope)? {
                    Some(scope) => filter.scope = Some(scope),
                    None => return Ok(Vec::new()),
                }
            }
            book.events(&filter)
        })
    }
}

/// The open claims of the caller's scope, or of all.
pub(super) fn open(book: &mut dyn Book, asker: &Asker, everywhere: bool) -> Result<Vec<Claim>> {
    if everywhere {
        return book.open(None);
    }
    match book.scope(&asker.scope)? {
        Some(scope) => book.open(Some(scope)),
        None => Ok(Vec::new()),
    }
}
