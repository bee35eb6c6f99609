//! `osm config`: shows and changes settings.

use serde_json::{Value, json};

use crate::cli::{Config, Format};
use crate::error::{CommandError, Failure as _};
use crate::invocation::Invocation;
use crate::ops::config::{self, Changed, SetRequest, Setting, Source, Unset};
use crate::render::{Style, Ui};

pub(super) fn run(
    command: &Config,
    invocation: &Invocation,
    ui: &mut Ui,
) -> Result<(), CommandError> {
    match command {
        Config::List { format } => list(*format, invocation, ui)?,
        Config::Get { key, format } => {
            let setting = config::get(invocation, key)?;
            if format.json { ui.json(&setting) } else { show_value(&setting, ui) }
        }
        Config::Set { key, values, format } => {
            let request = SetRequest { key: key.clone(), values: values.clone() };
            let changed = config::set(invocation, &request, ui)?;
            if format.json { ui.json(&changed) } else { ui.line(sentence(&changed)) }
        }
        Config::Unset { key, format } => {
            let unset = config::unset(invocation, key, ui)?;
            if format.json { ui.json(&unset) } else { show_unset(&unset, ui) }
        }
        Config::Validate { format } => validate(*format, invocation, ui)?,
        Config::Path { format } => {
            let path = config::path(invocation)?;
            if format.json {
                ui.json(&json!({ "path": path }));
            } else {
                ui.value(&path.display().to_string());
            }
        }
        Config::ImportUpstream { file, format } => {
            import(file.as_deref(), *format, invocation, ui)?;
        }
    }
    Ok(())
}

fn list(format: Format, invocation: &Invocation, ui: &mut Ui) -> Result<(), CommandError> {
    let all = config::list(invocation)?;
    if format.json {
        ui.json(&all.settings);
        return Ok(());
    }
    let mut rows = vec![["KEY", "VALUE", "SOURCE"].map(|name| Style::Faint.of(name)).to_vec()];
    for setting in &all.settings {
        let place = setting.place();
        let is_default = setting.source == Source::Default;
        let place = if is_default { Style::Faint.of(place) } else { place.into() };
        rows.push(vec![setting.key.into(), setting.text.as_str().into(), place]);
    }
    ui.aligned(&rows);
    if all.problems.count > 0 {
        ui.warn(&all.problems.to_string());
        ui.hint("see `osm config validate`");
    }
    Ok(())
}

/// For programs: a list with one value on each line, and nothing for an empty path.
fn show_value(setting: &Setting, ui: &mut Ui) {
    match &setting.value {
        Some(Value::Array(values)) => {
            values.iter().filter_map(Value::as_str).for_each(|value| ui.value(value));
        }
        Some(Value::String(text)) if text.is_empty() => {}
        Some(Value::String(text)) => ui.value(text),
        _ => ui.value(&setting.text),
    }
}

fn sentence(changed: &Changed) -> String {
    let now = format!("{} = {}", changed.key, changed.text);
    match &changed.before_text {
        Some(before) if changed.was_default => format!("{now} (was {before}, the default)"),
        Some(before) => format!("{now} (was {before})"),
        None => now,
    }
}

fn show_unset(unset: &Unset, ui: &mut Ui) {
    let Unset { key, was_set, default_text, file, .. } = unset;
    ui.line(match (was_set, default_text) {
        (true, Some(default)) => format!("{key} = {default}, the default"),
        (false, Some(default)) => {
            format!("{key} is not set in {}; the default is {default}", file.display())
        }
        (_, None) => format!("removed {key}"),
    });
}

fn validate(format: Format, invocation: &Invocation, ui: &mut Ui) -> Result<(), CommandError> {
    let report = config::validate(invocation)?;
    if format.json {
        ui.json(&report);
        return report.check().map_err(|error| CommandError::Told(error.exit()));
    }
    if report.problems.is_empty() {
        let state = if report.exists { "no problems" } else { "no file; osm uses the defaults" };
        ui.line(format!("{}: {state}", report.file.display()));
    }
    for problem in &report.problems {
        ui.line(problem);
    }
    ui.finish()?;
    report.check()?;
    Ok(())
}

fn import(
    file: Option<&std::path::Path>,
    format: Format,
    invocation: &Invocation,
    ui: &mut Ui,
) -> Result<(), CommandError> {
    let imported = config::import_upstream(invocation, file, ui)?;
    if format.json {
        ui.json(&imported);
        return Ok(());
    }
    let (from, to) = (imported.from.display(), imported.to.display());
    for changed in &imported.settings {
        ui.line(sentence(changed));
    }
    ui.line(match imported.settings.len() {
        0 => format!("no setting of {from} was imported: nothing was changed"),
        1 => format!("imported 1 setting from {from} into {to}"),
        count => format!("imported {count} settings from {from} into {to}"),
    });
    for it in &imported.left_out {
        let (line, key, path) = (it.line, it.key, &it.path);
        ui.warn(&format!("{from}:{line}: {key}: {path:?} was left out: it is a relative path"));
    }
    if let Some(it) = imported.left_out.first() {
        ui.hint(&format!("set it with `osm config set {} PATH`", it.key));
    }
    Ok(())
}
