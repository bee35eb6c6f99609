//! The queue of processes that wait to change the same session.
//!
//! A lock that is only tried again and again has no order: a process that saves in a loop takes the
//! lock back microseconds after it released it, and the others, which sleep in between, find it held
//! each time until their wait is over. So a process that finds the lock held, or others waiting,
//! takes a ticket: a file with the next number, which it holds locked while it waits. Only the
//! process with the lowest ticket tries the lock.
//!
//! - *A ticket is its lock.* One whose process ended is not locked any more, and the next process
//!   that finds it removes it. It is locked before it has its name, so none is taken for abandoned.
//! - *A place in the queue grants nothing.* The lock decides, as ever; a ticket that cannot be had
//!   (a full disk, no hard links) costs the order and nothing else.
//! - *A stopped process does not stop the queue.* Each process tries the lock after every [`GRACE`],
//!   whatever its place.
//!
//! # Platform specific behavior
//!
//! An open file keeps its name on Windows, so tickets cannot be made there: processes wait without
//! an order.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::folder::Folder;
use super::lazy_folder::LazyFolder;
use super::lock::{Attempt, FileLock, GRACE, IfMissing, Mode};
use super::pid_space::PidSpace;
use crate::error::Result;

/// How long the first in the queue sleeps between two attempts: a save takes longer.
const FIRST_PAUSE: Duration = Duration::from_millis(1);
/// How long the others sleep before they look whether it is their turn.
const PAUSE: Duration = Duration::from_millis(5);
/// How many numbers are tried for a ticket: each failure is another process that came first.
const MOST_NUMBERS: u32 = 1000;

/// Where processes queue for the locks of a store.
pub(crate) struct Queue<'a> {
    pub(crate) folder: &'a LazyFolder,
    pub(crate) pid_space: &'a PidSpace,
}

impl Queue<'_> {
    /// Tries a lock when it is our turn, until it is held or `patience` is over.
    pub(crate) fn wait(
        &self,
        lock: &str,
        patience: Duration,
        attempt: &mut dyn FnMut() -> Result<Option<FileLock>>,
    ) -> Result<Option<FileLock>> {
        let mut ticket = None;
        let (mut waited, mut since_attempt) = (Duration::ZERO, Duration::ZERO);
        loop {
            let is_first = self.is_first(lock, ticket.as_ref());
            if is_first || since_attempt >= GRACE || waited >= patience {
                since_attempt = Duration::ZERO;
                if let Some(held) = attempt()? {
                    return Ok(Some(held));
                }
            }
            let left = patience.saturating_sub(waited);
            if left.is_zero() {
                return Ok(None);
            }
            if ticket.is_none() {
                ticket = self.take_ticket(lock);
            }
            let began = Instant::now();
            std::thread::sleep(if is_first { FIRST_PAUSE } else { PAUSE }.min(left));
            waited += began.elapsed();
            since_attempt += began.elapsed();
        }
    }

    /// Whether no other process has waited for longer.
    fn is_first(&self, lock: &str, ours: Option<&Ticket>) -> bool {
        let Ok(Some(folder)) = self.folder.existing() else { return true };
        let before = |number: &u32| ours.is_none_or(|ours| *number < ours.number);
        let numbers = numbers(&folder, lock);
        !numbers.iter().filter(|it| before(it)).any(|it| is_waiting(&folder, &name(lock, *it)))
    }

    fn take_ticket(&self, lock: &str) -> Option<Ticket> {
        if cfg!(windows) {
            return None;
        }
        let folder = self.folder.made().ok()?;
        let temporary = self.pid_space.temporary();
        let held = FileLock::create(&folder, &temporary).ok()?;
        let next = numbers(&folder, lock).into_iter().max().unwrap_or(0).saturating_add(1);
        let free = |number: &u32| folder.link(&temporary, &name(lock, *number)).is_ok();
        let number = (next..next.saturating_add(MOST_NUMBERS)).find(free);
        let _removed = folder.remove(&temporary);
        number.map(|number| Ticket { number, name: name(lock, number), folder, _held: held })
    }
}

/// A place in the queue; left when dropped.
struct Ticket {
    number: u32,
    name: String,
    folder: Arc<Folder>,
    _held: FileLock,
}

impl Drop for Ticket {
    fn drop(&mut self) {
        // One that stays is removed by the next process that finds it unlocked.
        let _removed = self.folder.remove(&self.name);
    }
}

fn name(lock: &str, number: u32) -> String {
    format!("{lock}.{number:010}")
}

/// The tickets for a lock.
fn numbers(folder: &Folder, lock: &str) -> Vec<u32> {
    let mut numbers = Vec::new();
    let number = |found: &str| found.strip_prefix(lock)?.strip_prefix('.')?.parse::<u32>().ok();
    // A folder that cannot be read has no order to keep.
    let _read = folder.each_name(&mut |found, _| numbers.extend(number(found)));
    numbers
}

/// Whether the process that took a ticket still waits; removes the ticket if it does not.
fn is_waiting(folder: &Arc<Folder>, ticket: &str) -> bool {
    let (mode, missing) = (Mode::Alone, IfMissing::GiveUp);
    match FileLock::acquire(folder, ticket, mode, missing, Duration::ZERO) {
        Ok(Attempt::Contended) => true,
        Ok(Attempt::Held(lock)) => {
            let _removed = lock.remove_file();
            false
        }
        Ok(Attempt::Missing) | Err(_) => false,
    }
}

/// Removes the tickets of processes that ended; returns how many there were.
pub(crate) fn remove_abandoned(folder: &Arc<Folder>, dry_run: bool) -> Result<usize> {
    let mut tickets = Vec::new();
    folder.each_name(&mut |name, _| {
        if !name.starts_with('.') {
            tickets.push(name.to_owned());
        }
    })?;
    let is_abandoned = |name: &String| {
        if dry_run {
            FileLock::is_held(folder, name) == Some(false)
        } else {
            !is_waiting(folder, name)
        }
    };
    Ok(tickets.iter().filter(|name| is_abandoned(name)).count())
}
