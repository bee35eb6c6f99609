//! `osm:context`: files, diffs and notes become a prompt, without passing through a script.
//!
//! A template gets a mark in the place of the context, and what it renders is cut there: the text of
//! ten thousand files is neither copied through the template nor through the script.

mod template;

use std::path::Path;
use std::sync::atomic::Ordering;

use osm_context::{Block, Encoding, Item, Limits, Outcome, Prompt, Setting, Subject, git, txtar};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::clipboard;
use crate::desk::Desk;

/// A function of the module.
type Function = fn(&Desk, &Setting, &[Value]) -> Result<Value, String>;

/// All of them.
const FUNCTIONS: &[(&str, Function)] = &[
    ("build", build),
    ("changed", changed),
    ("copy", copy),
    ("count", count),
    ("describe", describe),
    ("files", files),
    ("folder", |desk, _, _| Ok(json!(desk.folder.display().to_string()))),
    ("fromTxtar", |_, _, arguments| Ok(json!(txtar::read(&argument::<String>(arguments)?)))),
    ("missing", |_, setting, arguments| {
        Ok(json!(osm_context::missing(&argument::<Vec<Item>>(arguments)?, setting)))
    }),
    ("prompt", prompt),
    ("resolve", resolve),
    ("show", show),
    ("txtar", archive),
];

pub(super) fn call(desk: &Desk, function: &str, arguments: &[Value]) -> Result<Value, String> {
    let known = FUNCTIONS.iter().find(|(name, _)| *name == function);
    let (_, run) = known.ok_or_else(|| format!("osm:context has no function {function}"))?;
    let stop = std::sync::Arc::clone(&desk.stop);
    let interrupted = move || stop.load(Ordering::Relaxed);
    let home = if cfg!(windows) { "USERPROFILE" } else { "HOME" };
    let usual = Limits::default();
    let file = desk.settings.max_file.unwrap_or(u64::MAX);
    let setting = Setting {
        home: desk.environment.get(home).map(Path::new),
        limits: Limits { file, named_file: usual.named_file.max(file), ..usual },
        encoding: desk.settings.tokens.then(Encoding::default),
        interrupted: &interrupted,
        ..Setting::new(&desk.folder)
    };
    run(desk, &setting, arguments)
}

/// The one argument.
fn argument<T: DeserializeOwned>(arguments: &[Value]) -> Result<T, String> {
    let value = arguments.first().cloned().unwrap_or_default();
    serde_json::from_value(value)
        .map_err(|error| format!("the argument is not understood: {error}"))
}

/// What a prompt is made of.
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

/// How much a prompt is, and what is wrong with it.
fn stats(desk: &Desk, prompt: &Prompt, setting: &Setting) -> Value {
    let mut stats = json!(prompt.stats(setting.encoding, desk.settings.budget));
    stats["warnings"] = json!(warnings(prompt));
    stats
}

/// What is in a prompt and not what was hoped for.
fn warnings(prompt: &Prompt) -> Vec<String> {
    let of_block = |block: &Block| {
        let label = &block.label;
        match block.outcome {
            Outcome::Failed => {
                let why = prompt.failure_of(block).unwrap_or("no reason is given");
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
        count => warnings.push(format!("{count} left out; the end of the prompt says why")),
    }
    warnings
}

fn made(setting: &Setting, arguments: &[Value]) -> Result<Prompt, String> {
    let request: Request = argument(arguments)?;
    let context = osm_context::build(&request.items, setting).map_err(|error| explain(&error))?;
    template::around(context, &request.template, request.data)
}

fn show(desk: &Desk, setting: &Setting, arguments: &[Value]) -> Result<Value, String> {
    let prompt = made(setting, arguments)?;
    let ends = prompt.pieces().last().is_none_or(|last| last.ends_with('\n'));
    desk.screen.write(|to| {
        prompt.write_to(to)?;
        if ends { Ok(()) } else { to.write_all(b"\n") }
    });
    Ok(stats(desk, &prompt, setting))
}

fn copy(desk: &Desk, setting: &Setting, arguments: &[Value]) -> Result<Value, String> {
    let prompt = made(setting, arguments)?;
    clipboard::copy(desk, &prompt.to_string())?;
    Ok(stats(desk, &prompt, setting))
}

fn prompt(desk: &Desk, setting: &Setting, arguments: &[Value]) -> Result<Value, String> {
    let prompt = made(setting, arguments)?;
    Ok(json!({ "text": prompt.to_string(), "stats": stats(desk, &prompt, setting) }))
}

fn build(desk: &Desk, setting: &Setting, arguments: &[Value]) -> Result<Value, String> {
    let items: Vec<Item> = argument(arguments)?;
    let prompt = osm_context::build(&items, setting).map_err(|error| explain(&error))?;
    let skipped: Vec<_> = prompt.skipped().collect();
    Ok(json!({
        "text": prompt.to_string(),
        "stats": stats(desk, &prompt, setting),
        "skipped": skipped,
    }))
}

fn describe(_desk: &Desk, setting: &Setting, arguments: &[Value]) -> Result<Value, String> {
    let items: Vec<Item> = argument(arguments)?;
    let described = osm_context::describe(&items, setting).map_err(|error| explain(&error))?;
    Ok(json!(described))
}

fn resolve(_desk: &Desk, setting: &Setting, arguments: &[Value]) -> Result<Value, String> {
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

fn changed(desk: &Desk, setting: &Setting, arguments: &[Value]) -> Result<Value, String> {
    let words: Vec<String> = argument(arguments)?;
    Ok(match git::changed(&words, &desk.folder, setting) {
        Ok(changed) => {
            let paths = changed.paths.iter().map(|it| it.display().to_string());
            let paths: Vec<String> = paths.collect();
            json!({ "paths": paths, "skipped": changed.skipped, "error": null })
        }
        Err(error) => json!({ "paths": [], "skipped": [], "error": explain(&error) }),
    })
}

/// Paths as items that stand for them.
fn as_items(desk: &Desk, arguments: &[Value]) -> Result<Vec<Item>, String> {
    let paths: Vec<String> = argument(arguments)?;
    let item = |path: &String| {
        let absolute = desk.at(Path::new(path));
        let label = osm_context::label_of(&absolute, &desk.folder);
        Item::file(0, &label, &absolute.display().to_string())
    };
    Ok(paths.iter().map(item).collect())
}

fn files(desk: &Desk, setting: &Setting, arguments: &[Value]) -> Result<Value, String> {
    let items = as_items(desk, arguments)?;
    let files = osm_context::files(&items, setting).map_err(|error| explain(&error))?;
    Ok(json!(files))
}

fn archive(desk: &Desk, setting: &Setting, arguments: &[Value]) -> Result<Value, String> {
    let items = as_items(desk, arguments)?;
    let prompt = osm_context::build(&items, setting).map_err(|error| explain(&error))?;
    Ok(json!(txtar::of(&prompt)))
}

fn count(_desk: &Desk, _setting: &Setting, arguments: &[Value]) -> Result<Value, String> {
    let text: String = argument(arguments)?;
    Ok(json!(osm_context::tokens::count(&text, Encoding::default())))
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
