//! The walk: from ourselves to the top of the process tree.
//!
//! A process table is read while it changes, and pids are reused. So each step is checked: a
//! parent that started after its child is a stranger that was given a dead parent's number, and
//! the walk ends below it. It also ends at a hundred steps, at a cycle, and at anything that
//! cannot be read; [`End`] says which, because *why* the walk ended decides what may be concluded.
//!
//! A process whose parent ended is given to a reaper, but stays in its session (`setsid`), and every
//! process of a session descends from its leader. So the walk goes on there, across a [`gap`]: the
//! processes in between are gone.
//!
//! [`gap`]: Ancestry::gap
//!
//! Processes are read when they are asked for, one read each: most questions are answered a few
//! steps up.

use crate::process::{Pid, Process, ProcessSource, ReadError, State};

/// How far the walk goes.
pub const MOST_STEPS: usize = 100;

/// The first process of a pid namespace.
const FIRST: Pid = Pid(1);

/// Why the walk ended.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum End {
    /// The topmost process has no parent.
    Top,
    /// A parent's number belongs to a younger process now.
    Recycled(Pid),
    /// A process could not be read.
    Unreadable(Pid, ReadError),
    /// The chain met itself.
    Cycle(Pid),
    /// [`MOST_STEPS`] were made.
    TooDeep,
}

impl std::fmt::Display for End {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Top => f.write_str("the top of the process tree"),
            Self::Recycled(pid) => {
                write!(f, "pid {pid} was recycled: the process there is younger than its child")
            }
            Self::Unreadable(pid, error) => write!(f, "process {pid}: {error}"),
            Self::Cycle(pid) => write!(f, "process {pid} is its own ancestor"),
            Self::TooDeep => write!(f, "more than {MOST_STEPS} ancestors"),
        }
    }
}

/// A process and its ancestors, read only as far as needed.
pub struct Ancestry<'a> {
    source: &'a dyn ProcessSource,
    contained: bool,
    /// Outside a container PID 1 is the end, whatever it is called.
    stops_below_first: bool,
    chain: Vec<Process>,
    gap: Option<usize>,
    end: Option<End>,
}

impl<'a> Ancestry<'a> {
    /// Begins at `pid`; `contained` says that PID 1 is a container's own (see
    /// [`Host`](crate::Host)).
    #[must_use]
    pub fn new(source: &'a dyn ProcessSource, pid: Pid, contained: bool) -> Self {
        let stops_below_first = false;
        let mut ancestry =
            Self { source, contained, stops_below_first, chain: Vec::new(), gap: None, end: None };
        match source.process(pid) {
            Ok(process) => ancestry.chain.push(process),
            Err(error) => ancestry.end = Some(End::Unreadable(pid, error)),
        }
        ancestry
    }

    /// Leaves PID 1 unread where it cannot be an anchor: one read less, on every call.
    pub(crate) fn stop_below_first(&mut self) {
        self.stops_below_first = !self.contained;
    }

    /// The process `steps` above the first, which itself is 0.
    pub fn get(&mut self, steps: usize) -> Option<&Process> {
        while self.chain.len() <= steps && self.end.is_none() {
            match self.next() {
                Ok(Next::Parent(process)) => self.chain.push(process),
                Ok(Next::Leader(process)) => {
                    self.gap.get_or_insert(self.chain.len());
                    self.chain.push(process);
                }
                Err(end) => self.end = Some(end),
            }
        }
        self.chain.get(steps)
    }

    fn next(&self) -> Result<Next, End> {
        let child = self.chain.last().ok_or(End::Top)?;
        if self.chain.len() > MOST_STEPS {
            return Err(End::TooDeep);
        }
        match self.parent(child) {
            Ok(parent) if is_parent(child, &parent) => Ok(Next::Parent(parent)),
            Err(end @ End::Cycle(_)) => Err(end),
            adopted => match self.leader(child) {
                Some(leader) => Ok(Next::Leader(leader)),
                None => adopted.map(Next::Parent),
            },
        }
    }

    /// The process that a process names as its parent.
    fn parent(&self, child: &Process) -> Result<Process, End> {
        let outside = child.parent == Pid(0) && child.pid != FIRST;
        let parent = if outside && self.contained {
            // Started from outside the container (`docker exec`, `nsenter`): what is above us in
            // here is the container itself.
            FIRST
        } else {
            child.parent
        };
        // Right above us it must be read: whether it can be is what tells us blind.
        let unread = self.stops_below_first && parent == FIRST && self.chain.len() > 1;
        if parent == Pid(0) || unread {
            return Err(End::Top);
        }
        if self.has(parent) {
            return Err(End::Cycle(parent));
        }
        let process =
            self.source.process(parent).map_err(|error| End::Unreadable(parent, error))?;
        if process.start > child.start {
            return Err(End::Recycled(parent));
        }
        Ok(process)
    }

    /// The live leader of the session of a process that is not the leader itself.
    ///
    /// Its number is not given to another process as long as the session has one.
    fn leader(&self, child: &Process) -> Option<Process> {
        let session = child.session.filter(|session| !self.has(*session))?;
        let leader = self.source.process(session).ok()?;
        let leads = leader.session == Some(session) && leader.state != State::Zombie;
        (leads && leader.start <= child.start).then_some(leader)
    }

    fn has(&self, pid: Pid) -> bool {
        self.chain.iter().any(|process| process.pid == pid)
    }

    /// The place of the first process that stands in for parents that have ended: it leads the
    /// session of the process below it.
    #[must_use]
    pub fn gap(&self) -> Option<usize> {
        self.gap
    }

    /// What was read so far.
    #[must_use]
    pub fn known(&self) -> &[Process] {
        &self.chain
    }

