//! Starts a script in a new engine, with its arguments and globals; can start it again.

use std::path::PathBuf;
use std::rc::Rc;

use osm_script::{CONTEXT, Modes, Options, Runtime, ScriptError};

use super::catalogue::BuiltInScript;
use crate::script_host::ScriptHost;
use crate::session_host::SessionHost;
use crate::trust::ModuleRules;

/// The script to run.
#[derive(Clone, Debug)]
enum Script {
    /// A script of osm.
    BuiltIn {
        /// The name by which `mode` knows it.
        call: String,
        /// The name of the mode that it registers.
        mode: String,
        text: &'static str,
    },
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
    /// A launcher for a script of osm.
    pub(crate) fn built_in(host: Rc<SessionHost>, script: BuiltInScript) -> Self {
        let BuiltInScript { call, mode, text, globals, folder, modules, module_paths } = script;
        let options = Options { folder, globals, module_paths, ..options(&host) };
        let script = Script::BuiltIn { call, mode, text };
        Self { host, script, options, modules: Rc::new(modules) }
    }

    /// A launcher for a file that the user named, with its arguments. `test` turns the test output of
    /// `ctx` on.
    pub(crate) fn file(
        host: Rc<SessionHost>,
        path: PathBuf,
        arguments: &[String],
        module_paths: Vec<PathBuf>,
        test: bool,
    ) -> Self {
        let arguments = arguments.to_vec();
        let options = Options { arguments, module_paths, test, ..options(&host) };
        Self { host, script: Script::File(path), options, modules: Rc::new(ModuleRules::Named) }
    }

    pub(crate) fn host(&self) -> Rc<SessionHost> {
        Rc::clone(&self.host)
    }

    /// The mode of a built-in script; a file's modes are known only after it has run.
    pub(crate) fn mode(&self) -> Option<&str> {
        match &self.script {
            Script::BuiltIn { mode, .. } => Some(mode),
            Script::File(_) => None,
        }
    }

    /// The name by which `mode` knows a built-in script.
    pub(crate) fn call(&self) -> Option<&str> {
        match &self.script {
            Script::BuiltIn { call, .. } => Some(call),
            Script::File(_) => None,
        }
    }

    /// Runs the script to its end in a new engine.
    pub(crate) fn launch(&self) -> Result<Rc<Runtime>, ScriptError> {
        let script_host = Box::new(ScriptHost::new(self.host(), Rc::clone(&self.modules)));
        let runtime = Runtime::new(script_host, self.options.clone())?;
        match &self.script {
            Script::BuiltIn { mode, text, .. } => {
                runtime.run_source(&format!("osm:mode/{mode}"), text)?;
            }
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

/// The options of every script.
fn options(host: &SessionHost) -> Options {
    Options { limits: host.settings.limits, extensions: vec![CONTEXT], ..Options::default() }
}
