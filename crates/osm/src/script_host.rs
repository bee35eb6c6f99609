//! The `Host` of scripts: files, programs, the editor, the clipboard, state. One file for each.
//!
//! A script has the permissions of the user who started it. It reaches the system only through `Host`,
//! so tests can replace it.

mod clipboard;
mod context;
mod editor;
mod exec;
mod files;
mod state;

use std::io;
use std::path::Path;
use std::rc::Rc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use osm_script::{Execution, Finished, Host, Level, StateKey, TimeLimit, Writing};
use serde_json::Value;

use crate::session_host::SessionHost;
use crate::trust::ModuleRules;

pub(crate) use state::script_key;

/// How often a wait checks whether it should end.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// The host of one script.
pub(crate) struct ScriptHost {
    host: Rc<SessionHost>,
    modules: Rc<ModuleRules>,
    time_limit: TimeLimit,
}

impl ScriptHost {
    pub(crate) fn new(host: Rc<SessionHost>, modules: Rc<ModuleRules>) -> Self {
        Self { host, modules, time_limit: TimeLimit::default() }
    }
}

impl Host for ScriptHost {
    fn print(&mut self, text: &str) {
        self.host.screen.print(text);
    }

    fn print_error(&mut self, text: &str) {
        self.host.screen.write_error(text);
    }

    fn tell(&mut self, text: &str) {
        self.host.screen.tell(text);
    }

    fn log(&mut self, level: Level, message: &str, attributes: &Value) {
        self.host.log.write(level, message, attributes);
    }

    fn read(&mut self, path: &Path) -> io::Result<Vec<u8>> {
        std::fs::read(self.host.absolute(path))
    }

    fn write(&mut self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        self.write_as(path, bytes, &Writing::default())
    }

    fn write_as(&mut self, path: &Path, bytes: &[u8], how: &Writing) -> io::Result<()> {
        files::write(&self.host.absolute(path), bytes, how)
    }

    fn exists(&mut self, path: &Path) -> bool {
        self.host.absolute(path).exists()
    }

    fn list(&mut self, folder: &Path) -> io::Result<Vec<String>> {
        files::list(&self.host.absolute(folder))
    }

    fn module(&mut self, path: &Path) -> Result<Option<Vec<u8>>, String> {
        self.modules.read(path)
    }

    fn variable(&mut self, name: &str) -> Option<String> {
        self.host.environment.get(name).map(|value| value.to_string_lossy().into_owned())
    }

    fn run(&mut self, execution: &Execution) -> io::Result<Finished> {
        // The program has the terminal, and may ask for a password there: no line is drawn meanwhile.
        exec::run(execution, &self.host.folder)
    }

    fn edit(&mut self, hint: &str, text: &str) -> io::Result<String> {
        editor::edit(&self.host, hint, text)
    }

    fn copy(&mut self, text: &str) -> io::Result<()> {
        clipboard::copy(&self.host, text).map_err(io::Error::other)
    }

    fn paste(&mut self) -> io::Result<String> {
        clipboard::paste(&self.host).map_err(io::Error::other)
    }

    fn sleep(&mut self, time: Duration, interrupted: &dyn Fn() -> bool) {
        let until = Instant::now() + time;
        while !interrupted() && !self.host.stop.load(Ordering::Relaxed) {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            std::thread::sleep(left.min(POLL_INTERVAL));
        }
    }

    fn state(&mut self, key: &StateKey) -> Result<Option<Value>, String> {
        state::get(&self.host, key)
    }

    fn set_state(&mut self, key: &StateKey, value: Option<Value>) -> Result<(), String> {
        state::set(&self.host, key, value)
    }

    fn reserve(&mut self, key: &StateKey, floor: u64, count: u64) -> Result<u64, String> {
        let key = state::key(key);
        self.host.session().reserve(&key, floor, count).map_err(|error| error.to_string())
    }

    /// Defaults are not stored: a script declares them again each time.
    fn set_default(&mut self, _key: &StateKey, _value: Value) -> Result<(), String> {
        Ok(())
    }

    fn replace_state(&mut self, key: &StateKey, value: Value) -> Result<(), String> {
        let key = state::key(key);
        self.host.session().replace(key, value).map_err(|error| error.to_string())
    }

    fn call(&mut self, module: &str, function: &str, arguments: &[Value]) -> Result<Value, String> {
        match module {
            "osm:context" => context::call(&self.host, &self.time_limit, function, arguments),
            _ => Err(format!("unknown module {module}")),
        }
    }

    fn set_time_limit(&mut self, limit: TimeLimit) {
        self.time_limit = limit;
    }

    fn read_line(&mut self, prompt: &str) -> Option<String> {
        self.host.screen.ask(prompt)
    }
}