    /// Walks to the end and tells why it is one.
    pub fn end(&mut self) -> &End {
        self.get(usize::MAX - 1);
        self.end.as_ref().unwrap_or(&End::Top)
    }

    /// Whether not even the first step up could be made.
    pub fn is_blind(&mut self) -> bool {
        self.get(1).is_none() && matches!(self.end, Some(End::Unreadable(..)))
    }
}

/// The next step of the walk.
enum Next {
    Parent(Process),
    Leader(Process),
}

/// Whether a process was started by the one that it names as its parent, as far as sessions tell: a
/// new process is in its parent's session, and leaves it only to lead one of its own.
fn is_parent(child: &Process, parent: &Process) -> bool {
    child.session.is_none_or(|session| session == child.pid || parent.session == Some(session))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::{FixedTable, Host, StartTime};
    use proptest::prelude::*;

    fn process(pid: u32, parent: u32, start: u64) -> Process {
        Process {
            pid: Pid(pid),
            parent: Pid(parent),
            start: StartTime(start),
            name: format!("p{pid}"),
            terminal: None,
            session: None,
            state: State::Active,
        }
    }

    fn table(rows: &[(u32, u32, u64)]) -> FixedTable {
        let host = Host { boot: "b".into(), namespace: "n".into(), contained: false };
        rows.iter().fold(FixedTable::new(host), |table, (pid, parent, start)| {
            table.with(process(*pid, *parent, *start), &[])
        })
    }

    fn walk(rows: &[(u32, u32, u64)], pid: u32, contained: bool) -> (Vec<u32>, End) {
        let table = table(rows);
        let mut ancestry = Ancestry::new(&table, Pid(pid), contained);
        let end = ancestry.end().clone();
        (ancestry.known().iter().map(|process| process.pid.0).collect(), end)
    }

    #[test]
    fn to_the_top() {
        let rows = [(1, 0, 0), (2, 1, 5), (3, 2, 5)];
        assert_eq!(walk(&rows, 3, false), (vec![3, 2, 1], End::Top));
    }

    #[test]
    fn a_recycled_parent_is_not_entered() {
        let rows = [(1, 0, 0), (2, 1, 9), (3, 2, 5)];
        assert_eq!(walk(&rows, 3, false), (vec![3], End::Recycled(Pid(2))));
    }

    #[test]
    fn a_vanished_parent_ends_the_walk() {
        let end = End::Unreadable(Pid(2), ReadError::Absent);
        assert_eq!(walk(&[(3, 2, 5)], 3, false), (vec![3], end));
        let end = End::Unreadable(Pid(7), ReadError::Absent);
        assert_eq!(walk(&[], 7, false), (vec![], end));
    }

    #[test]
    fn a_cycle_ends_the_walk() {
        let rows = [(2, 3, 5), (3, 2, 5)];
        assert_eq!(walk(&rows, 3, false), (vec![3, 2], End::Cycle(Pid(3))));
        assert_eq!(walk(&[(3, 3, 5)], 3, false), (vec![3], End::Cycle(Pid(3))));
    }

    #[test]
    fn a_process_from_outside_belongs_to_its_container() {
        let rows = [(1, 0, 0), (30, 0, 5), (31, 30, 6)];
        assert_eq!(walk(&rows, 31, true), (vec![31, 30, 1], End::Top));
        assert_eq!(walk(&rows, 31, false), (vec![31, 30], End::Top));
    }

    #[test]
    fn an_orphan_goes_on_with_the_leader_of_its_session() {
        let member = |pid, parent, start, session| Process {
            session: Some(Pid(session)),
            ..process(pid, parent, start)
        };
        let rows = |leader: Process| {
            table(&[(20, 1, 1)])
                .with(member(1, 0, 0, 1), &[])
                .with(leader, &[])
                .with(member(40, 1, 5, 30), &[])
                .with(member(41, 40, 6, 30), &[])
        };
        let walk = |table: FixedTable| {
            let mut ancestry = Ancestry::new(&table, Pid(41), false);
            ancestry.end();
            let pids: Vec<u32> = ancestry.known().iter().map(|process| process.pid.0).collect();
            (pids, ancestry.gap())
        };
        let leader = member(30, 20, 2, 30);
        assert_eq!(walk(rows(leader.clone())), (vec![41, 40, 30, 20, 1], Some(2)));
        let ended = Process { state: State::Zombie, ..leader.clone() };
        assert_eq!(walk(rows(ended)), (vec![41, 40, 1], None));
        let younger = Process { start: StartTime(9), ..leader.clone() };
        assert_eq!(walk(rows(younger)), (vec![41, 40, 1], None));
        let another = Process { session: Some(Pid(20)), ..leader };
        assert_eq!(walk(rows(another)), (vec![41, 40, 1], None));
    }

    #[test]
    fn the_walk_is_bounded() {
        let rows: Vec<_> = (1..=300).map(|pid| (pid, pid - 1, 1)).collect();
        let (chain, end) = walk(&rows, 300, false);
        assert_eq!((chain.len(), end), (MOST_STEPS + 1, End::TooDeep));
    }

    proptest! {
        #[test]
        fn any_table_ends(
            rows in proptest::collection::vec((0u32..20, 0u32..20, 0u64..4), 0..20),
            contained in any::<bool>(),
        ) {
            let (chain, _) = walk(&rows, 5, contained);
            prop_assert!(chain.len() <= 20);
            let starts = |pid: u32| rows.iter().rev().find(|row| row.0 == pid).unwrap().2;
            prop_assert!(chain.is_sorted_by(|child, parent| starts(*child) >= starts(*parent)));
        }
    }
}
