//! Waiting for a claim to become free.

use std::time::{Duration, Instant};

use super::Claims;
use crate::error::{Error, Result};
use crate::ledger::Watch;
use crate::liveness::{Process, Verdict};
use crate::refusal::{Reason, Refused};

/// The longest sleep, in case that a change is not told of.
const AT_MOST: Duration = Duration::from_secs(5);

/// So many processes are watched at once, for each needs an open file. Others are looked at again
/// after the longest sleep.
const MOST_WATCHED: usize = 256;

impl Claims {
    /// Tries again and again, each time that something may have changed, until it is not refused
    /// for being somebody else's or the time is over.
    ///
    /// A release, a death and the end of a lease are all noticed at once.
    pub fn wait<T>(&self, time: Duration, mut attempt: impl FnMut() -> Result<T>) -> Result<T> {
        let until = Instant::now() + time;
        // The watch begins before the first look, so nothing falls in between.
        let mut watch = self.ledger.watch()?;
        loop {
            let refused = match attempt() {
                Err(Error::Refused(refused)) if can_change(refused.reason) => refused,
                settled => return settled,
            };
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(Error::Refused(refused));
            }
            let lease = refused.left.unwrap_or(AT_MOST);
            let processes: Vec<&Process> =
                life(&refused).into_iter().chain(&refused.others).collect();
            watch.wait(&processes, &*self.sight, left.min(lease).min(AT_MOST))?;
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
        process: &Process,
        time: Duration,
    ) -> Result<()> {
        watch.wait(&[process], &*self.sight, time)?;
        // A write is told of before it can be read, so whoever writes is let finish. If that takes
        // too long, there is nothing to be read yet.
        drop(self.ledger.write(&mut |_| Ok(())));
        Ok(())
    }
}

/// The process whose end would change a refusal; one that has ended changes nothing any more.
fn life(refused: &Refused) -> Option<&Process> {
    let lives = matches!(refused.verdict, Some(Verdict::Alive | Verdict::Suspended));
    refused.claim.as_ref().filter(|_| lives)?.process()
}

/// Notes what could free one of several candidates: the end of a process, or of a lease.
pub(super) fn note(none: &mut Refused, refused: &Refused) {
    let known = &mut none.others;
    if let Some(process) =
        life(refused).filter(|it| known.len() < MOST_WATCHED && !known.contains(it))
    {
        known.push(process.clone());
    }
    none.left = none.left.into_iter().chain(refused.left).min();
}

/// Whether time alone can change a refusal.
fn can_change(reason: Reason) -> bool {
    matches!(
        reason,
        Reason::Held | Reason::Suspended | Reason::Unknown | Reason::Reserved | Reason::NothingFree
    )
}
