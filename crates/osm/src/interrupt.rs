//! Ctrl-C while a command works.
//!
//! The first signal asks the work to stop, which it does where nothing is half done. The second one
//! ends osm at once, and so does the first while no work is under way: then nothing is lost. The
//! handlers stay for the rest of the run, since the system does not take the default back. Signals
//! belong to the process, so the state here does, too.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Signals that were caught.
#[derive(Clone, Default)]
struct Caught {
    /// Set by the first signal.
    stop: Arc<AtomicBool>,
    /// The next signal ends osm: it was asked before, or no work is under way.
    is_deadly: Arc<AtomicBool>,
    /// The number of the last signal.
    number: Arc<AtomicUsize>,
}

/// Catches signals until it is dropped.
pub(crate) struct Interrupt(Caught);

impl Interrupt {
    /// Catches Ctrl-C and requests to end; not those that osm was started to ignore.
    pub(crate) fn catch() -> Self {
        let caught = platform::catch();
        // Work that begins after a signal is stopped by it, too.
        caught.is_deadly.store(caught.stop.load(Ordering::SeqCst), Ordering::SeqCst);
        Self(caught)
    }

    /// Becomes true with the first signal.
    pub(crate) fn stop(&self) -> &Arc<AtomicBool> {
        &self.0.stop
    }

    /// The signal that came.
    pub(crate) fn signal(&self) -> Option<u8> {
        let number = self.0.number.load(Ordering::SeqCst);
        u8::try_from(number).ok().filter(|number| *number > 0)
    }
}

impl Drop for Interrupt {
    fn drop(&mut self) {
        self.0.is_deadly.store(true, Ordering::SeqCst);
    }
}

pub(crate) use platform::end_by;
#[cfg(unix)]
pub(crate) use platform::forget;

#[cfg(unix)]
mod platform {
    use std::sync::atomic::AtomicBool;
    use std::sync::{Arc, Mutex, PoisonError};

    use signal_hook::SigId;
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    use signal_hook::flag;
    use signal_hook::low_level::{emulate_default_handler, unregister};

    use super::Caught;
    use crate::ignored::Ignored;

    static INSTALLED: Mutex<Option<(Caught, Vec<SigId>)>> = Mutex::new(None);

    pub(super) fn catch() -> Caught {
        let mut installed = INSTALLED.lock().unwrap_or_else(PoisonError::into_inner);
        let (caught, _) = installed.get_or_insert_with(install);
        caught.clone()
    }

    fn install() -> (Caught, Vec<SigId>) {
        let caught = Caught::default();
        let ignored = Ignored::now();
        let wanted = [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|it| !ignored.has(*it));
        let number = |signal: i32| usize::try_from(signal).unwrap_or_default();
        let actions = wanted.flat_map(|signal| {
            // In this order: the first signal finds the flag unset, and sets it.
            let set = |flag: &Arc<AtomicBool>| flag::register(signal, Arc::clone(flag));
            [
                flag::register_conditional_default(signal, Arc::clone(&caught.is_deadly)),
                flag::register_usize(signal, Arc::clone(&caught.number), number(signal)),
                set(&caught.is_deadly),
                set(&caught.stop),
            ]
        });
        // A signal that cannot be caught does what it does by default.
        let actions = actions.filter_map(Result::ok).collect();
        (caught, actions)
    }

    /// Leaves signals to another handler, which is installed already.
    pub(crate) fn forget() {
        let mut installed = INSTALLED.lock().unwrap_or_else(PoisonError::into_inner);
        for action in installed.take().into_iter().flat_map(|(_, actions)| actions) {
            unregister(action);
        }
    }

    /// Ends osm by a signal, so that a shell sees it and stops its script as well.
    pub(crate) fn end_by(signal: u8) {
        // Where that fails, the exit code says the same.
        drop(emulate_default_handler(signal.into()));
    }
}

#[cfg(not(unix))]
mod platform {
    use super::Caught;

    /// The console ends its processes itself.
    pub(super) fn catch() -> Caught {
        Caught::default()
    }

    pub(crate) fn end_by(_signal: u8) {}
}
