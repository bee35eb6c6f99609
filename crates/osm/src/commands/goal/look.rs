//! Which goals there are, and what they are like.

use std::collections::BTreeMap;

use serde_json::json;

use crate::cli::Format;
use crate::goals::{Entry, Registry, Scene, plain};
use crate::render::{Style, Text, Ui};

pub(super) fn list(registry: &Registry, format: Format, ui: &mut Ui) {
    if format.json {
        let rows: Vec<_> = registry.entries.iter().map(to_json).collect();
        ui.json(&rows);
        return;
    }
    let mut groups: BTreeMap<&str, Vec<&Entry>> = BTreeMap::new();
    for entry in registry.entries.iter().filter(|entry| !entry.hidden) {
        groups.entry(&entry.goal.category).or_default().push(entry);
    }
    let mut rows = Vec::new();
    for (category, mut entries) in groups {
        entries.sort_by(|one, other| one.call.cmp(&other.call));
        rows.push(vec![Style::Faint.of(category.to_owned())]);
        for entry in entries {
            let name = Text::from("  ").then(Style::Strong.of(entry.call.as_str()));
            let description = Text::from(entry.goal.description.as_str());
            rows.push(vec![name, origin(entry).into(), description]);
        }
    }
    ui.aligned(&rows);
}

/// Where it comes from, and whether it may run.
fn origin(entry: &Entry) -> String {
    let verdict = entry.verdict.filter(|_| entry.is_blocked());
    let blocked = verdict.map_or(String::new(), |it| format!(", {}", it.reason()));
    format!("{}{blocked}", entry.origin.name())
}

fn to_json(entry: &Entry) -> serde_json::Value {
    let goal = &entry.goal;
    json!({
        "name": goal.name,
        "call": entry.call,
        "title": goal.title,
        "description": goal.description,
        "category": goal.category,
        "origin": entry.origin.name(),
        "file": entry.file,
        "hasCode": goal.has_code(),
        "blocked": entry.verdict.filter(|_| entry.is_blocked()).map(crate::trust::Verdict::reason),
        "hidden": entry.hidden,
        "commands": commands(entry),
        "variables": goal.variables.iter().map(|it| json!({
            "name": it.name, "command": it.setter, "choices": it.choices, "default": it.default,
        })).collect::<Vec<_>>(),
    })
}

/// Every command of a goal.
fn commands(entry: &Entry) -> Vec<String> {
    let goal = &entry.goal;
    let mut all = goal.commands.clone();
    all.extend(goal.run.map(|_| "run".to_owned()));
    all.extend(goal.variables.iter().filter_map(|it| it.setter.clone()));
    all.extend(goal.handlers.iter().map(|it| it.name.clone()));
    all.extend(goal.snippets.iter().map(|it| format!("hot-{}", it.name)));
    all
}

pub(super) fn show(entry: &Entry, format: Format, ui: &mut Ui) {
    if format.json {
        let opened = entry.open();
        let mut value = to_json(entry);
        value["template"] = opened.template.into();
        value["data"] = opened.data.into();
        value["snippets"] = json!(opened.snippets);
        ui.json(&value);
        return;
    }
    let goal = &entry.goal;
    ui.line(Style::Strong.of(entry.call.as_str()).then(format!(": {}", goal.description)));
    let file = entry
        .file
        .as_ref()
        .map_or(String::new(), |it| format!(" ({})", plain(&it.display().to_string())));
    let mut rows = vec![
        ["category".to_owned(), plain(&goal.category)],
        ["origin".into(), format!("{}{file}", origin(entry))],
        ["commands".into(), commands(entry).join(", ")],
    ];
    for variable in &goal.variables {
        let values = match variable.choices.as_slice() {
            [] => "any text".to_owned(),
            choices => format!("{} (the first is the default)", choices.join(", ")),
        };
        rows.push([format!("{} =", variable.name), plain(&values)]);
    }
    for snippet in &goal.snippets {
        rows.push([format!("hot-{}", snippet.name), plain(&snippet.text)]);
    }
    ui.aligned(&rows);
    ui.line("");
    let plain_text = goal.data.get("promptInstructions").and_then(|text| text.as_str());
    ui.document(&readable(plain_text.unwrap_or(&goal.template)));
    for handler in &goal.handlers {
        ui.line(format!("\n{}: {}", handler.name, plain(&handler.description)));
        ui.document(&readable(&handler.code));
    }
    if let (true, Some(file)) = (entry.is_blocked(), &entry.file) {
        ui.hint(&format!("its code runs after: osm trust {}", super::quoted(file)));
    }
}

/// The instructions of a template, without the frame around them and what a terminal would obey.
fn readable(template: &str) -> String {
    let instructions = template
        .strip_prefix("{% set promptInstructions %}")
        .and_then(|rest| rest.split_once("{% endset %}"))
        .map_or(template, |(instructions, _)| instructions);
    let safe = |it: char| if it.is_control() && it != '\n' && it != '\t' { '\u{fffd}' } else { it };
    let text: String = instructions.trim().chars().map(safe).collect();
    text + "\n"
}

pub(super) fn paths(scene: &Scene, format: Format, ui: &mut Ui) {
    let places = scene.places();
    if format.json {
        let rows: Vec<_> = places
            .iter()
            .map(|place| {
                json!({
                    "folder": place.folder,
                    "origin": place.origin.name(),
                    "exists": place.folder.is_dir(),
                })
            })
            .collect();
        ui.json(&rows);
        return;
    }
    let mut rows = vec![["ORIGIN", "", "FOLDER"].map(|name| Style::Faint.of(name)).to_vec()];
    for place in places {
        let state = if place.folder.is_dir() { "exists" } else { "-" };
        let folder = place.folder.display().to_string();
        rows.push(vec![place.origin.name().into(), state.into(), folder.into()]);
    }
    ui.aligned(&rows);
}
