//! A session in memory that is open to be changed.

use std::sync::Arc;

use osm_identity::SessionId;

use super::transaction::MemoryTransaction;
use super::{Document, Shared};
use crate::backend::{Attended, Holder, Next, NextOf, Outcome, Sharing, Stamp, Wait};
use crate::error::{Error, Result};

pub(super) struct MemorySession {
    shared: Arc<Shared>,
    id: SessionId,
    holder: Holder,
    sharing: Sharing,
    fence: u64,
    last: Outcome,
}

impl MemorySession {
    pub(super) fn attend(
        shared: &Arc<Shared>,
        id: &SessionId,
        holder: &Holder,
        sharing: Sharing,
        wait: Wait,
    ) -> Result<Self> {
        let against = |content: &super::Content| content.against(id, sharing);
        let mut content = shared.wait_until_free(id, wait.0, against)?;
        let fence = content.grant(id, Some(holder), sharing);
        drop(content);
        let (shared, id, holder) = (Arc::clone(shared), id.clone(), holder.clone());
        Ok(Self { shared, id, holder, sharing, fence, last: Outcome::NotCarriedOut })
    }
}

impl Attended for MemorySession {
    fn update(
        &mut self,
        known: Option<Stamp>,
        wait: Wait,
        next: &mut NextOf<'_>,
    ) -> Result<Option<Stamp>> {
        self.last = Outcome::NotCarriedOut;
        let shared = Arc::clone(&self.shared);
        let _writing = shared.write(&self.id, Some(&self.holder), wait.0)?;
        let current = {
            let content = shared.content();
            if !content.holds(&self.id, self.fence) {
                return Err(Error::LostLease(self.id.clone()));
            }
            content.look(&self.id, known)
        };
        let mut transaction = MemoryTransaction::new(&shared);
        let next = next(&mut transaction, current)?;
        let mut content = shared.content();
        match next {
            Next::Keep => {}
            Next::Replace(pieces) => {
                let (bytes, revision) = (pieces.join(), content.number());
                let modified = (shared.clock)();
                content.documents.insert(self.id.clone(), Document { bytes, revision, modified });
            }
            Next::Remove if self.sharing == Sharing::Shared => {
                return Err(Error::Busy { id: self.id.clone(), holders: Vec::new() });
            }
            Next::Remove => {
                content.documents.remove(&self.id);
                content.end_lease(&self.id, self.fence);
            }
        }
        let stamp = content.stamp(&self.id);
        drop(content);
        transaction.commit();
        self.last = Outcome::CarriedOut(stamp);
        Ok(stamp)
    }

    fn outcome(&mut self) -> Result<Outcome> {
        Ok(self.last)
    }
}

impl Drop for MemorySession {
    fn drop(&mut self) {
        self.shared.content().end_lease(&self.id, self.fence);
        self.shared.changed.notify_all();
    }
}
