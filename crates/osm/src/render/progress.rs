//! The line on standard error that shows how far long work is.
//!
//! A thread draws it, so work that reports often pays for no system call, and work that reports nothing
//! for a while is shown with its time. Nothing is drawn in the first half second. Every other writer
//! holds the line while it writes ([`ProgressLine::hold`]): then the line is erased, and is drawn again
//! afterwards. Work that was asked to stop is not shown any more, and the cursor is never hidden: so a
//! second Ctrl-C, which ends osm at once, leaves nothing to put right.

use std::io::Write as _;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::brief;
use crate::World;
use crate::interaction::{Progress, Watcher, Work};
use crate::interrupt::Interrupt;
use crate::world::Columns;

/// How long work takes before it is shown.
const PATIENCE: Duration = Duration::from_millis(500);
/// The time between two drawings.
const PAUSE: Duration = Duration::from_millis(100);

const ERASE: &[u8] = b"\r\x1b[K";

/// The line; writers of one terminal share it. Without a terminal it shows nothing.
#[derive(Clone)]
pub(crate) struct ProgressLine(Option<Arc<Line>>);

struct Line {
    state: Mutex<State>,
    /// The work began or ended.
    changed: Condvar,
    columns: Columns,
}

#[derive(Default)]
struct State {
    under_way: Option<UnderWay>,
    /// When to draw next.
    due: Option<Instant>,
    /// What the line shows; empty if it is erased.
    shown: String,
    has_thread: bool,
}

/// What the line shows.
struct UnderWay {
    work: Work<'static>,
    began: Instant,
    /// The user asked it to stop.
    stop: Arc<AtomicBool>,
}

/// The line cannot be drawn while this is held.
pub(crate) struct Held<'a> {
    _state: Option<MutexGuard<'a, State>>,
}

impl ProgressLine {
    /// The line on the terminal of standard error, unless the output is for programs.
    pub(super) fn new(world: &World, json: bool) -> Self {
        let columns = if json { None } else { world.progress_columns() };
        Self(columns.map(|columns| {
            let (state, changed) = (Mutex::default(), Condvar::default());
            Arc::new(Line { state, changed, columns })
        }))
    }

    /// Begins work; with an `interrupt`, signals ask it to stop.
    pub(super) fn begin(&self, what: &str, interrupt: Option<Interrupt>) -> Progress {
        if self.0.is_none() && interrupt.is_none() {
            return Progress::unseen();
        }
        let stop = interrupt.as_ref().map_or_else(Arc::default, |it| Arc::clone(it.stop()));
        if let Some(line) = &self.0 {
            line.begin(what, Arc::clone(&stop));
        }
        Progress::seen_by(Box::new(Shown { line: self.0.clone(), interrupt, stop }))
    }

    /// Erases the line and keeps it erased while something else is written. A thread must not hold it
    /// twice.
    pub(super) fn hold(&self) -> Held<'_> {
        let mut state = self.0.as_ref().map(|line| line.lock());
        if let Some(state) = &mut state {
            state.erase();
        }
        Held { _state: state }
    }

    /// Erases the line if no other thread is writing: before the process ends.
    pub(crate) fn erase(&self) {
        if let Some(Ok(mut state)) = self.0.as_ref().map(|line| line.state.try_lock()) {
            state.end();
        }
    }
}

impl Line {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn begin(self: &Arc<Self>, what: &str, stop: Arc<AtomicBool>) {
        let now = Instant::now();
        let mut state = self.lock();
        let work = Work { what: what.to_owned().into(), ..Work::default() };
        state.under_way = Some(UnderWay { work, began: now, stop });
        state.due = Some(now + PATIENCE);
        if !state.has_thread {
            let line = Arc::clone(self);
            // Where no thread can be had, nothing is shown.
            state.has_thread = std::thread::Builder::new().spawn(move || line.draw()).is_ok();
        }
        self.changed.notify_one();
    }

    /// Draws the line whenever it is due, until the process ends.
    fn draw(&self) {
        let mut state = self.lock();
        loop {
            let now = Instant::now();
            state = match state.due {
                None => self.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
                Some(due) if due > now => {
                    let waited = self.changed.wait_timeout(state, due - now);
                    waited.unwrap_or_else(PoisonError::into_inner).0
                }
                Some(_) => {
                    if let Some(columns) = (self.columns)() {
                        state.draw(now, columns);
                    }
                    state.due = Some(now + PAUSE);
                    state
                }
            };
        }
    }
}

