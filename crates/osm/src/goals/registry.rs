//! All goals, and which one a name means.
//!
//! The user's goals take precedence over the built-in ones, and those over the working tree's: a cloned
//! repository must not change the meaning of `osm goal commit-message`. Its goal of that name is
//! `commit-message@tree`.

use std::path::{Path, PathBuf};

use serde_json::json;

use super::discovery::{GoalFile, GoalFolder, Kind, Origin, Problem, SearchPaths};
use super::prompt_file::{self, SUFFIX, Written};
use super::{Goal, built_in, json, links};
use crate::config::nearest::nearest;
use crate::trust::{Trust, Verdict};

/// A goal and its origin.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) goal: Goal,
    pub(crate) origin: Origin,
    /// Its file; `None` if it is built in.
    pub(crate) file: Option<PathBuf>,
    /// Whether its code may run; `None` if it has no code or needs no trust.
    pub(crate) verdict: Option<Verdict>,
    /// The file that the verdict is about: the goal's, or that of a module.
    pub(crate) judged: Option<PathBuf>,
    /// The folder of the user that it comes from; its code needs no trust.
    pub(crate) own: Option<PathBuf>,
    /// The name that means this goal: its name, or `name@origin` if the name means another one.
    pub(crate) call: String,
    /// Whether another goal of the same name and origin hides it.
    pub(crate) hidden: bool,
    /// The text of a prompt file. Opening the goal inserts the files that it links to.
    text: Option<(String, Written)>,
}

/// All goals.
pub(crate) struct Registry {
    pub(crate) entries: Vec<Entry>,
    pub(crate) problems: Vec<Problem>,
}

impl Registry {
    /// Reads the goals of all folders and the built-in ones.
    pub(crate) fn read(paths: &SearchPaths, trust: &Trust) -> Self {
        let (mut entries, mut problems) = (Vec::new(), Vec::new());
        for folder in paths.folders() {
            for file in folder.files(&mut problems) {
                entries.extend(entry(&folder, file, trust, &mut problems));
            }
        }
        entries.extend(built_in::FILES.iter().map(|(name, text)| Entry {
            goal: built_in::read(name, text),
            origin: Origin::BuiltIn,
            file: None,
            verdict: None,
            judged: None,
            own: None,
            call: String::new(),
            hidden: false,
            text: None,
        }));
        // A stable sort: within an origin, the first found comes first.
        entries.sort_by_key(|entry| entry.origin);
        name_all(&mut entries);
        Self { entries, problems }
    }

    /// The goal that a name means.
    pub(crate) fn find(&self, call: &str) -> Result<&Entry, UnknownGoal> {
        let unknown = |why| UnknownGoal { name: call.to_owned(), why };
        let (name, origin) = match call.split_once('@') {
            Some((name, word)) => {
                let Some(origin) = Origin::named(word) else {
                    return Err(unknown(Unknown::Origin));
                };
                (name, Some(origin))
            }
            None => (call, None),
        };
        let is_meant = |entry: &&Entry| {
            entry.goal.name == name && origin.is_none_or(|origin| entry.origin == origin)
        };
        self.entries.iter().find(is_meant).ok_or_else(|| {
            let names = self.entries.iter().map(|entry| entry.goal.name.as_str());
            let meant = nearest(name, names).filter(|meant| *meant != name);
            unknown(Unknown::Name { meant: meant.map(str::to_owned) })
        })
    }
}

