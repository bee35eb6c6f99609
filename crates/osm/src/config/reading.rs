//! Reads the settings from the file and the environment, with every problem in them.
//!
//! Reading never stops at the first problem: `osm config validate` shows all of them, and an invalid
//! shell name must not disable a limit. A problem's [`Concern`] says which settings it affects.

use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};

use osm_identity::{Catalogue, Environment};
use toml_edit::{Document, Item, TableLike};

use super::keys::{self, Key, Kind, Value};
use super::{file, identity};
use crate::World;

/// A problem in the file, and its line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The line; `None` if the problem is about the whole file or a variable.
    line: Option<usize>,
    reason: String,
    concern: Concern,
}

/// Which settings a problem affects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Concern {
    /// The limits of retention: the whole file is invalid, or one of the limits.
    Retention,
    /// A setting with a safe default.
    Other,
    /// An unknown name, which may be a setting of a newer osm.
    Unknown,
}

impl Problem {
    /// A problem with the part of the text at `span`.
    pub(super) fn at(text: &str, span: Option<Range<usize>>, reason: impl Into<String>) -> Self {
        Self::on_line(span.map_or(1, |span| line_of(text, span.start)), reason)
    }

    /// A problem with a line.
    pub(super) fn on_line(line: usize, reason: impl Into<String>) -> Self {
        Self { line: Some(line), reason: reason.into(), concern: Concern::Other }
    }

    /// A problem with the whole file.
    pub(crate) fn whole(reason: impl Into<String>) -> Self {
        Self { line: None, reason: reason.into(), concern: Concern::Other }
    }

    fn concerning(self, concern: Concern) -> Self {
        Self { concern, ..self }
    }

    /// Whether it makes the limits of retention uncertain.
    pub(super) fn is_about_retention(&self) -> bool {
        self.concern == Concern::Retention
    }

    /// Whether it is an unknown name.
    pub(super) fn is_unknown(&self) -> bool {
        self.concern == Concern::Unknown
    }

    /// The problem with its file and line, in the format of compilers.
    #[must_use]
    pub fn place(&self, path: &Path) -> String {
        match self.line {
            Some(line) => format!("{}:{line}: {}", path.display(), self.reason),
            None => format!("{}: {}", path.display(), self.reason),
        }
    }

    /// The problem as the reason why osm ignores the file.
    pub(super) fn ignored(&self, path: &Path) -> String {
        let what = if self.line.is_some() { "the file" } else { "it" };
        format!("{}: {self}; {what} is ignored", path.display())
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "line {line}: {}", self.reason),
            None => f.write_str(&self.reason),
        }
    }
}

/// One setting.
pub(crate) struct Entry {
    pub(crate) key: Key,
    /// Its value, or why that is invalid.
    pub(crate) value: Result<Value, String>,
    /// The line in the file that sets it.
    pub(crate) line: Option<usize>,
    /// The variable that sets it.
    pub(crate) variable: Option<&'static str>,
}

/// All settings.
pub(crate) struct Reading {
    /// The path of the file, which need not exist; `None` without a home folder.
    pub(crate) path: Option<PathBuf>,
    /// Whether the file exists.
    pub(crate) exists: bool,
    /// Every setting; if the file is broken, as if there were no file.
    pub(crate) entries: Vec<Entry>,
    /// Why the whole file cannot be used.
    pub(crate) broken: Option<Problem>,
    /// Every other problem in the file.
    pub(crate) problems: Vec<Problem>,
    /// Invalid variables.
    pub(crate) wrong_variables: Vec<String>,
    /// The catalogue with the user's additions.
    pub(crate) catalogue: Catalogue,
}

impl Reading {
    /// Reads the file and the variables.
    pub(crate) fn of(world: &World) -> Self {
        let path = world.config_file();
        let text = path.as_deref().map_or(Ok(None), file::read);
        let (exists, text) = match text {
            Ok(text) => (text.is_some(), Ok(text.unwrap_or_default())),
            Err(problem) => (true, Err(problem)),
        };
        Self { path, exists, ..Self::new(text, &world.environment) }
    }

