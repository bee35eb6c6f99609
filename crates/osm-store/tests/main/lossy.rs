//! A store behind a bad network: every call takes time, and requests and replies get lost.
//!
//! It stands in for a server. Every third change is lost on the way there (nothing happens), every
//! other third on the way back (it is carried out); the caller hears the same in both cases. The
//! question what became of a change is sometimes lost, too. Pages are short. Each thread has a turn
//! of its own, or a thread could lose every request only because of what the others do.

use std::cell::Cell;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use jiff::Timestamp;
use osm_identity::SessionId;
use osm_store::backend::{
    Agree, ArchiveKind, ArchivedDocument, Attended, Backend, Current, Entry, Guard, Holder,
    Listing, NextOf, Outcome, Page, Removal, Sharing, Stamp, Stored, Transaction, Wait, Watch,
};
use osm_store::{Clock, Error, MemoryBackend, Result};

const LATENCY: Duration = Duration::from_micros(300);
const SHORT_PAGE: usize = 2;

thread_local! {
    static CHANGES: Cell<usize> = const { Cell::new(0) };
    static QUESTIONS: Cell<usize> = const { Cell::new(0) };
}

/// Whose turn it is: 0, 1, 2, 0, …
fn turn(counter: &'static std::thread::LocalKey<Cell<usize>>) -> usize {
    counter.replace((counter.get() + 1) % 3)
}

/// The store.
#[derive(Clone)]
pub(crate) struct Lossy {
    inner: MemoryBackend,
    network: Arc<Network>,
}

#[derive(Default)]
struct Network {
    is_down: AtomicBool,
    cut: Mutex<Option<bool>>,
    lost_requests: AtomicUsize,
    lost_replies: AtomicUsize,
}

/// What the network does to a change.
enum Fate {
    Delivered,
    RequestLost,
    ReplyLost,
}

impl Network {
    fn fate(&self) -> Fate {
        std::thread::sleep(LATENCY);
        match turn(&CHANGES) {
            0 => {
                self.lost_replies.fetch_add(1, Ordering::Relaxed);
                Fate::ReplyLost
            }
            1 => {
                self.lost_requests.fetch_add(1, Ordering::Relaxed);
                Fate::RequestLost
            }
            _ => Fate::Delivered,
        }
    }

    /// Carries a change out, or loses it, or loses the reply.
    fn change<T>(&self, change: impl FnOnce() -> Result<T>) -> Result<T> {
        let lost = || Error::UnknownOutcome("connection reset".into());
        if self.is_down.load(Ordering::Relaxed) {
            return Err(lost());
        }
        if let Some(is_carried_out) = self.cut.lock().unwrap().take() {
            self.is_down.store(true, Ordering::Relaxed);
            return if is_carried_out { change().and_then(|_| Err(lost())) } else { Err(lost()) };
        }
        match self.fate() {
            Fate::Delivered => change(),
            Fate::RequestLost => Err(lost()),
            // What the server refuses is refused, whether we hear of it or not.
            Fate::ReplyLost => change().and_then(|_| Err(lost())),
        }
    }

    fn ask<T>(&self, question: impl FnOnce() -> Result<T>) -> Result<T> {
        std::thread::sleep(LATENCY);
        if self.is_down.load(Ordering::Relaxed) {
            return Err(Error::Unreachable("no route to host".into()));
        }
        question()
    }
}

impl Lossy {
    pub(crate) fn new(clock: Clock) -> Self {
        Self { inner: MemoryBackend::new(clock), network: Arc::default() }
    }

    /// The store itself, without the network.
    pub(crate) fn server(&self) -> &MemoryBackend {
        &self.inner
    }

    /// Cuts the network, or mends it.
    pub(crate) fn set_down(&self, is_down: bool) {
        self.network.is_down.store(is_down, Ordering::Relaxed);
    }

    /// Cuts the network with the next change, which is carried out or not.
    pub(crate) fn cut_after_next(&self, is_carried_out: bool) {
        *self.network.cut.lock().unwrap() = Some(is_carried_out);
    }

