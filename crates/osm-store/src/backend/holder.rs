//! The processes that hold a session or a lock, as they register themselves.

use std::fmt;

use jiff::Timestamp;
use osm_identity::{Liveness, Pid, ProcessInstance, ProcessSource};
use serde::{Deserialize, Serialize};

/// The process that holds a session or a lock, as other processes read it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
    /// The exact process.
    #[serde(flatten)]
    pub process: ProcessInstance,
    /// The machine's name, for people.
    pub host: String,
    /// Since when it holds.
    pub since: Timestamp,
    /// The command that it runs, for people.
    pub command: String,
}

impl Holder {
    /// The process `pid`, as other processes will know it. `host` is the machine's name.
    #[must_use]
    pub fn new(
        source: &dyn ProcessSource,
        pid: Pid,
        host: String,
        since: Timestamp,
        command: String,
    ) -> Self {
        let process = match (source.process(pid), source.host()) {
            (Ok(row), Ok(host)) => ProcessInstance::of(&row, &host, source).with_clock(source),
            _ => ProcessInstance::unread(pid),
        };
        Self { process, host, since, command }
    }
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "process {} on {} (`{}`, since {})",
            self.process.pid, self.host, self.command, self.since
        )
    }
}

/// A holder and whether it still runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HolderState {
    /// The holder.
    pub holder: Holder,
    /// What was observed.
    pub liveness: Liveness,
}

impl HolderState {
    /// Checks whether a holder still runs.
    #[must_use]
    pub fn look(holder: Holder, source: &dyn ProcessSource) -> Self {
        let liveness = holder.process.liveness(source);
        Self { holder, liveness }
    }

    /// Its death is proven.
    #[must_use]
    pub fn is_dead(&self) -> bool {
        self.liveness.is_dead()
    }
}

impl fmt::Display for HolderState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is {}", self.holder, self.liveness)
    }
}
