//! `undo`: restore an earlier state of the session.
//!
//! An undo is a change, and is in the history. So that undoing twice goes back two steps, an undo in the
//! history stands for the entry whose state it restored. The counter of item ids is not restored, so
//! that an id is never reused.

use osm_store::{Author, HistoryEntry, Key, MOST_HISTORY, StoredValue};

use super::super::Repl;
use super::super::failure::CommandFailure;
use super::{at_most, confirm};
use crate::render::{author, brief};

/// The highest id that a context item ever had; `ctxutil.js` maintains it.
const ITEM_COUNTER: &str = "contextHighestId";

/// The state to restore.
#[derive(Debug)]
enum Target<'a> {
    /// The state after this entry.
    After(&'a HistoryEntry),
    /// The empty state before the first entry.
    Beginning,
}

const USAGE: &str = "undo [NUMBER] [--force]";

pub(super) fn run(repl: &mut Repl, words: &[String], _line: &str) -> Result<(), CommandFailure> {
    let force = words.iter().any(|word| word == "--force");
    let words: Vec<String> = words.iter().filter(|word| *word != "--force").cloned().collect();
    at_most(&words, 1, USAGE)?;
    let history = repl.host.session().history()?;
    let (target, undone, said) = match words.first() {
        None => {
            let (undone, target) = before_the_last(&history)?;
            let said = format!("Undone: {}", brief(&undone.command, 100));
            (target, std::slice::from_ref(undone), said)
        }
        Some(word) => {
            let found = word
                .parse()
                .ok()
                .and_then(|number: u64| history.iter().position(|it| it.number == number));
            let at = found.ok_or_else(|| {
                let entries = match history.len() {
                    1 => "1 entry".to_owned(),
                    count => format!("{count} entries"),
                };
                CommandFailure::new(format!("no entry {word:?} in the history ({entries})"))
                    .with_hint("`history` lists them")
            })?;
            let said =
                format!("Restored the state after {word}: {}", brief(&history[at].command, 100));
            (Target::After(&history[at]), &history[at + 1..], said)
        }
    };
    let whose = whose(repl, undone)?;
    if let Some(why) = whose.as_ref().filter(|_| !force) {
        confirm(repl, why, "Undo it?", "`undo --force` undoes it without a question")?;
    }
    let mut session = repl.host.session();
    let counter = Key::Shared(ITEM_COUNTER.to_owned());
    let count = session.get(&counter)?;
    let mut changed = match target {
        Target::After(entry) => session.go_back(entry)?,
        Target::Beginning => session.remove_all()?,
    };
    if let Some(count) = count {
        changed.retain(|key| *key != counter);
        session.set(counter, count)?;
    }
    drop(session);
    let said = match whose {
        Some(whose) => format!("{said} ({whose})"),
        None => said,
    };
    repl.host.screen.print(&said);
    repl.notify_changed(&changed);
    Ok(())
}

/// Which other terminals, agents or running processes made changes that are to be undone. An ended process of this terminal was the same user at the same work.
fn whose(repl: &Repl, undone: &[HistoryEntry]) -> Result<Option<String>, CommandFailure> {
    let session = repl.host.session();
    let (ours, open) = (session.author(), session.others()?);
    let is_open = |by: &Author| open.iter().any(|it| by.is_process(&it.process));
    let is_foreign = |by: &&Author| !by.is_same(&ours) && (!by.is_beside(&ours) || is_open(by));
    let foreign = undone.iter().filter_map(|entry| entry.by.as_ref()).filter(is_foreign);
    let mut names: Vec<String> = Vec::new();
    for by in foreign {
        let name = format!("{}, process {}", author(by), by.pid);
        if !names.contains(&name) {
            names.push(name);
        }
    }
    Ok((!names.is_empty()).then(|| format!("changed by {}", names.join("; "))))
}

/// The last change that is not undone yet, and the state before it.
fn before_the_last(
    history: &[HistoryEntry],
) -> Result<(&HistoryEntry, Target<'_>), CommandFailure> {
    let nothing = || CommandFailure::new("nothing to undo");
    let mut at = history.len().checked_sub(1).ok_or_else(nothing)?;
    while is_undo(&history[at]) {
        let state = &history[at].final_state;
        match history[..at].iter().rposition(|it| is_same(&it.final_state, state)) {
            Some(earlier) => at = earlier,
            // It restored the empty state, or one that is no longer in the history.
            None => return Err(nothing()),
        }
    }
    let undone = &history[at];
    if undone.mode_id == "osm" && undone.command == "reset" {
        return Err(CommandFailure::new("cannot undo a reset").with_hint(
            "`osm session archives` lists archived states, `osm session restore` restores one",
        ));
    }
    match at.checked_sub(1) {
        Some(before) => Ok((undone, Target::After(&history[before]))),
        // An older version numbered nothing: if its ring was full, others came before.
        None if undone.number == 1 && (undone.by.is_some() || history.len() < MOST_HISTORY) => {
            Ok((undone, Target::Beginning))
        }
        None => Err(CommandFailure::new("the state before it is no longer in the history")),
    }
}

