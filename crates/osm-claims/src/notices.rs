//! What a session must be told, whatever it asked for.

use crate::claim::Claim;
use crate::ledger::Loss;

/// What happened to a session's claims that it may not know of.
///
/// It is read in the transaction that answers the session's request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Notices {
    /// Claims in any scope that the session lost, and was not told of.
    pub losses: Vec<Loss>,
    /// Claims in any scope that an earlier process of the session held when it died, and that the
    /// session may resume.
    pub resumable: Vec<Claim>,
}

impl Notices {
    /// Whether there is nothing to tell.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.losses.is_empty() && self.resumable.is_empty()
    }
}
