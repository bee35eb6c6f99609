//! `osm claim run`: a claim that is held while a command runs.
//!
//! First this process holds the claim, then, as soon as it runs, the command itself does: if we are
//! killed, the claim is free when the command has ended, and not before. We watch the ledger, and
//! stop the command if the claim is taken away, or if we cannot go on watching.

mod child;

use std::ffi::{OsStr, OsString};
use std::time::{Duration, Instant};

use osm_claims::ledger::Watch;
use osm_claims::rules::Change;
use osm_claims::{Claim, Error, Hold, Keep, Resource, Wish};
use osm_identity::{ProcessInstance, System};

use self::child::Child;
use super::desk::{Answer, Desk};
use super::grant::{is_gone, waiting};
use crate::cli::ClaimGrant;
use crate::error::{CommandError, Exit};
use crate::render::Ui;

/// How long a command has to end by itself after it was asked to.
const GRACE: Duration = Duration::from_secs(5);

/// The longest time between two looks.
const LOOK_EVERY: Duration = Duration::from_mins(1);

pub(super) fn run(
    desk: &Desk,
    name: &OsStr,
    grant: &ClaimGrant,
    command: &[OsString],
    ui: &mut Ui,
) -> Answer {
    let resource = Desk::resource(name)?;
    if let Some(claim) = desk.under(name, &resource)? {
        // The command around this one has it, and runs for longer.
        let held = Held { desk, resource: &resource, claim, is_new: false };
        return finish(held.run(name, command, ui)?);
    }
    let own = ProcessInstance::with_pid(std::process::id(), &System).map_err(Error::Blind)?;
    let wish = Wish { keep: Keep::Process(own), ..desk.wish(grant, ui) };
    let outcome = waiting(desk, grant, || desk.claims.claim(&desk.asker, &resource, &wish))?;
    // What the session had before stays with it afterwards.
    let is_new = matches!(outcome.change, Change::Grant(_));
    let held = Held { desk, resource: &resource, claim: outcome.claim, is_new };
    let run = held.run(name, command, ui);
    let released = if is_new { held.release() } else { Ok(()) };
    let code = run?;
    released?;
    finish(code)
}

fn finish(code: u8) -> Answer {
    match code {
        0 => Ok(()),
        code => Err(CommandError::Told(Exit::Command(code))),
    }
}

struct Held<'a> {
    desk: &'a Desk<'a>,
    resource: &'a Resource,
    claim: Claim,
    is_new: bool,
}

impl Held<'_> {
    /// Runs the command to its end; its exit code.
    fn run(&self, name: &OsStr, command: &[OsString], ui: &mut Ui) -> Result<u8, CommandError> {
        let token = self.claim.token().to_string();
        let mut variables = vec![
            ("OSM_CLAIM_RESOURCE", name.to_owned()),
            ("OSM_CLAIM_EPOCH", OsString::from(token)),
            ("OSM_CLAIM_SCOPE", OsString::from(&self.desk.asker.scope.key)),
        ];
        if let Some(scope) = &self.desk.scope {
            variables.push(("OSM_SCOPE", scope.into()));
        }
        let claims = &self.desk.claims;
        let mut watch = claims.watch()?;
        let mut child = Child::start(command, &variables)?;
        let followed = self.follow(&mut child, &mut *watch, ui);
        if followed.is_err() {
            // Nobody may have the claim while the command goes on without it.
            stop(&mut child);
        }
        followed
    }

    fn follow(
        &self,
        child: &mut Child,
        watch: &mut dyn Watch,
        ui: &mut Ui,
    ) -> Result<u8, CommandError> {
        let claims = &self.desk.claims;
        let process = ProcessInstance::with_pid(child.pid(), &System).map_err(Error::Blind)?;
        if self.is_new {
            claims.entrust(&self.desk.asker, self.resource, self.claim.token(), &process)?;
        }
        loop {
            if let Some(code) = child.ended()? {
                return Ok(code);
            }
            if let Some(lost) = self.lost() {
                ui.warn(&format!("{lost}; the command is stopped"));
                return Err(CommandError::Told(Exit::Lost));
            }
            claims.watch_for(watch, &process, self.nap())?;
        }
    }

    /// Why the claim was lost. A look that failed says nothing, and a claim that the command let go
    /// of itself is not lost.
    fn lost(&self) -> Option<String> {
        let (asker, token) = (&self.desk.asker, Some(self.claim.token()));
        let look = match self.claim.hold {
            Hold::Lease(_) => self
                .desk
                .claims
                .renew(asker, self.resource, token, &Wish::default())
                .map(|outcome| outcome.claim),
            Hold::Session | Hold::Process(_) => self.desk.claims.check(asker, self.resource, token),
        };
        let error = look.err()?;
        if matches!(error, Error::Replaced { .. }) {
            // Who asks the ledger that is there now gets what we have.
            return Some(error.to_string());
        }
        let claim = error.refusal().filter(|_| is_gone(&error))?.claim.as_ref()?;
        (claim.is_lost() || claim.is_handed_off()).then(|| error.to_string())
    }

    /// How long to wait for something to happen; a lease is renewed in time.
    fn nap(&self) -> Duration {
        match &self.claim.hold {
            Hold::Lease(lease) => (lease.term / 3).min(LOOK_EVERY),
            Hold::Session | Hold::Process(_) => LOOK_EVERY,
        }
    }

    fn release(&self) -> Result<(), CommandError> {
        let (asker, token) = (&self.desk.asker, Some(self.claim.token()));
        match self.desk.claims.release(asker, self.resource, token, false) {
            // The command may have released it itself, or somebody took it.
            Err(error) if is_gone(&error) => Ok(()),
            other => Ok(other.map(drop)?),
        }
    }
}

/// Asks the command to end, and makes it end.
fn stop(child: &mut Child) {
    let until = Instant::now() + GRACE;
    child.ask_to_end();
    // Whoever cannot be waited for has ended.
    while let Ok(None) = child.ended() {
        if Instant::now() > until {
            child.kill();
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}
