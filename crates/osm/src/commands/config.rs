//! `osm config`: look at settings and change them.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use osm_store::FsBackend;
use osm_store::audit::{Action, Event, Who};
use osm_store::backend::Backend;
use serde_json::json;

use crate::World;
use crate::cli::{Config, Format};
use crate::config::keys::{self, Key, Kind, Value};
use crate::config::{self, Entry, Reading, upstream};
use crate::error::{CommandError, Exit};
use crate::render::{Style, Ui};

pub(super) fn run(command: &Config, world: &World, ui: &mut Ui) -> Result<(), CommandError> {
    match command {
        Config::List { format } => list(*format, world, ui),
        Config::Get { key } => get(key, world, ui),
        Config::Set { key, values } => set(key, values, world, ui),
        Config::Unset { key } => unset(key, world, ui),
        Config::Validate => validate(world, ui),
        Config::Path => {
            ui.value(&path(world)?.display().to_string());
            Ok(())
        }
        Config::ImportUpstream { file } => import(file.as_deref(), world, ui),
    }
}

fn list(format: Format, world: &World, ui: &mut Ui) -> Result<(), CommandError> {
    let reading = usable(world)?;
    let file = reading.path.as_deref();
    if format.json {
        let rows: Vec<serde_json::Value> =
            reading.entries.iter().map(|entry| to_json(entry, file)).collect();
        ui.json(&rows);
        return Ok(());
    }
    let mut rows = vec![["KEY", "VALUE", "SOURCE"].map(|name| Style::Faint.of(name)).to_vec()];
    for entry in &reading.entries {
        let value = entry.value.as_ref().map_or("invalid".into(), ToString::to_string);
        let source = source(entry, file);
        let source = if source == "default" { Style::Faint.of(source) } else { source.into() };
        rows.push(vec![entry.key.name.into(), value.into(), source]);
    }
    ui.aligned(&rows);
    let problems = reading.problems.len() + reading.wrong_variables.len();
    if problems > 0 {
        ui.warn(&format!("there {}", are_problems(problems)));
        ui.hint("see `osm config validate`");
    }
    Ok(())
}

/// Where a value comes from, for people.
fn source(entry: &Entry, file: Option<&Path>) -> String {
    let mut sources = Vec::new();
    if let (Some(line), Some(file)) = (entry.line, file) {
        sources.push(format!("config ({}:{line})", file.display()));
    }
    sources.extend(entry.variable.map(|name| format!("env {name}")));
    if sources.is_empty() { "default".into() } else { sources.join(", ") }
}

fn to_json(entry: &Entry, file: Option<&Path>) -> serde_json::Value {
    let source = match (entry.variable, entry.line) {
        (Some(_), _) => "env",
        (None, Some(_)) => "config",
        (None, None) => "default",
    };
    json!({
        "key": entry.key.name,
        "value": entry.value.as_ref().ok().map(Value::to_json),
        "default": entry.key.default().to_json(),
        "source": source,
        "file": entry.line.and(file),
        "line": entry.line,
        "variable": entry.variable,
        "problem": entry.value.as_ref().err(),
        "doc": entry.key.doc,
    })
}

fn get(name: &str, world: &World, ui: &mut Ui) -> Result<(), CommandError> {
    let key = key(name)?;
    let reading = usable(world)?;
    let entry = reading.entry(key.name);
    match &entry.value {
        Ok(Value::Names(names)) => names.iter().for_each(|name| ui.line(name)),
        // For programs: as it is, and nothing where nothing is set.
        Ok(Value::Path(path)) if path.is_empty() => {}
        Ok(Value::Path(path)) => ui.line(path),
        Ok(value) => ui.value(&value.to_string()),
        Err(reason) => {
            let place = source(entry, reading.path.as_deref());
            return Err(CommandError::failed(format!("{reason}, as {place} says")));
        }
    }
    Ok(())
}

fn set(name: &str, values: &[String], world: &World, ui: &mut Ui) -> Result<(), CommandError> {
    let key = key(name)?;
    let path = path(world)?;
    let value = key.parse(values).map_err(|reason| {
        let error = CommandError::failed(reason).exiting(Exit::Usage);
        match key.kind {
            Kind::Agents => error.with_hint(format!("edit {}", path.display())),
            _ => error,
        }
    })?;
    let before = Reading::of(world);
    config::change(&path, |text| config::set(text, key.name, &value))?;
    tell(key, &value, &before, ui);
    audit(&[key.name], &before, world, ui);
    let outranked = key.variable().filter(|name| world.environment.get(name).is_some());
    if let (Some(variable), Kind::Choice(_)) = (outranked, key.kind) {
        ui.warn(&format!("{variable} is set, and wins over the file"));
    }
    Ok(())
}

/// Says what was set.
fn tell(key: Key, value: &Value, before: &Reading, ui: &mut Ui) {
    let entry = before.entry(key.name);
    let mut line = format!("{} = {value}", key.name);
    match (&entry.value, entry.line) {
        (Ok(old), None) if entry.variable.is_none() => {
            write!(line, " (was {old}, the default)").expect("writing to a string succeeds");
        }
        (Ok(old), Some(_)) if old != value => {
            write!(line, " (was {old})").expect("writing to a string succeeds");
        }
        _ => {}
    }
    ui.line(&line);
}