/// Whether two states are equal, apart from the id counter, which is never restored.
fn is_same(one: &StoredValue, other: &StoredValue) -> bool {
    let parts = |state: &StoredValue, but: &str| {
        let parts = state.entries().unwrap_or_default();
        let (but, mut rest): (Vec<_>, Vec<_>) = parts.into_iter().partition(|it| it.0 == but);
        rest.sort_by(|one, other| one.0.cmp(&other.0));
        (but.into_iter().next().map(|it| it.1), rest)
    };
    if one == other {
        return true;
    }
    let ((one, rest), (other, other_rest)) = (parts(one, "shared"), parts(other, "shared"));
    let shared = |zone: Option<StoredValue>| zone.map(|zone| parts(&zone, ITEM_COUNTER).1);
    rest == other_rest && shared(one) == shared(other)
}

fn is_undo(entry: &HistoryEntry) -> bool {
    entry.command.split_whitespace().next() == Some("undo")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn history(entries: &[(&str, i32)]) -> Vec<HistoryEntry> {
        let holder = osm_store::backend::Holder {
            process: osm_identity::ProcessInstance::unread(osm_identity::Pid(1)),
            host: String::new(),
            since: jiff::Timestamp::UNIX_EPOCH,
            command: String::new(),
        };
        let clock: osm_store::Clock = std::sync::Arc::new(|| jiff::Timestamp::UNIX_EPOCH);
        let backend = osm_store::MemoryBackend::new(clock);
        let store = osm_store::Store::new(std::sync::Arc::new(backend), holder);
        let id = osm_identity::SessionId::explicit("x".as_ref());
        let mut session = store.open(&id, osm_store::backend::Wait::NONE).unwrap();
        for (command, value) in entries {
            session.set(osm_store::Key::parse("n"), json!(value)).unwrap();
            session.record("m", command).unwrap();
        }
        session.history().unwrap()
    }

    /// The command that is undone, and the value afterwards.
    fn undone(entries: &[(&str, i32)]) -> Result<(String, Option<i64>), String> {
        let history = history(entries);
        let found = before_the_last(&history).map_err(|failure| failure.message)?;
        let value = match found.1 {
            Target::After(entry) => entry.final_state.value().unwrap()["shared"]["n"].as_i64(),
            Target::Beginning => None,
        };
        Ok((found.0.command.clone(), value))
    }

    #[test]
    fn one_step_after_the_other() {
        assert_eq!(undone(&[]), Err("nothing to undo".into()));
        assert_eq!(undone(&[("a", 1)]), Ok(("a".into(), None)));
        assert_eq!(undone(&[("a", 1), ("b", 2)]), Ok(("b".into(), Some(1))));
        assert_eq!(undone(&[("a", 1), ("b", 2), ("undo", 1)]), Ok(("a".into(), None)));
        let on = [("a", 1), ("b", 2), ("undo", 1), ("c", 3)];
        assert_eq!(undone(&on), Ok(("c".into(), Some(1))));
        let far = [("a", 1), ("b", 2), ("c", 3), ("undo 1", 1)];
        assert_eq!(undone(&far), Ok(("a".into(), None)));
        let twice = [("a", 1), ("b", 2), ("c", 3), ("undo", 2), ("undo", 1)];
        assert_eq!(undone(&twice), Ok(("a".into(), None)));
        assert_eq!(undone(&[("a", 1), ("undo", 0)]), Err("nothing to undo".into()));
    }

    #[test]
    fn changes_beyond_the_history_cannot_be_undone() {
        let full: Vec<(&str, i32)> =
            [("a", 0), ("b", 1)].into_iter().chain(std::iter::repeat_n(("undo", 1), 199)).collect();
        assert_eq!(
            undone(&full),
            Err("the state before it is no longer in the history".into()),
            "more than are kept"
        );
        assert_eq!(undone(&full[1..]), Ok(("b".into(), None)), "as many as are kept");
    }
}
