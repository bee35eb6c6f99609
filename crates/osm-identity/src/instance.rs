//! An exact process, and whether it is still running.
//!
//! The kernel reuses pids. A process is told from all others, past and future, by its pid and start
//! time within one boot and one pid namespace; where two processes can start within one clock tick,
//! the inode that Linux gives every process decides. [`ProcessInstance`] is the one record of this:
//! lock files, session documents, the claims ledger and `--json` all write it. A process is dead
//! only if that is *proven*: not seeing it proves its death only if it could not have been missed.

mod search;

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::process::{Host, Pid, Process, ProcessSource, ReadError, StartTime, State};

/// An exact process, as it is detected and as it is stored.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ProcessInstance {
    /// Its pid.
    pub pid: Pid,
    /// When it started.
    pub start: StartTime,
    /// The boot of its machine; empty if unknown, which no boot is.
    pub boot: String,
    /// Its pid namespace; empty where the platform has none.
    pub namespace: String,
    /// The number that no other process of this boot has, where the kernel gives one.
    #[serde(default)]
    pub inode: Option<u64>,
    /// The machine, across all its boots: without it, another boot proves nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<String>,
    /// When it was seen running, in seconds since 1970 by the wall clock: without it, another boot
    /// proves nothing either.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seen: Option<u64>,
    /// The clock that counts its start time: start times of two clocks cannot be compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock: Option<String>,
    /// Its name, for people; a process can change it at any time.
    #[serde(default)]
    pub name: String,
}

/// What is known about an instance now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Liveness {
    /// It is running.
    Alive,
    /// It is stopped, and can continue.
    Suspended,
    /// It ended: the proof.
    Dead(Proof),
    /// Nothing is proven: the reason.
    Unknown(UnknownReason),
}

/// Why a process must be dead.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Proof {
    /// No process has its pid.
    Gone,
    /// It ended, and its parent has not collected it yet.
    Zombie,
    /// A process that started at another time has its pid.
    AnotherStart,
    /// Another process has its pid and even its start time.
    AnotherInode,
    /// The machine was restarted since it was seen.
    Rebooted,
    /// It was in another pid namespace, and all processes of the machine were looked at.
    NotFound,
}

/// Why neither life nor death of a process is proven.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnknownReason {
    /// No process is recorded.
    NoProcess,
    /// It ran on another machine, or in another boot of a machine without an id.
    AnotherMachine,
    /// It has another boot's id, but was not seen before this machine started: a container can have
    /// a boot id that is not the machine's, and copies of a machine can have its id.
    AnotherBoot,
    /// It is in another pid namespace, and may be out of sight.
    AnotherNamespace,
    /// Its start time was counted by another clock (a time namespace).
    AnotherClock,
    /// The system did not answer.
    Unreadable(ReadError),
}

impl ProcessInstance {
    /// The instance that `process` is. Machine and clock cost further reads, which detection does
    /// not need: see [`with_clock`](Self::with_clock) and [`with_machine`](Self::with_machine).
    #[must_use]
    pub fn of(process: &Process, host: &Host, source: &dyn ProcessSource) -> Self {
        Self {
            pid: process.pid,
            start: process.start,
            boot: host.boot.clone(),
            namespace: host.namespace.clone(),
            inode: source.inode(process.pid),
            machine: None,
            seen: None,
            clock: None,
            name: process.name.clone(),
        }
    }

    /// The process that has this pid now, with its machine and clock.
    pub fn with_pid(pid: u32, source: &dyn ProcessSource) -> Result<Self, ReadError> {
        let host = source.host()?;
        let process = source.process(Pid(pid))?;
        Ok(Self::of(&process, &host, source).with_clock(source).with_machine(source))
    }

    /// A process that could not be read: nothing will ever prove its death.
    #[must_use]
    pub fn unread(pid: Pid) -> Self {
        Self {
            pid,
            start: StartTime(0),
            boot: String::new(),
            namespace: String::new(),
            inode: None,
            machine: None,
            seen: None,
            clock: None,
            name: String::new(),
        }
    }

    /// Adds the clock of `source`, so that readers in other time namespaces are not misled.
    #[must_use]
    pub fn with_clock(self, source: &dyn ProcessSource) -> Self {
        Self { clock: source.clock(), ..self }
    }

    /// Adds the machine of `source` and the time, so that a reboot proves the death of the process.
    #[must_use]
    pub fn with_machine(self, source: &dyn ProcessSource) -> Self {
        let seen = source.boot_clock().map(|clock| clock.now);
        Self { machine: source.machine(), seen, ..self }
    }

    /// The same process, known to have run at that time, too.
    #[must_use]
    pub fn seen_at(self, time: u64) -> Self {
        Self { seen: self.seen.max(Some(time)), ..self }
    }

    /// A text that no other process shares.
    #[must_use]
    pub fn key(&self) -> String {
        match self.inode {
            Some(inode) => format!("{}:{inode}", self.boot),
            None => format!("{}:{}:{}:{}", self.boot, self.namespace, self.pid, self.start),
        }
    }

