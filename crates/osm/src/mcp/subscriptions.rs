//! Clients that want to hear when a resource changes.
//!
//! Each subscription has a thread, which sleeps until the ledger or the store tells of a change. That may be a
//! change of something else, so the client hears of it only if the text of the resource is another one.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use osm_store::backend::Wait;
use serde_json::Value;

use super::call::Call;
use super::resources::{Changes, Resource};
use crate::World;
use crate::documents;
use crate::invocation::{Invocation, Options};
use crate::ops::claim;

/// How often a thread looks whether its subscription still counts, if nothing changes.
const LOOK: Wait = Wait(Duration::from_secs(30));

/// The subscriptions of a client: the number of the latest for each resource.
#[derive(Clone, Default)]
pub(super) struct Subscriptions(Arc<Mutex<Numbers>>);

#[derive(Default)]
struct Numbers {
    last: u64,
    open: HashMap<&'static str, u64>,
}

impl Subscriptions {
    fn numbers(&self) -> MutexGuard<'_, Numbers> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Calls `told` after each change of a resource, from now on. Returns when no change can be missed any
    /// more, or with the reason why changes cannot be watched.
    pub(super) fn add(
        &self,
        resource: &'static Resource,
        (world, options): (World, Options),
        told: impl Fn() + Send + 'static,
    ) -> Result<(), Value> {
        let number = {
            let mut numbers = self.numbers();
            numbers.last += 1;
            let last = numbers.last;
            numbers.open.insert(resource.uri, last);
            last
        };
        let (ready, is_ready) = sync_channel(1);
        let all = self.clone();
        let watching = move || {
            let invocation = Invocation::new(&world, options);
            let watched = Watched { resource, invocation: &invocation, all: &all, number };
            // Only the first report is heard.
            if let Err(why) = watched.watch(&ready, &told) {
                drop(ready.try_send(Err(why)));
            }
        };
        let started = std::thread::Builder::new().name("mcp-watch".into()).spawn(watching);
        let heard = started.map_err(|error| Value::from(error.to_string()));
        let heard = heard.and_then(|_| is_ready.recv().unwrap_or(Ok(())));
        if heard.is_err() {
            self.remove(resource.uri);
        }
        heard
    }

    pub(super) fn remove(&self, uri: &str) {
        self.numbers().open.remove(uri);
    }
}

/// One subscription.
struct Watched<'a> {
    resource: &'static Resource,
    invocation: &'a Invocation<'a>,
    all: &'a Subscriptions,
    number: u64,
}

impl Watched<'_> {
    fn is_open(&self) -> bool {
        self.all.numbers().open.get(self.resource.uri) == Some(&self.number)
    }

    fn watch(&self, ready: &SyncSender<Result<(), Value>>, told: &dyn Fn()) -> Result<(), Value> {
        let mut before = None;
        let mut look = || {
            if !self.is_open() {
                return ControlFlow::Break(());
            }
            let now = (self.resource.read)(self.invocation);
            match before.replace(now.clone()) {
                None => drop(ready.try_send(Ok(()))),
                Some(before) if before != now => told(),
                Some(_) => {}
            }
            ControlFlow::Continue(())
        };
        match self.resource.changes {
            Changes::WithClaims => Call::done(claim::watch(self.invocation, look)),
            Changes::WithSession => {
                let store = Call::done(self.invocation.store())?;
                let watch = store.backend().watch(self.invocation.session_id());
                let failed = |error: osm_store::Error| {
                    documents::failure(crate::ops::session::SessionError::from(error))
                };
                let mut watch = watch.map_err(failed)?;
                while look().is_continue() {
                    watch.changed(LOOK).map_err(failed)?;
                }
                Ok(())
            }
        }
    }
}
