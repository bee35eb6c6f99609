//! What an operation may say and ask while it runs.
//!
//! Operations return their result. What cannot wait for it goes through this trait, which each
//! front end implements: a terminal shows a line and asks, [`Silence`] does neither.

use std::borrow::Cow;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::{Exit, Failure};

/// The front end, as an operation sees it.
pub trait Interaction {
    /// Tells that work begins that may take long. It ends when the result is dropped; until then the
    /// user can ask it to stop.
    fn begin(&mut self, what: &str) -> Progress;

    /// Asks for a confirmation. Only an explicit yes is one.
    fn confirm(&mut self, question: &str) -> Result<bool, CannotAsk>;

    /// Tells of something that is as it should be, such as a message of another session.
    fn note(&mut self, message: &str);

    /// Tells of something that is not an error, but that the user should know.
    fn warn(&mut self, message: &str);

    /// Tells what to do about the last note or warning.
    fn hint(&mut self, message: &str);
}

/// There is no way to ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CannotAsk;

/// A front end that shows nothing and cannot ask.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silence;

impl Interaction for Silence {
    fn begin(&mut self, _what: &str) -> Progress {
        Progress::unseen()
    }

    fn confirm(&mut self, _question: &str) -> Result<bool, CannotAsk> {
        Err(CannotAsk)
    }

    fn note(&mut self, _message: &str) {}

    fn warn(&mut self, _message: &str) {}

    fn hint(&mut self, _message: &str) {}
}

/// Long work under way. Every thread of it can report.
pub struct Progress(Option<Box<dyn Watcher>>);

/// What a front end does with reports. Dropping it ends the work.
pub trait Watcher: Send + Sync {
    /// Hears what the work is at. Operations report often, so this must be fast.
    fn report(&self, work: &Work);

    /// Becomes true when the user asks the work to stop.
    fn stop(&self) -> &AtomicBool;

    /// The signal by which the user asked.
    fn signal(&self) -> Option<u8>;
}

/// What long work is at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Work<'a> {
    /// What is being done: "reading files".
    pub what: Cow<'a, str>,
    /// How much of it is done.
    pub done: usize,
    /// How much there is, if that is known.
    pub total: Option<usize>,
}

static NEVER: AtomicBool = AtomicBool::new(false);

impl Progress {
    /// Work that no one sees or stops.
    #[must_use]
    pub fn unseen() -> Self {
        Self(None)
    }

    /// Work that a front end sees.
    #[must_use]
    pub fn seen_by(watcher: Box<dyn Watcher>) -> Self {
        Self(Some(watcher))
    }

    /// Reports what is being done.
    pub fn at(&self, what: &str) {
        self.report(&Work { what: what.into(), ..Work::default() });
    }

    /// Reports what is being done, and how much of it.
    pub fn count(&self, what: &str, done: usize, total: Option<usize>) {
        self.report(&Work { what: what.into(), done, total });
    }

    fn report(&self, work: &Work) {
        if let Some(watcher) = &self.0 {
            watcher.report(work);
        }
    }

    /// Becomes true when the user asks the work to stop.
    #[must_use]
    pub fn stop(&self) -> &AtomicBool {
        self.0.as_ref().map_or(&NEVER, |watcher| watcher.stop())
    }

    /// Whether the user asked the work to stop.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.stop().load(Ordering::Relaxed)
    }

    /// The error of work that the user stopped.
    #[must_use]
    pub fn interrupted(&self) -> Interrupted {
        Interrupted { signal: self.0.as_ref().and_then(|watcher| watcher.signal()) }
    }

    /// An error if the user asked the work to stop.
    pub fn go_on(&self) -> Result<(), Interrupted> {
        if self.is_stopped() { Err(self.interrupted()) } else { Ok(()) }
    }
}

/// The user stopped the work. What was done before is complete, and the rest was not begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("interrupted")]
pub struct Interrupted {
    /// The signal by which the user asked.
    pub signal: Option<u8>,
}

impl Failure for Interrupted {
    fn reason(&self) -> &'static str {
        "interrupted"
    }

    fn exit(&self) -> Exit {
        self.signal.map_or(Exit::Failure, Exit::Signal)
    }
}

/// Why an operation that needs a confirmation did nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unconfirmed {
    /// The user said no.
    #[error("not confirmed: nothing was changed")]
    Declined,
    /// There is no way to ask.
    #[error("cannot ask for confirmation: stdin is not a terminal")]
    CannotAsk,
}

impl Failure for Unconfirmed {
    fn reason(&self) -> &'static str {
        match self {
            Self::Declined => "not_confirmed",
            Self::CannotAsk => "cannot_ask",
        }
    }

    fn exit(&self) -> Exit {
        Exit::Refused
    }

    fn hints(&self) -> Vec<String> {
        match self {
            Self::Declined => Vec::new(),
            Self::CannotAsk => {
                vec!["add -y to confirm, or --dry-run to see what would be done".into()]
            }
        }
    }
}

/// Asks before something is lost, unless the request says `yes` already.
pub fn confirm(
    yes: bool,
    question: &str,
    interaction: &mut dyn Interaction,
) -> Result<(), Unconfirmed> {
    if yes || interaction.confirm(question).map_err(|CannotAsk| Unconfirmed::CannotAsk)? {
        Ok(())
    } else {
        Err(Unconfirmed::Declined)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn silence_is_no_consent() {
        assert_eq!(confirm(false, "Delete it?", &mut Silence), Err(Unconfirmed::CannotAsk));
        assert_eq!(confirm(true, "Delete it?", &mut Silence), Ok(()));
    }
}
