//! A process of another pid namespace, looked for among all processes that are visible here.
//!
//! A pid namespace sees the processes of all namespaces below it, by pids of its own. A process is
//! recognised there by its inode. If it is not found, that proves its death only where every process
//! of the machine is visible: in the first namespace, with a process table that hides none.
//! Otherwise it may run in a container beside ours.
//!
//! Kernels without such inodes show the pids that a process has in each of its namespaces. Another
//! process can have the same one there and the same start, so that finding it proves nothing; but a
//! process that runs would be found.

use super::{Liveness, ProcessInstance, Proof, UnknownReason};
use crate::process::{Census, Pid, ProcessSource, ReadError};

/// What a look at one process says about the one that is looked for.
enum Match {
    /// It is that one.
    Same,
    /// It may be that one.
    Possible,
    /// It is another one.
    Other,
}

impl ProcessInstance {
    /// The pid that it has in the pid namespace of `source`, if it is seen there.
    #[must_use]
    pub fn pid_here(&self, source: &dyn ProcessSource) -> Option<Pid> {
        let host = source.host().ok()?;
        if host.boot != self.boot {
            return None;
        }
        if host.namespace == self.namespace {
            return Some(self.pid);
        }
        self.find(&source.census().ok()?, source).ok().flatten()
    }

    pub(super) fn in_another_namespace(&self, source: &dyn ProcessSource) -> Liveness {
        let unknown = Liveness::Unknown(UnknownReason::AnotherNamespace);
        if self.inode.is_none() && source.clock() != self.clock {
            return unknown;
        }
        let Ok(census) = source.census() else { return unknown };
        match self.find(&census, source) {
            Ok(Some(pid)) => match source.process(pid) {
                Ok(process) => self.judge(&process, source.inode(pid), source),
                // It ended just now: the next look says so.
                Err(_) => unknown,
            },
            Ok(None) if census.is_complete => Liveness::Dead(Proof::NotFound),
            _ => unknown,
        }
    }