fn unset(name: &str, world: &World, ui: &mut Ui) -> Result<(), CommandError> {
    let path = path(world)?;
    let before = Reading::of(world);
    let mut was_there = false;
    // Without a file nothing is to be made, not even a lock.
    if !matches!(config::read(&path), Ok(None)) {
        config::change(&path, |text| {
            let without = config::unset(text, name)?;
            was_there = without.is_some();
            Ok(without.unwrap_or_else(|| text.to_owned()))
        })?;
    }
    if !was_there {
        let key = key(name)?;
        let path = path.display();
        ui.line(format!("{name} is not set in {path}; the default is {}", key.default()));
    } else if let Some(key) = keys::named(name) {
        ui.line(format!("{name} = {}, the default", key.default()));
    } else {
        ui.line(format!("{name} is gone"));
    }
    if was_there {
        audit(&[name], &before, world, ui);
    }
    Ok(())
}

fn validate(world: &World, ui: &mut Ui) -> Result<(), CommandError> {
    let reading = Reading::of(world);
    let path = path(world)?;
    let shown: Vec<String> = reading
        .all_problems()
        .map(|problem| problem.place(&path))
        .chain(reading.wrong_variables.iter().cloned())
        .collect();
    if shown.is_empty() {
        let state = if reading.exists { "no problems" } else { "no file; the defaults count" };
        ui.line(format!("{}: {state}", path.display()));
        return Ok(());
    }
    for line in &shown {
        ui.line(line);
    }
    ui.finish()?;
    let error = CommandError::failed(format!("there {}", are_problems(shown.len())));
    Err(match config::Settings::from(reading).checked_policy() {
        Ok(_) => error,
        Err(_) => error.with_hint(config::UNTIL_MENDED),
    })
}

fn import(file: Option<&Path>, world: &World, ui: &mut Ui) -> Result<(), CommandError> {
    let places = file.map_or_else(|| upstream::places(world), |file| vec![file.to_owned()]);
    let mut found = None;
    for place in &places {
        let text = config::read(place).map_err(|problem| problem.in_file(place))?;
        if let Some(text) = text {
            found = Some((place, text));
            break;
        }
    }
    let Some((theirs, text)) = found else {
        let places: Vec<String> = places.iter().map(|place| place.display().to_string()).collect();
        let message = match places.as_slice() {
            [] => "no home is known in which its file could be".into(),
            places => format!("there is no file {}", places.join(" or ")),
        };
        return Err(CommandError::failed(message)
            .with_hint("name it: osm config import-upstream FILE")
            .exiting(Exit::NotFound));
    };
    let taken = upstream::read(&text)
        .map_err(|problem| problem.in_file(theirs).with_hint("nothing was changed"))?;
    if taken.is_empty() {
        ui.line(format!("{} sets no limit: nothing to do", theirs.display()));
        return Ok(());
    }
    let ours = path(world)?;
    let before = Reading::of(world);
    config::change(&ours, |text| {
        taken
            .iter()
            .try_fold(text.to_owned(), |text, it| config::set(&text, it.key.name, &it.value))
    })?;
    for it in &taken {
        tell(it.key, &it.value, &before, ui);
    }
    let names: Vec<&str> = taken.iter().map(|it| it.key.name).collect();
    audit(&names, &before, world, ui);
    ui.line(format!(
        "{} taken from {} into {}",
        if taken.len() == 1 { "1 limit".into() } else { format!("{} limits", taken.len()) },
        theirs.display(),
        ours.display()
    ));
    Ok(())
}

/// Writes down which settings are not what they were. The change is made: if this fails, that is
/// said and no more.
fn audit(names: &[&str], before: &Reading, world: &World, ui: &mut Ui) {
    let values = |reading: &Reading| -> serde_json::Value {
        let said = |name: &str| {
            let is_meant = |entry: &&Entry| entry.key.name == name && entry.line.is_some();
            let value = reading.entries.iter().find(is_meant)?.value.as_ref();
            value.ok().map(Value::to_json)
        };
        names.iter().map(|name| ((*name).to_owned(), json!(said(name)))).collect()
    };
    let event = Event {
        before: values(before),
        after: values(&Reading::of(world)),
        ..Event::new(world.now(), Who::new(&world.holder(), None), Action::Configure)
    };
    let home = world.home().unwrap_or_default();
    let audited = FsBackend::open(&home, Arc::clone(&world.clock)).and_then(|store| {
        let store: &dyn Backend = &store;
        store.audit(&world.holder(), &event)
    });
    if let Err(error) = audited {
        ui.warn(&format!("the change is not in the audit: {error}"));
    }
}

/// The setting of that name.
fn key(name: &str) -> Result<Key, CommandError> {
    keys::named(name).ok_or_else(|| {
        let error = CommandError::failed(format!("there is no setting {name:?}"));
        let error = error.exiting(Exit::NotFound);
        match keys::meant(name) {
            Some(meant) if keys::named(meant).is_some() => {
                error.with_hint(format!("is it {meant}?"))
            }
            _ => error.with_hint("see `osm config list`"),
        }
    })
}

/// What is set, unless the file cannot be read at all.
fn usable(world: &World) -> Result<Reading, CommandError> {
    let reading = Reading::of(world);
    match (&reading.broken, &reading.path) {
        (Some(problem), Some(path)) => Err(problem.in_file(path).with_hint(config::UNTIL_MENDED)),
        _ => Ok(reading),
    }
}

fn path(world: &World) -> Result<PathBuf, CommandError> {
    world.config_file().ok_or_else(|| {
        CommandError::failed("there is no folder for the configuration")
            .with_hint("set HOME, or OSM_HOME to a folder")
    })
}

fn are_problems(count: usize) -> String {
    if count == 1 { "is 1 problem".into() } else { format!("are {count} problems") }
}
