//! A script that runs in its engine, and the change from one to another.
//!
//! Each script has an engine of its own. A script whose mode was left keeps its engine, so that the user
//! can return to it: a script of the user is not run a second time. All of them work on one session.

use std::rc::Rc;

use osm_script::{Modes, Runtime, ScriptError};

use super::Repl;
use super::catalogue::Catalogue;
use super::failure::CommandFailure;
use super::launcher::ScriptLauncher;
use crate::config::nearest::nearest;

/// A script in its engine.
pub(super) struct RunningScript {
    pub(super) launcher: ScriptLauncher,
    pub(super) runtime: Rc<Runtime>,
}

impl RunningScript {
    pub(super) fn launch(launcher: ScriptLauncher) -> Result<Self, ScriptError> {
        let runtime = launcher.launch()?;
        Ok(Self { launcher, runtime })
    }

    /// The script's mode that a name means. The mode of a goal is known by the goal's name, which may say
    /// where the goal is from.
    fn mode(&self, name: &str) -> Result<Option<String>, ScriptError> {
        if self.launcher.call() == Some(name) {
            return Ok(self.launcher.mode().map(str::to_owned));
        }
        let is_meant = |mode: &String| mode == name && self.launcher.mode() != Some(mode);
        let modes = Modes::new(&self.runtime).list()?.into_iter().map(|mode| mode.name);
        Ok(modes.into_iter().find(is_meant))
    }
}

impl Repl {
    /// Enters a mode: of the current script, of one that was left, or of osm. If that fails, the current
    /// mode stays.
    pub(super) fn switch_to(&mut self, name: &str) -> Result<(), CommandFailure> {
        let name = Catalogue::canonical(name);
        if let Some(mode) = self.running.mode(name)? {
            return self.enter(&mode);
        }
        for at in 0..self.left.len() {
            if let Some(mode) = self.left[at].mode(name)? {
                return self.change_to(at, &mode);
            }
        }
        let script = self.catalogue.open(name, &mut self.host.screen.clone())?;
        let script = script.ok_or_else(|| self.unknown_mode(name))?;
        let mode = script.mode().to_owned();
        let launcher = ScriptLauncher::built_in(Rc::clone(&self.host), script);
        self.left.push(RunningScript::launch(launcher)?);
        self.change_to(self.left.len() - 1, &mode)
    }

    /// Leaves the current script's mode and enters one of another script.
    fn change_to(&mut self, at: usize, mode: &str) -> Result<(), CommandFailure> {
        let before = self.modes().current().map(|mode| mode.name);
        let left = self.modes().leave().map_err(CommandFailure::from);
        let changed = left.and_then(|()| {
            std::mem::swap(&mut self.running, &mut self.left[at]);
            let entered = self.stoppable(|repl| repl.enter(mode));
            if entered.is_err() {
                std::mem::swap(&mut self.running, &mut self.left[at]);
            }
            entered
        });
        changed.map_err(|failure| {
            // A script of osm is loaded afresh the next time.
            self.left.retain(|script| script.launcher.mode() != Some(mode));
            self.resumed(before, failure)
        })
    }

    /// Makes the mode current again that could not be left for another one.
    fn resumed(&self, mode: Option<String>, failure: CommandFailure) -> CommandFailure {
        let resumed = mode.map_or(Ok(()), |mode| self.modes().resume(&mode));
        match resumed {
            Ok(()) => failure,
            Err(error) => failure.with_hint(format!("`mode` enters a mode: {error}")),
        }
    }

    /// The modes of the user's scripts: name and title.
    pub(super) fn scripted_modes(&self) -> Result<Vec<(String, String)>, ScriptError> {
        let mut modes = Vec::new();
        for script in std::iter::once(&self.running).chain(&self.left) {
            if script.launcher.call().is_none() {
                let own = Modes::new(&script.runtime).list()?.into_iter();
                modes.extend(own.map(|mode| (mode.name, mode.title)));
            }
        }
        Ok(modes)
    }

    fn unknown_mode(&self, name: &str) -> CommandFailure {
        let scripted = self.scripted_modes().unwrap_or_default();
        let listed = self.catalogue.list();
        let names = scripted.iter().map(|(name, _)| name.as_str());
        let meant = nearest(name, names.chain(listed.iter().map(|it| it.call.as_str())));
        let hint = match meant {
            Some(meant) => format!("did you mean `mode {meant}`? `mode` lists all modes"),
            None => "`mode` lists all modes".to_owned(),
        };
        CommandFailure::new(format!("unknown mode {name:?}")).with_hint(hint)
    }
}
