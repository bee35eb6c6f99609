//! `osm claim run`: a claim that lasts while a command runs.
//!
//! First osm's own process holds the claim, then, as soon as it runs, the command's: if osm is
//! killed, the claim is free when the command has ended, and not before. osm watches the ledger, and
//! stops the command if the claim is taken away, or if it cannot go on watching.
//!
//! Where other machines know the claim by a lease, osm renews that, too. If it cannot, because the server is away, the
//! command goes on until shortly before the lease is over by this machine's own clock, and has ended when another
//! session may be granted the claim.

mod child;
mod lease;

use std::ffi::OsString;
use std::time::{Duration, Instant};

use osm_claims::clock::Lease;
use osm_claims::ledger::Watch;
use osm_claims::rules::Change;
use osm_claims::{Claim, ClaimOptions, HeldBy, Hold, Notices, Reason, Resource};
use osm_identity::{Pid, ProcessInstance, ProcessSource, ReadError, System};

use self::child::Child;
use super::acquire::{GrantOptions, is_gone, waiting};
use super::client::Client;
use super::{Error, keeper, words};
use crate::interaction::Interaction;
use crate::invocation::Invocation;

/// How long a command has to end by itself after it was asked to.
const GRACE: Duration = Duration::from_secs(5);

/// The longest time between two looks.
const LOOK_EVERY: Duration = Duration::from_mins(1);

/// A command to run under a claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunRequest {
    /// The resource.
    pub resource: Resource,
    /// The options of the claim.
    pub options: GrantOptions,
    /// The program and its arguments.
    pub command: Vec<OsString>,
    /// The scope, instead of the repository around the folder.
    pub scope: Option<String>,
}

/// A command that ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ran {
    /// Its exit code; that of a signal as shells tell it.
    pub code: u8,
    /// What the session must be told.
    pub notices: Notices,
}

/// Runs a command while the session holds a claim.
pub fn run(
    invocation: &Invocation,
    request: &RunRequest,
    interaction: &mut dyn Interaction,
) -> Result<Ran, Error> {
    let client = &Client::open(invocation, request.scope.as_deref(), interaction)?;
    let resource = &request.resource;
    if let Some(claim) = client.answer(client.under(resource))? {
        // The command around this one holds it, and runs for longer.
        let asked = client.answer(keeper::uptime())?;
        let code = Held { client, resource, claim, is_new: false, asked }.run(&request.command)?;
        return Ok(Ran { code, notices: client.notices() });
    }
    let own = client.answer(process(std::process::id()))?;
    let options = client.options(&request.options, interaction);
    let options = ClaimOptions { held_by: HeldBy::Process(own), ..options };
    let mut asked = Duration::ZERO;
    let outcome = waiting(client, request.options.wait, interaction, || {
        asked = keeper::uptime()?;
        client.claims.claim(&client.requester, resource, &options)
    })?;
    keeper::start(client, &outcome.claim, interaction);
    // A claim that the session had before stays with it afterwards.
    let is_new = matches!(outcome.change, Change::Grant(_));
    let held = Held { client, resource, claim: outcome.claim, is_new, asked };
    let code = held.run(&request.command);
    // A lease that could not be renewed ends by itself, and its server need not be waited for.
    let is_over = held.claim.hold.presence().is_some() && matches!(code, Err(Error::Lost(_)));
    let released = if is_new && !is_over { held.release() } else { Ok(()) };
    let code = code?;
    released?;
    Ok(Ran { code, notices: client.notices() })
}

/// The exact process with a pid.
pub(super) fn process(pid: u32) -> osm_claims::Result<ProcessInstance> {
    // Where the table is that of another pid namespace, it has another process under that number.
    let own = Pid(std::process::id());
    if System.own_pid(own) != own {
        return Err(osm_claims::Error::Processes(ReadError::AnotherNamespace));
    }
    ProcessInstance::with_pid(pid, &System).map_err(osm_claims::Error::Processes)
}

struct Held<'a> {
    client: &'a Client<'a>,
    resource: &'a Resource,
    claim: Claim,
    is_new: bool,
    /// The machine's uptime before the claim was asked for.
    asked: Duration,
}

