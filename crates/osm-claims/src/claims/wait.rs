//! Waiting for a claim to become free.

use std::time::{Duration, Instant};

use super::Claims;
use crate::error::{Error, Result};
use crate::ledger::Watch;
use crate::refusal::{Reason, Refused};
use osm_identity::ProcessInstance;

/// The longest sleep, in case that a change is not told of.
const AT_MOST: Duration = Duration::from_secs(5);

/// So many processes can be watched; with more, the longest sleep is a short one.
const MOST_HOLDERS: usize = 256;
const SHORT: Duration = Duration::from_millis(50);

impl Claims {
    /// Tries again and again, each time that something may have changed, until it is not refused
    /// for being somebody else's or the time is over.
    ///
    /// A release, a death, and the end of a lease or of an offer are all noticed at once.
    pub fn wait<T>(&self, time: Duration, mut attempt: impl FnMut() -> Result<T>) -> Result<T> {
        let until = Instant::now() + time;
        // The watch begins before the first look, so nothing falls in between.
        let mut watch = self.ledger.watch()?;
        loop {
            let refused = match attempt() {
                Err(Error::Refused(refused)) if can_change(&refused) => refused,
                settled => return settled,
            };
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(Error::Refused(refused));
            }
            let living = refused.living();
            let holders: Vec<&ProcessInstance> = living.iter().take(MOST_HOLDERS).collect();
            let longest = if living.len() > MOST_HOLDERS { SHORT } else { AT_MOST };
            let lease = refused.left.unwrap_or(longest);
            watch.wait(&holders, &*self.sight, left.min(lease).min(longest))?;
        }
    }

    /// Begins to watch for changes.
    pub fn watch(&self) -> Result<Box<dyn Watch + '_>> {
        self.ledger.watch()
    }

    /// Waits until something was written, the process is no longer what it was, or the time is
    /// over.
    pub fn watch_for(
        &self,
        watch: &mut dyn Watch,
        process: &ProcessInstance,
        time: Duration,
    ) -> Result<()> {
        watch.wait(&[process], &*self.sight, time)?;
        // A write is told of before it can be read, so whoever writes is let finish. If that takes
        // too long, there is nothing to be read yet.
        drop(self.ledger.write(&mut |_| Ok(())));
        Ok(())
    }
}

/// Whether time alone can change a refusal.
pub(super) fn can_change(refused: &Refused) -> bool {
    match refused.reason {
        Reason::Held
        | Reason::Suspended
        | Reason::Unknown
        | Reason::Reserved
        | Reason::NotOffered => true,
        // What is done stays done, and what the caller has is not free for it.
        Reason::NothingFree => {
            let waits = |it: &(Reason, usize)| {
                matches!(it.0, Reason::Suspended | Reason::Unknown | Reason::Reserved)
            };
            !refused.holders.is_empty() || refused.left.is_some() || refused.tally.iter().any(waits)
        }
        _ => false,
    }
}
