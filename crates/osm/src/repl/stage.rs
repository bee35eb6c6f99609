//! What is run: a script with all that it is given. It can begin anew.

use std::path::PathBuf;
use std::rc::Rc;

use osm_script::{CONTEXT, Modes, Options, Runtime, ScriptError};
use serde_json::Value;

use crate::desk::Desk;
use crate::host::Hands;

/// A script.
#[derive(Clone, Debug)]
pub(crate) enum Play {
    /// One of ours: the name of its mode, and its text.
    BuiltIn(String, String),
    /// The user's.
    File(PathBuf),
}

/// A script with all that it is given.
pub(crate) struct Stage {
    desk: Rc<Desk>,
    play: Play,
    options: Options,
}

impl Stage {
    pub(crate) fn new(
        desk: Rc<Desk>,
        play: Play,
        arguments: &[String],
        globals: Vec<(String, Value)>,
    ) -> Self {
        let options = Options {
            limits: desk.settings.limits,
            module_paths: desk.settings.module_paths.iter().map(|path| desk.at(path)).collect(),
            arguments: arguments.to_vec(),
            extensions: vec![CONTEXT],
            globals,
            ..Options::default()
        };
        Self { desk, play, options }
    }

    /// The same, where `ctx` tells what it does.
    pub(crate) fn testing(mut self, test: bool) -> Self {
        self.options.test = test;
        self
    }

    pub(crate) fn desk(&self) -> Rc<Desk> {
        Rc::clone(&self.desk)
    }

    /// The mode that it is about, if that is known beforehand.
    pub(crate) fn mode(&self) -> Option<String> {
        match &self.play {
            Play::BuiltIn(name, _) => Some(name.clone()),
            Play::File(_) => None,
        }
    }

    /// Runs the script to its end, in an engine of its own.
    pub(crate) fn begin(&self) -> Result<Rc<Runtime>, ScriptError> {
        let hands = Box::new(Hands::new(self.desk()));
        let runtime = Runtime::new(hands, self.options.clone())?;
        match &self.play {
            Play::BuiltIn(name, text) => runtime.run_source(&format!("osm:mode/{name}"), text)?,
            Play::File(path) => runtime.run(path)?,
        }
        Ok(Rc::new(runtime))
    }

    /// The mode that a script which has run wants to be in: the one that it entered, or the only one
    /// that it registered.
    pub(crate) fn wanted(runtime: &Runtime) -> Result<Option<String>, ScriptError> {
        let modes = Modes::new(runtime);
        if let Some(current) = modes.current() {
            return Ok(Some(current.name));
        }
        Ok(modes.list()?.into_iter().next().map(|mode| mode.name))
    }
}