/// How osm learns that the claim is lost.
enum Keeping<'a> {
    /// The ledger is watched.
    Watched(Box<dyn Watch + 'a>),
    /// A lease is renewed.
    ByLease(&'a Lease),
}

impl Held<'_> {
    /// Runs the command to its end; its exit code.
    fn run(&self, command: &[OsString]) -> Result<u8, Error> {
        let client = self.client;
        let mut variables = vec![
            ("OSM_CLAIM_RESOURCE", word(self.resource)),
            ("OSM_CLAIM_EPOCH", OsString::from(self.claim.token().to_string())),
            ("OSM_CLAIM_SCOPE", OsString::from(&client.requester.scope.key)),
        ];
        if let Some(scope) = &client.scope_name {
            variables.push(("OSM_SCOPE", scope.into()));
        }
        let mut keeping = match self.claim.hold.presence() {
            Some(lease) => Keeping::ByLease(lease),
            None => Keeping::Watched(client.answer(client.claims.watch())?),
        };
        let mut child = Child::start(command, &variables)?;
        let process = client.answer(process(child.pid()));
        let followed = process.and_then(|process| match &mut keeping {
            Keeping::Watched(watch) => self.follow(&mut child, &process, &mut **watch),
            Keeping::ByLease(lease) => self.follow_lease(&mut child, &process, lease),
        });
        if followed.is_err() {
            // No other session may hold the claim while the command goes on without it.
            stop(&mut child, self.grace());
        }
        followed
    }

    /// Makes the claim last as long as the command, unless the command released it already.
    fn assign(&self, process: &ProcessInstance) -> Result<(), Error> {
        let (client, token) = (self.client, self.claim.token());
        if !self.is_new {
            return Ok(());
        }
        let claims = &client.claims;
        match claims.assign_process(&client.requester, self.resource, token, process) {
            Err(error) if is_gone(&error) && self.loss(&error).is_none() => Ok(()),
            assigned => client.answer(assigned),
        }
    }

    fn follow(
        &self,
        child: &mut Child,
        process: &ProcessInstance,
        watch: &mut dyn Watch,
    ) -> Result<u8, Error> {
        let client = self.client;
        self.assign(process)?;
        loop {
            if let Some(code) = child.ended()? {
                return Ok(code);
            }
            if let Some(lost) = self.lost() {
                return Err(Error::Lost(lost));
            }
            client.answer(client.claims.watch_for(watch, process, self.pause()))?;
        }
    }

    /// Why the claim was lost. A look that failed says nothing, and a claim that the command itself
    /// released is not lost.
    fn lost(&self) -> Option<String> {
        let (client, token) = (self.client, Some(self.claim.token()));
        let look = match self.claim.hold {
            Hold::Lease(_) => client
                .claims
                .renew(&client.requester, self.resource, token, &ClaimOptions::default())
                .map(|outcome| outcome.claim),
            _ => client.claims.check(&client.requester, self.resource, token),
        };
        self.loss(&look.err()?)
    }

    /// Why an answer means that the claim is lost.
    fn loss(&self, error: &osm_claims::Error) -> Option<String> {
        let client = self.client;
        if matches!(error, osm_claims::Error::Replaced) {
            // Another ledger is there now, and grants what this command holds.
            return Some(words::ledger(&client.invocation.ledger_place(), error));
        }
        let refused = error.refusal()?;
        if refused.reason == Reason::LeaseOver {
            return Some(words::refusal(refused));
        }
        let claim = refused.claim.as_ref()?;
        let is_lost = is_gone(error) && (claim.is_lost() || claim.is_handed_off());
        is_lost.then(|| words::refusal(refused))
    }

    /// How long to wait for a change; a lease is renewed in time.
    fn pause(&self) -> Duration {
        match &self.claim.hold {
            Hold::Lease(lease) => (lease.term / 3).min(LOOK_EVERY),
            _ => LOOK_EVERY,
        }
    }

    fn release(&self) -> Result<(), Error> {
        let (client, token) = (self.client, Some(self.claim.token()));
        match client.claims.release(&client.requester, self.resource, token, false) {
            // The command may have released it itself, or another session took it.
            Err(error) if is_gone(&error) => Ok(()),
            other => client.answer(other.map(drop)),
        }
    }
}

/// The name of a resource as a variable has it.
#[cfg(unix)]
fn word(resource: &Resource) -> OsString {
    use std::os::unix::ffi::OsStringExt;
    OsString::from_vec(resource.as_bytes().to_vec())
}

#[cfg(not(unix))]
fn word(resource: &Resource) -> OsString {
    OsString::from(resource.to_string())
}

/// Asks the command to end, and makes it end.
fn stop(child: &mut Child, grace: Duration) {
    let until = Instant::now() + grace;
    child.ask_to_end();
    // A process that cannot be waited for has ended.
    while let Ok(None) = child.ended() {
        if Instant::now() > until {
            child.kill();
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}
