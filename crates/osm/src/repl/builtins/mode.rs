//! `mode`: list all modes, or switch to another one.

use super::super::Repl;
use super::super::failure::CommandFailure;
use super::at_most;

pub(super) const USAGE: &str = "mode [NAME]";

pub(super) fn run(repl: &mut Repl, words: &[String], _line: &str) -> Result<(), CommandFailure> {
    at_most(words, 1, USAGE)?;
    let Some(name) = words.first() else { return list(repl) };
    repl.switch_to(name)?;
    repl.run_initial_command();
    Ok(())
}

fn list(repl: &Repl) -> Result<(), CommandFailure> {
    let running = repl.running.launcher.call();
    let current = repl.modes().current().map(|mode| mode.name);
    let mark = |is_current: bool| if is_current { "*" } else { " " }.to_owned();
    let mut rows = Vec::new();
    for (name, title) in repl.scripted_modes()? {
        let is_current = running.is_none() && current.as_ref() == Some(&name);
        rows.push([mark(is_current), name, "script".to_owned(), title]);
    }
    for mode in repl.catalogue.list() {
        let is_current = running == Some(mode.call.as_str());
        rows.push([mark(is_current), mode.call, mode.kind, mode.description]);
    }
    repl.host.screen.show_aligned(&rows);
    Ok(())
}
