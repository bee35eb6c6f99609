//! The globals of every script: functions of Rust, and the built-in scripts of `js/`.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use rquickjs::context::EvalOptions;
use rquickjs::{Ctx, Exception, Function, Object};
use serde_json::{Value, json};

use crate::bridge::to_js;
use crate::host::{Extension, Host};
use crate::limits::Watchdog;
use crate::runtime::Options;
use crate::{bytecode, loader, modules, text};

/// The text before a module's first line, which makes it a function.
pub(crate) const WRAPPER: &str = "(function (exports, require, module, __filename, __dirname) {";

/// The scripts that create the globals, in the order of running: `js/NAME.js`.
pub(crate) const PRELUDE: &[&str] = &[
    "prelude", "timers", "require", "web", "console", "ctx", "values", "state", "document", "tui",
    "prompts", "context",
];

/// The state of native functions.
pub(crate) struct Shared {
    pub(crate) host: RefCell<Box<dyn Host>>,
    module_paths: Vec<PathBuf>,
    extensions: Vec<Extension>,
    watchdog: Watchdog,
    /// The source texts of scripts, for excerpts in errors.
    pub(crate) sources: RefCell<HashMap<String, String>>,
}

impl Shared {
    pub(crate) fn new(host: Box<dyn Host>, options: &Options, watchdog: Watchdog) -> Self {
        Self {
            host: RefCell::new(host),
            module_paths: options.module_paths.clone(),
            extensions: options.extensions.clone(),
            watchdog,
            sources: RefCell::default(),
        }
    }

    fn extends(&self, module: &str, function: &str) -> bool {
        let mut named = self.extensions.iter().filter(|it| it.name == module);
        named.any(|it| it.functions.contains(&function))
    }
}

/// Creates the globals.
pub(crate) fn make(ctx: &Ctx<'_>, shared: &Rc<Shared>, given: &Options) -> rquickjs::Result<()> {
    let ours = Object::new(ctx.clone())?;
    let held = Rc::clone(shared);
    ours.set(
        "native",
        Function::new(
            ctx.clone(),
            move |ctx: Ctx<'_>, module: String, function: String, arguments: String| {
                native(&ctx, &held, &module, &function, &arguments)
            },
        )?,
    )?;
    let held = Rc::clone(shared);
    ours.set(
        "load",
        Function::new(ctx.clone(), move |ctx: Ctx<'_>, from: String, name: String| {
            load(&ctx, &held, &from, &name)
        })?,
    )?;
    ours.set("compile", Function::new(ctx.clone(), compile)?)?;
    ours.set("builtIn", Function::new(ctx.clone(), built_in)?)?;
    text::add(ctx, &ours)?;
    ours.set("modules", to_js(ctx, &modules::outline(&given.extensions))?)?;
    ours.set("absent", to_js(ctx, &modules::absent())?)?;
    ours.set("arguments", to_js(ctx, &json!(given.arguments))?)?;
    ours.set("test", given.test)?;
    let folder = given.folder.as_ref().map(|folder| folder.display().to_string());
    ours.set("folder", folder.unwrap_or_default())?;
    ctx.globals().set("__osm", ours)?;
    for name in PRELUDE {
        bytecode::run(ctx, &format!("osm:{name}"))?;
    }
    for (name, value) in &given.globals {
        ctx.globals().set(name.as_str(), to_js(ctx, value)?)?;
    }
    Ok(())
}

/// Evaluation options: sloppy mode unless the script says 'use strict', and a file name.
pub(crate) fn options(name: &str) -> EvalOptions {
    let mut options = EvalOptions::default();
    options.global = true;
    options.strict = false;
    options.filename = Some(name.to_owned());
    options
}

/// Runs a function of a module.
fn native(
    ctx: &Ctx<'_>,
    shared: &Shared,
    module: &str,
    function: &str,
    arguments: &str,
) -> rquickjs::Result<String> {
    let throw = |message: &str| Exception::throw_message(ctx, message);
    let arguments: Vec<Value> = serde_json::from_str(arguments)
        .map_err(|error| throw(&format!("the arguments are not valid JSON: {error}")))?;
    // No native function may call back into a script, because the host is borrowed here.
    let mut host = shared.host.borrow_mut();
    shared.watchdog.pause();
    let answer = match modules::find(module, function) {
        Some(run) => run(&mut **host, &modules::Arguments::new(function, &arguments)),
        None if shared.extends(module, function) => host.call(module, function, &arguments),
        None => Err(format!("{module} has no function {function}")),
    };
    shared.watchdog.resume();
    answer.map(|value| value.to_string()).map_err(|message| throw(&message))
}

/// Finds and reads a module's file; returns its path and text.
fn load(ctx: &Ctx<'_>, shared: &Shared, from: &str, name: &str) -> rquickjs::Result<Vec<String>> {
    let throw = |message: &str| Exception::throw_message(ctx, message);
    let mut host = shared.host.borrow_mut();
    let (path, bytes) = loader::find(&mut **host, Path::new(from), name, &shared.module_paths)
        .map_err(|message| throw(&message))?;
    let shown = path.display().to_string();
    let text =
        String::from_utf8(bytes).map_err(|_| throw(&format!("{shown} is not valid UTF-8")))?;
    let text = text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text);
    shared.sources.borrow_mut().insert(shown.clone(), text.clone());
    Ok(vec![shown, text])
}

/// The function of a built-in module's script.
#[expect(clippy::needless_pass_by_value, reason = "what the engine calls takes values")]
fn built_in(ctx: Ctx<'_>, script: String) -> rquickjs::Result<Function<'_>> {
    bytecode::function(&ctx, &script)
}

/// Compiles a module's text to a function. A `#!` line is a comment.
#[expect(clippy::needless_pass_by_value, reason = "what the engine calls takes values")]
fn compile(ctx: Ctx<'_>, source: String, name: String) -> rquickjs::Result<Function<'_>> {
    let comment = if source.starts_with("#!") { "//" } else { "" };
    ctx.eval_with_options(format!("{WRAPPER}{comment}{source}\n}})"), options(&name))
}
