//! Limits of a script, and how it is stopped.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::error::Kind;

/// The limits of a script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of heap memory.
    pub memory: usize,
    /// Bytes of stack.
    pub stack: usize,
    /// The time limit of one evaluation or call. Waiting for a timer or for the host does not count;
    /// what the host computes does, see [`TimeLimit`].
    pub time: Option<Duration>,
}

impl Default for Limits {
    fn default() -> Self {
        Self { memory: 512 << 20, stack: 1 << 20, time: None }
    }
}

/// Stops a script from outside, such as from a signal handler.
#[derive(Clone, Debug, Default)]
pub struct Interrupter(Arc<AtomicBool>);

impl Interrupter {
    /// Stops the running script, or the next one.
    pub fn interrupt(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Cancels a pending interrupt.
    pub fn clear(&self) {
        self.take();
    }

    pub(crate) fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Clears the interrupt; returns whether it was set.
    fn take(&self) -> bool {
        self.0.swap(false, Ordering::Relaxed)
    }
}

/// The time limit of the running script, for a host that computes for it.
///
/// The limit does not count while a function of the host runs, because most of them wait: for a
/// program, an editor, a person. It counts in [`TimeLimit::compute`].
#[derive(Clone, Debug, Default)]
pub struct TimeLimit(Watchdog);

impl TimeLimit {
    /// Does work that counts towards the limit. The work must ask [`TimeLimit::must_stop`] often.
    pub fn compute<T>(&self, work: impl FnOnce() -> T) -> T {
        let was_paused = self.0.resume();
        let result = work();
        if was_paused {
            self.0.pause();
        }
        result
    }

    /// Whether the script must stop, and what is done for it.
    #[must_use]
    pub fn must_stop(&self) -> bool {
        self.0.must_stop()
    }
}

/// The time that is left.
#[derive(Clone, Copy, Debug, Default)]
enum Left {
    #[default]
    Unlimited,
    Until(Instant),
    /// The limit does not count at present.
    Paused(Duration),
}

/// Enforces the limits of one run: the engine asks it regularly whether to stop.
#[derive(Clone, Debug, Default)]
pub(crate) struct Watchdog {
    interrupter: Interrupter,
    left: Arc<Mutex<Left>>,
    /// Stops everything, regardless of the time.
    closed: Arc<AtomicBool>,
}

impl Watchdog {
    pub(crate) fn new(interrupter: Interrupter) -> Self {
        Self { interrupter, ..Self::default() }
    }

    /// Starts the time limit; `None` removes it.
    pub(crate) fn start(&self, time: Option<Duration>) {
        let until = time.and_then(|time| Instant::now().checked_add(time));
        *self.left() = until.map_or(Left::Unlimited, Left::Until);
    }

    /// Stops counting, such as while an editor is open.
    pub(crate) fn pause(&self) {
        let mut left = self.left();
        if let Left::Until(until) = *left {
            *left = Left::Paused(until.saturating_duration_since(Instant::now()));
        }
    }

    /// Counts again; returns whether it did not.
    pub(crate) fn resume(&self) -> bool {
        let mut left = self.left();
        let Left::Paused(time) = *left else { return false };
        *left = Instant::now().checked_add(time).map_or(Left::Unlimited, Left::Until);
        true
    }

    /// What a host gets of it.
    pub(crate) fn time_limit(&self) -> TimeLimit {
        TimeLimit(self.clone())
    }

    fn left(&self) -> MutexGuard<'_, Left> {
        self.left.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the script must stop.
    pub(crate) fn must_stop(&self) -> bool {
        self.closed.load(Ordering::Relaxed) || self.interrupter.is_set() || self.is_late()
    }

    /// Stops everything, or allows it again.
    pub(crate) fn close(&self, closed: bool) {
        self.closed.store(closed, Ordering::Relaxed);
    }

    pub(crate) fn is_interrupted(&self) -> bool {
        self.interrupter.is_set()
    }

    fn is_late(&self) -> bool {
        match *self.left() {
            Left::Unlimited => false,
            Left::Until(until) => Instant::now() >= until,
            Left::Paused(time) => time.is_zero(),
        }
    }

    /// Why the script was stopped, if it was; clears the reason.
    pub(crate) fn reason(&self) -> Option<Kind> {
        let late = self.is_late();
        self.start(None);
        if self.interrupter.take() {
            Some(Kind::Interrupted)
        } else {
            late.then_some(Kind::TimedOut)
        }
    }
}
