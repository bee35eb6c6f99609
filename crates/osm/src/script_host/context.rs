//! `osm:context`: builds prompts from files, diffs and notes for scripts.
//!
//! The text of a prompt does not pass through the script engine or the template engine: a template is
//! rendered with a placeholder, and the context is inserted there (`template.rs`).

mod template;

use std::path::Path;
use std::sync::atomic::Ordering;

use osm_context::{Block, Encoding, Item, Limits, Outcome, Prompt, Setting, Subject, git, txtar};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::clipboard;
use crate::session_host::SessionHost;

/// A function of the module.
type Function = fn(&SessionHost, &Setting, &[Value]) -> Result<Value, String>;

/// All of them.
const FUNCTIONS: &[(&str, Function)] = &[
    ("build", build),
    ("changed", changed),
    ("copy", copy),
    ("count", count),
    ("describe", describe),
    ("files", files),
    ("folder", |host, _, _| Ok(json!(host.folder.display().to_string()))),
    ("fromTxtar", |_, _, arguments| Ok(json!(txtar::read(&argument::<String>(arguments)?)))),
    ("missing", |_, setting, arguments| {
        Ok(json!(osm_context::missing(&argument::<Vec<Item>>(arguments)?, setting)))
    }),
    ("prompt", prompt),
    ("resolve", resolve),
    ("show", show),
    ("txtar", archive),
];

pub(super) fn call(
    host: &SessionHost,
    function: &str,
    arguments: &[Value],
) -> Result<Value, String> {
    let known = FUNCTIONS.iter().find(|(name, _)| *name == function);
    let (_, run) = known.ok_or_else(|| format!("osm:context has no function {function}"))?;
    let stop = std::sync::Arc::clone(&host.stop);
    let interrupted = move || stop.load(Ordering::Relaxed);
    let home = if cfg!(windows) { "USERPROFILE" } else { "HOME" };
    let usual = Limits::default();
    let file = host.settings.max_file.unwrap_or(u64::MAX);
    let setting = Setting {
        home: host.environment.get(home).map(Path::new),
        limits: Limits { file, named_file: usual.named_file.max(file), ..usual },
        encoding: host.settings.tokens.then(Encoding::default),
        interrupted: &interrupted,
        ..Setting::new(&host.folder)
    };
    run(host, &setting, arguments)
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
}

fn explain(error: &osm_context::Error) -> String {
    match error.hint() {
        Some(hint) => format!("{error} ({hint})"),
        None => error.to_string(),
    }
}

/// The size of a prompt, and its warnings.
fn stats(host: &SessionHost, prompt: &Prompt, setting: &Setting) -> Result<Value, String> {
    let counted = prompt.stats(setting, host.settings.budget).map_err(|error| explain(&error))?;
    let mut stats = json!(counted);
    stats["warnings"] = json!(warnings(prompt));
    Ok(stats)
}

/// Problems of a prompt that was built: failed items, empty diffs, skipped files.
fn warnings(prompt: &Prompt) -> Vec<String> {
    let of_block = |block: &Block| {
        let label = &block.label;
        match block.outcome {
            Outcome::Failed => {
                let why = prompt.failure_of(block).unwrap_or("no reason given");
                Some(format!("{label} failed: {why}"))
            }
            Outcome::ExitCode(code) => Some(format!("{label} ended with exit code {code}")),
            Outcome::Fine if block.subject == Subject::Diff && block.body().is_empty() => {
                Some(format!("{label} shows no change"))
            }
            Outcome::Fine => None,
        }
    };
    let mut warnings: Vec<String> = prompt.blocks().filter_map(of_block).collect();
    match prompt.skipped().count() {
        0 => {}
        count => warnings.push(format!("{count} skipped; the end of the prompt lists the reasons")),
    }
    warnings
}

