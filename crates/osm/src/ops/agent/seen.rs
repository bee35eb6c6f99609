//! What a session saw of files: the state of each when the session last read or wrote it.
//!
//! A file that another program changed since must be read again before it is edited. The states of one
//! session are lines in a file of osm's home, `seen/ID`; the last line of a path counts. Losing the file loses only
//! a warning, so it is not synced, and a session that cannot write it works without.

use std::collections::HashMap;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::private;

const FOLDER: &str = "seen";
/// A file of this size is written without what is outdated.
const COMPACT_BYTES: u64 = 256 << 10;
/// How long after a message was delivered it is delivered again, if the session did not acknowledge it.
const REPEATED_AFTER: Duration = Duration::from_mins(10);
/// Files of sessions that were not used for so long are removed.
const OLD: Duration = Duration::from_hours(7 * 24);

/// The state of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Stamp {
    size: u64,
    modified: i128,
    number: u64,
}

/// One line of the file.
#[derive(Clone, Debug, Serialize, Deserialize)]
enum Line {
    /// The session read or wrote it; `None` if it did not exist.
    #[serde(rename = "file")]
    File(PathBuf, Option<Stamp>),
    /// A file of another session, before a command of this one.
    #[serde(rename = "other")]
    Other(PathBuf, Option<Stamp>),
    /// The session was told this, at this time.
    #[serde(rename = "said")]
    Said(String, Timestamp),
    /// This problem was reported.
    #[serde(rename = "problem")]
    Problem(String),
}

/// What a session saw.
#[derive(Debug, Default)]
pub(super) struct Seen {
    path: PathBuf,
    files: HashMap<PathBuf, Option<Stamp>>,
    others: HashMap<PathBuf, Option<Stamp>>,
    said: HashMap<String, Timestamp>,
    problems: Vec<String>,
    added: String,
    is_long: bool,
}

impl Seen {
    /// Reads what a session saw. What cannot be read was not seen.
    pub(super) fn open(home: &Path, session: &str) -> Self {
        let path = home.join(FOLDER).join(session);
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        let is_long = text.len() as u64 > COMPACT_BYTES;
        let mut seen = Self { path, is_long, ..Self::default() };
        // A line that was cut off by a crash is skipped.
        for line in text.lines().filter_map(|line| serde_json::from_str(line).ok()) {
            seen.apply(line);
        }
        seen
    }

    fn apply(&mut self, line: Line) {
        match line {
            Line::File(path, stamp) => drop(self.files.insert(path, stamp)),
            Line::Other(path, stamp) => drop(self.others.insert(path, stamp)),
            Line::Said(what, at) => drop(self.said.insert(what, at)),
            Line::Problem(text) => self.problems.push(text),
        }
    }

    fn add(&mut self, line: Line) {
        // A path that is not UTF-8 cannot be written down: of that file, nothing was seen.
        let Ok(text) = serde_json::to_string(&line) else { return };
        self.added.push_str(&text);
        self.added.push('\n');
        self.apply(line);
    }

    /// Whether a file is another one than the session last read or wrote.
    pub(super) fn is_stale(&self, path: &Path) -> bool {
        self.files.get(path).is_some_and(|seen| *seen != stamp(path))
    }

    /// Remembers the state of a file.
    pub(super) fn note(&mut self, path: &Path) {
        let now = stamp(path);
        if self.files.get(path) != Some(&now) {
            self.add(Line::File(path.to_owned(), now));
        }
    }

    /// Remembers the state of another session's file.
    pub(super) fn note_other(&mut self, path: &Path) {
        let now = stamp(path);
        if self.others.get(path) != Some(&now) {
            self.add(Line::Other(path.to_owned(), now));
        }
    }

    /// Whether another session's file changed since it was noted.
    pub(super) fn other_changed(&self, path: &Path) -> bool {
        self.others.get(path).is_some_and(|seen| *seen != stamp(path))
    }

    /// Whether the session knows the file in its present state.
    pub(super) fn knows(&self, path: &Path) -> bool {
        self.files.get(path).is_some_and(|seen| *seen == stamp(path))
    }

    /// Whether the session must be told something that is repeated; it then counts as told.
    pub(super) fn is_due(&mut self, what: &str, now: Timestamp) -> bool {
        let told = self.said.get(what).map(|at| now.duration_since(*at));
        let is_due = told.is_none_or(|ago| ago.unsigned_abs() >= REPEATED_AFTER);
        if is_due {
            self.add(Line::Said(what.to_owned(), now));
        }
        is_due
    }

    /// Whether a problem was not reported yet; it then counts as reported.
    pub(super) fn is_new_problem(&mut self, problem: &str) -> bool {
        let is_new = !self.problems.iter().any(|it| it == problem);
        if is_new {
            self.add(Line::Problem(problem.to_owned()));
        }
        is_new
    }

