//! What scripts reach of the world: one file for each part of it.
//!
//! A script has the rights of whoever started it; the `Host` is the one door, so that everything it
//! does passes here, and a script under test can be given another.

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

use osm_script::{Execution, Finished, Host, Level, StateKey, Writing};
use serde_json::Value;

use crate::desk::Desk;

pub(crate) use state::script_key;

/// How often a wait looks whether it should end.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// The world of a script.
pub(crate) struct Hands {
    desk: Rc<Desk>,
}

impl Hands {
    pub(crate) fn new(desk: Rc<Desk>) -> Self {
        Self { desk }
    }
}

impl Host for Hands {
    fn print(&mut self, text: &str) {
        self.desk.screen.print(text);
    }

    fn complain(&mut self, text: &str) {
        self.desk.screen.complain(text);
    }

    fn tell(&mut self, text: &str) {
        self.desk.screen.tell(text);
    }

    fn log(&mut self, level: Level, message: &str, attributes: &Value) {
        self.desk.log.write(level, message, attributes);
    }

    fn read(&mut self, path: &Path) -> io::Result<Vec<u8>> {
        std::fs::read(self.desk.at(path))
    }

    fn write(&mut self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        self.write_as(path, bytes, &Writing::default())
    }

    fn write_as(&mut self, path: &Path, bytes: &[u8], how: &Writing) -> io::Result<()> {
        files::write(&self.desk.at(path), bytes, how)
    }

    fn exists(&mut self, path: &Path) -> bool {
        self.desk.at(path).exists()
    }

    fn variable(&mut self, name: &str) -> Option<String> {
        self.desk.environment.get(name).map(|value| value.to_string_lossy().into_owned())
    }

    fn run(&mut self, execution: &Execution) -> io::Result<Finished> {
        exec::run(execution, &self.desk.folder)
    }

    fn edit(&mut self, hint: &str, text: &str) -> io::Result<String> {
        editor::edit(&self.desk, hint, text)
    }

    fn copy(&mut self, text: &str) -> io::Result<()> {
        clipboard::copy(&self.desk, text).map_err(io::Error::other)
    }

    fn paste(&mut self) -> io::Result<String> {
        clipboard::paste(&self.desk).map_err(io::Error::other)
    }

    fn sleep(&mut self, time: Duration, interrupted: &dyn Fn() -> bool) {
        let until = Instant::now() + time;
        while !interrupted() && !self.desk.stop.load(Ordering::Relaxed) {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            std::thread::sleep(left.min(LOOK_EVERY));
        }
    }

    fn state(&mut self, key: &StateKey) -> Result<Option<Value>, String> {
        state::get(&self.desk, key)
    }

    fn set_state(&mut self, key: &StateKey, value: Option<Value>) -> Result<(), String> {
        state::set(&self.desk, key, value)
    }

    /// What nobody changed is not written down.
    fn set_default(&mut self, _key: &StateKey, _value: Value) -> Result<(), String> {
        Ok(())
    }

    fn call(&mut self, module: &str, function: &str, arguments: &[Value]) -> Result<Value, String> {
        match module {
            "osm:context" => context::call(&self.desk, function, arguments),
            _ => Err(format!("there is no module {module}")),
        }
    }

    fn read_line(&mut self, prompt: &str) -> Option<String> {
        self.desk.screen.ask(prompt)
    }
}
