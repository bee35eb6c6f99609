//! One exact process, and whether it still lives.
//!
//! A pid is a number that comes back. A process is told from all others, past and future, by its
//! pid and start time within one boot and one pid namespace; where two processes can start within
//! one clock tick, the inode that Linux gives every process decides. Liveness is *proven*: a look
//! that shows nothing is only a proof of death if it could not have missed the process.

use std::fmt;

use crate::process::{Host, Pid, Process, ProcessSource, ReadError, StartTime, State};

/// An exact process.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ProcessInstance {
    /// Its number.
    pub pid: Pid,
    /// When it started.
    pub start: StartTime,
    /// Where both of these count.
    pub host: Host,
    /// The number that no other process of this boot has, where the kernel gives one.
    pub inode: Option<u64>,
}

/// What can be said of an instance now.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Liveness {
    /// It runs.
    Alive,
    /// It is stopped, and may go on.
    Suspended,
    /// It ended, and its parent has not collected it yet.
    Zombie,
    /// It ended: here is the proof.
    Dead(Proof),
    /// It cannot be seen from here, so nothing is proven.
    NotVisible(Blindness),
}

/// Why a process must be dead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Proof {
    /// No process has its number.
    Gone,
    /// A process that started at another time has its number.
    AnotherStart(StartTime),
    /// Another process has its number and even its start time.
    AnotherInode(u64),
}

/// Why a process cannot be seen.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Blindness {
    /// It was started in another boot, or on another machine.
    AnotherBoot,
    /// It lives in another pid namespace.
    AnotherNamespace,
    /// The system did not tell.
    Unreadable(ReadError),
}

impl ProcessInstance {
    /// The instance that `process` is.
    #[must_use]
    pub fn of(process: &Process, host: &Host, source: &dyn ProcessSource) -> Self {
        Self {
            pid: process.pid,
            start: process.start,
            host: host.clone(),
            inode: source.inode(process.pid),
        }
    }

    /// The instance that somebody wrote down: what it takes to know it again.
    #[must_use]
    pub fn recorded(pid: u32, start: u64, boot: &str, namespace: &str, inode: Option<u64>) -> Self {
        let (boot, namespace) = (boot.to_owned(), namespace.to_owned());
        Self {
            pid: Pid(pid),
            start: StartTime(start),
            host: Host { boot, namespace, contained: false },
            inode,
        }
    }

    /// Looks whether it still lives.
    #[must_use]
    pub fn liveness(&self, source: &dyn ProcessSource) -> Liveness {
        match source.host() {
            Err(error) => return Liveness::NotVisible(Blindness::Unreadable(error)),
            Ok(host) if host.boot != self.host.boot => {
                return Liveness::NotVisible(Blindness::AnotherBoot);
            }
            Ok(host) if host.namespace != self.host.namespace => {
                return Liveness::NotVisible(Blindness::AnotherNamespace);
            }
            Ok(_) => {}
        }
        // The inode is read first and the row last: whatever takes the number in between is
        // younger, and shows in the row.
        let inode = source.inode(self.pid);
        match source.process(self.pid) {
            Ok(process) => self.judge(&process, inode),
            // Hidden and absent look alike in the table; only the system itself can tell.
            Err(ReadError::Absent) if source.exists(self.pid) == Some(false) => {
                Liveness::Dead(Proof::Gone)
            }
            Err(error) => Liveness::NotVisible(Blindness::Unreadable(error)),
        }
    }

    /// Decides on what a look showed.
    fn judge(&self, process: &Process, inode: Option<u64>) -> Liveness {
        match (self.inode, inode) {
            (Some(ours), Some(theirs)) if ours != theirs => {
                return Liveness::Dead(Proof::AnotherInode(theirs));
            }
            // The same process, even if its start looks different from a time namespace.
            (Some(_), Some(_)) => {}
            _ if process.start != self.start => {
                return Liveness::Dead(Proof::AnotherStart(process.start));
            }
            _ => {}
        }
        match process.state {
            State::Active => Liveness::Alive,
            State::Suspended => Liveness::Suspended,
            State::Zombie => Liveness::Zombie,
        }
    }
}

impl fmt::Display for Liveness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Alive => f.write_str("alive"),
            Self::Suspended => f.write_str("suspended"),
            Self::Zombie => f.write_str("dead: a zombie"),
            Self::Dead(Proof::Gone) => f.write_str("dead: no process has its pid"),
            Self::Dead(Proof::AnotherStart(start)) => {
                write!(f, "dead: its pid belongs to a process that started at {start}")
            }
            Self::Dead(Proof::AnotherInode(inode)) => {
                write!(f, "dead: its pid belongs to another process (inode {inode})")
            }
            Self::NotVisible(Blindness::AnotherBoot) => {
                f.write_str("not visible: another boot or machine")
            }
            Self::NotVisible(Blindness::AnotherNamespace) => {
                f.write_str("not visible: another pid namespace")
            }
            Self::NotVisible(Blindness::Unreadable(error)) => write!(f, "not visible: {error}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::FixedTable;

    fn host() -> Host {
        Host { boot: "boot".into(), namespace: "pid:[1]".into(), contained: false }
    }

    fn process(state: State) -> Process {
        Process {
            pid: Pid(7),
            parent: Pid(1),
            start: StartTime(50),
            name: "x".into(),
            terminal: None,
            session: None,
            state,
        }
    }

    fn instance() -> ProcessInstance {
        ProcessInstance { pid: Pid(7), start: StartTime(50), host: host(), inode: Some(900) }
    }

    fn liveness(table: &FixedTable) -> Liveness {
        instance().liveness(table)
    }

    #[test]
    fn states() {
        for (state, expected) in [
            (State::Active, Liveness::Alive),
            (State::Suspended, Liveness::Suspended),
            (State::Zombie, Liveness::Zombie),
        ] {
            let table = FixedTable::new(host()).with(process(state), &[]);
            assert_eq!(liveness(&table), expected);
        }
    }

    #[test]
    fn a_number_that_came_back_is_somebody_else() {
        let mut other = process(State::Active);
        other.start = StartTime(51);
        let table = FixedTable::new(host()).with(other, &[]);
        assert_eq!(liveness(&table), Liveness::Dead(Proof::AnotherStart(StartTime(51))));
        assert_eq!(
            instance().judge(&process(State::Active), Some(901)),
            Liveness::Dead(Proof::AnotherInode(901)),
            "also within one clock tick"
        );
        let mut shifted = process(State::Active);
        shifted.start = StartTime(10_050);
        assert_eq!(
            instance().judge(&shifted, Some(900)),
            Liveness::Alive,
            "seen from another time namespace"
        );
    }

    #[test]
    fn absence_is_proven_only_where_we_could_have_seen() {
        assert_eq!(liveness(&FixedTable::new(host())), Liveness::Dead(Proof::Gone));
        let elsewhere = Host { namespace: "pid:[2]".into(), ..host() };
        assert_eq!(
            liveness(&FixedTable::new(elsewhere)),
            Liveness::NotVisible(Blindness::AnotherNamespace)
        );
        let later = Host { boot: "other".into(), ..host() };
        assert_eq!(liveness(&FixedTable::new(later)), Liveness::NotVisible(Blindness::AnotherBoot));
    }
}
