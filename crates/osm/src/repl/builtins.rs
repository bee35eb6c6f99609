//! Commands that every mode has.

mod help;
mod undo;

use osm_store::HistoryEntry;
use serde_json::Value;

use super::Repl;
use super::failure::Failure;
use super::line::after_first_word;
use crate::commands::brief;
use crate::ui::{Style, table};

/// A built-in command: the words after its name, and the whole line.
pub(crate) type Run = fn(&mut Repl, &[String], &str) -> Result<(), Failure>;

/// A built-in command.
pub(crate) struct Builtin {
    pub(crate) name: &'static str,
    /// Another name.
    alias: Option<&'static str>,
    pub(crate) usage: &'static str,
    pub(crate) description: &'static str,
    pub(crate) completers: &'static [&'static str],
    pub(crate) run: Run,
}

/// All of them, in the order in which `help` shows them.
pub(crate) const BUILTINS: &[Builtin] = &[
    Builtin {
        name: "help",
        alias: None,
        usage: "help [COMMAND]",
        description: "Show what can be typed",
        completers: &["command"],
        run: help::run,
    },
    Builtin {
        name: "mode",
        alias: None,
        usage: "mode NAME",
        description: "Go to another mode",
        completers: &["mode"],
        run: mode,
    },
    Builtin {
        name: "modes",
        alias: None,
        usage: "modes",
        description: "List the modes",
        completers: &[],
        run: modes,
    },
    Builtin {
        name: "state",
        alias: None,
        usage: "state",
        description: "Show what this session keeps",
        completers: &[],
        run: state,
    },
    Builtin {
        name: "history",
        alias: None,
        usage: "history",
        description: "List the commands that changed something",
        completers: &[],
        run: history,
    },
    Builtin {
        name: "undo",
        alias: None,
        usage: "undo [NUMBER]",
        description: "Take the last change back, or all after NUMBER of the history",
        completers: &[],
        run: undo::run,
    },
    Builtin {
        name: "reset",
        alias: None,
        usage: "reset",
        description: "Begin the session anew; what was there is archived",
        completers: &[],
        run: reset,
    },
    Builtin {
        name: "js",
        alias: None,
        usage: "js EXPRESSION",
        description: "Evaluate JavaScript",
        completers: &[],
        run: js,
    },
    Builtin {
        name: "exit",
        alias: Some("quit"),
        usage: "exit",
        description: "Leave; everything is saved",
        completers: &[],
        run: exit,
    },
];

/// The built-in of that name.
pub(crate) fn named(name: &str) -> Option<&'static Builtin> {
    BUILTINS.iter().find(|it| it.name == name || it.alias == Some(name))
}

/// Refuses words that mean nothing.
fn no_more(words: &[String], most: usize, usage: &str) -> Result<(), Failure> {
    match words.get(most) {
        None => Ok(()),
        Some(word) => Err(Failure::new(format!("{word:?} is one word too many: {usage}"))),
    }
}

fn exit(repl: &mut Repl, words: &[String], _line: &str) -> Result<(), Failure> {
    no_more(words, 0, "exit")?;
    repl.over = true;
    Ok(())
}

fn mode(repl: &mut Repl, words: &[String], _line: &str) -> Result<(), Failure> {
    no_more(words, 1, "mode NAME")?;
    let Some(name) = words.first() else {
        return Err(Failure::new("which mode? `modes` lists them"));
    };
    repl.enter(name)?;
    repl.run_initial_command();
    Ok(())
}

fn modes(repl: &mut Repl, words: &[String], _line: &str) -> Result<(), Failure> {
    no_more(words, 0, "modes")?;
    let current = repl.modes().current().map(|mode| mode.name);
    let rows: Vec<[String; 3]> = repl
        .modes()
        .list()?
        .into_iter()
        .map(|mode| {
            let mark = if Some(&mode.name) == current.as_ref() { "*" } else { " " };
            [mark.to_owned(), mode.name, mode.title]
        })
        .collect();
    repl.desk.screen.print(&table(&rows));
    Ok(())
}

fn state(repl: &mut Repl, words: &[String], _line: &str) -> Result<(), Failure> {
    no_more(words, 0, "state")?;
    let state = repl.desk.session().state()?;
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
    let text = table(&rows);
    let nothing = "This session keeps nothing yet";
    repl.desk.screen.print(if rows.is_empty() { nothing } else { &text });
    Ok(())
}

/// A value on one line.
fn short(value: &Value) -> String {
    match value {
        Value::Array(items) if items.len() == 1 => "1 item".into(),
        Value::Array(items) => format!("{} items", items.len()),
        other => brief(&other.to_string(), 60),
    }
}

fn history(repl: &mut Repl, words: &[String], _line: &str) -> Result<(), Failure> {
    no_more(words, 0, "history")?;
    let history = repl.desk.session().history()?;
    if history.is_empty() {
        repl.desk.screen.print("Nothing was changed yet");
        return Ok(());
    }
    let row = |(at, entry): (usize, &HistoryEntry)| {
        let time = entry.timestamp.strftime("%Y-%m-%d %H:%M:%SZ").to_string();
        [(at + 1).to_string(), time, entry.mode_id.clone(), brief(&entry.command, 100)]
    };
    let rows: Vec<[String; 4]> = history.iter().enumerate().map(row).collect();
    repl.desk.screen.print(&table(&rows));
    Ok(())
}

fn reset(repl: &mut Repl, words: &[String], _line: &str) -> Result<(), Failure> {
    no_more(words, 0, "reset")?;
    let archived = repl.desk.session().reset(repl.desk.keep_archives)?;
    repl.unsaved.clear();
    repl.tell_scripts();
    let screen = &repl.desk.screen;
    match archived {
        Some(name) => {
            screen.print("The session begins anew");
            let back = format!("what was there: osm session restore {name}");
            screen.print(&screen.styled(Style::Faint, &back));
        }
        None => screen.print("The session begins anew; nothing is archived"),
    }
    Ok(())
}

fn js(repl: &mut Repl, _words: &[String], line: &str) -> Result<(), Failure> {
    let expression = after_first_word(line);
    if expression.is_empty() {
        return Err(Failure::new("what is to be evaluated? js EXPRESSION"));
    }
    match repl.runtime.evaluate(expression, "js")? {
        Value::Null => {}
        Value::String(text) => repl.desk.screen.print(&text),
        other => repl.desk.screen.print(&format!("{other:#}")),
    }
    Ok(())
}
