//! What `osm claim`, `osm release` and `osm claims` do.
//!
//! Each operation opens the ledger, makes one request as this session in one scope, and returns a
//! typed result. A result, or a refusal, also carries [`Notices`]: what the session lost, and what
//! it may resume, what others ask of it. The front end shows them and then calls [`mark_told`].

mod acquire;
mod candidates;
mod client;
mod committed;
mod error;
pub mod guard;
mod inspect;
mod keeper;
mod legacy;
mod message;
mod overview;
mod paths;
mod repair;
mod run;
mod session;
#[cfg(test)]
mod tests;
mod told;
mod transfer;
mod watch;
pub(crate) mod words;
mod work_list;

pub use acquire::{
    Batch, Checked, ClaimAllRequest, ClaimRequest, Claimed, Elsewhere, GrantOptions, HeldRequest,
    NextRequest, ReleaseRequest, Resources, check, claim, claim_all, next, note, release, renew,
};
pub use candidates::{CandidatesError, Source, WorkList, candidates, configured};
pub(crate) use committed::release_committed;
pub use error::Error;
pub use inspect::{
    ClaimList, History, HistoryRequest, Mine, Owner, Status, Sweep, done, list, log, mine,
    owners_at, sweep, why,
};
pub use keeper::keep;
pub use legacy::Legacy;
pub use message::{AskRequest, Inbox, MessageError, acknowledge, ask, inbox, tell_all};
pub(crate) use message::{notices, tell_changed};
pub use osm_claims::Notices;
pub use overview::{OtherOwner, Overview, concerns, overview, path_holders};
pub use paths::{
    HeldPath, HeldPaths, HoldRequest, PathError, caller, hold_paths, path_resource,
    paths_of_others, resource, resource_of_bytes,
};
pub use repair::{Repair, RepairRequest, repair};
pub use run::{Ran, RunRequest, run};
pub(crate) use told::{tell_notices, tell_resumable};
pub use transfer::{OfferRequest, ResumeRequest, TakeRequest, Taken, accept, offer, resume, take};
pub(crate) use watch::watch;

use self::client::Client;
use self::guard::GuardError;
use crate::interaction::Silence;
use crate::invocation::Invocation;

/// How many other owners are looked at closely.
const SHOWN_OWNERS: usize = 100;

/// Records that the front end showed what the session lost.
pub fn mark_told(invocation: &Invocation) -> Result<(), Error> {
    let client = Client::open_anywhere(invocation, None, &mut Silence)?;
    client.answer(client.claims.mark_told(&client.requester))
}
