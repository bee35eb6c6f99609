//! `reset`: clear the session. It asks if other processes have the session open, and if nothing of the
//! old state would be left.

use super::super::Repl;
use super::super::failure::CommandFailure;
use super::confirm;
use crate::render::Style;

pub(super) const USAGE: &str = "reset [--force] [--keep-archives]";

pub(super) fn run(repl: &mut Repl, words: &[String], _line: &str) -> Result<(), CommandFailure> {
    let (mut force, mut archive) = (false, repl.host.keep_archives);
    for word in words {
        match word.as_str() {
            "--force" => force = true,
            "--keep-archives" => archive = true,
            word => {
                let message = format!("unexpected argument {word:?}; usage: {USAGE}");
                return Err(CommandFailure::new(message));
            }
        }
    }
    if !force && let Some(why) = reason_to_ask(repl, archive)? {
        let hint = "`reset --force` resets without a question, `reset --keep-archives` archives";
        confirm(repl, &why, "Reset the session?", hint)?;
    }
    let archived = repl.host.session().reset(archive)?;
    repl.unsaved.clear();
    repl.notify_scripts();
    let screen = &repl.host.screen;
    match archived {
        Some(name) => {
            screen.print("Session cleared");
            let back = format!("restore the old state with: osm session restore {name}");
            screen.show(Style::Faint.of(back));
        }
        None => screen.print("Session cleared; the old state was not archived"),
    }
    Ok(())
}

/// Who else is in the session, and what would be lost.
fn reason_to_ask(repl: &Repl, archive: bool) -> Result<Option<String>, CommandFailure> {
    let session = repl.host.session();
    let others = session.others()?;
    let mut reasons = Vec::new();
    if !others.is_empty() {
        let others: Vec<String> = others.iter().map(ToString::to_string).collect();
        reasons.push(format!("the session is open in {}", others.join(", ")));
    }
    if !archive && !session.history()?.is_empty() {
        reasons.push("the old state is not archived, and cannot be restored".to_owned());
    }
    Ok((!reasons.is_empty()).then(|| reasons.join("; ")))
}
