//! A command and all that descends from it.
//!
//! The table of processes is read as a whole, and changes meanwhile. A process is taken for a child
//! of a known process only if that one was there before it began, and still is after the table was
//! read: then its pid was not reused in between. Signals go to exact processes, too. Only
//! Linux shows us its table; elsewhere a command is alone.
//!
//! A process whose parent has ended has lost its place in the tree, and a daemon also leaves its process
//! group and its session. On Linux the system makes such a process our child instead ([`adopt`]).

use osm_identity::{Liveness, Pid, Process, ProcessInstance, ProcessSource, Proof, System};
use rustix::process::Signal;

pub(super) struct Family {
    /// The command first; empty if it could not be looked at.
    members: Vec<ProcessInstance>,
    /// The command leads a process group, and every process in it belongs to it.
    own_group: bool,
    /// Our children from before the command, such as a keeper of leases.
    others: Vec<ProcessInstance>,
}

impl Family {
    /// The family of a command that was not waited for yet.
    pub(super) fn of(command: u32, own_group: bool, others: Vec<ProcessInstance>) -> Self {
        let row = System.process(Pid(command)).ok();
        Self { members: row.as_ref().and_then(exact).into_iter().collect(), own_group, others }
    }

    /// Looks for members; whether there are new ones.
    pub(super) fn look(&mut self) -> bool {
        let known = self.members.len();
        let rows = table();
        self.add_adopted(&rows);
        let mut next = 0;
        while let Some(parent) = self.members.get(next) {
            if is_there(parent) {
                let leads = next == 0 && self.own_group;
                let is_child =
                    |row: &&Process| row.parent == parent.pid && row.start >= parent.start;
                let is_follower = |row: &&Process| leads && group(row.pid) == Some(parent.pid);
                let new = rows.iter().filter(|row| is_child(row) || is_follower(row));
                let new: Vec<_> = new.filter(|row| !self.has(row)).filter_map(exact).collect();
                self.members.extend(new);
            }
            next += 1;
        }
        self.members.len() > known
    }

    /// Adds our children: the command, and what the system gave us because its parent ended.
    fn add_adopted(&mut self, rows: &[Process]) {
        let Some(command) = self.members.first() else { return };
        let ours = rows.iter().filter(|row| is_ours(row) && row.start >= command.start);
        let new: Vec<_> = ours.filter(|row| !self.has(row)).filter_map(exact).collect();
        self.members.extend(new);
    }

    /// Whether a process is known: as a member, or as one of our other children.
    fn has(&self, row: &Process) -> bool {
        let mut known = self.members.iter().chain(&self.others);
        known.any(|it| it.pid == row.pid && it.start == row.start)
    }

    pub(super) fn lives(&self) -> bool {
        let lives = |it: Liveness| matches!(it, Liveness::Alive | Liveness::Suspended);
        self.members.iter().any(|it| lives(it.liveness(&System)))
    }

    /// Sends to parents before children, so that a shell does not go on to its next command.
    pub(super) fn send(&self, signal: Signal) {
        for member in &self.members {
            send(member, signal);
        }
    }

    /// Sends to those whom a signal to the command, or to its group, does not reach.
    pub(super) fn send_beyond_target(&self, signal: Signal) {
        let Some(command) = self.members.first() else { return };
        for member in &self.members[1..] {
            if !self.own_group || group(member.pid) != Some(command.pid) {
                send(member, signal);
            }
        }
    }

    /// Forgets all but the command.
    pub(super) fn forget(&mut self) {
        self.members.truncate(1);
    }
}

/// Our children now. Times of starts are too coarse to tell them from what the command starts.
pub(super) fn children() -> Vec<ProcessInstance> {
    table().iter().filter(|row| is_ours(row)).filter_map(exact).collect()
}

fn is_ours(row: &Process) -> bool {
    row.parent == Pid(std::process::id())
}

/// The process of a row, if it is still there.
fn exact(row: &Process) -> Option<ProcessInstance> {
    let instance = ProcessInstance::of(row, &System.host().ok()?, &System);
    // Its inode was read after the row: it is the same process only if the row is.
    let again = System.process(row.pid).ok()?;
    (again.start == row.start).then_some(instance)
}

/// Whether its number is still its own.
fn is_there(process: &ProcessInstance) -> bool {
    let liveness = process.liveness(&System);
    matches!(
        liveness,
        Liveness::Alive | Liveness::Suspended | Liveness::Dead(Proof::Zombie)
    )
}

