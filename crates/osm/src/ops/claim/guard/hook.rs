//! One hook of git, with or without the guard in it.
//!
//! In a shell script that git runs, the guard is a block of its own at the top. Whatever else is
//! there is set aside as it is, and called by ours: a hook in another language; a link, whose
//! target others edit; a hook that is not executable, which must not begin to run with ours.

use std::fs::Permissions;
use std::io;
use std::path::{Path, PathBuf};

use super::GuardError;
use super::script::{self, ASIDE, Call, Endless, Guarded};
use super::step::{Step, is_executable};

const ADDED: &str = "guarded";
const TAKEN_IN: &str = "guarded, together with the hook that was there";
const CALLED: &str = "guarded; the hook that was there runs after it";
const DISABLED: &str = "guarded; the hook that was there is not executable and does not run";

pub(super) struct Hook {
    pub(super) path: PathBuf,
}

/// What is to be done to a hook.
pub(super) struct Plan {
    steps: Vec<Step>,
    /// What the hook is afterwards, for people.
    pub(super) state: &'static str,
}

/// A hook that exists.
struct Found {
    /// Empty if it is not UTF-8, or a link: then no part of it can be changed.
    text: String,
    permissions: Permissions,
}

impl Hook {
    /// What puts the guard in.
    pub(super) fn install(&self, call: &Call) -> Result<Plan, GuardError> {
        let aside = self.aside();
        let block = script::block(call, None);
        let calling = script::block(call, aside.file_name().and_then(|name| name.to_str()));
        let Some(found) = self.look()? else {
            self.expect_nothing_aside()?;
            return Ok(plan([Step::Write(script::alone(&block), None)], ADDED));
        };
        let is_run = is_run(&self.path);
        let set_aside = Step::SetAside(script::alone(&calling));
        match self.guarded(&found.text)? {
            Some(guarded) if is_run || guarded.is_ours_alone() => {
                let (block, state) = match guarded.calls_aside() && is_there(&aside) {
                    true => (&calling, called(&aside)),
                    false if guarded.is_ours_alone() => (&block, ADDED),
                    false => (&block, TAKEN_IN),
                };
                let permissions = is_run.then_some(found.permissions);
                Ok(plan([Step::Write(guarded.with(block), permissions)], state))
            }
            Some(guarded) => {
                self.expect_nothing_aside()?;
                let restored = Step::Write(guarded.rest(), Some(found.permissions));
                Ok(plan([restored, set_aside], DISABLED))
            }
            None => {
                if let Some(text) = script::taken_in(&found.text, &block).filter(|_| is_run) {
                    return Ok(plan([Step::Write(text, Some(found.permissions))], TAKEN_IN));
                }
                self.expect_nothing_aside()?;
                Ok(plan([set_aside], called(&self.path)))
            }
        }
    }

    /// What takes the guard out.
    pub(super) fn remove(&self) -> Result<Plan, GuardError> {
        let found = self.look()?;
        let text = found.as_ref().map(|found| found.text.as_str()).unwrap_or_default();
        let (Some(found), Some(guarded)) = (&found, self.guarded(text)?) else {
            return Ok(plan([], "not guarded"));
        };
        let aside = self.aside();
        match (guarded.is_ours_alone(), guarded.calls_aside() && is_there(&aside)) {
            (true, true) => Ok(plan([Step::BringBack], "as it was")),
            (true, false) => Ok(plan([Step::Remove], "removed")),
            (false, false) => {
                let restored = Step::Write(guarded.rest(), Some(found.permissions.clone()));
                Ok(plan([restored], "as it was"))
            }
            (false, true) => Err(GuardError::Edited { hook: self.path.clone(), aside }),
        }
    }

    /// Does what was planned.
    pub(super) fn carry_out(&self, plan: &Plan) -> Result<(), GuardError> {
        let aside = self.aside();
        plan.steps.iter().try_for_each(|step| self.done(step.name(), step.make(&self.path, &aside)))
    }

    /// Where it is while ours stands in its place: in the same folder, so that links lead on.
    fn aside(&self) -> PathBuf {
        self.path.with_extension(ASIDE)
    }

    /// No hook is overwritten.
    fn expect_nothing_aside(&self) -> Result<(), GuardError> {
        let aside = self.aside();
        if !is_there(&aside) {
            return Ok(());
        }
        Err(GuardError::AsideExists(aside))
    }

    fn look(&self) -> Result<Option<Found>, GuardError> {
        let metadata = match self.path.symlink_metadata() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            metadata => self.done("read", metadata)?,
        };
        let bytes = if metadata.is_symlink() {
            Vec::new()
        } else {
            self.done("read", std::fs::read(&self.path))?
        };
        let text = String::from_utf8(bytes).unwrap_or_default();
        Ok(Some(Found { text, permissions: metadata.permissions() }))
    }

    fn guarded<'a>(&self, text: &'a str) -> Result<Option<Guarded<'a>>, GuardError> {
        Guarded::read(text).map_err(|Endless| GuardError::Endless(self.path.clone()))
    }

    fn done<T>(&self, action: &'static str, result: io::Result<T>) -> Result<T, GuardError> {
        result.map_err(|source| GuardError::Io { action, hook: self.path.clone(), source })
    }
}

fn plan<const COUNT: usize>(steps: [Step; COUNT], state: &'static str) -> Plan {
    Plan { steps: steps.into(), state }
}

/// What is said of a hook that is set aside.
fn called(hook: &Path) -> &'static str {
    if is_run(hook) { CALLED } else { DISABLED }
}

/// Whether git runs it: a link is as executable as what it leads to.
fn is_run(hook: &Path) -> bool {
    hook.metadata().is_ok_and(|metadata| is_executable(&metadata.permissions()))
}

/// Whether something is there, and be it a link that leads nowhere.
fn is_there(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}

#[cfg(test)]
mod tests;
