//! The script engine with its limits.
//!
//! Rust and JavaScript call each other in two places. A script calls a function of
//! [`modules`](crate::modules) by `native(module, function, arguments)`. Rust calls a function that the
//! built-in scripts (`js/`) have put into the global object `__osm` by [`Runtime::call`]. All values
//! cross as JSON.

use std::cell::{Cell, RefMut};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use rquickjs::{CatchResultExt, CaughtError, Context, Ctx, Function, Object};
use serde_json::{Value, json};

use crate::bridge::{Thrown, to_js, to_json};
use crate::error::{Kind, ScriptError};
use crate::globals::{self, Shared, WRAPPER};
use crate::host::{Extension, Host};
use crate::limits::{Interrupter, Limits, Watchdog};
use crate::memory::Memory;

/// How many pending jobs of a failed script are run to discard them.
const MAX_DISCARDED_JOBS: u32 = 100_000;

/// The settings of a runtime.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The limits of scripts.
    pub limits: Limits,
    /// The folders in which `require` looks for a bare name.
    pub module_paths: Vec<PathBuf>,
    /// The folder of a script that runs from memory, for the relative names that it requires.
    pub folder: Option<PathBuf>,
    /// The global `args`.
    pub arguments: Vec<String>,
    /// Whether `ctx` prints the progress of tests.
    pub test: bool,
    /// The modules that the host implements.
    pub extensions: Vec<Extension>,
    /// Additional globals.
    pub globals: Vec<(String, Value)>,
}

/// An engine with its globals.
pub struct Runtime {
    engine: rquickjs::Runtime,
    context: Context,
    shared: Rc<Shared>,
    options: Options,
    watchdog: Watchdog,
    memory: Memory,
    interrupter: Interrupter,
    /// A promise was rejected, and there was no memory to report it.
    lost_rejection: Rc<Cell<bool>>,
    unusable: Cell<bool>,
}

