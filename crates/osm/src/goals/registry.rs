//! Every goal that there is, and which of several of one name is meant.
//!
//! What the user has beats what is built in, and what is built in beats the working tree: a repository
//! that somebody cloned must not turn `osm goal commit-message` into something else. Its goal of that
//! name is still there, as `commit-message@tree`.

use std::path::{Path, PathBuf};

use serde_json::json;

use super::discovery::{Found, Kind, Origin, Place, Problem, Scene};
use super::prompt_file::{self, SUFFIX, Written};
use super::{Goal, built_in, json, links};
use crate::config::nearest::nearest;
use crate::trust::{Trust, Verdict};

/// A goal with where it comes from.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) goal: Goal,
    pub(crate) origin: Origin,
    /// Its file, unless it is built in.
    pub(crate) file: Option<PathBuf>,
    /// Whether its code may run; `None` if it has none, or it is the user's own.
    pub(crate) verdict: Option<Verdict>,
    /// How it is called: its name, or `name@origin` if the name means another one.
    pub(crate) call: String,
    /// Another of the same name and origin hides it.
    pub(crate) hidden: bool,
    /// The text of a prompt file, whose links are followed when it is opened.
    text: Option<(String, Written)>,
}

/// All goals.
pub(crate) struct Registry {
    pub(crate) entries: Vec<Entry>,
    pub(crate) problems: Vec<Problem>,
}

impl Registry {
    /// Looks everywhere.
    pub(crate) fn read(scene: &Scene, trust: &Trust) -> Self {
        let (mut entries, mut problems) = (Vec::new(), Vec::new());
        for place in scene.places() {
            for found in place.files(&mut problems) {
                entries.extend(entry(&place, found, trust, &mut problems));
            }
        }
        entries.extend(built_in::FILES.iter().map(|(name, text)| Entry {
            goal: built_in::read(name, text),
            origin: Origin::BuiltIn,
            file: None,
            verdict: None,
            call: String::new(),
            hidden: false,
            text: None,
        }));
        // The order within an origin is that in which they were found.
        entries.sort_by_key(|entry| entry.origin);
        settle(&mut entries);
        Self { entries, problems }
    }

    /// The goal that is called so, or what to say.
    pub(crate) fn find(&self, call: &str) -> Result<&Entry, String> {
        let (name, origin) = match call.split_once('@') {
            Some((name, word)) => {
                let Some(origin) = Origin::named(word) else {
                    let word = word.escape_debug();
                    return Err(format!(
                        "`@{word}`: @builtin, @user, @config or @tree is expected"
                    ));
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
            match nearest(name, names) {
                Some(meant) if meant != name => format!("is it {meant}?"),
                _ => "see `osm goal list`".into(),
            }
        })
    }
}

/// Says of each how it is called.
fn settle(entries: &mut [Entry]) {
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

/// A goal of a file, or a problem.
fn entry(place: &Place, found: Found, trust: &Trust, problems: &mut Vec<Problem>) -> Option<Entry> {
    let Found { path, bytes } = found;
    let mut complain = |line: Option<usize>, reason: String| {
        problems.push(Problem { path: path.clone(), line, reason });
    };
    let Ok(text) = std::str::from_utf8(&bytes) else {
        complain(None, "not UTF-8".into());
        return None;
    };
    let name = path.file_name()?.to_string_lossy().into_owned();
    let (read, text) = match name.strip_suffix(SUFFIX) {
        Some(stem) => {
            let written =
                if place.kind == Kind::Prompts { Written::ForEditors } else { Written::ForUs };
            let read = prompt_file::parse(text, stem, written).map(|goal| (goal, Vec::new()));
            (read, Some((text.to_owned(), written)))
        }
        None => (json::parse(text), None),
    };
    let (goal, remarks) = match read {
        Ok(read) => read,
        Err(mistake) => {
            complain(Some(mistake.line), mistake.reason);
            return None;
        }
    };
    for remark in remarks {
        complain(None, remark);
    }
    let needs_trust = goal.has_code() && place.origin == Origin::Tree;
    let verdict = needs_trust.then(|| trust.verdict(&path, &bytes));
    Some(Entry {
        goal,
        origin: place.origin,
        file: Some(path),
        verdict,
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

    /// The goal as it is played: under the name by which it was called, so that another of the same
    /// name has variables of its own, and with the files that it links to.
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
                // What is taken in is data: no template in it counts.
                taken.push(json!(content));
                format!("{{{{ links[{number}] }}}}")
            });
            // Links are not what makes a goal wrong; if they do, it is played without.
            if let Ok(linked) = prompt_file::parse(&inlined, &goal.name, *written) {
                goal = Goal { name: goal.name, ..linked };
                goal.data.insert("links".into(), json!(taken));
            }
        }
        goal.name.clone_from(&self.call);
        goal
    }
}

#[cfg(test)]
mod tests;
