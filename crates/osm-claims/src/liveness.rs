//! How the ledger sees whether the owner of a claim is still running.
//!
//! Only a proof of death frees a claim. A failed read, a process that cannot be seen and an owner
//! on another machine are [`Liveness::Unknown`], and Unknown frees nothing.

pub(crate) mod ends;

use std::collections::HashMap;

use osm_identity::{Liveness, ProcessInstance, ProcessSource, UnknownReason};

use crate::claim::{Claim, Hold};
use crate::owner::OwnerId;

pub use self::ends::Ends;

/// Observes processes.
pub trait LivenessProbe: Send + Sync {
    /// What is known about a process now.
    fn look(&self, process: &ProcessInstance) -> Liveness;
}

/// Observes the processes of this machine.
#[derive(Clone, Copy, Debug)]
pub struct SystemProbe<S>(pub S);

impl<S: ProcessSource + Send + Sync> LivenessProbe for SystemProbe<S> {
    fn look(&self, process: &ProcessInstance) -> Liveness {
        process.liveness(&self.0)
    }
}

/// What is known of the owners of many claims, for the length of one transaction.
///
/// Each process is looked at once: a few owners have many claims, the dead stay dead, and an owner
/// that was alive at the look keeps its claims.
pub(crate) struct Verdicts<'a> {
    probe: &'a dyn LivenessProbe,
    owners: HashMap<OwnerId, Liveness>,
    processes: HashMap<String, Liveness>,
}

impl<'a> Verdicts<'a> {
    pub(crate) fn new(probe: &'a dyn LivenessProbe) -> Self {
        Self { probe, owners: HashMap::new(), processes: HashMap::new() }
    }

    /// What is known of a process.
    pub(crate) fn look(&mut self, process: &ProcessInstance) -> Liveness {
        *self.processes.entry(process.key()).or_insert_with(|| self.probe.look(process))
    }

    /// What is known of the process that keeps a claim.
    pub(crate) fn of(&mut self, claim: &Claim) -> Liveness {
        let Some(process) = claim.process() else {
            return Liveness::Unknown(UnknownReason::NoProcess);
        };
        // The grant is newer than the owner's record, and both say that the process ran then.
        let granted = u64::try_from(claim.since.as_second()).unwrap_or(0);
        let look = || self.probe.look(&process.clone().seen_at(granted));
        match claim.hold {
            Hold::Process(_) | Hold::ProcessLease(..) => {
                *self.processes.entry(process.key()).or_insert_with(look)
            }
            _ => *self.owners.entry(claim.owner.id).or_insert_with(look),
        }
    }
}