impl Runtime {
    /// A new engine with all globals; no script has run yet.
    pub fn new(mut host: Box<dyn Host>, options: Options) -> Result<Self, ScriptError> {
        let failed =
            |error: rquickjs::Error| ScriptError::new(Kind::Thrown, "Engine", error.to_string());
        let memory = Memory::new(options.limits.memory);
        let engine = rquickjs::Runtime::new_with_alloc(memory.clone()).map_err(failed)?;
        engine.set_max_stack_size(options.limits.stack);
        let interrupter = Interrupter::default();
        let watchdog = Watchdog::new(interrupter.clone());
        host.set_time_limit(watchdog.time_limit());
        let guard = watchdog.clone();
        engine.set_interrupt_handler(Some(Box::new(move || guard.must_stop())));
        let lost_rejection = Rc::new(Cell::new(false));
        let lost = Rc::clone(&lost_rejection);
        engine.set_host_promise_rejection_tracker(Some(Box::new(
            move |ctx: Ctx<'_>, promise, reason, handled| {
                let tell = || -> rquickjs::Result<()> {
                    let ours: Object = ctx.globals().get("__osm")?;
                    ours.get::<_, Function>("onRejection")?.call((promise, reason, handled))
                };
                if tell().is_err() && !handled {
                    lost.set(true);
                }
            },
        )));
        let context = Context::full(&engine).map_err(failed)?;
        let shared = Rc::new(Shared::new(host, &options, watchdog.clone()));
        let unusable = Cell::new(false);
        let runtime = Self {
            engine,
            context,
            shared,
            options,
            watchdog,
            memory,
            interrupter,
            lost_rejection,
            unusable,
        };
        runtime.context.with(|ctx| {
            globals::make(&ctx, &runtime.shared, &runtime.options)
                .catch(&ctx)
                .map_err(|error| runtime.explain(&ctx, error, 0))
        })?;
        Ok(runtime)
    }

    /// Stops a script from another thread.
    #[must_use]
    pub fn interrupter(&self) -> Interrupter {
        self.interrupter.clone()
    }

    /// Runs a script, and all promises and timers that it starts.
    pub fn run(&self, file: &Path) -> Result<(), ScriptError> {
        let name = file.display().to_string();
        self.call("main", &[json!(name)]).map(drop)
    }

    /// Runs a script from memory, such as a built-in mode.
    pub fn run_source(&self, name: &str, text: &str) -> Result<(), ScriptError> {
        self.shared.sources.borrow_mut().insert(name.to_owned(), text.to_owned());
        self.call("mainText", &[json!(name), json!(text)]).map(drop)
    }

    /// Evaluates an expression and returns its value.
    pub fn evaluate(&self, source: &str, name: &str) -> Result<Value, ScriptError> {
        self.shared.sources.borrow_mut().insert(name.to_owned(), source.to_owned());
        self.guarded(0, |ctx| ctx.eval_with_options(source, globals::options(name)))
    }

    /// Calls a function of `__osm`; if it returns a promise, waits for the result.
    pub fn call(&self, function: &str, arguments: &[Value]) -> Result<Value, ScriptError> {
        self.guarded(WRAPPER.len(), |ctx| {
            let ours: Object = ctx.globals().get("__osm")?;
            let function: Function = ours.get(function)?;
            let mut values = rquickjs::function::Args::new(ctx.clone(), arguments.len());
            for argument in arguments {
                values.push_arg(to_js(ctx, argument)?)?;
            }
            function.call_arg(values)
        })
    }

    pub(crate) fn host(&self) -> RefMut<'_, Box<dyn Host>> {
        self.shared.host.borrow_mut()
    }

    pub(crate) fn watchdog(&self) -> &Watchdog {
        &self.watchdog
    }

    pub(crate) fn restart_watchdog(&self) {
        self.watchdog.start(self.options.limits.time);
    }

    /// Runs `work` under the limits, and waits for its promise.
    fn guarded(
        &self,
        prefix: usize,
        work: impl for<'js> FnOnce(&Ctx<'js>) -> rquickjs::Result<rquickjs::Value<'js>>,
    ) -> Result<Value, ScriptError> {
        if self.unusable.get() {
            let message = "an earlier script cannot be stopped";
            return Err(ScriptError::new(Kind::Unusable, "Unusable", message));
        }
        self.restart_watchdog();
        self.memory.start();
        self.lost_rejection.set(false);
        let result = self.run_and_wait(prefix, work);
        self.watchdog.start(None);
        if result.is_err() {
            self.abandon();
        }
        result
    }

    fn run_and_wait(
        &self,
        prefix: usize,
        work: impl for<'js> FnOnce(&Ctx<'js>) -> rquickjs::Result<rquickjs::Value<'js>>,
    ) -> Result<Value, ScriptError> {
        // The loop below reads the promise from `__osm.result`, without a borrow of the engine.
        self.context.with(|ctx| {
            let value =
                work(&ctx).catch(&ctx).map_err(|error| self.explain(&ctx, error, prefix))?;
            ctx.globals()
                .get::<_, Object>("__osm")
                .and_then(|ours| ours.set("result", value))
                .catch(&ctx)
                .map_err(|error| self.explain(&ctx, error, prefix))
        })?;
        self.settle(&|| self.is_settled())?;
        self.take_result(prefix)
    }

    /// Discards the timers and jobs of a failed script, so that they do not run during the next one.
    ///
    /// QuickJS cannot drop jobs, so they are run while the watchdog is closed, which interrupts one in ten
    /// thousand of them: enough to end a job that queues another. If jobs multiply faster, the runtime
    /// becomes unusable.
    fn abandon(&self) {
        self.watchdog.close(true);
        let mut jobs = 0;
        while self.engine.is_job_pending() && jobs < MAX_DISCARDED_JOBS {
            jobs += 1;
            // Its exceptions are ignored.
            drop(self.engine.execute_pending_job());
        }
        self.watchdog.close(false);
        self.unusable.set(self.engine.is_job_pending());
        if self.memory.is_exceeded() {
            // Objects that refer to each other would leave the next script without memory.
            self.engine.run_gc();
        }
        drop(self.ask("forget"));
    }

    /// Whether jobs of an earlier script cannot be stopped. Every call fails then.
    #[must_use]
    pub fn is_unusable(&self) -> bool {
        self.unusable.get()
    }

    fn is_settled(&self) -> bool {
        self.context.with(|ctx| match result(&ctx) {
            Some(value) => match value.as_promise() {
                Some(promise) => promise.state() != rquickjs::promise::PromiseState::Pending,
                None => false,
            },
            None => true,
        })
    }

    fn take_result(&self, prefix: usize) -> Result<Value, ScriptError> {
        self.context.with(|ctx| {
            let value = result(&ctx);
            let promise = value.as_ref().and_then(|value| value.as_promise());
            let settled = promise.map(rquickjs::Promise::result::<rquickjs::Value>);
            let json = match settled {
                Some(Some(value)) => value.and_then(|value| to_json(&ctx, value)),
                Some(None) => {
                    let message =
                        "a promise never settles: no job or timer is left that could settle it";
                    return Err(ScriptError::new(Kind::Thrown, "Error", message));
                }
                None => value.map_or(Ok(Value::Null), |value| to_json(&ctx, value)),
            };
            json.catch(&ctx).map_err(|error| self.explain(&ctx, error, prefix))
        })
    }

    pub(crate) fn run_jobs(&self) -> Result<(), ScriptError> {
        loop {
            match self.engine.execute_pending_job() {
                Ok(true) => {}
                Ok(false) => break,
                Err(exception) => {
                    return Err(exception.0.with(|ctx| {
                        let thrown = ctx.catch();
                        self.explain_value(&ctx, &thrown, WRAPPER.len())
                    }));
                }
            }
        }
        if self.lost_rejection.take() {
            return Err(self.memory_error());
        }
        self.ask("takeRejection").map(drop)
    }

    /// Milliseconds until the next timer; `None` without timers.
    pub(crate) fn next_timer(&self) -> Result<Option<u64>, ScriptError> {
        Ok(self.ask("nextTimer")?.as_u64())
    }

    pub(crate) fn fire_timers(&self) -> Result<(), ScriptError> {
        self.ask("fireTimers").map(drop)
    }

    /// Calls a synchronous function of `__osm` without arguments.
    fn ask(&self, function: &str) -> Result<Value, ScriptError> {
        self.context.with(|ctx| {
            let asked = ctx
                .globals()
                .get::<_, Object>("__osm")
                .and_then(|ours| ours.get::<_, Function>(function))
                .and_then(|function| function.call::<_, rquickjs::Value>(()))
                .and_then(|value| to_json(&ctx, value));
            asked.catch(&ctx).map_err(|error| self.explain(&ctx, error, WRAPPER.len()))
        })
    }

    fn explain<'js>(&self, ctx: &Ctx<'js>, error: CaughtError<'js>, prefix: usize) -> ScriptError {
        match error {
            CaughtError::Exception(exception) => {
                self.explain_value(ctx, &exception.into_value(), prefix)
            }
            CaughtError::Value(value) => self.explain_value(ctx, &value, prefix),
            CaughtError::Error(_) if self.memory.is_exceeded() => self.memory_error(),
            CaughtError::Error(error) => ScriptError::new(Kind::Thrown, "Error", error.to_string()),
        }
    }

    fn memory_error(&self) -> ScriptError {
        self.named_limit(Thrown::null().into_error(Kind::OutOfMemory))
    }

    /// Adds the limit to the message about it.
    fn named_limit(&self, mut error: ScriptError) -> ScriptError {
        let limit = match (error.kind, self.options.limits.time) {
            (Kind::OutOfMemory, _) => format!("{} MB", self.memory.limit() >> 20),
            (Kind::TimedOut, Some(time)) => format!("{time:?}"),
            _ => return error,
        };
        error.message = format!("{} of {limit}", error.message);
        error
    }

    fn explain_value<'js>(
        &self,
        ctx: &Ctx<'js>,
        value: &rquickjs::Value<'js>,
        prefix: usize,
    ) -> ScriptError {
        let thrown = Thrown::of(ctx, value);
        // Without memory for an exception the engine throws null.
        let is_memory = self.memory.is_exceeded() && value.is_null();
        let thrown_kind = if is_memory { Kind::OutOfMemory } else { thrown.kind() };
        let kind = self.watchdog.reason().unwrap_or(thrown_kind);
        let stack = thrown.stack.clone();
        let sources = self.shared.sources.borrow();
        let error = self.named_limit(thrown.into_error(kind));
        error.placed(&stack, |file| sources.get(file).cloned(), prefix)
    }
}

/// The result of the last call.
fn result<'js>(ctx: &Ctx<'js>) -> Option<rquickjs::Value<'js>> {
    let ours: Object = ctx.globals().get("__osm").ok()?;
    ours.get("result").ok()
}
