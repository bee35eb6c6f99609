//! `osm goal`: builds a prompt from a goal; lists, shows and creates goals.

use std::collections::BTreeMap;

use serde::Serialize;

use super::mode;
use crate::cli::{Format, Goal as Arguments, GoalCommand};
use crate::error::{CommandError, Exit};
use crate::invocation::Invocation;
use crate::ops::goal::{self, BrokenGoal, CreateRequest, Created, Details, Folder, List, Summary};
use crate::render::{Style, Text, Ui};
use crate::repl::BuiltInScript;

pub(super) fn run(
    line: &Arguments,
    invocation: &Invocation,
    ui: &mut Ui,
) -> Result<(), CommandError> {
    match (&line.command, &line.name) {
        (Some(GoalCommand::List { format }), _) => list(&goal::list(invocation, ui), *format, ui),
        (Some(GoalCommand::Show { name, format }), _) => {
            let details = goal::show(invocation, name, ui)?;
            if format.json { ui.json(&details) } else { show(&details, ui) }
        }
        (Some(GoalCommand::New { name, description, here, json_file, format }), _) => {
            let request = CreateRequest {
                name: name.clone(),
                description: description.clone(),
                here: *here,
                json: *json_file,
            };
            let created = goal::create(invocation, &request)?;
            if format.json { ui.json(&created) } else { show_created(&created, ui) }
        }
        (Some(GoalCommand::Paths { format }), _) => {
            let folders = goal::folders(invocation);
            if format.json { ui.json(&folders) } else { show_folders(&folders, ui) }
        }
        (None, None) if !line.mode.commands.is_empty() => {
            return Err(CommandError::failed("usage", "-c needs the name of a goal")
                .with_hint("run `osm goal NAME -c COMMAND`; `osm goal` lists the goals")
                .exiting(Exit::Usage));
        }
        (None, None) => list(&goal::list(invocation, ui), Format { json: false }, ui),
        (None, Some(name)) => {
            let goal = goal::open(invocation, name, ui)?;
            let script = BuiltInScript::of_goal(goal, invocation);
            mode::run_script(script, &line.mode, invocation, ui)?;
        }
    }
    Ok(())
}

/// A line of the list. What has an `error` cannot be used.
#[derive(Serialize)]
#[serde(untagged)]
enum Line<'a> {
    Goal(&'a Summary),
    Broken(&'a BrokenGoal),
}

fn list(list: &List, format: Format, ui: &mut Ui) {
    let List { goals, broken } = list;
    if format.json {
        let goals = goals.iter().map(Line::Goal);
        ui.json(&goals.chain(broken.iter().map(Line::Broken)).collect::<Vec<_>>());
        return;
    }
    let mut groups: BTreeMap<&str, Vec<&Summary>> = BTreeMap::new();
    for goal in goals.iter().filter(|goal| !goal.hidden) {
        groups.entry(&goal.category).or_default().push(goal);
    }
    let mut rows = Vec::new();
    for (category, mut goals) in groups {
        goals.sort_by(|one, other| one.call.cmp(&other.call));
        rows.push(vec![Style::Faint.of(category)]);
        for goal in goals {
            let name = Text::from("  ").then(Style::Strong.of(goal.call.as_str()));
            rows.push(vec![name, origin(goal).into(), goal.description.as_str().into()]);
        }
    }
    if !broken.is_empty() {
        rows.push(vec![Style::Faint.of("broken")]);
    }
    for goal in broken {
        let name = Text::from("  ").then(Style::Strong.of(goal.name.as_str()));
        let error = format!("{}: {}", goal::located(goal), goal.error);
        rows.push(vec![name, goal.origin.into(), error.into()]);
    }
    ui.aligned(&rows);
}

/// The origin of a goal, and whether its code may run.
fn origin(goal: &Summary) -> String {
    let blocked = goal.blocked.map_or(String::new(), |reason| format!(", {reason}"));
    format!("{}{blocked}", goal.origin)
}

fn show(details: &Details, ui: &mut Ui) {
    let goal = &details.summary;
    ui.line(Style::Strong.of(goal.call.as_str()).then(format!(": {}", goal.description)));
    let file = goal.file.as_ref().map_or(String::new(), |file| format!(" ({})", file.display()));
    let mut rows = vec![
        ["category".to_owned(), goal.category.clone()],
        ["origin".into(), format!("{}{file}", origin(goal))],
        ["commands".into(), goal.commands.join(", ")],
    ];
    for variable in &goal.variables {
        let values = match variable.choices.as_slice() {
            [] => "any text".to_owned(),
            choices => format!("{} (the first is the default)", choices.join(", ")),
        };
        rows.push([format!("{} =", variable.name), values]);
    }
    for snippet in &details.snippets {
        rows.push([format!("hot-{}", snippet.name), snippet.text.replace('\n', " ")]);
    }
    ui.aligned(&rows);
    ui.line("");
    ui.line(details.instructions.as_str());
    for [name, description, code] in &details.handlers {
        ui.line(format!("\n{name}: {description}"));
        ui.line(code.trim());
    }
    if let (Some(_), Some(file)) = (goal.blocked, &goal.file) {
        ui.hint(&format!("to allow its code to run: osm trust {}", goal::shell_word(file)));
    }
}

fn show_created(created: &Created, ui: &mut Ui) {
    let Created { file, call, built_in, needs_trust } = created;
    ui.value(&file.display().to_string());
    if let Some(built_in) = built_in {
        ui.hint(&format!("`{call}` is this goal, `{built_in}` the built-in one"));
    }
    if *needs_trust {
        ui.hint(&format!("to allow its code to run: osm trust {}", goal::shell_word(file)));
    }
}

fn show_folders(folders: &[Folder], ui: &mut Ui) {
    let mut rows = vec![["ORIGIN", "", "FOLDER"].map(|name| Style::Faint.of(name)).to_vec()];
    for folder in folders {
        let state = if folder.exists { "exists" } else { "-" };
        let path = folder.folder.display().to_string();
        rows.push(vec![folder.origin.into(), state.into(), path.into()]);
    }
    ui.aligned(&rows);
}
