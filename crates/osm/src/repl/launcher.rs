//! Starts a script in a new engine, with its arguments and globals; can start it again.

use std::path::PathBuf;
use std::rc::Rc;

use osm_script::{CONTEXT, Modes, Options, Runtime, ScriptError};
use serde_json::Value;

use crate::script_host::ScriptHost;
use crate::session_host::SessionHost;
use crate::trust::ModuleRules;

/// The script to run.
#[derive(Clone, Debug)]
pub(crate) enum Script {
    /// A script of osm: the name of its mode, and the source text.
    BuiltIn(String, String),
    /// A file of the user.
    File(PathBuf),
}

/// A script, and everything needed to start it.
pub(crate) struct ScriptLauncher {
    host: Rc<SessionHost>,
    script: Script,
    options: Options,
    modules: Rc<ModuleRules>,
}

impl ScriptLauncher {
    pub(crate) fn new(
        host: Rc<SessionHost>,
        script: Script,
        arguments: &[String],
        globals: Vec<(String, Value)>,
    ) -> Self {
        let options = Options {
            limits: host.settings.limits,
            arguments: arguments.to_vec(),
            extensions: vec![CONTEXT],
            globals,
            ..Options::default()
        };
        Self { host, script, options, modules: Rc::default() }
    }

    /// The same launcher with rules for modules, the folders in which they are found by name, and the
    /// folder of a script from memory.
    pub(crate) fn loading(
        mut self,
        modules: ModuleRules,
        module_paths: Vec<PathBuf>,
        folder: Option<PathBuf>,
    ) -> Self {
        self.modules = Rc::new(modules);
        self.options.module_paths = module_paths;
        self.options.folder = folder;
        self
    }

    /// The same launcher with the test output of `ctx` on or off.
    pub(crate) fn testing(mut self, test: bool) -> Self {
        self.options.test = test;
        self
    }

    pub(crate) fn host(&self) -> Rc<SessionHost> {
        Rc::clone(&self.host)
    }

    /// The mode of a built-in script; a file's modes are known only after it has run.
    pub(crate) fn mode(&self) -> Option<String> {
        match &self.script {
            Script::BuiltIn(name, _) => Some(name.clone()),
            Script::File(_) => None,
        }
    }

    /// Runs the script to its end in a new engine.
    pub(crate) fn launch(&self) -> Result<Rc<Runtime>, ScriptError> {
        let script_host = Box::new(ScriptHost::new(self.host(), Rc::clone(&self.modules)));
        let runtime = Runtime::new(script_host, self.options.clone())?;
        match &self.script {
            Script::BuiltIn(name, text) => runtime.run_source(&format!("osm:mode/{name}"), text)?,
            Script::File(path) => runtime.run(path)?,
        }
        Ok(Rc::new(runtime))
    }

    /// The mode to enter after a script has run: the one that it entered, or else the first that it
    /// registered.
    pub(crate) fn initial_mode(runtime: &Runtime) -> Result<Option<String>, ScriptError> {
        let modes = Modes::new(runtime);
        if let Some(current) = modes.current() {
            return Ok(Some(current.name));
        }
        Ok(modes.list()?.into_iter().next().map(|mode| mode.name))
    }
}
