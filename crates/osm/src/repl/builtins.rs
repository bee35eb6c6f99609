//! The built-in commands of every mode.

mod help;
mod mode;
mod reset;
mod undo;

use osm_store::HistoryEntry;
use serde_json::Value;

use super::Repl;
use super::failure::CommandFailure;
use crate::render::{author, brief};
use osm_script::words::after_first;

/// Runs a built-in command with the words after its name, and the whole line.
pub(crate) type Run = fn(&mut Repl, &[String], &str) -> Result<(), CommandFailure>;

/// A built-in command.
pub(crate) struct Builtin {
    pub(crate) name: &'static str,
    /// A second name.
    alias: Option<&'static str>,
    pub(crate) usage: &'static str,
    pub(crate) description: &'static str,
    pub(crate) completers: &'static [&'static str],
    pub(crate) run: Run,
}

/// All built-in commands, in the order of `help`.
pub(crate) const BUILTINS: &[Builtin] = &[
    Builtin {
        name: "help",
        alias: None,
        usage: "help [COMMAND]",
        description: "List commands, or describe one",
        completers: &["command"],
        run: help::run,
    },
    Builtin {
        name: "mode",
        alias: Some("modes"),
        usage: mode::USAGE,
        description: "List all modes, or switch to another one; the items stay",
        completers: &["mode"],
        run: mode::run,
    },
    Builtin {
        name: "state",
        alias: None,
        usage: "state",
        description: "Show the session's state",
        completers: &[],
        run: state,
    },
    Builtin {
        name: "history",
        alias: None,
        usage: "history",
        description: "List the commands that changed the session",
        completers: &[],
        run: history,
    },
    Builtin {
        name: "undo",
        alias: None,
        usage: "undo [NUMBER] [--force]",
        description: "Undo the last change, or all changes after NUMBER of the history",
        completers: &[],
        run: undo::run,
    },
    Builtin {
        name: "reset",
        alias: None,
        usage: reset::USAGE,
        description: "Clear the session; the old state is archived",
        completers: &[],
        run: reset::run,
    },
    Builtin {
        name: "js",
        alias: None,
        usage: "js EXPRESSION",
        description: "Evaluate a JavaScript expression",
        completers: &[],
        run: js,
    },
    Builtin {
        name: "exit",
        alias: Some("quit"),
        usage: "exit",
        description: "Leave the mode; the session is saved",
        completers: &[],
        run: exit,
    },
];

/// The built-in with a name or alias.
pub(crate) fn named(name: &str) -> Option<&'static Builtin> {
    BUILTINS.iter().find(|it| it.name == name || it.alias == Some(name))
}

/// Refuses more than `most` words.
fn at_most(words: &[String], most: usize, usage: &str) -> Result<(), CommandFailure> {
    match words.get(most) {
        None => Ok(()),
        Some(word) => {
            Err(CommandFailure::new(format!("unexpected argument {word:?}; usage: {usage}")))
        }
    }
}

/// Asks before something is lost. `why` is the reason for the question, `hint` what to do where no
/// question can be asked.
fn confirm(repl: &Repl, why: &str, question: &str, hint: &str) -> Result<(), CommandFailure> {
    match repl.host.screen.ask(&format!("{why}. {question} (y/N) ")) {
        Some(answer) if matches!(answer.trim().to_lowercase().as_str(), "y" | "yes") => Ok(()),
        Some(_) => Err(CommandFailure::new("not confirmed: nothing was changed")),
        None => {
            let message = format!("{why}; cannot ask for confirmation: stdin is not a terminal");
            Err(CommandFailure::new(message).with_hint(hint))
        }
    }
}

fn exit(repl: &mut Repl, words: &[String], _line: &str) -> Result<(), CommandFailure> {
    at_most(words, 0, "exit")?;
    repl.finished = true;
    Ok(())
}

fn state(repl: &mut Repl, words: &[String], _line: &str) -> Result<(), CommandFailure> {
    at_most(words, 0, "state")?;
    let state = repl.host.session().state()?;
    let mut rows = Vec::new();
    let mut add = |prefix: &str, zone: &Value| {
        for (name, value) in zone.as_object().into_iter().flatten() {
            rows.push([format!("{prefix}{name}"), short(value)]);
        }
    };
    add("", &state["shared"]);
    for (command, zone) in state["script"].as_object().into_iter().flatten() {
        add(&format!("{command}:"), zone);
    }
    if rows.is_empty() {
        repl.host.screen.print("The session is empty");
    }
    repl.host.screen.show_aligned(&rows);
    Ok(())
}

/// A value, shortened to one line.
fn short(value: &Value) -> String {
    match value {
        Value::Array(items) if items.len() == 1 => "1 item".into(),
        Value::Array(items) => format!("{} items", items.len()),
        other => brief(&other.to_string(), 60),
    }
}

fn history(repl: &mut Repl, words: &[String], _line: &str) -> Result<(), CommandFailure> {
    at_most(words, 0, "history")?;
    let history = repl.host.session().history()?;
    if history.is_empty() {
        repl.host.screen.print("No changes yet");
        return Ok(());
    }
    let ours = repl.host.session().author();
    let row = |entry: &HistoryEntry| {
        let time = entry.timestamp.strftime("%Y-%m-%d %H:%M:%SZ").to_string();
        let by = match &entry.by {
            Some(by) if by.is_beside(&ours) => "you".to_owned(),
            Some(by) => author(by),
            None => "-".to_owned(),
        };
        [entry.number.to_string(), time, by, entry.mode_id.clone(), brief(&entry.command, 100)]
    };
    let rows: Vec<[String; 5]> = history.iter().map(row).collect();
    repl.host.screen.show_aligned(&rows);
    Ok(())
}

fn js(repl: &mut Repl, _words: &[String], line: &str) -> Result<(), CommandFailure> {
    let expression = after_first(line);
    if expression.is_empty() {
        return Err(CommandFailure::new("missing expression; usage: js EXPRESSION"));
    }
    match repl.running.runtime.evaluate(expression, "js")? {
        Value::Null => {}
        Value::String(text) => repl.host.screen.print(&text),
        other => repl.host.screen.print(&format!("{other:#}")),
    }
    Ok(())
}