impl State {
    fn draw(&mut self, now: Instant, columns: usize) {
        let Some(it) = &self.under_way else { return };
        if it.stop.load(Ordering::Relaxed) {
            return self.erase();
        }
        // A terminal goes to the next line after the last column.
        let text = brief(&text_of(&it.work, now - it.began), columns.saturating_sub(1));
        if text != self.shown {
            write(&[ERASE, text.as_bytes()].concat());
            self.shown = text;
        }
    }

    fn erase(&mut self) {
        if !std::mem::take(&mut self.shown).is_empty() {
            write(ERASE);
        }
    }

    fn end(&mut self) {
        self.erase();
        (self.under_way, self.due) = (None, None);
    }
}

fn write(bytes: &[u8]) {
    // If standard error is closed, there is no way left to say so.
    drop(std::io::stderr().lock().write_all(bytes));
}

/// What is shown of some work.
fn text_of(work: &Work, time: Duration) -> String {
    let count = match (work.done, work.total) {
        (done, Some(total)) => format!(": {done} of {total}"),
        (0, None) => String::new(),
        (done, None) => format!(": {done}"),
    };
    let time = match time.as_secs() {
        0 => String::new(),
        seconds @ 1..60 => format!(" ({seconds}s)"),
        seconds => format!(" ({}m {:02}s)", seconds / 60, seconds % 60),
    };
    format!("{}{count}{time}", work.what)
}

/// Work that the line shows.
struct Shown {
    line: Option<Arc<Line>>,
    interrupt: Option<Interrupt>,
    stop: Arc<AtomicBool>,
}

impl Watcher for Shown {
    fn report(&self, work: &Work) {
        let Some(line) = &self.line else { return };
        let mut state = line.lock();
        let Some(UnderWay { work: known, .. }) = &mut state.under_way else { return };
        if known.what == work.what && known.total == work.total {
            // Threads report in any order.
            known.done = known.done.max(work.done);
        } else {
            let what = work.what.clone().into_owned().into();
            *known = Work { what, done: work.done, total: work.total };
        }
    }

    fn stop(&self) -> &AtomicBool {
        &self.stop
    }

    fn signal(&self) -> Option<u8> {
        self.interrupt.as_ref().and_then(Interrupt::signal)
    }
}

impl Drop for Shown {
    fn drop(&mut self) {
        if let Some(line) = &self.line {
            line.lock().end();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_done_how_much_and_for_how_long() {
        let work = |done, total| Work { what: "reading files".into(), done, total };
        for (work, seconds, expected) in [
            (work(0, None), 0, "reading files"),
            (work(7, None), 0, "reading files: 7"),
            (work(0, Some(9)), 1, "reading files: 0 of 9 (1s)"),
            (work(7, Some(9)), 59, "reading files: 7 of 9 (59s)"),
            (work(0, None), 61, "reading files (1m 01s)"),
            (work(0, None), 7200, "reading files (120m 00s)"),
        ] {
            assert_eq!(text_of(&work, Duration::from_secs(seconds)), expected);
        }
    }

    #[test]
    fn the_line_goes_with_its_work() {
        let line = Line {
            // As if the thread were there, which would draw.
            state: Mutex::new(State { has_thread: true, ..State::default() }),
            changed: Condvar::default(),
            columns: Box::new(|| Some(12)),
        };
        let line = ProgressLine(Some(Arc::new(line)));
        let state = || line.0.as_ref().map(|it| it.lock()).unwrap();
        let progress = line.begin("reading", None);
        for done in [3, 2] {
            progress.count("counting", done, Some(9));
        }
        let work = state().under_way.as_ref().map(|it| it.work.clone()).unwrap();
        assert_eq!(work, Work { what: "counting".into(), done: 3, total: Some(9) });
        assert!(state().due.is_some() && progress.go_on().is_ok());
        drop(progress);
        assert!(state().due.is_none() && state().under_way.is_none());
    }
}