fn raw(pid: Pid) -> Option<rustix::process::Pid> {
    i32::try_from(pid.0).ok().and_then(rustix::process::Pid::from_raw)
}

/// Makes us the parent of every descendant whose own parent ends.
pub(super) fn adopt() {
    #[cfg(target_os = "linux")]
    {
        // Linux has this since 3.4; where a sandbox forbids it, only such processes are missed.
        let _refused = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
    }
}

/// Collects adopted processes that have ended, but not the command, which our caller waits for.
#[cfg(target_os = "linux")]
pub(super) fn collect_adopted(command: u32) {
    use rustix::process::{WaitId, WaitIdOptions, waitid};
    let us = std::process::id();
    // A kernel may lack this file. Those that ended are then collected when we end.
    let children = std::fs::read_to_string(format!("/proc/self/task/{us}/children"));
    let children = children.unwrap_or_default();
    let children = children.split_whitespace().filter_map(|pid| pid.parse().ok());
    for pid in children.filter(|pid| *pid != command).filter_map(|pid| raw(Pid(pid))) {
        let _running = waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOHANG);
    }
}

#[cfg(not(target_os = "linux"))]
pub(super) fn collect_adopted(_command: u32) {}

/// Every process but us.
#[cfg(target_os = "linux")]
fn table() -> Vec<Process> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let others = pids.filter(|pid| *pid != std::process::id());
    others.filter_map(|pid| System.process(Pid(pid)).ok()).collect()
}

#[cfg(not(target_os = "linux"))]
fn table() -> Vec<Process> {
    Vec::new()
}

/// Its process group. Not by `getpgid`, which `rustix` cannot use for groups that are outside our
/// pid namespace: they have no number.
#[cfg(target_os = "linux")]
fn group(pid: Pid) -> Option<Pid> {
    let stat = std::fs::read(format!("/proc/{pid}/stat")).ok()?;
    parse_group(&String::from_utf8_lossy(&stat))
}

/// The name comes before it, in parentheses, and can be any.
#[cfg(target_os = "linux")]
fn parse_group(stat: &str) -> Option<Pid> {
    stat.rsplit_once(") ")?.1.split(' ').nth(2)?.parse().ok().map(Pid)
}

#[cfg(not(target_os = "linux"))]
fn group(_pid: Pid) -> Option<Pid> {
    None
}

/// Sends to exactly this process: the handle is opened first, and then it is still there.
#[cfg(target_os = "linux")]
fn send(process: &ProcessInstance, signal: Signal) {
    use rustix::process::{PidfdFlags, kill_process, pidfd_open, pidfd_send_signal};
    let Some(pid) = raw(process.pid) else { return };
    let handle = pidfd_open(pid, PidfdFlags::empty());
    if is_there(process) {
        // It may have ended in the meantime, or belong to another user.
        let _ended = match handle {
            Ok(handle) => pidfd_send_signal(handle, signal),
            // Before Linux 5.3, and where it is forbidden.
            Err(_) => kill_process(pid, signal),
        };
    }
}

#[cfg(not(target_os = "linux"))]
fn send(process: &ProcessInstance, signal: Signal) {
    if let Some(pid) = raw(process.pid).filter(|_| is_there(process)) {
        // It may have ended in the meantime, which is what we want.
        let _ended = rustix::process::kill_process(pid, signal);
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::process::{Child, Command};

    use super::*;

    #[test]
    fn children_from_before_the_command_are_left_alone() {
        let start = || Command::new("sleep").arg("1000").spawn().unwrap();
        let mut before = start();
        let others = children();
        let mut command = start();
        let mut family = Family::of(command.id(), false, others);
        family.look();
        let has = |child: &Child| family.members.iter().any(|it| it.pid == Pid(child.id()));
        let found = (has(&command), has(&before));
        for child in [&mut command, &mut before] {
            child.kill().unwrap();
            child.wait().unwrap();
        }
        assert_eq!(found, (true, false));
    }

    #[test]
    fn groups() {
        assert_eq!(parse_group("7 (a) 1 2 3) S 1 42 5 0 -1"), Some(Pid(42)));
        assert_eq!(parse_group("7 (kthreadd) S 0 0 0 0 -1"), Some(Pid(0)));
        for strange in ["", "7 (a", "7 (a) S", "7 (a) S 1", "7 (a) S 1 -1 5"] {
            assert_eq!(parse_group(strange), None, "{strange:?}");
        }
    }
}
