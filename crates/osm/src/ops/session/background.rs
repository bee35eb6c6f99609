//! Automatic cleanup, in the background of other commands.
//!
//! It runs once per interval over all processes, on its own thread. When the command has ended, the
//! cleanup has a moment to finish and is then told to stop: the next command continues with the
//! rest. What it removed is returned for one line of text: nothing goes unsaid.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use osm_identity::System;
use osm_store::cleanup::{Cleaner, Report, Turn};

use crate::invocation::Invocation;

/// How long the end of a command may wait for it.
const MOMENT: Duration = Duration::from_millis(100);

/// A cleanup that ends with its owner.
pub(crate) struct BackgroundCleanup {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<Option<Box<Report>>>>,
}

impl BackgroundCleanup {
    /// Starts one, if the settings want it and there is a store to clean. Its errors are shown by
    /// the next `osm session clean`.
    pub(crate) fn start(invocation: &Invocation) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let is_wanted = invocation.settings.policy().auto_cleanup_enabled;
        let store = is_wanted.then(|| invocation.store().ok()).flatten();
        let thread = store.and_then(|store| {
            let (backend, stop) = (store.shared_backend(), Arc::clone(&stop));
            let (policy, holder) =
                (invocation.settings.policy().clone(), invocation.world.holder());
            let current = [invocation.session_id().clone()];
            let uptime = invocation.uptime();
            let clean = move || {
                let cleaner = Cleaner {
                    backend: backend.as_ref(),
                    policy: &policy,
                    holder: &holder,
                    current: &current,
                    processes: &System,
                    uptime: &uptime,
                };
                match cleaner.run_if_due(&stop) {
                    Ok(Turn::Ran(report)) => Some(report),
                    Ok(Turn::NotDue | Turn::Taken) | Err(_) => None,
                }
            };
            // Where no thread can be had, a later command cleans up.
            std::thread::Builder::new().spawn(clean).ok()
        });
        Self { stop, thread }
    }
}

impl BackgroundCleanup {
    /// Ends it, and returns what it did.
    pub(crate) fn finish(mut self) -> Option<Box<Report>> {
        self.end()
    }

    fn end(&mut self) -> Option<Box<Report>> {
        let thread = self.thread.take()?;
        let deadline = Instant::now() + MOMENT;
        while !thread.is_finished() && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(1));
        }
        self.stop.store(true, Ordering::Relaxed);
        thread.join().ok().flatten()
    }
}

impl Drop for BackgroundCleanup {
    fn drop(&mut self) {
        self.end();
    }
}
