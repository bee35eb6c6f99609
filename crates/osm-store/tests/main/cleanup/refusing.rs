//! A store that refuses what a test wants it to, remembers its audit, and lets others in between.

use std::io;
use std::path::PathBuf;
use std::sync::Mutex;

use jiff::Timestamp;
use osm_identity::SessionId;
use osm_store::backend::{
    Backend, Current, Entry, Holder, Presence, Shelf, Shelved, Stamp, Wait, Witness,
};
use osm_store::{Error, Pieces, Result};

pub(crate) struct Refusing<'a> {
    inner: &'a dyn Backend,
    refused: Vec<String>,
    audit: Mutex<Vec<String>>,
    before_lock: Option<Box<dyn Fn() + Send + Sync + 'a>>,
}

impl<'a> Refusing<'a> {
    /// Refuses operations by their name and what they are about, such as `remove ex--a_ca`.
    pub(crate) fn new(inner: &'a dyn Backend, refused: &[&str]) -> Self {
        let refused = refused.iter().map(ToString::to_string).collect();
        Self { inner, refused, audit: Mutex::default(), before_lock: None }
    }

    /// Does something just before the lock of cleanups is granted.
    pub(crate) fn before_lock(mut self, act: impl Fn() + Send + Sync + 'a) -> Self {
        self.before_lock = Some(Box::new(act));
        self
    }

    /// The lines that went into the audit.
    pub(crate) fn audit(&self) -> Vec<String> {
        self.audit.lock().unwrap().clone()
    }

    fn allow(&self, operation: &str, about: &str) -> Result<()> {
        let name = format!("{operation} {about}");
        if self.refused.iter().any(|refused| *refused == name.trim_end()) {
            return Err(Error::Io {
                action: "touch",
                path: PathBuf::from(about),
                source: io::ErrorKind::StorageFull.into(),
            });
        }
        Ok(())
    }
}

impl Backend for Refusing<'_> {
    fn name(&self) -> &'static str {
        self.inner.name()
    }

    fn attend(&self, id: &SessionId, holder: &Holder, wait: Wait) -> Result<Box<dyn Presence>> {
        self.inner.attend(id, holder, wait)
    }

    fn seize(&self, id: &SessionId, holder: &Holder) -> Result<Box<dyn Presence>> {
        self.inner.seize(id, holder)
    }

    fn evict_dead(
        &self,
        id: &SessionId,
        agree: &mut dyn FnMut(&[Witness]) -> Result<()>,
    ) -> Result<bool> {
        self.inner.evict_dead(id, agree)
    }

    fn load(&self, id: &SessionId, known: Option<Stamp>) -> Result<Current> {
        self.inner.load(id, known)
    }

    fn update(
        &self,
        id: &SessionId,
        known: Option<Stamp>,
        holder: &Holder,
        wait: Wait,
        next: &mut dyn FnMut(Current) -> Result<Option<Pieces>>,
    ) -> Result<Option<Stamp>> {
        self.inner.update(id, known, holder, wait, next)
    }

    fn remove(
        &self,
        id: &SessionId,
        keep: bool,
        now: Timestamp,
        still: &mut dyn FnMut(&Entry) -> bool,
    ) -> Result<bool> {
        self.allow("remove", id.as_str())?;
        self.inner.remove(id, keep, now, still)
    }

    fn entries(&self) -> Result<Vec<Entry>> {
        self.allow("entries", "")?;
        self.inner.entries()
    }

    fn holders(&self, id: &SessionId) -> Result<Vec<Holder>> {
        self.inner.holders(id)
    }

    fn foreign_holders(&self, id: &SessionId, host: &str, now: Timestamp) -> Result<Vec<Holder>> {
        self.inner.foreign_holders(id, host, now)
    }

    fn shelve(&self, shelf: Shelf, stem: &str, document: &[u8]) -> Result<String> {
        self.allow("shelve", stem)?;
        self.inner.shelve(shelf, stem, document)
    }

    fn shelved(&self, shelf: Shelf) -> Result<Vec<Shelved>> {
        self.allow("shelved", shelf.name())?;
        self.inner.shelved(shelf)
    }

    fn read_shelved(&self, shelf: Shelf, name: &str) -> Result<Vec<u8>> {
        self.inner.read_shelved(shelf, name)
    }

    fn discard(&self, shelf: Shelf, name: &str) -> Result<()> {
        self.allow("discard", name)?;
        self.inner.discard(shelf, name)
    }

    fn lock_cleanup(&self, holder: &Holder) -> Result<Option<Box<dyn Presence>>> {
        if let Some(act) = &self.before_lock {
            act();
        }
        self.inner.lock_cleanup(holder)
    }

    fn sweep_litter(&self, now: Timestamp, dry_run: bool) -> Result<usize> {
        self.allow("sweep", "")?;
        self.inner.sweep_litter(now, dry_run)
    }

    fn metadata(&self) -> Result<Option<Vec<u8>>> {
        self.inner.metadata()
    }

    fn update_metadata(
        &self,
        holder: &Holder,
        wait: Wait,
        next: &mut dyn FnMut(Option<Vec<u8>>) -> Result<Vec<u8>>,
    ) -> Result<()> {
        self.allow("note", "")?;
        self.inner.update_metadata(holder, wait, next)
    }

    fn append_audit(&self, line: &str) -> Result<()> {
        self.allow("audit", "")?;
        self.audit.lock().unwrap().push(line.to_owned());
        self.inner.append_audit(line)
    }

    fn place(&self, id: &SessionId) -> Option<PathBuf> {
        self.inner.place(id)
    }

    fn lock_place(&self, id: &SessionId) -> Option<PathBuf> {
        self.inner.lock_place(id)
    }
}
