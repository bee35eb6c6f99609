//! Updates whose reply was lost.
//!
//! A network can lose a request or its reply, and the caller cannot tell which. To send the change
//! again could carry it out twice, to give up could lose it. The handle of the session knows which
//! of its updates was the last to be carried out, so the caller asks, and only then decides.

use super::{Attended, NextOf, Outcome, Stamp, Wait};
use crate::error::{Error, Result};

/// How often an update is sent, and how often its outcome is asked for.
const ATTEMPTS: u32 = 5;

/// Updates a session; if the reply is lost, finds out what happened, and sends the change again only
/// if it was not carried out.
///
/// [`Error::UnknownOutcome`] if that cannot be found out now either: ask for
/// [`Attended::outcome`] later, before anything else is changed.
pub fn update_settled(
    session: &mut dyn Attended,
    known: Option<Stamp>,
    wait: Wait,
    next: &mut NextOf<'_>,
) -> Result<Option<Stamp>> {
    let mut attempt = 1;
    loop {
        match session.update(known, wait, next) {
            Err(lost @ Error::UnknownOutcome(_)) => match ask(session) {
                Some(Outcome::CarriedOut(stamp)) => return Ok(stamp),
                Some(Outcome::NotCarriedOut) if attempt < ATTEMPTS => attempt += 1,
                _ => return Err(lost),
            },
            settled => return settled,
        }
    }
}

fn ask(session: &mut dyn Attended) -> Option<Outcome> {
    (0..ATTEMPTS).find_map(|_| session.outcome().ok())
}
