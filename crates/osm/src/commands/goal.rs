//! `osm goal`: play a goal, or see which there are.

mod look;
mod make;

use std::path::PathBuf;

use super::mode;
use crate::World;
use crate::cli::{Goal as Line, GoalCommand};
use crate::error::{CommandError, Exit};
use crate::goals::{self, Entry, Registry, Scene};
use crate::invocation::Invocation;
use crate::render::Ui;
use crate::trust::Trust;

/// What plays every goal.
const SCRIPT: &str = include_str!("../../assets/modes/goal.js");

pub(super) fn run(line: &Line, invocation: &Invocation, ui: &mut Ui) -> Result<(), CommandError> {
    match (&line.command, &line.name) {
        (Some(GoalCommand::List { format }), _) => {
            look::list(&registry(invocation, ui), *format, ui);
            Ok(())
        }
        (Some(GoalCommand::Show { name, format }), _) => {
            let registry = registry(invocation, ui);
            look::show(find(&registry, name)?, *format, ui);
            Ok(())
        }
        (Some(GoalCommand::New { name, description, here, json_file }), _) => {
            make::new(name, description.as_deref(), *here, *json_file, invocation, ui)
        }
        (Some(GoalCommand::Paths { format }), _) => {
            look::paths(&scene(invocation), *format, ui);
            Ok(())
        }
        (None, None) if !line.mode.commands.is_empty() => {
            Err(CommandError::failed("commands are for a goal, and none is named")
                .with_hint("`osm goal` lists them: osm goal NAME -c COMMAND")
                .exiting(crate::Exit::Usage))
        }
        (None, None) => {
            look::list(&registry(invocation, ui), crate::cli::Format { json: false }, ui);
            Ok(())
        }
        (None, Some(name)) => play(name, line, invocation, ui),
    }
}

/// Plays a goal.
fn play(name: &str, line: &Line, invocation: &Invocation, ui: &mut Ui) -> Result<(), CommandError> {
    let registry = registry(invocation, ui);
    let entry = find(&registry, name)?;
    refuse_blocked(entry)?;
    let goal = entry.open();
    let name = goal.name.clone();
    let config = serde_json::to_value(goal).expect("a goal is made of texts");
    let globals = vec![("GOAL_CONFIG".to_owned(), config)];
    mode::run_script(&name, SCRIPT, globals, &line.mode, invocation, ui)
}

/// Code of other people runs only if somebody said so.
fn refuse_blocked(entry: &Entry) -> Result<(), CommandError> {
    let (Some(verdict), Some(file), true) = (entry.verdict, &entry.file, entry.is_blocked()) else {
        return Ok(());
    };
    let message = format!(
        "the goal {} brings code along and is {}: {}",
        entry.call,
        verdict.reason(),
        goals::plain(&file.display().to_string())
    );
    Err(CommandError::failed(message)
        .with_hint(format!("read it, then: osm trust {}", quoted(file)))
        .exiting(Exit::Refused))
}

/// A path as a shell takes it.
fn quoted(path: &std::path::Path) -> String {
    let text = goals::plain(&path.display().to_string());
    let is_plain = |it: char| it.is_ascii_alphanumeric() || "-._/:@%+,=".contains(it);
    if text.chars().all(is_plain) { text } else { format!("'{}'", text.replace('\'', "'\\''")) }
}

/// All goals; what is wrong with some is said.
fn registry(invocation: &Invocation, ui: &mut Ui) -> Registry {
    let trust = Trust::load(invocation.world);
    if let Some(problem) = &trust.problem {
        ui.warn(problem);
    }
    let registry = Registry::read(&scene(invocation), &trust);
    for problem in &registry.problems {
        ui.warn(&problem.to_string());
    }
    registry
}

fn scene(invocation: &Invocation) -> Scene {
    let world = invocation.world;
    let paths =
        invocation.settings.prompting.goal_paths.iter().filter_map(|path| expanded(path, world));
    Scene { home: world.home(), paths: paths.collect(), folder: world.folder() }
}

/// A folder with the user's home for `~`. One that is relative would be another in every directory.
fn expanded(path: &str, world: &World) -> Option<PathBuf> {
    let home = || world.environment.get("HOME").map(PathBuf::from);
    let path = match path.strip_prefix("~/") {
        Some(rest) => home()?.join(rest),
        None => PathBuf::from(path),
    };
    path.is_absolute().then_some(path)
}

fn find<'a>(registry: &'a Registry, name: &str) -> Result<&'a Entry, CommandError> {
    registry.find(name).map_err(|hint| {
        CommandError::failed(format!("there is no goal {name:?}"))
            .with_hint(hint)
            .exiting(Exit::NotFound)
    })
}
