//! What a script may use up, and how it is stopped.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::error::Kind;

/// What a script may use up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of memory, for all that it keeps.
    pub memory: usize,
    /// Bytes of stack.
    pub stack: usize,
    /// How long one evaluation or call may compute; waiting for a timer does not count.
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
    /// Stops what runs now, or what runs next.
    pub fn interrupt(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Forgets that something was to be stopped: nothing ran.
    pub fn clear(&self) {
        self.take();
    }

    pub(crate) fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Takes note that something was stopped.
    fn take(&self) -> bool {
        self.0.swap(false, Ordering::Relaxed)
    }
}

/// Watches over one run: the engine asks it all the time whether to go on.
#[derive(Clone, Default)]
pub(crate) struct Watchdog {
    interrupter: Interrupter,
    deadline: Arc<Mutex<Option<Instant>>>,
    /// Nothing may run any more, whatever the time is.
    closed: Arc<AtomicBool>,
}

impl Watchdog {
    pub(crate) fn new(interrupter: Interrupter) -> Self {
        Self { interrupter, ..Self::default() }
    }

    /// Begins to count, or goes on for so long.
    pub(crate) fn start(&self, time: Option<Duration>) {
        *self.deadline.lock().unwrap_or_else(PoisonError::into_inner) =
            time.map(|time| Instant::now() + time);
    }

    /// Does not count what the host did: a user may edit for an hour.
    pub(crate) fn excuse(&self, time: Duration) {
        let mut deadline = self.deadline.lock().unwrap_or_else(PoisonError::into_inner);
        *deadline = deadline.and_then(|deadline| deadline.checked_add(time));
    }

    /// Whether the script must stop.
    pub(crate) fn must_stop(&self) -> bool {
        self.closed.load(Ordering::Relaxed) || self.interrupter.is_set() || self.is_late()
    }

    /// Lets nothing run, or everything again.
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

    /// Why a script was stopped, if it was; the next one starts afresh.
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
