//! Limits of a script, and how it is stopped.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::error::Kind;

/// The limits of a script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of heap memory.
    pub memory: usize,
    /// Bytes of stack.
    pub stack: usize,
    /// The time limit of one evaluation or call; waiting for a timer does not count.
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

/// Enforces the limits of one run: the engine asks it regularly whether to stop.
#[derive(Clone, Default)]
pub(crate) struct Watchdog {
    interrupter: Interrupter,
    deadline: Arc<Mutex<Option<Instant>>>,
    /// Stops everything, regardless of the time.
    closed: Arc<AtomicBool>,
}

impl Watchdog {
    pub(crate) fn new(interrupter: Interrupter) -> Self {
        Self { interrupter, ..Self::default() }
    }

    /// Starts the time limit; `None` removes it.
    pub(crate) fn start(&self, time: Option<Duration>) {
        *self.deadline.lock().unwrap_or_else(PoisonError::into_inner) =
            time.map(|time| Instant::now() + time);
    }

    /// Extends the limit by the time that the host took, such as for an editor.
    pub(crate) fn excuse(&self, time: Duration) {
        let mut deadline = self.deadline.lock().unwrap_or_else(PoisonError::into_inner);
        *deadline = deadline.and_then(|deadline| deadline.checked_add(time));
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
        let deadline = *self.deadline.lock().unwrap_or_else(PoisonError::into_inner);
        deadline.is_some_and(|deadline| Instant::now() >= deadline)
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
