//! Automatic cleanup, behind whatever else is done.
//!
//! It runs once per interval over all processes, on a thread of its own, and is told to stop as
//! soon as the command is done: it never keeps anybody waiting for more than the removal of one
//! session, and the next command goes on with what is left.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use osm_identity::System;
use osm_store::cleanup::Cleaner;

use crate::context::Context;

/// A cleanup that ends with its owner.
pub(super) struct Background {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Background {
    /// Starts one, if there is a store to clean. What goes wrong is told by `osm session clean`.
    pub(super) fn start(context: &Context) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let thread = context.store().ok().map(|store| {
            let (backend, stop) = (store.shared_backend(), Arc::clone(&stop));
            let (policy, holder) = (context.settings.policy().clone(), context.holder());
            let (current, now) = ([context.session_id()], context.world.now());
            std::thread::spawn(move || {
                let cleaner = Cleaner {
                    backend: backend.as_ref(),
                    policy: &policy,
                    holder: &holder,
                    current: &current,
                    processes: &System,
                    now,
                };
                drop(cleaner.run_if_due(&stop));
            })
        });
        Self { stop, thread }
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}
