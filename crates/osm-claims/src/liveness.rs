//! How the ledger sees whether the owner of a claim is still running.
//!
//! Only a proof of death frees a claim. A failed read, a process that cannot be seen and an owner
//! on another machine are [`Liveness::Unknown`], and Unknown frees nothing.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use osm_identity::{Liveness, ProcessInstance, ProcessSource};

/// Observes processes.
pub trait Sight: Send + Sync {
    /// What is known about a process now.
    fn look(&self, process: &ProcessInstance) -> Liveness;
}

/// Observes the processes of this machine.
#[derive(Clone, Copy, Debug)]
pub struct SystemSight<S>(pub S);

impl<S: ProcessSource + Send + Sync> Sight for SystemSight<S> {
    fn look(&self, process: &ProcessInstance) -> Liveness {
        process.liveness(&self.0)
    }
}

/// Observes each process once, for the length of one transaction over many claims of a few owners:
/// the dead stay dead, and an owner that was alive when it was observed keeps its claims.
pub(crate) struct Remembered<'a> {
    sight: &'a dyn Sight,
    seen: Mutex<HashMap<String, Liveness>>,
}

impl<'a> Remembered<'a> {
    pub(crate) fn new(sight: &'a dyn Sight) -> Self {
        Self { sight, seen: Mutex::default() }
    }
}

impl Sight for Remembered<'_> {
    fn look(&self, process: &ProcessInstance) -> Liveness {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        *seen.entry(process.key()).or_insert_with(|| self.sight.look(process))
    }
}
