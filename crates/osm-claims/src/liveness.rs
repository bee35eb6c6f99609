//! Whether the owner of a claim still lives: proven, or not known.
//!
//! Only a proof of death frees a claim. A look that failed, a process out of sight, an owner on
//! another machine are [`Verdict::Unknown`], and Unknown frees nothing.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Mutex, PoisonError};

use osm_identity::{Blindness, Liveness, Pid, ProcessInstance, ProcessSource};
use serde::{Deserialize, Serialize};

/// An exact process, as a ledger remembers it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Process {
    /// Its number.
    pub pid: u32,
    /// When it started, in its platform's unit.
    pub start: u64,
    /// The boot of the machine.
    pub boot: String,
    /// The pid namespace.
    pub namespace: String,
    /// The number that no other process of this boot has, where the kernel gives one.
    pub inode: Option<u64>,
    /// The machine, over all its boots.
    pub machine: Option<String>,
    /// The clock in which its start is told.
    pub clock: Option<String>,
    /// Its name, for people.
    pub name: String,
}

impl Process {
    /// Remembers a process that `source` sees.
    #[must_use]
    pub fn of(instance: &ProcessInstance, name: &str, source: &dyn ProcessSource) -> Self {
        Self {
            pid: instance.pid.0,
            start: instance.start.0,
            boot: instance.host.boot.clone(),
            namespace: instance.host.namespace.clone(),
            inode: instance.inode,
            machine: source.machine(),
            clock: source.clock(),
            name: name.to_owned(),
        }
    }

    /// Remembers the process with this number.
    pub fn with_pid(pid: u32, source: &dyn ProcessSource) -> Result<Self, osm_identity::ReadError> {
        let host = source.host()?;
        let process = source.process(Pid(pid))?;
        let instance = ProcessInstance::of(&process, &host, source);
        Ok(Self::of(&instance, &process.name, source))
    }

    /// What it has in common with no other process.
    #[must_use]
    pub fn key(&self) -> String {
        match self.inode {
            Some(inode) => format!("{}:{inode}", self.boot),
            None => format!("{}:{}:{}:{}", self.boot, self.namespace, self.pid, self.start),
        }
    }

    /// The exact process, whose life can be looked at.
    #[must_use]
    pub fn instance(&self) -> ProcessInstance {
        let Self { pid, start, boot, namespace, inode, .. } = self;
        ProcessInstance::recorded(*pid, *start, boot, namespace, *inode)
    }
}

impl fmt::Display for Process {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name: String = self.name.chars().flat_map(char::escape_debug).collect();
        write!(f, "{name} (pid {})", self.pid)
    }
}

/// What is known of a process.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// It runs.
    Alive,
    /// It is stopped, and may go on.
    Suspended,
    /// It ended: here is the proof.
    Dead(Proof),
    /// Nothing is proven: here is why.
    Unknown(Why),
}

/// Why a process must be dead.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Proof {
    /// No process has its number.
    Gone,
    /// It ended, and its parent has not collected it yet.
    Zombie,
    /// A process that started at another time has its number.
    AnotherStart,
    /// Another process has its number and even its start time.
    AnotherInode,
    /// The machine was started anew since.
    Rebooted,
}

/// Why nothing is proven.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Why {
    /// No process stands behind it.
    NoProcess,
    /// It ran on another machine, or on one without a name of its own in another boot.
    AnotherMachine,
    /// It lives in another pid namespace.
    AnotherNamespace,
    /// Its start was told in another time namespace.
    AnotherClock,
    /// The system did not tell.
    Unreadable,
}

/// Looks at processes.
pub trait Sight: Send + Sync {
    /// What is known of a process now.
    fn look(&self, process: &Process) -> Verdict;
}

/// Looks at the processes of this machine.
#[derive(Clone, Copy, Debug)]
pub struct SystemSight<S>(pub S);

