//! A host that remembers what scripts did to it.

use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::path::Path;
use std::rc::Rc;
use std::time::Duration;

use osm_script::{
    Execution, Finished, Host, Level, Options, Runtime, ScriptError, StateKey, TimeLimit, Writing,
};
use serde_json::Value;

/// What scripts said and did.
#[derive(Default)]
pub(crate) struct Seen {
    pub(crate) printed: Vec<String>,
    pub(crate) complained: Vec<String>,
    pub(crate) logged: Vec<(Level, String, Value)>,
    pub(crate) clipboard: String,
    pub(crate) state: BTreeMap<StateKey, Value>,
    /// What the user is going to type.
    pub(crate) typed: VecDeque<String>,
    /// What the user makes of the next text that he edits.
    pub(crate) edited: VecDeque<String>,
    /// How `osm:context` answers, by the name of the function.
    pub(crate) answers: BTreeMap<&'static str, Answer>,
    /// The longest time for which a script wanted to wait.
    pub(crate) longest_sleep: Duration,
    /// The user has no home.
    pub(crate) has_no_home: bool,
    time_limit: TimeLimit,
}

pub(crate) type Answer = fn(&[Value]) -> Result<Value, String>;

/// Real files and programs; everything else is remembered.
pub(crate) struct TestHost(pub(crate) Rc<RefCell<Seen>>);

impl Host for TestHost {
    fn print(&mut self, text: &str) {
        self.0.borrow_mut().printed.push(text.to_owned());
    }

    fn print_error(&mut self, text: &str) {
        self.0.borrow_mut().complained.push(text.to_owned());
    }

    // In the order in which a person sees it.
    fn tell(&mut self, text: &str) {
        self.print(text);
    }

    fn log(&mut self, level: Level, message: &str, attributes: &Value) {
        self.0.borrow_mut().logged.push((level, message.to_owned(), attributes.clone()));
    }

    fn read(&mut self, path: &Path) -> io::Result<Vec<u8>> {
        std::fs::read(path)
    }

    fn write(&mut self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        std::fs::write(path, bytes)
    }

    fn exists(&mut self, path: &Path) -> bool {
        path.exists()
    }

    fn list(&mut self, folder: &Path) -> io::Result<Vec<String>> {
        let names = std::fs::read_dir(folder)?.map(|it| Ok(it?.file_name().into_string().unwrap()));
        names.collect()
    }

    fn variable(&mut self, name: &str) -> Option<String> {
        (name == "HOME" && !self.0.borrow().has_no_home).then(|| "/home/ada".to_owned())
    }

    fn run(&mut self, execution: &Execution) -> io::Result<Finished> {
        let (program, arguments) = execution.command.split_first().expect("it is not empty");
        let output = std::process::Command::new(program).args(arguments).output()?;
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        let code = output.status.code().unwrap_or(-1);
        Ok(Finished { stdout: text(output.stdout), stderr: text(output.stderr), code })
    }

    fn edit(&mut self, hint: &str, text: &str) -> io::Result<String> {
        let next = self.0.borrow_mut().edited.pop_front();
        Ok(next.unwrap_or_else(|| format!("{text}, edited as {hint}")))
    }

    fn copy(&mut self, text: &str) -> io::Result<()> {
        text.clone_into(&mut self.0.borrow_mut().clipboard);
        Ok(())
    }

    fn paste(&mut self) -> io::Result<String> {
        Ok(self.0.borrow().clipboard.clone())
    }

    fn sleep(&mut self, time: Duration, interrupted: &dyn Fn() -> bool) {
        let longest = self.0.borrow().longest_sleep.max(time);
        self.0.borrow_mut().longest_sleep = longest;
        let until = std::time::Instant::now() + time;
        while std::time::Instant::now() < until && !interrupted() {
            std::thread::sleep(Duration::from_millis(1).min(time));
        }
    }

    fn state(&mut self, key: &StateKey) -> Result<Option<Value>, String> {
        Ok(self.0.borrow().state.get(key).cloned())
    }

    fn set_state(&mut self, key: &StateKey, value: Option<Value>) -> Result<(), String> {
        let state = &mut self.0.borrow_mut().state;
        match value {
            Some(value) => drop(state.insert(key.clone(), value)),
            None => drop(state.remove(key)),
        }
        Ok(())
    }

    fn call(&mut self, module: &str, function: &str, arguments: &[Value]) -> Result<Value, String> {
        let answer = self.0.borrow().answers.get(function).copied();
        if answer.is_none() && function == "count" {
            // A text of which the tokens are counted for ever.
            let limit = self.0.borrow().time_limit.clone();
            limit.compute(|| while !limit.must_stop() {});
            return Err("stopped".into());
        }
        answer.ok_or_else(|| format!("no answer to {module}.{function}"))?(arguments)
    }

    fn set_time_limit(&mut self, limit: TimeLimit) {
        self.0.borrow_mut().time_limit = limit;
    }

    fn read_line(&mut self, prompt: &str) -> Option<String> {
        let mut seen = self.0.borrow_mut();
        let line = seen.typed.pop_front();
        seen.printed.push(format!("{prompt}{}", line.as_deref().unwrap_or("^D")));
        line
    }

    fn write_as(&mut self, path: &Path, bytes: &[u8], how: &Writing) -> io::Result<()> {
        if how.create_folders {
            std::fs::create_dir_all(path.parent().expect("a file is in a folder"))?;
        }
        let mut options = std::fs::OpenOptions::new();
        options.write(true).create(true).append(how.append).truncate(!how.append);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, how.mode.unwrap_or(0o600));
        io::Write::write_all(&mut options.open(path)?, bytes)
    }
}

/// A runtime and what its scripts do.
pub(crate) struct Stage {
    pub(crate) runtime: Runtime,
    pub(crate) seen: Rc<RefCell<Seen>>,
}

impl Stage {
    pub(crate) fn new() -> Self {
        Self::with(Options::default())
    }

    pub(crate) fn with(options: Options) -> Self {
        let seen = Rc::new(RefCell::default());
        let host = Box::new(TestHost(Rc::clone(&seen)));
        Self { runtime: Runtime::new(host, options).unwrap(), seen }
    }

    /// The value of an expression.
    pub(crate) fn value(&self, source: &str) -> Value {
        self.runtime.evaluate(source, "test.js").unwrap_or_else(|error| panic!("{source}: {error}"))
    }

    /// Why a text fails.
    pub(crate) fn error(&self, source: &str) -> ScriptError {
        match self.runtime.evaluate(source, "test.js") {
            Err(error) => error,
            Ok(value) => panic!("{source} gives {value}"),
        }
    }

    /// What was printed since the last time.
    pub(crate) fn printed(&self) -> Vec<String> {
        std::mem::take(&mut self.seen.borrow_mut().printed)
    }
}
