//! The engine, under its limits.
//!
//! Rust and JavaScript meet in two places. `native(module, function, arguments)` is how a script
//! reaches a function of [`modules`](crate::modules); [`Runtime::call`] is how Rust reaches a
//! function that scripts of our own (`js/`) put into the global object `__osm`. Everything that
//! crosses is JSON.

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

/// So many jobs of a script that failed are run to get rid of them.
const MOST_JOBS: u32 = 100_000;

/// How scripts are run.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// What they may use up.
    pub limits: Limits,
    /// Where modules with a bare name are looked for.
    pub module_paths: Vec<PathBuf>,
    /// The global `args`.
    pub arguments: Vec<String>,
    /// `ctx` tells what it does.
    pub test: bool,
    /// Modules whose functions the host answers.
    pub extensions: Vec<Extension>,
    /// Further globals, made before any script runs.
    pub globals: Vec<(String, Value)>,
}

/// An engine with its globals.
pub struct Runtime {
    engine: rquickjs::Runtime,
    context: Context,
    shared: Rc<Shared>,
    options: Options,
    watchdog: Watchdog,
    interrupter: Interrupter,
    spoiled: Cell<bool>,
}

impl Runtime {
    /// An engine in which nothing has run yet.
    pub fn new(host: Box<dyn Host>, options: Options) -> Result<Self, ScriptError> {
        let failed =
            |error: rquickjs::Error| ScriptError::new(Kind::Thrown, "Engine", error.to_string());
        let engine = rquickjs::Runtime::new().map_err(failed)?;
        engine.set_memory_limit(options.limits.memory);
        engine.set_max_stack_size(options.limits.stack);
        let interrupter = Interrupter::default();
        let watchdog = Watchdog::new(interrupter.clone());
        let guard = watchdog.clone();
        engine.set_interrupt_handler(Some(Box::new(move || guard.must_stop())));
        engine.set_host_promise_rejection_tracker(Some(Box::new(
            |ctx: Ctx<'_>, promise, reason, handled| {
                let tell = || -> rquickjs::Result<()> {
                    let ours: Object = ctx.globals().get("__osm")?;
                    ours.get::<_, Function>("onRejection")?.call((promise, reason, handled))
                };
                // There is nobody to tell; memory may be what is missing.
                drop(tell());
            },
        )));
        let context = Context::full(&engine).map_err(failed)?;
        let shared = Rc::new(Shared::new(host, &options, watchdog.clone()));
        let spoiled = Cell::new(false);
        let runtime = Self { engine, context, shared, options, watchdog, interrupter, spoiled };
        runtime.context.with(|ctx| {
            globals::make(&ctx, &runtime.shared, &runtime.options)
                .catch(&ctx)
                .map_err(|error| runtime.explain(&ctx, error, 0))
        })?;
        Ok(runtime)
    }

    /// What stops a script from outside.
    #[must_use]
    pub fn interrupter(&self) -> Interrupter {
        self.interrupter.clone()
    }

    /// Runs a script to its end, with all that it set going.
    pub fn run(&self, file: &Path) -> Result<(), ScriptError> {
        let name = file.display().to_string();
        self.call("main", &[json!(name)]).map(drop)
    }

    /// Runs a script that is no file, such as a mode of the program's own, to its end.
    pub fn run_source(&self, name: &str, text: &str) -> Result<(), ScriptError> {
        self.shared.sources.borrow_mut().insert(name.to_owned(), text.to_owned());
        self.call("mainText", &[json!(name), json!(text)]).map(drop)
    }

    /// Evaluates a text and gives its value.
    pub fn evaluate(&self, source: &str, name: &str) -> Result<Value, ScriptError> {
        self.shared.sources.borrow_mut().insert(name.to_owned(), source.to_owned());
        self.guarded(0, |ctx| ctx.eval_with_options(source, globals::options(name)))
    }

    /// Calls a function of `__osm`, and waits for what it promises.
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

    /// Runs something that gives a value or a promise, under the limits, and all that it sets going.
    fn guarded(
        &self,
        prefix: usize,
        work: impl for<'js> FnOnce(&Ctx<'js>) -> rquickjs::Result<rquickjs::Value<'js>>,
    ) -> Result<Value, ScriptError> {
        if self.spoiled.get() {
            let message = "an earlier script cannot be stopped";
            return Err(ScriptError::new(Kind::Spoiled, "Spoiled", message));
        }
        self.restart_watchdog();
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
        // A promise is kept where the loop below can look at it without borrowing the engine.
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

    /// Drops what a script that failed has set going, so that nothing of it goes on behind the back
    /// of the next.
    ///
    /// Timers are forgotten. Jobs can only be run; while the watchdog lets nothing run, the engine
    /// ends one in ten thousand, which is enough for one that begets another. Where they multiply
    /// faster, the runtime is spoiled.
    fn abandon(&self) {
        self.watchdog.close(true);
        let mut jobs = 0;
        while self.engine.is_job_pending() && jobs < MOST_JOBS {
            jobs += 1;
            // What it throws is of no interest.
            drop(self.engine.execute_pending_job());
        }
        self.watchdog.close(false);
        self.spoiled.set(self.engine.is_job_pending());
        drop(self.ask("forget"));
    }

    /// Whether what a script left going cannot be stopped. Then nothing runs here any more.
    #[must_use]
    pub fn is_spoiled(&self) -> bool {
        self.spoiled.get()
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
                    let message = "a promise is never settled: nothing is left that could do it";
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
        self.ask("takeRejection").map(drop)
    }

    /// Milliseconds until the next timer; `None` if there is none.
    pub(crate) fn next_timer(&self) -> Result<Option<u64>, ScriptError> {
        Ok(self.ask("nextTimer")?.as_u64())
    }

    pub(crate) fn fire_timers(&self) -> Result<(), ScriptError> {
        self.ask("fireTimers").map(drop)
    }

    /// Calls a function of ours that takes nothing and waits for nothing.
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
            CaughtError::Error(error) => ScriptError::new(Kind::Thrown, "Error", error.to_string()),
        }
    }

    fn explain_value<'js>(
        &self,
        ctx: &Ctx<'js>,
        value: &rquickjs::Value<'js>,
        prefix: usize,
    ) -> ScriptError {
        let thrown = Thrown::of(ctx, value);
        let kind = self.watchdog.reason().unwrap_or_else(|| thrown.kind());
        let stack = thrown.stack.clone();
        let sources = self.shared.sources.borrow();
        thrown.into_error(kind).placed(&stack, |file| sources.get(file).cloned(), prefix)
    }
}

/// What the last call gave.
fn result<'js>(ctx: &Ctx<'js>) -> Option<rquickjs::Value<'js>> {
    let ours: Object = ctx.globals().get("__osm").ok()?;
    ours.get("result").ok()
}