impl<S: ProcessSource + Send + Sync> Sight for SystemSight<S> {
    fn look(&self, process: &Process) -> Verdict {
        judge(process, &process.instance().liveness(&self.0), &self.0)
    }
}

/// Looks at each process once, for the length of one transaction over many claims of a few owners:
/// the dead stay dead, and whoever lived when it was looked at keeps what it has.
pub(crate) struct Remembered<'a> {
    sight: &'a dyn Sight,
    seen: Mutex<HashMap<String, Verdict>>,
}

impl<'a> Remembered<'a> {
    pub(crate) fn new(sight: &'a dyn Sight) -> Self {
        Self { sight, seen: Mutex::default() }
    }
}

impl Sight for Remembered<'_> {
    fn look(&self, process: &Process) -> Verdict {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.entry(process.key()).or_insert_with(|| self.sight.look(process)).clone()
    }
}

fn judge(process: &Process, liveness: &Liveness, source: &dyn ProcessSource) -> Verdict {
    use osm_identity::Proof as Seen;
    match liveness {
        Liveness::Alive => Verdict::Alive,
        Liveness::Suspended => Verdict::Suspended,
        Liveness::Zombie => Verdict::Dead(Proof::Zombie),
        Liveness::Dead(Seen::Gone) => Verdict::Dead(Proof::Gone),
        Liveness::Dead(Seen::AnotherInode(_)) => Verdict::Dead(Proof::AnotherInode),
        // Start times of two clocks cannot be compared.
        Liveness::Dead(Seen::AnotherStart(_)) if source.clock() != process.clock => {
            Verdict::Unknown(Why::AnotherClock)
        }
        Liveness::Dead(Seen::AnotherStart(_)) => Verdict::Dead(Proof::AnotherStart),
        Liveness::NotVisible(Blindness::AnotherBoot) => {
            match (source.machine(), &process.machine) {
                (Some(here), Some(there)) if here == *there => Verdict::Dead(Proof::Rebooted),
                _ => Verdict::Unknown(Why::AnotherMachine),
            }
        }
        Liveness::NotVisible(Blindness::AnotherNamespace) => {
            Verdict::Unknown(Why::AnotherNamespace)
        }
        // What a later version may see is no proof to this one.
        _ => Verdict::Unknown(Why::Unreadable),
    }
}

impl Verdict {
    /// The stable name, for machines.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Alive => "alive",
            Self::Suspended => "suspended",
            Self::Dead(_) => "dead",
            Self::Unknown(_) => "unknown",
        }
    }

    /// What it rests on, for people and for the log.
    #[must_use]
    pub fn evidence(&self) -> &'static str {
        match self {
            Self::Alive => "its process runs",
            Self::Suspended => "its process is stopped and may go on",
            Self::Dead(proof) => proof.text(),
            Self::Unknown(why) => why.text(),
        }
    }
}

impl fmt::Display for Verdict {
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
        }
    }

    fn text(self) -> &'static str {
        match self {
            Self::Gone => "no process has its pid",
            Self::Zombie => "its process ended and waits for its parent",
            Self::AnotherStart => "its pid belongs to a process that started at another time",
            Self::AnotherInode => "its pid belongs to another process",
            Self::Rebooted => "the machine was started anew since",
        }
    }
}

impl Why {
    /// The stable name, for machines.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::NoProcess => "no-process",
            Self::AnotherMachine => "another-machine",
            Self::AnotherNamespace => "another-namespace",
            Self::AnotherClock => "another-clock",
            Self::Unreadable => "unreadable",
        }
    }

    fn text(self) -> &'static str {
        match self {
            Self::NoProcess => "no process stands behind it",
            Self::AnotherMachine => "its process ran on another machine",
            Self::AnotherNamespace => "its process lives in another pid namespace",
            Self::AnotherClock => "its start was told in another time namespace",
            Self::Unreadable => "its process cannot be looked at",
        }
    }
}