    /// Reads a text.
    pub(super) fn new(text: Result<String, Problem>, environment: &Environment) -> Self {
        let mut catalogue = identity::built_in(environment);
        let (mut problems, mut broken) = (Vec::new(), None);
        let text = text.unwrap_or_else(|problem| {
            broken = Some(problem);
            String::new()
        });
        let document = file::parse(&text).unwrap_or_else(|problem| {
            broken = Some(problem);
            file::parse("").expect("nothing is TOML")
        });
        problems.extend(identity::extend(&mut catalogue, &text, &document));
        check(&text, "", document.as_table(), &mut problems);
        problems.sort_by_key(|problem| problem.line);
        let entries: Vec<Entry> =
            keys::all().map(|key| entry(key, &text, &document, environment)).collect();
        let wrong_variables = entries.iter().filter_map(wrong_variable).collect();
        let broken = broken.map(|problem| problem.concerning(Concern::Retention));
        Self { path: None, exists: true, entries, broken, problems, wrong_variables, catalogue }
    }

    /// Every problem in the file.
    pub(crate) fn all_problems(&self) -> impl Iterator<Item = &Problem> {
        self.broken.iter().chain(&self.problems)
    }

    /// The setting of that name, which must exist.
    pub(crate) fn entry(&self, name: &str) -> &Entry {
        let entry = self.entries.iter().find(|entry| entry.key.name == name);
        entry.expect("every key has an entry")
    }
}

fn wrong_variable(entry: &Entry) -> Option<String> {
    let reason = entry.value.as_ref().err()?;
    Some(format!("{}: {reason}", entry.variable?))
}

/// Finds unknown names and invalid values. (`identity.rs` checks its own table.)
fn check(text: &str, prefix: &str, table: &dyn TableLike, problems: &mut Vec<Problem>) {
    for (name, item) in table.iter() {
        let name = format!("{prefix}{name}");
        if name == "identity" {
            continue;
        }
        let found = if let Some(key) = keys::named(&name) {
            key.read(item).err().map(|reason| (reason, concern(key)))
        } else if keys::is_group(&name) {
            match item.as_table_like() {
                Some(table) => {
                    check(text, &format!("{name}."), table, problems);
                    None
                }
                None => Some((format!("`{name}` must be a table"), group_concern(&name))),
            }
        } else {
            Some(unknown(&name))
        };
        if let Some((reason, concern)) = found {
            problems.push(Problem::at(text, item.span(), reason).concerning(concern));
        }
    }
}

fn concern(key: Key) -> Concern {
    if matches!(key.kind, Kind::Retention(_)) { Concern::Retention } else { Concern::Other }
}

fn group_concern(name: &str) -> Concern {
    let retains = |key: Key| key.name.starts_with(name) && concern(key) == Concern::Retention;
    if keys::all().any(retains) { Concern::Retention } else { Concern::Other }
}

/// A misspelled limit is a limit that the user wants to set, so no limit applies until it is fixed.
fn unknown(name: &str) -> (String, Concern) {
    let meant = keys::meant(name);
    let reason = match meant {
        Some(meant) => format!("unknown setting {name:?} (did you mean {meant:?}?)"),
        None => format!("unknown setting {name:?}"),
    };
    let about_sessions = |name: &str| name == "session" || name.starts_with("session.");
    let concern = if about_sessions(name) || meant.is_some_and(about_sessions) {
        Concern::Retention
    } else {
        Concern::Unknown
    };
    (reason, concern)
}

/// One setting: the variable, else the file, else the default.
fn entry(key: Key, text: &str, document: &Document<&str>, environment: &Environment) -> Entry {
    let said = find(document.as_table(), key.name);
    let (mut value, mut line) = (Ok(key.default()), None);
    if let Some(said) = said {
        line = said.span().map(|span| line_of(text, span.start));
        value = key.read(said);
    }
    let mut variable = key.variable().filter(|name| environment.get(name).is_some());
    match (key.kind, variable) {
        (_, None) => {}
        // The variable adds names to those in the file.
        (Kind::Names, Some(_)) => match &mut value {
            Ok(Value::Names(names)) => names.extend(identity::extra_shells(environment)),
            _ => variable = None,
        },
        (_, Some(name)) => {
            let word = environment.get(name).unwrap_or_default().to_string_lossy();
            (value, line) = (key.parse_one(&word), None);
        }
    }
    Entry { key, value, line, variable }
}

/// The value in the file under a dotted name.
pub(super) fn find<'a>(table: &'a dyn TableLike, name: &str) -> Option<&'a Item> {
    match name.split_once('.') {
        None => table.get(name),
        Some((first, rest)) => find(table.get(first)?.as_table_like()?, rest),
    }
}

/// The number of the line at an offset, from 1.
pub(super) fn line_of(text: &str, offset: usize) -> usize {
    1 + text.bytes().take(offset).filter(|byte| *byte == b'\n').count()
}
