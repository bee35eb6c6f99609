//! What the file and the variables say, with everything that is wrong with them.
//!
//! Reading never stops at the first problem: `osm config validate` shows all of them, and a wrong
//! shell name must not keep a limit from counting. What a problem puts in doubt is its [`Concern`].

use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};

use osm_identity::{Catalogue, Environment};
use toml_edit::{Document, Item, TableLike};

use super::keys::{self, Key, Kind, Value};
use super::{file, identity};
use crate::World;
use crate::error::CommandError;

/// What is wrong, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Problem {
    /// The line in the file; `None` if it is about the whole file, or a variable.
    line: Option<usize>,
    reason: String,
    concern: Concern,
}

/// What a problem puts in doubt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Concern {
    /// What is kept: the file as a whole, or one of the limits.
    Retention,
    /// Something that has a safe default.
    Other,
    /// A name that means nothing to us: perhaps to a newer osm.
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

    /// A problem with the whole.
    pub(crate) fn whole(reason: impl Into<String>) -> Self {
        Self { line: None, reason: reason.into(), concern: Concern::Other }
    }

    fn concerning(self, concern: Concern) -> Self {
        Self { concern, ..self }
    }

    /// Whether no limit can be trusted.
    pub(super) fn is_about_retention(&self) -> bool {
        self.concern == Concern::Retention
    }

    /// Whether it is only a name that nobody knows.
    pub(super) fn is_unknown(&self) -> bool {
        self.concern == Concern::Unknown
    }

    /// The problem with its place, as compilers show it.
    pub(crate) fn place(&self, path: &Path) -> String {
        match self.line {
            Some(line) => format!("{}:{line}: {}", path.display(), self.reason),
            None => format!("{}: {}", path.display(), self.reason),
        }
    }

    /// The problem as the reason why the file does not count.
    pub(super) fn ignored(&self, path: &Path) -> String {
        let what = if self.line.is_some() { "the file" } else { "it" };
        format!("{}: {self}; {what} is ignored", path.display())
    }

    /// The problem as the reason why a command fails.
    pub(crate) fn in_file(&self, path: &Path) -> CommandError {
        CommandError::failed(self.place(path))
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

/// One setting, as it counts.
pub(crate) struct Entry {
    pub(crate) key: Key,
    /// What it is set to, or what is wrong.
    pub(crate) value: Result<Value, String>,
    /// The line in the file that says so.
    pub(crate) line: Option<usize>,
    /// The variable that says so.
    pub(crate) variable: Option<&'static str>,
}

/// Everything that is set.
pub(crate) struct Reading {
    /// Where the file is, or would be; `None` where not even a home is known.
    pub(crate) path: Option<PathBuf>,
    /// Whether there is one.
    pub(crate) exists: bool,
    /// Every setting; all as if there were no file if it is broken.
    pub(crate) entries: Vec<Entry>,
    /// Why the file as a whole cannot be used.
    pub(crate) broken: Option<Problem>,
    /// Everything else that is wrong with the file.
    pub(crate) problems: Vec<Problem>,
    /// What is wrong with variables.
    pub(crate) wrong_variables: Vec<String>,
    /// The catalogue with the additions.
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

    /// Everything that is wrong with the file.
    pub(crate) fn all_problems(&self) -> impl Iterator<Item = &Problem> {
        self.broken.iter().chain(&self.problems)
    }

    /// The setting of that name, which must be in the table of all.
    pub(crate) fn entry(&self, name: &str) -> &Entry {
        let entry = self.entries.iter().find(|entry| entry.key.name == name);
        entry.expect("every key has an entry")
    }
}

fn wrong_variable(entry: &Entry) -> Option<String> {
    let reason = entry.value.as_ref().err()?;
    Some(format!("{}: {reason}", entry.variable?))
}

/// Finds names that nobody knows, and values that cannot be. (`identity` has its own words.)
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

/// A misspelled limit is a limit that somebody wants: until we know which, none counts.
fn unknown(name: &str) -> (String, Concern) {
    let shown = name.escape_debug();
    let meant = keys::meant(name);
    let reason = match meant {
        Some(meant) => format!("`{shown}` is not known (is it `{meant}`?)"),
        None => format!("`{shown}` is not known"),
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
        // These are added to what the file says.
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

/// What stands in the file under a name with dots.
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