/// No goal has this name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown goal {name:?}")]
pub struct UnknownGoal {
    name: String,
    why: Unknown,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Unknown {
    /// What comes after `@` is no origin.
    Origin,
    /// There is no such goal; perhaps the user meant another.
    Name { meant: Option<String> },
}

impl UnknownGoal {
    /// What to do next.
    #[must_use]
    pub fn hint(&self) -> String {
        match &self.why {
            Unknown::Origin => "after `@`, use builtin, user, config or tree".into(),
            Unknown::Name { meant: Some(meant) } => format!("did you mean {meant}?"),
            Unknown::Name { meant: None } => "see `osm goal list`".into(),
        }
    }
}

/// Gives each goal the name that means it.
fn name_all(entries: &mut [Entry]) {
    for at in 0..entries.len() {
        let (before, rest) = entries.split_at_mut(at);
        let Some(entry) = rest.first_mut() else { break };
        let same = |it: &&Entry| it.goal.name == entry.goal.name;
        entry.hidden = before.iter().filter(same).any(|it| it.origin == entry.origin);
        let is_taken = before.iter().any(|it| it.goal.name == entry.goal.name);
        entry.call = if is_taken {
            format!("{}@{}", entry.goal.name, entry.origin.name())
        } else {
            entry.goal.name.clone()
        };
    }
}

/// Reads a goal's file, or adds a problem.
fn entry(
    folder: &GoalFolder,
    file: GoalFile,
    trust: &Trust,
    problems: &mut Vec<Problem>,
) -> Option<Entry> {
    let GoalFile { path, bytes } = file;
    let mut complain = |broken: Option<Origin>, line: Option<usize>, reason: String| {
        problems.push(Problem { broken, path: path.clone(), line, reason });
    };
    let Ok(text) = std::str::from_utf8(&bytes) else {
        complain(Some(folder.origin), None, "not UTF-8".into());
        return None;
    };
    let name = path.file_name()?.to_string_lossy().into_owned();
    let (read, text) = match name.strip_suffix(SUFFIX) {
        Some(stem) => {
            let written =
                if folder.kind == Kind::Prompts { Written::ForEditors } else { Written::ForUs };
            let read = prompt_file::parse(text, stem, written).map(|goal| (goal, Vec::new()));
            (read, Some((text.to_owned(), written)))
        }
        None => (json::parse(text), None),
    };
    let (goal, remarks) = match read {
        Ok(read) => read,
        Err(mistake) => {
            complain(Some(folder.origin), Some(mistake.line), mistake.reason);
            return None;
        }
    };
    for remark in remarks {
        complain(None, None, remark);
    }
    let needs_trust = goal.has_code() && folder.origin == Origin::Tree;
    let judged = needs_trust.then(|| trust.verdict_with_modules(&path, &bytes));
    let (verdict, judged) = judged.unzip();
    let own = (folder.origin != Origin::Tree).then(|| folder.path.clone());
    Some(Entry {
        goal,
        origin: folder.origin,
        file: Some(path),
        verdict,
        judged,
        own,
        call: String::new(),
        hidden: false,
        text,
    })
}

impl Entry {
    /// Whether its code may not run.
    pub(crate) fn is_blocked(&self) -> bool {
        self.verdict.is_some_and(|verdict| verdict != Verdict::Trusted)
    }

    /// The goal with the files that it links to. Its name is the one that means it, so that two goals of
    /// one name have separate variables.
    pub(crate) fn open(&self) -> Goal {
        let mut goal = self.goal.clone();
        let folder = self.file.as_deref().and_then(Path::parent);
        if let (Some((text, written)), Some(folder)) = (&self.text, folder) {
            let is_plain = goal.data.contains_key("promptInstructions");
            let mut taken = Vec::new();
            let inlined = links::inline(text, folder, |number, content| {
                if is_plain {
                    return content;
                }
                // An inserted file is data: templates in it are not expanded.
                taken.push(json!(content));
                format!("{{{{ links[{number}] }}}}")
            });
            // If a linked file makes the goal invalid, use the goal without its links.
            if let Ok(linked) = prompt_file::parse(&inlined, &goal.name, *written) {
                goal = Goal { name: goal.name, ..linked };
                goal.data.insert("links".into(), json!(taken));
            }
        }
        goal.name.clone_from(&self.call);
        if let Some(file) = &self.file {
            goal.source = file.display().to_string();
        }
        goal
    }
}

#[cfg(test)]
mod tests;