    /// Whether it is still running, as `source` sees it.
    #[must_use]
    pub fn liveness(&self, source: &dyn ProcessSource) -> Liveness {
        match source.host() {
            Err(error) => return Liveness::Unknown(UnknownReason::Unreadable(error)),
            Ok(host) if host.boot != self.boot => return self.in_another_boot(source),
            Ok(host) if host.namespace != self.namespace => {
                return self.in_another_namespace(source);
            }
            Ok(_) => {}
        }
        // The inode is read first and the row last: a process that takes the pid in between is
        // younger, and shows in the row.
        let inode = source.inode(self.pid);
        match source.process(self.pid) {
            Ok(process) => self.judge(&process, inode, source),
            // Hidden and absent look alike in the table; only the system itself can tell.
            Err(ReadError::Absent) if source.exists(self.pid) == Some(false) => {
                Liveness::Dead(Proof::Gone)
            }
            Err(error) => Liveness::Unknown(UnknownReason::Unreadable(error)),
        }
    }

    fn in_another_boot(&self, source: &dyn ProcessSource) -> Liveness {
        match (&self.machine, source.machine()) {
            (Some(there), Some(here)) if *there == here => {}
            _ => return Liveness::Unknown(UnknownReason::AnotherMachine),
        }
        match (self.seen, source.boot_clock()) {
            (Some(seen), Some(clock)) if seen < clock.started => Liveness::Dead(Proof::Rebooted),
            _ => Liveness::Unknown(UnknownReason::AnotherBoot),
        }
    }

    /// Decides by the row that has its pid now.
    fn judge(&self, process: &Process, inode: Option<u64>, source: &dyn ProcessSource) -> Liveness {
        match (self.inode, inode) {
            (Some(ours), Some(theirs)) if ours != theirs => {
                return Liveness::Dead(Proof::AnotherInode);
            }
            // The same process, even if its start looks different from a time namespace.
            (Some(_), Some(_)) => {}
            _ if process.start == self.start => {}
            _ if source.clock() != self.clock => {
                return Liveness::Unknown(UnknownReason::AnotherClock);
            }
            _ => return Liveness::Dead(Proof::AnotherStart),
        }
        match process.state {
            State::Active => Liveness::Alive,
            State::Suspended => Liveness::Suspended,
            State::Zombie => Liveness::Dead(Proof::Zombie),
        }
    }
}

impl fmt::Display for ProcessInstance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A process chooses its own name, so it may hold anything.
        let name: String = self.name.chars().flat_map(char::escape_debug).collect();
        write!(f, "{name} (pid {})", self.pid)
    }
}

impl Liveness {
    /// Whether its death is proven.
    #[must_use]
    pub fn is_dead(self) -> bool {
        matches!(self, Self::Dead(_))
    }

    /// The stable name, for machines.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Alive => "alive",
            Self::Suspended => "suspended",
            Self::Dead(_) => "dead",
            Self::Unknown(_) => "unknown",
        }
    }

    /// What it rests on, for people and for logs.
    #[must_use]
    pub fn evidence(self) -> &'static str {
        match self {
            Self::Alive => "its process is running",
            Self::Suspended => "its process is stopped and can continue",
            Self::Dead(proof) => proof.text(),
            Self::Unknown(reason) => reason.text(),
        }
    }
}

impl fmt::Display for Liveness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Alive | Self::Suspended => f.write_str(self.name()),
            Self::Dead(_) | Self::Unknown(_) => write!(f, "{}: {}", self.name(), self.evidence()),
        }
    }
}

impl Proof {
    /// The stable name, for machines.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Gone => "gone",
            Self::Zombie => "zombie",
            Self::AnotherStart => "another-start",
            Self::AnotherInode => "another-inode",
            Self::Rebooted => "rebooted",
            Self::NotFound => "not-found",
        }
    }

    fn text(self) -> &'static str {
        match self {
            Self::Gone => "no process has its pid",
            Self::Zombie => "its process has ended and is a zombie",
            Self::AnotherStart => "its pid belongs to a process that started at another time",
            Self::AnotherInode => "its pid belongs to another process",
            Self::Rebooted => "the machine has restarted since then",
            Self::NotFound => "it is not among the processes of all pid namespaces",
        }
    }
}

impl UnknownReason {
    /// The stable name, for machines.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::NoProcess => "no-process",
            Self::AnotherMachine => "another-machine",
            Self::AnotherBoot => "another-boot",
            Self::AnotherNamespace => "another-namespace",
            Self::AnotherClock => "another-clock",
            Self::Unreadable(_) => "unreadable",
        }
    }

    fn text(self) -> &'static str {
        match self {
            Self::NoProcess => "it has no process",
            Self::AnotherMachine => "its process ran in another boot or on another machine",
            Self::AnotherBoot => {
                "its process has another boot id, and this machine was not restarted since"
            }
            Self::AnotherNamespace => "its process is in another pid namespace",
            Self::AnotherClock => "its start time was counted in another time namespace",
            Self::Unreadable(_) => "its process cannot be read",
        }
    }
}

#[cfg(test)]
mod tests;
