//! Watching the claims of a repository, for a front end that shows them while they change.

use std::ops::ControlFlow;
use std::time::Duration;

use osm_claims::rules::Standing;
use osm_claims::{Claim, SystemProbe};
use osm_identity::System;

use super::Error;
use super::client::Client;
use crate::interaction::Silence;
use crate::invocation::Invocation;

/// The longest sleep: the end of a lease is told by no process.
const AT_MOST: Duration = Duration::from_secs(30);

/// The most processes that are watched.
const MOST_HOLDERS: usize = 256;

/// Calls `look` at once, after each change of the ledger, and after the end of a process that holds a
/// claim, until it breaks off. A call need not mean that something changed.
pub(crate) fn watch(
    invocation: &Invocation,
    mut look: impl FnMut() -> ControlFlow<()>,
) -> Result<(), Error> {
    let client = Client::open(invocation, None, &mut Silence)?;
    // The watch starts before the first look, so that no change falls in between.
    let mut watch = client.answer(client.claims.watch())?;
    while look().is_continue() {
        let listed = client.answer(client.claims.list(&client.requester, false))?;
        let running = listed.iter().filter(|it| !matches!(it.standing, Standing::Free(_)));
        let holders: Vec<_> =
            running.filter_map(|it| Claim::process(&it.claim)).take(MOST_HOLDERS).collect();
        client.answer(watch.wait(&holders, &SystemProbe(System), AT_MOST))?;
    }
    Ok(())
}
