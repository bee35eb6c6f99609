//! SIGINT, SIGHUP, SIGTERM, and a terminal that is closed.
//!
//! At the prompt Ctrl-C is a key, which the line editor reads. While a command runs it is a signal, and
//! stops the script. Reading from a closed terminal never returns, so a thread watches for the hangup:
//! it asks the loop to leave and, if the loop is stuck, saves the session itself and ends the process.
//!
//! Without a user at a terminal, Ctrl-C ends osm like any other program. Only osm receives it, because a
//! command that osm runs has its own process group. So the handler stops that command first.

use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};

use osm_script::Interrupter;

/// How long the loop may take to leave before the watching thread ends the process.
#[cfg(unix)]
const GRACE_PERIOD: std::time::Duration = std::time::Duration::from_secs(2);

/// Saves the session from the watching thread.
pub(crate) type FinalSave = Box<dyn Fn() + Send>;

/// What a signal does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Watch {
    /// A user is at a terminal: Ctrl-C stops the command, and the loop goes on.
    Interactive,
    /// Every signal ends the program.
    Batch,
}

/// The state shared by the loop and the watching threads.
#[derive(Default)]
pub(crate) struct Signals {
    /// Set to stop work outside the script engine, such as a command that osm runs.
    stop: Arc<AtomicBool>,
    /// Stops the script that is running, if one is.
    running: Mutex<Option<Interrupter>>,
    /// The signal that asked the program to end; 0 if none did.
    received: AtomicU8,
    /// Ends the line editor's wait for a key; the line editor clears it.
    wake: Arc<AtomicBool>,
    /// The loop is reading a line, which cannot be interrupted.
    is_reading: AtomicBool,
    left: Mutex<bool>,
    leaves: Condvar,
}

impl Signals {
    /// Installs the handlers and starts the watching threads.
    pub(crate) fn watch(watch: Watch, stop: Arc<AtomicBool>, final_save: FinalSave) -> Arc<Self> {
        let signals = Arc::new(Self { stop, ..Self::default() });
        platform::watch(watch, &signals, final_save);
        signals
    }

    /// The signal that asks the program to end, if one came (SIGHUP for a closed terminal).
    pub(crate) fn termination(&self) -> Option<u8> {
        Some(self.received.load(Ordering::SeqCst)).filter(|number| *number > 0)
    }

    /// Becomes true when a wait for a key should end.
    pub(crate) fn wake(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.wake)
    }

    /// Reads a line, and notes that the loop is reading while it does.
    pub(crate) fn reading<T>(&self, read: impl FnOnce() -> T) -> T {
        self.is_reading.store(true, Ordering::SeqCst);
        let line = read();
        self.is_reading.store(false, Ordering::SeqCst);
        line
    }

    /// Runs work that Ctrl-C stops. A command of one script can run another script within it.
    pub(crate) fn stoppable<T>(&self, interrupter: &Interrupter, work: impl FnOnce() -> T) -> T {
        interrupter.clear();
        let outer = self.replace_running(Some(interrupter.clone()));
        if outer.is_none() {
            // An earlier interrupt does not concern this work.
            self.stop.store(false, Ordering::Relaxed);
        }
        let done = work();
        self.replace_running(outer);
        interrupter.clear();
        done
    }

    fn replace_running(&self, interrupter: Option<Interrupter>) -> Option<Interrupter> {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::replace(&mut running, interrupter)
    }

    #[cfg(unix)]
    fn interrupt(&self) {
        let running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(interrupter) = running.as_ref() {
            self.stop.store(true, Ordering::Relaxed);
            interrupter.interrupt();
        }
    }

    /// The loop has left, and the session is closed.
    pub(crate) fn leave(&self) {
        *self.left.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.leaves.notify_all();
    }

    /// Asks the loop to leave. True if it left in time, or if another thread asked it before.
    #[cfg(unix)]
    fn ask_to_leave(&self, watch: Watch, signal: i32) -> bool {
        if self.received.swap(u8::try_from(signal).unwrap_or(1), Ordering::SeqCst) > 0 {
            return true;
        }
        self.wake.store(true, Ordering::Relaxed);
        self.interrupt();
        if watch == Watch::Batch && self.is_reading.load(Ordering::SeqCst) {
            return false;
        }
        let left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.leaves.wait_timeout_while(left, GRACE_PERIOD, |left| !*left);
        waited.map_or_else(|error| *error.into_inner().0, |(left, _)| *left)
    }
}

#[cfg(unix)]
mod platform {
    use std::sync::Arc;

    use rustix::event::{PollFd, PollFlags, poll};
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

    use super::{FinalSave, Signals, Watch};
    use crate::ignored::Ignored;

    pub(super) fn watch(watch: Watch, signals: &Arc<Signals>, final_save: FinalSave) {
        let final_save = Arc::new(std::sync::Mutex::new(final_save));
        let end = move |signals: &Signals, number| {
            if !signals.ask_to_leave(watch, number) {
                if let Ok(final_save) = final_save.lock() {
                    final_save();
                }
                // The parent process sees that this signal ended osm.
                drop(signal_hook::low_level::emulate_default_handler(number));
            }
        };
        let mut numbers = vec![SIGINT, SIGHUP, SIGTERM];
        if watch == Watch::Batch {
            let ignored = Ignored::now();
            numbers.retain(|number| !ignored.has(*number));
        }
        // The thread is there before a signal is caught: without one, signals do what they do by default.
        let (register, registered) = std::sync::mpsc::channel();
        let handle = {
            let (signals, end) = (Arc::clone(signals), end.clone());
            move || {
                let Ok(mut come): Result<signal_hook::iterator::Signals, _> = registered.recv()
                else {
                    return;
                };
                for number in come.forever() {
                    match number {
                        SIGINT if watch == Watch::Interactive => signals.interrupt(),
                        number => end(&signals, number),
                    }
                }
            }
        };
        if std::thread::Builder::new().spawn(handle).is_ok()
            && let Ok(come) = signal_hook::iterator::Signals::new(numbers)
        {
            drop(register.send(come));
        }
        if watch == Watch::Batch {
            // The end of standard input does not end the program.
            return;
        }
        let signals = Arc::clone(signals);
        // SIGHUP does not reach a process that ignores it or is in the background.
        let watch_terminal = move || {
            if hung_up() {
                end(&signals, SIGHUP);
            }
        };
        drop(std::thread::Builder::new().spawn(watch_terminal));
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

    use super::{FinalSave, Signals, Watch};

    /// The console ends its processes itself.
    pub(super) fn watch(_watch: Watch, _signals: &Arc<Signals>, _last_will: FinalSave) {}
}
