//! A store that refuses what a test wants it to, remembers its audit events, lets others in between,
//! and lives in the future.

use std::io;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Mutex;

use jiff::{SignedDuration, Timestamp};
use osm_identity::SessionId;
use osm_store::audit::Event;
use osm_store::backend::{
    Agree, ArchiveKind, ArchivedDocument, Attended, Backend, Current, Entry, Files, Guard, Holder,
    Listing, Page, Removal, Sharing, Stamp, Stored, Transaction, Wait, Watch,
};
use osm_store::layout::Layout;
use osm_store::{Error, Result};

pub(crate) struct Refusing<'a> {
    inner: &'a dyn Backend,
    refused: Vec<String>,
    audit: Mutex<Vec<String>>,
    before_lock: Option<Box<dyn Fn() + Send + Sync + 'a>>,
    ahead: SignedDuration,
}

impl<'a> Refusing<'a> {
    /// Refuses operations by their name and object, such as `remove ex--a_ca`.
    pub(crate) fn new(inner: &'a dyn Backend, refused: &[&str]) -> Self {
        let refused = refused.iter().map(ToString::to_string).collect();
        let ahead = SignedDuration::ZERO;
        Self { inner, refused, audit: Mutex::default(), before_lock: None, ahead }
    }

    /// Does something just before the lock of cleanups is granted.
    pub(crate) fn before_lock(mut self, act: impl Fn() + Send + Sync + 'a) -> Self {
        self.before_lock = Some(Box::new(act));
        self
    }

    /// Puts the clock so many days ahead.
    pub(crate) fn ahead(mut self, days: i64) -> Self {
        self.ahead = SignedDuration::from_hours(24 * days);
        self
    }

    /// The lines that went into the audit log.
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

    fn allow_removal(&self, removal: &Removal<'_>) -> Result<()> {
        match removal.what {
            Stored::Session(id) => self.allow("remove", id.as_str()),
            Stored::Archived(_, name) => self.allow("discard", name),
            Stored::Record => Ok(()),
        }
    }
}

/// The transaction of a store that refuses.
struct Checked<'a> {
    store: &'a Refusing<'a>,
    inner: &'a mut dyn Transaction,
}

impl Transaction for Checked<'_> {
    fn now(&self) -> Timestamp {
        self.inner.now() + self.store.ahead
    }

    fn archive(&mut self, kind: ArchiveKind, stem: &str, document: &[u8]) -> Result<String> {
        self.store.allow("archive", stem)?;
        self.inner.archive(kind, stem, document)
    }

    fn audit(&mut self, event: &Event) -> Result<()> {
        self.store.allow("audit", "")?;
        self.store.audit.lock().unwrap().push(event.to_string());
        self.inner.audit(event)
    }

    fn record(&mut self) -> Result<Option<Vec<u8>>> {
        self.inner.record()
    }

    fn set_record(&mut self, record: Vec<u8>) -> Result<()> {
        self.store.allow("note", "")?;
        self.inner.set_record(record)
    }
}

impl Backend for Refusing<'_> {
    fn now(&self) -> Result<Timestamp> {
        Ok(self.inner.now()? + self.ahead)
    }

    fn attend(
        &self,
        id: &SessionId,
        holder: &Holder,
        sharing: Sharing,
        wait: Wait,
    ) -> Result<Box<dyn Attended>> {
        self.inner.attend(id, holder, sharing, wait)
    }

    fn evict_dead(&self, id: &SessionId, holder: &Holder, agree: &mut Agree<'_>) -> Result<bool> {
        self.inner.evict_dead(id, holder, agree)
    }

    fn load(&self, what: Stored<'_>, known: Option<Stamp>) -> Result<Current> {
        self.inner.load(what, known)
    }

    fn list(&self, page: &Page) -> Result<Listing<Entry>> {
        self.allow("list", "")?;
        self.inner.list(page)
    }

    fn archived(&self, kind: ArchiveKind, page: &Page) -> Result<Listing<ArchivedDocument>> {
        self.allow("archived", kind.name())?;
        self.inner.archived(kind, page)
    }

    fn holders(&self, id: &SessionId) -> Result<Vec<Holder>> {
        self.inner.holders(id)
    }

    fn remove(
        &self,
        batch: &[Removal<'_>],
        done: &mut dyn FnMut(usize, Result<()>) -> ControlFlow<()>,
    ) {
        for (number, removal) in batch.iter().enumerate() {
            let mut result = self.allow_removal(removal);
            if result.is_ok() {
                self.inner.remove(std::slice::from_ref(removal), &mut |_, it| {
                    result = it;
                    ControlFlow::Continue(())
                });
            }
            if done(number, result).is_break() {
                return;
            }
        }
    }

    fn transact(
        &self,
        holder: &Holder,
        wait: Wait,
        body: &mut dyn FnMut(&mut dyn Transaction) -> Result<()>,
    ) -> Result<()> {
        self.inner.transact(holder, wait, &mut |inner| body(&mut Checked { store: self, inner }))
    }

    fn lock_cleanup(&self, holder: &Holder) -> Result<Option<Box<dyn Guard>>> {
        if let Some(act) = &self.before_lock {
            act();
        }
        self.inner.lock_cleanup(holder)
    }

    fn watch(&self, id: &SessionId) -> Result<Box<dyn Watch>> {
        self.inner.watch(id)
    }

    fn files(&self) -> Option<&dyn Files> {
        self.inner.files().map(|_| self as &dyn Files)
    }
}

impl Files for Refusing<'_> {
    fn layout(&self) -> &Layout {
        self.inner.files().unwrap().layout()
    }

    fn foreign_holders(&self, id: &SessionId, host: &str) -> Result<Vec<Holder>> {
        self.inner.files().unwrap().foreign_holders(id, host)
    }

    fn remove_stray_files(&self, now: Timestamp, dry_run: bool) -> Result<usize> {
        self.allow("sweep", "")?;
        self.inner.files().unwrap().remove_stray_files(now, dry_run)
    }
}