    /// Its pid here; `None` if no process that was listed is it; an error if one may be.
    fn find(&self, census: &Census, source: &dyn ProcessSource) -> Result<Option<Pid>, ReadError> {
        for pid in &census.pids {
            match self.compare(*pid, source) {
                Ok(Match::Same) => return Ok(Some(*pid)),
                Ok(Match::Other) => {}
                Ok(Match::Possible) => return Err(ReadError::Unsupported),
                // One that ended since the list was made is not looked for.
                Err(_) if source.exists(*pid) == Some(false) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(None)
    }

    fn compare(&self, pid: Pid, source: &dyn ProcessSource) -> Result<Match, ReadError> {
        if let Some(inode) = self.inode {
            let found = source.inode(pid).ok_or(ReadError::Unsupported)?;
            return Ok(if found == inode { Match::Same } else { Match::Other });
        }
        if source.process(pid)?.start != self.start {
            return Ok(Match::Other);
        }
        let is_possible = source.nested_pids(pid)?.contains(&self.pid);
        Ok(if is_possible { Match::Possible } else { Match::Other })
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;
    use std::path::PathBuf;

    use super::*;
    use crate::process::{FixedTable, Host, Process, StartTime, State};

    /// A table with processes of several namespaces: the pid, inode, start and pid further below.
    struct Table {
        is_complete: bool,
        has_inodes: bool,
        rows: Vec<(u32, u64, u64, u32)>,
        /// A pid that is listed and cannot be read.
        hidden: Option<u32>,
    }

    impl Table {
        fn row(&self, pid: Pid) -> Result<&(u32, u64, u64, u32), ReadError> {
            self.rows.iter().find(|row| row.0 == pid.0).ok_or(ReadError::Absent)
        }
    }

    impl ProcessSource for Table {
        fn host(&self) -> Result<Host, ReadError> {
            let namespace = "pid:[1]".into();
            Ok(Host { boot: "boot".into(), namespace, contained: !self.is_complete })
        }
        fn process(&self, pid: Pid) -> Result<Process, ReadError> {
            let start = StartTime(self.row(pid)?.2);
            let (name, state) = ("x".into(), State::Suspended);
            Ok(Process { pid, parent: Pid(1), start, name, terminal: None, session: None, state })
        }
        fn arguments(&self, _pid: Pid) -> Result<Vec<OsString>, ReadError> {
            Err(ReadError::Unsupported)
        }
        fn executable(&self, _pid: Pid) -> Result<PathBuf, ReadError> {
            Err(ReadError::Unsupported)
        }
        fn variable(&self, _pid: Pid, _name: &str) -> Result<Option<OsString>, ReadError> {
            Err(ReadError::Unsupported)
        }
        fn inode(&self, pid: Pid) -> Option<u64> {
            self.row(pid).ok().map(|row| row.1).filter(|_| self.has_inodes)
        }
        fn exists(&self, pid: Pid) -> Option<bool> {
            Some(self.row(pid).is_ok() || self.hidden == Some(pid.0))
        }
        fn census(&self) -> Result<Census, ReadError> {
            let listed = self.rows.iter().map(|row| row.0).chain(self.hidden).chain([99]);
            Ok(Census { pids: listed.map(Pid).collect(), is_complete: self.is_complete })
        }
        fn nested_pids(&self, pid: Pid) -> Result<Vec<Pid>, ReadError> {
            self.row(pid).map(|row| vec![pid, Pid(row.3)])
        }
    }

    const UNKNOWN: Liveness = Liveness::Unknown(UnknownReason::AnotherNamespace);
    const DEAD: Liveness = Liveness::Dead(Proof::NotFound);

    fn process(inode: Option<u64>) -> ProcessInstance {
        let unread = ProcessInstance::unread(Pid(7));
        let (boot, namespace) = ("boot".into(), "pid:[2]".into());
        ProcessInstance { boot, namespace, inode, start: StartTime(50), ..unread }
    }

    fn table(rows: &[(u32, u64, u64, u32)]) -> Table {
        Table { is_complete: true, has_inodes: true, rows: rows.to_vec(), hidden: None }
    }

    #[test]
    fn a_process_that_is_seen_from_outside_is_known_by_its_inode() {
        let there = table(&[(1, 1, 1, 1), (4711, 900, 80, 7)]);
        assert_eq!(process(Some(900)).liveness(&there), Liveness::Suspended);
        assert_eq!(process(Some(900)).pid_here(&there), Some(Pid(4711)));
        let partly = Table { is_complete: false, ..there };
        assert_eq!(process(Some(900)).liveness(&partly), Liveness::Suspended);
    }

    #[test]
    fn only_a_look_at_every_process_proves_an_end() {
        let gone = || table(&[(1, 1, 1, 1), (7, 901, 50, 7)]);
        assert_eq!(process(Some(900)).liveness(&gone()), DEAD);
        assert_eq!(process(Some(900)).pid_here(&gone()), None);
        for blind in [
            Table { is_complete: false, ..gone() },
            Table { hidden: Some(5), ..gone() },
            Table { has_inodes: false, ..gone() },
        ] {
            assert_eq!(process(Some(900)).liveness(&blind), UNKNOWN);
        }
        let host = Host { boot: "boot".into(), namespace: "pid:[1]".into(), contained: false };
        assert_eq!(process(Some(900)).liveness(&FixedTable::new(host)), UNKNOWN, "no list");
    }

    #[test]
    fn without_an_inode_the_start_and_the_pid_below_decide() {
        for (rows, expected) in [
            (&[(1, 0, 1, 1), (4711, 0, 50, 8)][..], DEAD),
            (&[(1, 0, 1, 1), (4711, 0, 51, 7)], DEAD),
            (&[(1, 0, 1, 1), (4711, 0, 50, 7)], UNKNOWN),
        ] {
            let there = Table { has_inodes: false, ..table(rows) };
            assert_eq!(process(None).liveness(&there), expected, "{rows:?}");
            let partly = Table { is_complete: false, ..there };
            assert_eq!(process(None).liveness(&partly), UNKNOWN, "{rows:?}");
        }
        let clock = Some("time:[2]".into());
        let other = ProcessInstance { clock, ..process(None) };
        assert_eq!(other.liveness(&table(&[(1, 0, 1, 1)])), UNKNOWN, "another clock");
    }
}
