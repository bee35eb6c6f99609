//! A session in files that is open to be changed.
//!
//! The lease is the presence lock, and its fence is the identity of the lock file: an eviction puts
//! another file in its place (`eviction.rs`). Each update looks whether the path still leads to the
//! file that we locked, under the write lock, so a process that was taken for dead cannot write.
//!
//! If there is no file at the path, no process took the lock from us: the whole store was removed
//! or moved away. The lock is then taken again, and the store begins again with our document.

use std::sync::Arc;
use std::time::Duration;

use osm_identity::SessionId;

use super::transaction::FileTransaction;
use super::{FileStore, look, refused};
use crate::backend::{Attended, Holder, Next, NextOf, Outcome, Sharing, Stamp, Wait};
use crate::error::{Error, Result};
use crate::fs::atomic;
use crate::fs::folder::Folder;
use crate::fs::holder_list::{self, Attendance};
use crate::fs::lock::{GRACE, Standing};
use crate::fs::queue::Queue;
use crate::layout;

pub(super) struct FileSession {
    store: Arc<FileStore>,
    id: SessionId,
    holder: Holder,
    sharing: Sharing,
    /// `None` once the session was removed.
    presence: Option<Attendance>,
    last: Outcome,
}

impl FileSession {
    pub(super) fn attend(
        store: &Arc<FileStore>,
        id: &SessionId,
        holder: &Holder,
        sharing: Sharing,
        wait: Wait,
    ) -> Result<Self> {
        let presence = lock(&store.sessions.made()?, id, holder, sharing, wait)?;
        Ok(Self {
            store: Arc::clone(store),
            id: id.clone(),
            holder: holder.clone(),
            sharing,
            presence: Some(presence),
            last: Outcome::NotCarriedOut,
        })
    }

    /// Fails if another process took the lease from us.
    fn check_lease(&mut self, folder: &Arc<Folder>) -> Result<()> {
        let lost = || Error::LostLease(self.id.clone());
        match self.presence.as_ref().ok_or_else(lost)?.standing(folder)? {
            Standing::Same => Ok(()),
            Standing::Replaced => Err(lost()),
            Standing::Missing => {
                let again = lock(folder, &self.id, &self.holder, self.sharing, Wait::NONE);
                self.presence = Some(again.map_err(|_| lost())?);
                Ok(())
            }
        }
    }
}

fn lock(
    folder: &Arc<Folder>,
    id: &SessionId,
    holder: &Holder,
    sharing: Sharing,
    wait: Wait,
) -> Result<Attendance> {
    let (name, patience) = (layout::presence_lock(id), wait.0.max(GRACE));
    let presence = match sharing {
        Sharing::Shared => Attendance::shared(folder, &name, holder, patience)?,
        Sharing::Exclusive => Attendance::alone(folder, &name, holder, patience)?,
    };
    presence.ok_or_else(|| refused(folder, id, &name))
}

impl Attended for FileSession {
    fn update(
        &mut self,
        known: Option<Stamp>,
        wait: Wait,
        next: &mut NextOf<'_>,
    ) -> Result<Option<Stamp>> {
        self.last = Outcome::NotCarriedOut;
        let store = Arc::clone(&self.store);
        let folder = store.sessions.made()?;
        let lock = layout::write_lock(&self.id);
        let queue = Queue { folder: &store.queue, pid_space: &store.pid_space };
        let mut take = || holder_list::hold_alone(&folder, &lock, &self.holder, Duration::ZERO);
        let write = queue
            .wait(&lock, wait.0.max(GRACE), &mut take)?
            .ok_or_else(|| refused(&folder, &self.id, &lock))?;
        self.check_lease(&folder)?;
        let name = layout::document(&self.id);
        let (current, before) = look(&folder, &name, known)?;
        let mut transaction = FileTransaction::new(&store, &self.holder, wait);
        let stamp = match next(&mut transaction, current)? {
            Next::Keep => before.map(|facts| facts.stamp),
            Next::Replace(pieces) => {
                store.delayed_close.wait();
                let old = folder.hold(&name);
                atomic::replace(&folder, &store.pid_space, &name, &pieces, before.as_ref())?;
                if let Some(old) = old {
                    store.delayed_close.leave(old);
                }
                folder.facts(&name)?.map(|facts| facts.stamp)
            }
            Next::Remove if self.sharing == Sharing::Shared => {
                return Err(Error::Busy { id: self.id.clone(), holders: Vec::new() });
            }
            Next::Remove => {
                store.forget_summaries()?;
                folder.remove(&name)?;
                write.remove_file()?;
                if let Some(presence) = self.presence.take() {
                    presence.remove_file()?;
                }
                None
            }
        };
        self.last = Outcome::CarriedOut(stamp);
        transaction.commit()?;
        Ok(stamp)
    }

    fn outcome(&mut self) -> Result<Outcome> {
        Ok(self.last)
    }
}
