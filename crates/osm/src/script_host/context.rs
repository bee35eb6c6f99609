//! `osm:context`: builds prompts from files, diffs and notes for scripts.
//!
//! The text of a prompt does not pass through the script engine or the template engine: a template is
//! rendered with a placeholder, and the context is inserted there (`ops/prompt/template.rs`).

use std::path::Path;
use std::sync::atomic::Ordering;

use osm_context::{Encoding, Item, Prompt, git, txtar};
use osm_script::TimeLimit;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::clipboard;
use crate::ops::prompt::{Builder, Error, Template, Watch, report};
use crate::session_host::SessionHost;

/// A function of the module.
type Function = fn(&Call, &[Value]) -> Result<Value, String>;

/// What a function gets beside its arguments.
struct Call<'a> {
    host: &'a SessionHost,
    builder: Builder<'a>,
    /// Counting tokens is computing, so it counts towards the limit of the script.
    time_limit: &'a TimeLimit,
}

/// All of them.
const FUNCTIONS: &[(&str, Function)] = &[
    ("build", build),
    ("changed", changed),
    ("checkDiff", check_diff),
    ("copy", copy),
    ("count", count),
    ("describe", describe),
    ("files", files),
    ("folder", |call, _| Ok(json!(call.host.folder.display().to_string()))),
    ("fromTxtar", |_, arguments| Ok(json!(txtar::read(&argument::<String>(arguments)?)))),
    ("missing", |call, arguments| {
        let items: Vec<Item> = argument(arguments)?;
        Ok(json!(osm_context::missing(&items, call.builder.setting())))
    }),
    ("prompt", prompt),
    ("resolve", resolve),
    ("show", show),
    ("txtar", archive),
];

pub(super) fn call(
    host: &SessionHost,
    time_limit: &TimeLimit,
    function: &str,
    arguments: &[Value],
) -> Result<Value, String> {
    let known = FUNCTIONS.iter().find(|(name, _)| *name == function);
    let (_, run) = known.ok_or_else(|| format!("osm:context has no function {function}"))?;
    let stop = std::sync::Arc::clone(&host.stop);
    let interrupted = move || stop.load(Ordering::Relaxed) || time_limit.must_stop();
    let shown = host.screen.begin("working");
    let watch = Watch { interrupted: &interrupted, progress: &|step| report(step, &shown) };
    let builder = Builder::new(&host.folder, &host.environment, &host.settings, watch);
    run(&Call { host, builder, time_limit }, arguments)
}

/// The one argument.
fn argument<T: DeserializeOwned>(arguments: &[Value]) -> Result<T, String> {
    let value = arguments.first().cloned().unwrap_or_default();
    serde_json::from_value(value).map_err(|error| format!("invalid argument: {error}"))
}

/// What a prompt is built from.
#[derive(Deserialize)]
struct Request {
    template: String,
    #[serde(default)]
    data: Value,
    #[serde(default)]
    items: Vec<Item>,
    /// How errors call the template.
    #[serde(default = "usual_name")]
    name: String,
}

fn usual_name() -> String {
    Template::NAME.to_owned()
}

/// An error as scripts catch it.
fn text(error: impl Into<Error>) -> String {
    error.into().to_string()
}

fn made(call: &Call, arguments: &[Value]) -> Result<Prompt, String> {
    let request: Request = argument(arguments)?;
    let template = Template { name: &request.name, text: &request.template };
    call.builder.build(&request.items, template, request.data).map_err(text)
}

fn stats(call: &Call, prompt: &Prompt) -> Result<Value, String> {
    let stats = call.time_limit.compute(|| call.builder.stats(prompt));
    stats.map(|stats| json!(stats)).map_err(text)
}

fn show(call: &Call, arguments: &[Value]) -> Result<Value, String> {
    let prompt = made(call, arguments)?;
    let ends = prompt.ends_with_line_end();
    call.host.screen.write(|to| {
        prompt.write_to(to)?;
        if ends { Ok(()) } else { to.write_all(b"\n") }
    });
    stats(call, &prompt)
}

fn copy(call: &Call, arguments: &[Value]) -> Result<Value, String> {
    let prompt = made(call, arguments)?;
    clipboard::copy(call.host, &prompt.to_string())?;
    stats(call, &prompt)
}

