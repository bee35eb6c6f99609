//! A thread with limited memory and time, on which a template is rendered.
//!
//! The template engine copies texts in its operators, loops and blocks. Nothing outside sees how large
//! they become, and an allocation that fails would end the process. So the program's allocator counts
//! the allocations of this thread ([`Metered`]). At the limit the thread stops inside the allocator and
//! never continues; the caller reports an error. The memory of such a thread is freed when the process
//! ends, so after a few of them no more templates are rendered.
//!
//! Where no thread can be had (a limit of processes), the caller renders the template itself: then
//! nothing but the limits of the process holds.

use std::cell::Cell;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicIsize, AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// The most memory of a template, in bytes: data, values and output.
pub(super) const MAX_MEMORY: usize = 512 << 20;

/// The longest time of a template: far more than its steps take.
pub(super) const MAX_TIME: Duration = Duration::from_secs(30);

/// As large as the stack of a main thread, for which the depth of expressions is limited.
const STACK: usize = 8 << 20;

/// How often the caller checks whether the thread was stopped.
const POLL_INTERVAL: Duration = Duration::from_millis(10);

/// The most threads that were stopped and keep their memory.
const MAX_STOPPED: usize = 3;

static STOPPED: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    /// The meter of this thread; null if its memory is not limited.
    static METER: Cell<*const Meter> = const { Cell::new(ptr::null()) };
}

/// Why a template was not rendered to its end.
#[derive(Debug)]
pub(super) enum Stop {
    Memory,
    Time,
    TooMany,
    Panicked,
}

/// The memory of a thread.
#[derive(Default)]
struct Meter {
    used: AtomicIsize,
    is_exceeded: AtomicBool,
    is_cancelled: AtomicBool,
}

impl Meter {
    /// Counts an allocation, or stops this thread for good.
    fn add(&self, bytes: usize) {
        let bytes = isize::try_from(bytes).unwrap_or(isize::MAX);
        let used = self.used.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes);
        if used < MAX_MEMORY.cast_signed() && !self.is_cancelled.load(Ordering::Relaxed) {
            return;
        }
        self.is_exceeded.store(true, Ordering::Release);
        loop {
            thread::sleep(Duration::from_hours(1));
        }
    }

    fn subtract(&self, bytes: usize) {
        self.used.fetch_sub(isize::try_from(bytes).unwrap_or(isize::MAX), Ordering::Relaxed);
    }
}

/// Ends the counting on this thread, also if it panics.
struct Counting;

impl Counting {
    /// The meter must not be dropped before this.
    fn start(meter: &Meter) -> Self {
        METER.set(meter);
        Self
    }
}

impl Drop for Counting {
    fn drop(&mut self) {
        METER.set(ptr::null());
    }
}

/// Runs work on a thread of its own, within the limits.
pub(super) fn run<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, Stop> {
    if STOPPED.load(Ordering::Relaxed) >= MAX_STOPPED {
        return Err(Stop::TooMany);
    }
    let meter = Arc::new(Meter::default());
    let (sender, receiver) = mpsc::channel();
    let own = Arc::clone(&meter);
    let work = Arc::new(Mutex::new(Some(work)));
    let take = |work: &Mutex<Option<_>>| work.lock().unwrap_or_else(PoisonError::into_inner).take();
    let shared = Arc::clone(&work);
    let measured = move || {
        let Some(work) = take(&shared) else { return };
        let counting = Counting::start(&own);
        let result = work();
        drop(counting);
        // The caller may have given up.
        drop(sender.send(result));
    };
    let thread = thread::Builder::new().name("template".into()).stack_size(STACK);
    if thread.spawn(measured).is_err() {
        return take(&work).map(|work| work()).ok_or(Stop::Panicked);
    }
    let deadline = Instant::now() + MAX_TIME;
    loop {
        let stop = match receiver.recv_timeout(POLL_INTERVAL) {
            Ok(result) => return Ok(result),
            Err(RecvTimeoutError::Disconnected) => return Err(Stop::Panicked),
            Err(RecvTimeoutError::Timeout) if meter.is_exceeded.load(Ordering::Acquire) => {
                Stop::Memory
            }
            Err(RecvTimeoutError::Timeout) if Instant::now() > deadline => {
                meter.is_cancelled.store(true, Ordering::Relaxed);
                Stop::Time
            }
            Err(RecvTimeoutError::Timeout) => continue,
        };
        STOPPED.fetch_add(1, Ordering::Relaxed);
        return Err(stop);
    }
}

/// An allocator that counts the memory of templates; a program uses it as its global allocator. Without
/// it, the memory of a template is not limited.
#[derive(Debug, Default)]
pub struct Metered<A>(pub A);

#[expect(unsafe_code, reason = "an allocator can be implemented in no other form")]
mod allocator {
    use std::alloc::{GlobalAlloc, Layout};

    use super::{METER, Meter, Metered};

    /// The meter of this thread.
    fn meter<'a>() -> Option<&'a Meter> {
        // SAFETY: it is null, or `Counting` has set it, whose meter outlives it.
        unsafe { METER.get().as_ref() }
    }

    // SAFETY: every region comes from the inner allocator, which fulfils the contract. Counting neither
    // allocates nor unwinds; a thread that is stopped gets no region.
    unsafe impl<A: GlobalAlloc> GlobalAlloc for Metered<A> {
        unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
            if let Some(meter) = meter() {
                meter.add(layout.size());
            }
            // SAFETY: the caller guarantees what the inner allocator requires.
            unsafe { self.0.alloc(layout) }
        }

        unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
            if let Some(meter) = meter() {
                meter.add(layout.size());
            }
            // SAFETY: the caller guarantees what the inner allocator requires.
            unsafe { self.0.alloc_zeroed(layout) }
        }

        unsafe fn dealloc(&self, region: *mut u8, layout: Layout) {
            if let Some(meter) = meter() {
                meter.subtract(layout.size());
            }
            // SAFETY: the caller guarantees that it is a region of this allocator.
            unsafe { self.0.dealloc(region, layout) }
        }

        unsafe fn realloc(&self, region: *mut u8, layout: Layout, size: usize) -> *mut u8 {
            if let Some(meter) = meter() {
                // Both may exist at the same time.
                meter.add(size);
                meter.subtract(layout.size());
            }
            // SAFETY: the caller guarantees that it is a region of this allocator.
            unsafe { self.0.realloc(region, layout, size) }
        }
    }
}
