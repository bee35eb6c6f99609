//! What a session must be told, whatever it asked for.

use crate::claim::Claim;
use crate::ledger::Loss;
use crate::message::Message;
use crate::rules::collision::Waiter;

/// What happened to a session's claims that it may not know of, and what others want of it.
///
/// It is read in the transaction that answers the session's request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Notices {
    /// Claims in any scope that the session lost, and was not told of.
    pub losses: Vec<Loss>,
    /// Claims in any scope that an earlier process of the session held when it died, and that the
    /// session may resume.
    pub resumable: Vec<Claim>,
    /// Messages to the session that it has not acknowledged.
    pub messages: Vec<Message>,
    /// Requests of other sessions that wait for a claim of this one.
    pub waiting: Vec<Waiter>,
}

impl Notices {
    /// Whether there is nothing to tell.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.losses.is_empty()
            && self.resumable.is_empty()
            && self.messages.is_empty()
            && self.waiting.is_empty()
    }
}
