//! Ctrl-C while a command runs, and the ways in which a terminal ends.
//!
//! At the prompt Ctrl-C is a key like others. While a command runs it is a signal, and stops the
//! script. A terminal that is closed cannot be read to its end: whoever waits for a key there spins
//! for ever. So a thread of its own watches for the end, asks the loop to leave, and if that is stuck
//! keeps what is not saved and ends the process.
//!
//! Where nobody sits, Ctrl-C ends it all, as it ends every other program. But it comes to us alone: a
//! command that we run leads a group of its own, and would go on. So these signals, too, stop what runs
//! before we go.

use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};

use osm_script::Interrupter;

/// How long the loop has to leave by itself.
#[cfg(unix)]
const MOMENT: std::time::Duration = std::time::Duration::from_secs(2);

/// Keeps what would be lost, from whatever thread.
pub(crate) type LastWill = Box<dyn Fn() + Send>;

/// Who is there when a signal comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Watch {
    /// Somebody at a terminal, who goes on after Ctrl-C.
    Person,
    /// Nobody: every signal is the end.
    Nobody,
}

/// What the loop and the watchers share.
#[derive(Default)]
pub(crate) struct Signals {
    /// Seen by what runs and is no script.
    stop: Arc<AtomicBool>,
    /// The script that runs, if one does.
    running: Mutex<Option<Interrupter>>,
    /// The signal that told us to go, if one did.
    gone: AtomicU8,
    /// Ends the wait for a key; whoever sees it takes it back.
    wake: Arc<AtomicBool>,
    /// The loop waits for a line, which nothing can end.
    is_reading: AtomicBool,
    left: Mutex<bool>,
    leaves: Condvar,
}

impl Signals {
    /// Watches from now on.
    pub(crate) fn watch(watch: Watch, stop: Arc<AtomicBool>, last_will: LastWill) -> Arc<Self> {
        let signals = Arc::new(Self { stop, ..Self::default() });
        platform::watch(watch, &signals, last_will);
        signals
    }

    /// The number of the signal that told us to go: the terminal is gone, or somebody asks.
    pub(crate) fn gone(&self) -> Option<u8> {
        Some(self.gone.load(Ordering::SeqCst)).filter(|number| *number > 0)
    }

    /// Becomes true when a wait for a key should end.
    pub(crate) fn wake(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.wake)
    }

    /// Reads a line. What is read after a signal came must not be run: nobody would wait for it.
    pub(crate) fn reading<T>(&self, read: impl FnOnce() -> T) -> T {
        self.is_reading.store(true, Ordering::SeqCst);
        let line = read();
        self.is_reading.store(false, Ordering::SeqCst);
        line
    }

    /// Runs something that Ctrl-C stops.
    pub(crate) fn stoppable<T>(&self, interrupter: &Interrupter, work: impl FnOnce() -> T) -> T {
        // Whatever came before was not meant for this.
        interrupter.clear();
        self.stop.store(false, Ordering::Relaxed);
        self.set_running(Some(interrupter.clone()));
        let done = work();
        self.set_running(None);
        interrupter.clear();
        done
    }

    fn set_running(&self, interrupter: Option<Interrupter>) {
        *self.running.lock().unwrap_or_else(PoisonError::into_inner) = interrupter;
    }

    #[cfg(unix)]
    fn interrupt(&self) {
        let running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(interrupter) = running.as_ref() {
            self.stop.store(true, Ordering::Relaxed);
            interrupter.interrupt();
        }
    }

    /// The loop has left, and everything is as safe as it can be.
    pub(crate) fn leave(&self) {
        *self.left.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.leaves.notify_all();
    }

    /// Asks the loop to leave; whether it did, or somebody else asks it already.
    #[cfg(unix)]
    fn ask_to_leave(&self, watch: Watch, signal: i32) -> bool {
        if self.gone.swap(u8::try_from(signal).unwrap_or(1), Ordering::SeqCst) > 0 {
            return true;
        }
        self.wake.store(true, Ordering::Relaxed);
        self.interrupt();
        if watch == Watch::Nobody && self.is_reading.load(Ordering::SeqCst) {
            return false;
        }
        let left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.leaves.wait_timeout_while(left, MOMENT, |left| !*left);
        waited.map_or_else(|error| *error.into_inner().0, |(left, _)| *left)
    }
}

#[cfg(unix)]
mod platform {
    use std::sync::Arc;

    use rustix::event::{PollFd, PollFlags, poll};
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

    use super::{LastWill, Signals, Watch};
    use crate::ignored::Ignored;

    pub(super) fn watch(watch: Watch, signals: &Arc<Signals>, last_will: LastWill) {
        let last_will = Arc::new(std::sync::Mutex::new(last_will));
        let end = move |signals: &Signals, number| {
            if !signals.ask_to_leave(watch, number) {
                if let Ok(last_will) = last_will.lock() {
                    last_will();
                }
                // Dies as one does of that signal, for whoever waits for us.
                drop(signal_hook::low_level::emulate_default_handler(number));
            }
        };
        let mut numbers = vec![SIGINT, SIGHUP, SIGTERM];
        if watch == Watch::Nobody {
            let ignored = Ignored::now();
            numbers.retain(|number| !ignored.has(*number));
        }
        if let Ok(mut come) = signal_hook::iterator::Signals::new(numbers) {
            let (signals, end) = (Arc::clone(signals), end.clone());
            std::thread::spawn(move || {
                for number in come.forever() {
                    match number {
                        SIGINT if watch == Watch::Person => signals.interrupt(),
                        number => end(&signals, number),
                    }
                }
            });
        }
        if watch == Watch::Nobody {
            // The end of what we read is not the end of us.
            return;
        }
        let signals = Arc::clone(signals);
        // A hangup comes without a signal to who ignores it, or is not in the foreground.
        std::thread::spawn(move || {
            if hung_up() {
                end(&signals, SIGHUP);
            }
        });
    }

    /// Waits until the terminal is closed.
    fn hung_up() -> bool {
        let stdin = std::io::stdin();
        loop {
            let mut watched = [PollFd::new(&stdin, PollFlags::empty())];
            match poll(&mut watched, None) {
                Err(rustix::io::Errno::INTR) => {}
                Err(_) => return false,
                Ok(_) => {
                    let end = PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL;
                    return watched[0].revents().intersects(end);
                }
            }
        }
    }
}

#[cfg(not(unix))]
mod platform {
    use std::sync::Arc;

    use super::{LastWill, Signals, Watch};

    /// The console ends those who sit in it.
    pub(super) fn watch(_watch: Watch, _signals: &Arc<Signals>, _last_will: LastWill) {}
}