fn made(setting: &Setting, arguments: &[Value]) -> Result<Prompt, String> {
    let request: Request = argument(arguments)?;
    let context = osm_context::build(&request.items, setting).map_err(|error| explain(&error))?;
    template::wrap(context, &request.template, request.data)
}

fn show(host: &SessionHost, setting: &Setting, arguments: &[Value]) -> Result<Value, String> {
    let prompt = made(setting, arguments)?;
    let ends = prompt.ends_with_line_end();
    host.screen.write(|to| {
        prompt.write_to(to)?;
        if ends { Ok(()) } else { to.write_all(b"\n") }
    });
    stats(host, &prompt, setting)
}

fn copy(host: &SessionHost, setting: &Setting, arguments: &[Value]) -> Result<Value, String> {
    let prompt = made(setting, arguments)?;
    clipboard::copy(host, &prompt.to_string())?;
    stats(host, &prompt, setting)
}

fn prompt(host: &SessionHost, setting: &Setting, arguments: &[Value]) -> Result<Value, String> {
    let prompt = made(setting, arguments)?;
    Ok(json!({ "text": prompt.to_string(), "stats": stats(host, &prompt, setting)? }))
}

fn build(host: &SessionHost, setting: &Setting, arguments: &[Value]) -> Result<Value, String> {
    let items: Vec<Item> = argument(arguments)?;
    let prompt = osm_context::build(&items, setting).map_err(|error| explain(&error))?;
    let skipped: Vec<_> = prompt.skipped().collect();
    Ok(json!({
        "text": prompt.to_string(),
        "stats": stats(host, &prompt, setting)?,
        "skipped": skipped,
    }))
}

fn describe(_desk: &SessionHost, setting: &Setting, arguments: &[Value]) -> Result<Value, String> {
    let items: Vec<Item> = argument(arguments)?;
    let described = osm_context::describe(&items, setting).map_err(|error| explain(&error))?;
    Ok(json!(described))
}

fn resolve(_desk: &SessionHost, setting: &Setting, arguments: &[Value]) -> Result<Value, String> {
    let paths: Vec<String> = argument(arguments)?;
    let (mut found, mut skipped, mut failed) = (Vec::new(), Vec::new(), Vec::new());
    for path in paths {
        match osm_context::resolve(&path, setting) {
            Ok(more) => {
                found.extend(more.found);
                skipped.extend(more.skipped);
            }
            Err(error) => failed.push(json!({ "path": path, "message": explain(&error) })),
        }
    }
    Ok(json!({ "found": found, "skipped": skipped, "failed": failed }))
}

fn changed(host: &SessionHost, setting: &Setting, arguments: &[Value]) -> Result<Value, String> {
    let words: Vec<String> = argument(arguments)?;
    Ok(match git::changed(&words, &host.folder, setting) {
        Ok(changed) => {
            let paths = changed.paths.iter().map(|it| it.display().to_string());
            let paths: Vec<String> = paths.collect();
            json!({ "paths": paths, "skipped": changed.skipped, "error": null })
        }
        Err(error) => json!({ "paths": [], "skipped": [], "error": explain(&error) }),
    })
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

fn files(host: &SessionHost, setting: &Setting, arguments: &[Value]) -> Result<Value, String> {
    let items = as_items(host, arguments)?;
    let files = osm_context::files(&items, setting).map_err(|error| explain(&error))?;
    Ok(json!(files))
}

fn archive(host: &SessionHost, setting: &Setting, arguments: &[Value]) -> Result<Value, String> {
    let items = as_items(host, arguments)?;
    let prompt = osm_context::build(&items, setting).map_err(|error| explain(&error))?;
    Ok(json!(txtar::of(&prompt)))
}

fn count(_desk: &SessionHost, setting: &Setting, arguments: &[Value]) -> Result<Value, String> {
    let text: String = argument(arguments)?;
    let count = osm_context::tokens::count(&text, Encoding::default(), setting.interrupted);
    Ok(json!(count.map_err(|error| explain(&error))?))
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
