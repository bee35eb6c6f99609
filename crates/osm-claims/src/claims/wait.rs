//! Waiting for a claim to become free.

use std::time::{Duration, Instant};

use super::Claims;
use crate::error::{Error, Result};
use crate::ledger::Watch;
use osm_identity::ProcessInstance;

/// The longest sleep, in case a notification is lost.
const AT_MOST: Duration = Duration::from_secs(5);

/// The most processes that are watched; with more, sleeps are short.
const MOST_HOLDERS: usize = 256;
const SHORT: Duration = Duration::from_millis(50);

impl Claims {
    /// Repeats an attempt after each change until it is not refused for a reason that time can
    /// change, or until the time is over.
    ///
    /// A release, a death, and the end of a lease or of an offer all wake it at once, and so does a
    /// signal that this thread handles: an attempt can return [`Error::Interrupted`] then.
    pub fn wait<T>(&self, time: Duration, mut attempt: impl FnMut() -> Result<T>) -> Result<T> {
        let until = Instant::now() + time;
        // The watch starts before the first look, so that no change falls in between.
        let mut watch = self.ledger.watch()?;
        loop {
            let refused = match attempt() {
                Err(Error::Refused(refused)) if refused.can_change() => refused,
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
            watch.wait(&holders, &*self.probe, left.min(lease).min(longest))?;
        }
    }

    /// Starts to watch for changes.
    pub fn watch(&self) -> Result<Box<dyn Watch + '_>> {
        self.ledger.watch()
    }

    /// Waits until a change can be read, the process ended, or the time is over.
    pub fn watch_for(
        &self,
        watch: &mut dyn Watch,
        process: &ProcessInstance,
        time: Duration,
    ) -> Result<()> {
        watch.wait(&[process], &*self.probe, time)
    }
}