fn prompt(call: &Call, arguments: &[Value]) -> Result<Value, String> {
    let prompt = made(call, arguments)?;
    Ok(json!({ "text": prompt.to_string(), "stats": stats(call, &prompt)? }))
}

fn build(call: &Call, arguments: &[Value]) -> Result<Value, String> {
    let items: Vec<Item> = argument(arguments)?;
    let prompt = call.builder.context(&items).map_err(text)?;
    let skipped: Vec<_> = prompt.skipped().collect();
    Ok(json!({
        "text": prompt.to_string(),
        "stats": stats(call, &prompt)?,
        "skipped": skipped,
    }))
}

fn describe(call: &Call, arguments: &[Value]) -> Result<Value, String> {
    let items: Vec<Item> = argument(arguments)?;
    let listed = call.time_limit.compute(|| call.builder.list(&items)).map_err(text)?;
    Ok(json!(listed))
}

fn resolve(call: &Call, arguments: &[Value]) -> Result<Value, String> {
    let paths: Vec<String> = argument(arguments)?;
    let (mut found, mut skipped, mut failed) = (Vec::new(), Vec::new(), Vec::new());
    for path in paths {
        match osm_context::resolve(&path, call.builder.setting()) {
            Ok(more) => {
                found.extend(more.found);
                skipped.extend(more.skipped);
            }
            Err(error) => failed.push(json!({ "path": path, "message": text(error) })),
        }
    }
    Ok(json!({ "found": found, "skipped": skipped, "failed": failed }))
}

fn changed(call: &Call, arguments: &[Value]) -> Result<Value, String> {
    let words: Vec<String> = argument(arguments)?;
    Ok(match git::changed(&words, &call.host.folder, call.builder.setting()) {
        Ok(changed) => {
            json!({ "found": changed.found, "skipped": changed.skipped, "error": null })
        }
        Err(error) => json!({ "found": [], "skipped": [], "error": text(error) }),
    })
}

/// A diff that is to be taken when a prompt is built.
#[derive(Deserialize)]
struct Comparison {
    arguments: Vec<String>,
    folder: Option<String>,
}

/// Refuses arguments that git does not take. Only the first line of git's message is about them.
fn check_diff(call: &Call, arguments: &[Value]) -> Result<Value, String> {
    let Comparison { arguments, folder } = argument(arguments)?;
    let folder = call.host.absolute(Path::new(folder.as_deref().unwrap_or_default()));
    git::check(&arguments, &folder, call.builder.setting()).map_err(|error| {
        let message = text(error);
        message.lines().next().unwrap_or_default().to_owned()
    })?;
    Ok(Value::Null)
}

/// Paths as file items.
fn as_items(host: &SessionHost, arguments: &[Value]) -> Result<Vec<Item>, String> {
    let paths: Vec<String> = argument(arguments)?;
    let item = |path: &String| {
        let absolute = host.absolute(Path::new(path));
        let label = osm_context::label_of(&absolute, &host.folder);
        Item::file(0, &label, &absolute.display().to_string())
    };
    Ok(paths.iter().map(item).collect())
}

fn files(call: &Call, arguments: &[Value]) -> Result<Value, String> {
    let items = as_items(call.host, arguments)?;
    let files = osm_context::files(&items, call.builder.setting()).map_err(text)?;
    Ok(json!(files))
}

fn archive(call: &Call, arguments: &[Value]) -> Result<Value, String> {
    let items = as_items(call.host, arguments)?;
    let prompt = osm_context::build(&items, call.builder.setting()).map_err(text)?;
    Ok(json!(txtar::of(&prompt)))
}

fn count(call: &Call, arguments: &[Value]) -> Result<Value, String> {
    let content: String = argument(arguments)?;
    let interrupted = call.builder.setting().interrupted;
    let count = || osm_context::tokens::count(&content, Encoding::default(), interrupted);
    Ok(json!(call.time_limit.compute(count).map_err(text)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_function_that_scripts_know_is_there() {
        let mut names: Vec<&str> = FUNCTIONS.iter().map(|(name, _)| *name).collect();
        names.sort_unstable();
        let mut known = osm_script::CONTEXT.functions.to_vec();
        known.sort_unstable();
        assert_eq!(names, known);
    }
}