    /// How many requests and replies were lost so far.
    pub(crate) fn lost(&self) -> (usize, usize) {
        let Network { lost_requests, lost_replies, .. } = &*self.network;
        (lost_requests.load(Ordering::Relaxed), lost_replies.load(Ordering::Relaxed))
    }
}

struct LossySession {
    inner: Box<dyn Attended>,
    network: Arc<Network>,
    /// Of the last update that reached the server.
    last: Outcome,
}

impl Attended for LossySession {
    fn update(
        &mut self,
        known: Option<Stamp>,
        wait: Wait,
        next: &mut NextOf<'_>,
    ) -> Result<Option<Stamp>> {
        self.last = Outcome::NotCarriedOut;
        let Self { inner, network, last } = self;
        network.change(|| {
            let done = inner.update(known, wait, next);
            *last = inner.outcome()?;
            done
        })
    }

    fn outcome(&mut self) -> Result<Outcome> {
        if turn(&QUESTIONS) == 0 {
            return Err(Error::Unreachable("connection reset".into()));
        }
        self.network.ask(|| Ok(self.last))
    }
}

impl Backend for Lossy {
    fn now(&self) -> Result<Timestamp> {
        self.network.ask(|| self.inner.now())
    }

    fn attend(
        &self,
        id: &SessionId,
        holder: &Holder,
        sharing: Sharing,
        wait: Wait,
    ) -> Result<Box<dyn Attended>> {
        // A lease whose reply is lost runs out; here that takes no time.
        let inner = self.network.ask(|| self.inner.attend(id, holder, sharing, wait))?;
        let network = Arc::clone(&self.network);
        Ok(Box::new(LossySession { inner, network, last: Outcome::NotCarriedOut }))
    }

    fn evict_dead(&self, id: &SessionId, holder: &Holder, agree: &mut Agree<'_>) -> Result<bool> {
        self.network.ask(|| self.inner.evict_dead(id, holder, agree))
    }

    fn load(&self, what: Stored<'_>, known: Option<Stamp>) -> Result<Current> {
        self.network.ask(|| self.inner.load(what, known))
    }

    fn list(&self, page: &Page) -> Result<Listing<Entry>> {
        let limit = Some(page.limit.unwrap_or(SHORT_PAGE).min(SHORT_PAGE));
        self.network.ask(|| self.inner.list(&Page { limit, ..page.clone() }))
    }

    fn archived(&self, kind: ArchiveKind, page: &Page) -> Result<Listing<ArchivedDocument>> {
        let limit = Some(page.limit.unwrap_or(SHORT_PAGE).min(SHORT_PAGE));
        self.network.ask(|| self.inner.archived(kind, &Page { limit, ..page.clone() }))
    }

    fn holders(&self, id: &SessionId) -> Result<Vec<Holder>> {
        self.network.ask(|| self.inner.holders(id))
    }

    fn remove(
        &self,
        batch: &[Removal<'_>],
        done: &mut dyn FnMut(usize, Result<()>) -> ControlFlow<()>,
    ) {
        // One request for all of them: the server is done before the first reply arrives.
        let mut results = Vec::new();
        for removal in batch {
            results.push(self.network.change(|| {
                let mut result = Ok(());
                self.inner.remove(std::slice::from_ref(removal), &mut |_, it| {
                    result = it;
                    ControlFlow::Continue(())
                });
                result
            }));
        }
        for (number, result) in results.into_iter().enumerate() {
            if done(number, result).is_break() {
                return;
            }
        }
    }

    fn transact(
        &self,
        holder: &Holder,
        wait: Wait,
        body: &mut dyn FnMut(&mut dyn Transaction) -> Result<()>,
    ) -> Result<()> {
        self.network.change(|| self.inner.transact(holder, wait, body))
    }

    fn lock_cleanup(&self, holder: &Holder) -> Result<Option<Box<dyn Guard>>> {
        self.network.ask(|| self.inner.lock_cleanup(holder))
    }

    fn watch(&self, id: &SessionId) -> Result<Box<dyn Watch>> {
        self.network.ask(|| self.inner.watch(id))
    }
}
