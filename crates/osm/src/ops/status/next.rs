//! What to do next: a pure function of what there is, by a table in the order of urgency.

use serde::Serialize;

use super::{Relation, Status, StatusClaim};

/// How many steps are named.
const MOST: usize = 3;

/// Something to do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NextStep {
    /// The command.
    pub command: String,
    /// What it does, or why it is time for it.
    pub why: String,
}

/// A reason for a step, if there is one.
type Rule = fn(&Status) -> Option<NextStep>;

/// The most urgent first.
const RULES: &[Rule] = &[
    |status| {
        let it = claim(status, Relation::Offered)?;
        step(format!("osm claim accept {}", it.quoted), "accept what another session offers you")
    },
    |status| {
        let it = claim(status, Relation::Resumable)?;
        let why = "continue what your process before held when it died";
        step(format!("osm claim resume {}", it.quoted), why)
    },
    |status| {
        let it = claim(status, Relation::Lost)?;
        step(format!("osm release {}", it.quoted), "acknowledge that you lost this claim")
    },
    |status| {
        let it = status.others.iter().find(|it| it.is_gone)?;
        let left = it.uncommitted.filter(|count| *count > 0);
        let why = match left {
            Some(1) => "continue the work of a session that is gone: 1 file not committed".into(),
            Some(count) => {
                format!("continue the work of a session that is gone: {count} files not committed")
            }
            None => "claim what a session that is gone has left".into(),
        };
        step(format!("osm claim {}", it.quoted), why)
    },
    |status| {
        let it = status.others.iter().find(|it| it.state == "stopped")?;
        step(format!("osm claim why {}", it.quoted), "its holder is stopped: see what frees it")
    },
    |status| {
        status.prompt.as_ref()?;
        step("osm code-review -c copy", "copy the prompt with what you collected")
    },
    |status| {
        let hold = claim(status, Relation::Held)?;
        step(format!("osm release {} --done", hold.quoted), "when that work is done")
    },
    |status| {
        let here = status.repository.is_some() && claim(status, Relation::Held).is_none();
        here.then(|| step("osm claim TASK-7", "claim work so that no other session takes it"))?
    },
    |status| {
        let none = status.prompt.is_none();
        none.then(|| step("osm code-review", "build a prompt from files, diffs and notes"))?
    },
    |_| step("osm doctor", "look for problems of this setup"),
    |_| step("osm --help", "list all commands"),
];

/// What to do next.
pub(super) fn steps(status: &Status) -> Vec<NextStep> {
    RULES.iter().filter_map(|rule| rule(status)).take(MOST).collect()
}

fn claim(status: &Status, relation: Relation) -> Option<&StatusClaim> {
    status.claims.iter().find(|it| it.relation == relation)
}

#[expect(clippy::unnecessary_wraps, reason = "a rule gives a step or none")]
fn step(command: impl Into<String>, why: impl Into<String>) -> Option<NextStep> {
    Some(NextStep { command: command.into(), why: why.into() })
}
