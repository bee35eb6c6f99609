//! `help`: list the commands, or describe one.

use osm_script::CommandInfo;

use super::super::Repl;
use super::super::failure::CommandFailure;
use super::{BUILTINS, at_most, named};
use crate::render::{Style, Text, aligned};

pub(super) fn run(repl: &mut Repl, words: &[String], _line: &str) -> Result<(), CommandFailure> {
    at_most(words, 1, "help [COMMAND]")?;
    match words.first() {
        None => all(repl),
        Some(name) => one(repl, name),
    }
}

fn all(repl: &Repl) -> Result<(), CommandFailure> {
    let mode = repl.modes().current();
    let mut groups = Vec::new();
    if let Some(mode) = mode {
        groups.push((mode.title, rows(&mode.commands)));
    }
    groups.push(("In every mode".to_owned(), rows(&repl.modes().commands()?)));
    let builtins = BUILTINS.iter().map(|it| [it.usage.to_owned(), it.description.to_owned()]);
    groups.push(("Built in".to_owned(), builtins.collect()));
    groups.retain(|(_, rows)| !rows.is_empty());
    // One table for all groups, so that the descriptions are aligned.
    let every: Vec<[String; 2]> = groups.iter().flat_map(|(_, rows)| rows.clone()).collect();
    let text = aligned(&every, false, None);
    let mut lines = text.lines();
    let mut shown = Text::from("");
    for (title, rows) in &groups {
        shown = shown.then(Style::Strong.of(title.as_str())).then("\n");
        for line in lines.by_ref().take(rows.len()) {
            shown = shown.then(line.to_owned()).then("\n");
        }
        shown = shown.then("\n");
    }
    let tab = if repl.source.is_interactive() { "; Tab completes words" } else { "" };
    let more = format!("`help COMMAND` describes a command{tab}");
    repl.host.screen.show(shown.then(Style::Faint.of(more)));
    Ok(())
}

fn rows(commands: &[CommandInfo]) -> Vec<[String; 2]> {
    commands.iter().map(|it| [usage(it).to_owned(), it.description.clone()]).collect()
}

fn usage(command: &CommandInfo) -> &str {
    if command.usage.is_empty() { &command.name } else { &command.usage }
}

fn one(repl: &Repl, name: &str) -> Result<(), CommandFailure> {
    let screen = &repl.host.screen;
    if let Some(builtin) = named(name) {
        screen.show(Style::Strong.of(builtin.usage));
        screen.print(&format!("  {}", builtin.description));
        return Ok(());
    }
    let mode = repl.modes().current();
    let own = mode.map(|mode| mode.commands).unwrap_or_default();
    let mut commands = own.into_iter().chain(repl.modes().commands()?);
    let Some(command) = commands.find(|it| it.name == name) else {
        return Err(repl.unknown(name));
    };
    screen.show(Style::Strong.of(usage(&command)));
    screen.print(&format!("  {}", command.description));
    let flags: Vec<[String; 2]> = command
        .flags
        .iter()
        .map(|flag| [format!("--{}", flag.name), flag.description.clone()])
        .collect();
    if !flags.is_empty() {
        screen.print("");
        screen.show_aligned(&flags);
    }
    Ok(())
}
