//! `osm claim run`: a claim that is held while a command runs.
//!
//! First this process holds the claim, then, as soon as it runs, the command itself does: if we are
//! killed, the claim is free when the command has ended, and not before. We watch the ledger, and
//! stop the command if the claim is taken away.

mod child;

use std::ffi::{OsStr, OsString};
use std::time::{Duration, Instant};

use osm_claims::rules::Change;
use osm_claims::{Claim, End, Error, Hold, Keep, Process, Resource, Wish};
use osm_identity::System;

use self::child::Child;
use super::desk::{Answer, Desk};
use super::grant::{is_gone, waiting};
use crate::cli::ClaimGrant;
use crate::error::{CommandError, Exit};
use crate::ui::Ui;

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
    let own = Process::with_pid(std::process::id(), &System).map_err(Error::Blind)?;
    let wish = Wish { keep: Keep::Process(own), ..desk.wish(grant, ui) };
    let outcome = waiting(desk, grant, || desk.claims.claim(&desk.asker, &resource, &wish))?;
    // What the session had before stays with it afterwards.
    let is_new = matches!(outcome.change, Change::Grant(_));
    let held = Held { desk, resource: &resource, claim: outcome.claim, is_new };
    let run = held.run(name, command, ui);
    if is_new {
        held.release()?;
    }
    match run? {
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
        ];
        if let Some(scope) = &self.desk.scope {
            variables.push(("OSM_SCOPE", scope.into()));
        }
        let claims = &self.desk.claims;
        let mut watch = claims.watch()?;
        let mut child = Child::start(command, &variables)?;
        let process = Process::with_pid(child.pid(), &System).map_err(Error::Blind)?;
        if self.is_new {
            claims.entrust(&self.desk.asker, self.resource, self.claim.token(), &process)?;
        }
        loop {
            if let Some(code) = child.ended()? {
                return Ok(code);
            }
            if let Some(lost) = self.lost() {
                ui.warn(&format!("{lost}; the command is stopped"));
                self.stop(&mut child, &process)?;
                return Err(CommandError::Told(Exit::Lost));
            }
            claims.watch_for(&mut *watch, &process, self.nap())?;
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
        let error = look.err().filter(is_gone)?;
        let how = error.refusal()?.claim.as_ref()?.ended.as_ref()?.how;
        (how.is_loss() || how == End::HandedOff).then(|| error.to_string())
    }

    /// How long to wait for something to happen; a lease is renewed in time.
    fn nap(&self) -> Duration {
        match &self.claim.hold {
            Hold::Lease(lease) => (lease.term / 3).min(LOOK_EVERY),
            Hold::Session | Hold::Process(_) => LOOK_EVERY,
        }
    }

    fn stop(&self, child: &mut Child, process: &Process) -> Result<(), CommandError> {
        let until = Instant::now() + GRACE;
        let mut watch = self.desk.claims.watch()?;
        child.ask_to_end();
        while child.ended()?.is_none() {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                child.kill();
            }
            let time = left.max(Duration::from_millis(20));
            self.desk.claims.watch_for(&mut *watch, process, time)?;
        }
        Ok(())
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