    /// Writes what is new.
    pub(super) fn save(&mut self) -> std::io::Result<()> {
        if self.added.is_empty() {
            return Ok(());
        }
        if self.is_long {
            let text = self.compact();
            return crate::replacing::replace(&self.path, text.as_bytes(), None);
        }
        if let Some(folder) = self.path.parent() {
            private::folder(folder)?;
        }
        let mut file = private::open(File::options().append(true).create(true), &self.path)?;
        // One write, so that lines of two hooks do not mix.
        file.write_all(std::mem::take(&mut self.added).as_bytes())
    }

    fn compact(&self) -> String {
        let files = self.files.iter().map(|(path, stamp)| Line::File(path.clone(), stamp.clone()));
        let said = self.said.iter().map(|(what, at)| Line::Said(what.clone(), *at));
        let problems = self.problems.iter().cloned().map(Line::Problem);
        let lines = files.chain(said).chain(problems);
        lines
            .map(|line| serde_json::to_string(&line).expect("it was read as JSON") + "\n")
            .collect()
    }

    /// Forgets what the session saw.
    pub(super) fn remove(self) {
        remove(&self.path);
    }
}

/// Removes the files of sessions that were not used for a week.
pub(super) fn remove_old(home: &Path, now: SystemTime) {
    let Ok(entries) = std::fs::read_dir(home.join(FOLDER)) else { return };
    for entry in entries.flatten() {
        let modified = entry.metadata().and_then(|about| about.modified());
        let age = modified.ok().and_then(|it| now.duration_since(it).ok());
        if age.is_some_and(|age| age > OLD) {
            remove(&entry.path());
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "it can be lost: see the head of the module")]
fn remove(path: &Path) {
    // A file that stays is removed by a later start of a session.
    drop(std::fs::remove_file(path));
}

/// The state of a file; `None` if it does not exist or cannot be looked at.
fn stamp(path: &Path) -> Option<Stamp> {
    let about = std::fs::metadata(path).ok()?;
    let modified = match about.modified().ok()?.duration_since(SystemTime::UNIX_EPOCH) {
        Ok(after) => i128::try_from(after.as_nanos()).unwrap_or(i128::MAX),
        Err(before) => -i128::try_from(before.duration().as_nanos()).unwrap_or(i128::MAX),
    };
    #[cfg(unix)]
    let number = std::os::unix::fs::MetadataExt::ino(&about);
    #[cfg(not(unix))]
    let number = 0;
    Some(Stamp { size: about.len(), modified, number })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_another_program_changed_is_stale_once() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a");
        std::fs::write(&file, "1").unwrap();
        let open = || Seen::open(folder.path(), "s");
        let mut seen = open();
        assert!(!seen.is_stale(&file), "what was never seen is not stale");
        seen.note(&file);
        seen.save().unwrap();
        assert!(!open().is_stale(&file));
        std::fs::write(&file, "22").unwrap();
        let mut seen = open();
        assert!(seen.is_stale(&file));
        seen.note(&file);
        seen.save().unwrap();
        assert!(!open().is_stale(&file));
        remove(&file);
        assert!(open().is_stale(&file), "a file that was removed, too");
    }

    #[test]
    fn a_message_is_repeated_and_a_problem_reported_once() {
        let folder = tempfile::tempdir().unwrap();
        let open = || Seen::open(folder.path(), "s");
        let at = |seconds| Timestamp::from_second(seconds).unwrap();
        let mut seen = open();
        assert!(seen.is_due("message 1", at(0)) && !seen.is_due("message 1", at(1)));
        assert!(seen.is_new_problem("p") && !seen.is_new_problem("p"));
        seen.save().unwrap();
        let mut seen = open();
        assert!(!seen.is_new_problem("p") && !seen.is_due("message 1", at(599)));
        assert!(seen.is_due("message 2", at(599)) && seen.is_due("message 1", at(600)));
    }

    #[cfg(unix)]
    #[test]
    fn a_path_that_is_not_utf8_is_not_remembered() {
        use std::os::unix::ffi::OsStrExt as _;

        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(std::ffi::OsStr::from_bytes(b"\xff"));
        std::fs::write(&file, "1").unwrap();
        let mut seen = Seen::open(folder.path(), "s");
        seen.note(&file);
        seen.note_other(&file);
        assert!(seen.is_new_problem("x"));
        seen.save().unwrap();
        std::fs::write(&file, "22").unwrap();
        let mut seen = Seen::open(folder.path(), "s");
        assert!(!seen.is_stale(&file) && !seen.other_changed(&file));
        assert!(!seen.is_new_problem("x"));
    }

    #[test]
    fn damage_is_skipped() {
        let folder = tempfile::tempdir().unwrap();
        let mut seen = Seen::open(folder.path(), "s");
        assert!(seen.is_new_problem("x"));
        seen.save().unwrap();
        let path = folder.path().join("seen/s");
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, format!("{{\"fi\n\0\n{text}{{\"problem\":\"y")).unwrap();
        assert_eq!(Seen::open(folder.path(), "s").problems, ["x"]);
    }
}
