//! A row of the matrix.

use std::path::PathBuf;

use osm_identity::SessionId;
use osm_testkit::lab::{Lab, Typist};
pub(crate) use osm_testkit::tools::Stop;

/// A situation, and how many sessions it is.
#[derive(Clone, Copy)]
pub(crate) struct Situation {
    /// Which part of the matrix it stands in.
    pub(crate) group: Group,
    /// What happens in it.
    pub(crate) name: &'static str,
    /// Makes it happen, and returns the ids that were seen.
    pub(crate) run: fn(&Lab) -> Ids,
}

/// The parts of the matrix.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Group {
    /// All ids are one.
    Same,
    /// No two ids are the same.
    Differ,
    /// All ids are one, whatever the variables say.
    NotFooled,
    /// A real agent: the first two ids are one, and so on, as the row checks itself.
    RealAgent,
}

/// The ids that were seen, or why there are none.
pub(crate) type Ids = Result<Vec<String>, Stop>;

impl Situation {
    /// Its name among the tests.
    pub(crate) fn trial_name(&self) -> String {
        let group = match self.group {
            Group::Same => "same",
            Group::Differ => "differ",
            Group::NotFooled => "not_fooled",
            Group::RealAgent => "real_agent",
        };
        format!("{group}::{}", self.name.replace(' ', "_"))
    }

    /// Makes it happen and compares the ids.
    pub(crate) fn check(&self) -> Ids {
        let lab = Lab::new(&program())?;
        let ids = (self.run)(&lab)?;
        if ids.len() < 2 {
            return Err(Stop::Failed(format!("a comparison needs two ids: {ids:?}")));
        }
        if let Some(id) = ids.iter().find(|id| id.starts_with("uuid--")) {
            return Err(Stop::Failed(format!("{id} is random: {ids:?}")));
        }
        let mut distinct = ids.clone();
        distinct.sort();
        distinct.dedup();
        let wanted = match self.group {
            Group::Differ => ids.len(),
            Group::Same | Group::NotFooled => 1,
            Group::RealAgent => return Ok(ids),
        };
        if distinct.len() == wanted {
            Ok(ids)
        } else {
            Err(Stop::Failed(format!("{wanted} different ids wanted: {ids:#?}")))
        }
    }
}

/// A shell that is PID 1 of a pid namespace of its own, as in a container.
pub(crate) const CONTAINER: &[&str] =
    &["unshare", "--pid", "--fork", "--mount-proc", "--kill-child", "bash", "--norc", "-i"];

/// The program under test.
#[expect(clippy::disallowed_methods, reason = "tests are set up through variables")]
pub(crate) fn program() -> PathBuf {
    std::env::var_os("OSM_BIN").map_or_else(|| env!("CARGO_BIN_EXE_osm").into(), PathBuf::from)
}

/// Asks for ids: each line that a command prints is one.
pub(crate) fn ask(lab: &Lab, shell: &mut dyn Typist, command: &str) -> Ids {
    let answer = lab.ask(shell, command)?;
    let ids = parse(&answer.output)
        .ok_or_else(|| Stop::Failed(format!("`{command}` gave {answer:#?}")))?;
    if answer.code != 0 {
        return Err(Stop::Failed(format!("`{command}` failed: {answer:#?}")));
    }
    Ok(ids)
}

/// Asks for the id in a shell.
pub(crate) fn id(lab: &Lab, shell: &mut dyn Typist) -> Ids {
    ask(lab, shell, "OSM session id")
}

/// The ids in an output, one a line.
pub(crate) fn parse(output: &str) -> Option<Vec<String>> {
    let ids: Vec<String> = output.lines().map(|line| line.trim().to_owned()).collect();
    let all = !ids.is_empty() && ids.iter().all(|id| id.parse::<SessionId>().is_ok());
    all.then_some(ids)
}

/// Runs commands in one terminal, one after the other, and gathers the ids.
pub(crate) fn in_one_terminal(lab: &Lab, commands: &[&str]) -> Ids {
    let mut terminal = lab.terminal()?;
    let mut ids = Vec::new();
    for command in commands {
        ids.extend(ask(lab, &mut terminal, command)?);
    }
    Ok(ids)
}
