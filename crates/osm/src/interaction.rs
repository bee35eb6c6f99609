//! What an operation may say and ask while it runs.
//!
//! Operations return their result. What cannot wait for it goes through this trait, which each
//! front end implements: a terminal shows a bar and asks, [`Silence`] does neither.

use crate::error::{Exit, Failure};

/// The front end, as an operation sees it.
pub trait Interaction {
    /// Tells how much of long work is done.
    fn progress(&mut self, done: usize, total: usize);

    /// Asks for a confirmation. Only an explicit yes is one.
    fn confirm(&mut self, question: &str) -> Result<bool, CannotAsk>;

    /// Tells of something that is not an error, but that the user should know.
    fn warn(&mut self, message: &str);

    /// Tells what to do about the last warning.
    fn hint(&mut self, message: &str);
}

/// There is no way to ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CannotAsk;

/// A front end that shows nothing and cannot ask.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silence;

impl Interaction for Silence {
    fn progress(&mut self, _done: usize, _total: usize) {}

    fn confirm(&mut self, _question: &str) -> Result<bool, CannotAsk> {
        Err(CannotAsk)
    }

    fn warn(&mut self, _message: &str) {}

    fn hint(&mut self, _message: &str) {}
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
