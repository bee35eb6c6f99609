//! A row of the matrix.

use std::path::PathBuf;

use osm_identity::SessionId;
use osm_testkit::lab::{Lab, Typist};
pub(crate) use osm_testkit::tools::Stop;

/// A situation, how many sessions it is, and what must find them.
#[derive(Clone, Copy)]
pub(crate) struct Situation {
    /// Which part of the matrix it stands in.
    pub(crate) group: Group,
    /// What happens in it.
    pub(crate) name: &'static str,
    /// The detectors that must win, one after the other; one that wins several times in a row is
    /// named once. See [`Identity::found_by`].
    pub(crate) found_by: &'static [&'static str],
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

/// The identities that were seen, or why there are none.
pub(crate) type Ids = Result<Vec<Identity>, Stop>;

/// What the program said about one session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Identity {
    pub(crate) id: String,
    /// The detector that found it; `None` if the program was asked for the id alone.
    pub(crate) source: Option<String>,
}

impl Identity {
    fn parse(id: &str, source: Option<&str>) -> Option<Self> {
        id.parse::<SessionId>().ok()?;
        Some(Self { id: id.to_owned(), source: source.map(str::to_owned) })
    }

    /// The detector that found it, and which multiplexer it was.
    pub(crate) fn found_by(&self) -> String {
        let source = self.source.as_deref().unwrap_or_default();
        match self.id.split_once("--") {
            Some((kind, _)) if source == "multiplexer" => format!("{source} {kind}"),
            _ => source.to_owned(),
        }
    }
}

/// The detectors that found some sessions; one that wins several times in a row is named once.
pub(crate) fn found_by(ids: &[Identity]) -> Vec<String> {
    let mut names: Vec<String> = ids.iter().map(Identity::found_by).collect();
    names.dedup();
    names
}

impl Situation {
    /// A situation that is one session.
    pub(crate) const fn same(
        name: &'static str,
        found_by: &'static [&'static str],
        run: fn(&Lab) -> Ids,
    ) -> Self {
        Self { group: Group::Same, name, found_by, run }
    }

    /// A situation of as many sessions as it asks for.
    pub(crate) const fn differ(
        name: &'static str,
        found_by: &'static [&'static str],
        run: fn(&Lab) -> Ids,
    ) -> Self {
        Self { group: Group::Differ, name, found_by, run }
    }

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

    /// Makes it happen twice: as prompts ask for the id, and with the detector that found it.
    pub(crate) fn check(&self) -> Ids {
        let mut ids = self.compare((self.run)(&Lab::new(&program())?)?)?;
        if self.group != Group::RealAgent {
            // An agent takes seconds to start, so its row asks for both in one run.
            ids = self.compare((self.run)(&Lab::with_options(&program(), " --json")?)?)?;
        }
        let found_by = found_by(&ids);
        if found_by == self.found_by {
            Ok(ids)
        } else {
            let wanted = self.found_by;
            Err(Stop::Failed(format!("found by {found_by:?} instead of {wanted:?}: {ids:#?}")))
        }
    }

    /// Compares the ids.
    fn compare(&self, ids: Vec<Identity>) -> Ids {
        if ids.len() < 2 {
            return Err(Stop::Failed(format!("a comparison needs two ids: {ids:?}")));
        }
        if let Some(id) = ids.iter().find(|it| it.id.starts_with("uuid--")) {
            return Err(Stop::Failed(format!("{id:?} is random: {ids:?}")));
        }
        let mut distinct: Vec<&str> = ids.iter().map(|it| it.id.as_str()).collect();
        distinct.sort_unstable();
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

/// The identities in an output: ids, one a line, or JSON documents.
pub(crate) fn parse(output: &str) -> Option<Vec<Identity>> {
    let ids: Option<Vec<Identity>> = match output.find('{') {
        None => output.lines().map(|line| Identity::parse(line.trim(), None)).collect(),
        Some(start) => serde_json::Deserializer::from_str(&output[start..])
            .into_iter::<serde_json::Value>()
            .map(|document| {
                let document = document.ok()?;
                Identity::parse(document["id"].as_str()?, document["source"].as_str())
            })
            .collect(),
    };
    ids.filter(|ids| !ids.is_empty())
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
