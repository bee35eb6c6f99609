//! The table of all settings, which the reader, `osm config` and the documentation use.
//!
//! The limits of retention have their own table in the store ([`osm_store::retention::KEYS`]); osm shows
//! them first.

use std::fmt;
use std::path::Path;

use osm_store::retention::{self, Policy};
use toml_edit::Item;

use super::identity;
use super::nearest::nearest;

/// A setting.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Key {
    /// Its name, with dots: the table and the name in it.
    pub(crate) name: &'static str,
    /// What it does, in one sentence.
    pub(crate) doc: &'static str,
    /// Its type.
    pub(crate) kind: Kind,
}

/// The type of a setting, with its default.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    /// A limit of the retention policy.
    Retention(&'static retention::Key),
    /// True or false.
    Switch(bool),
    /// A whole number.
    Number(u32),
    /// One of several words; the first is the default.
    Choice(&'static [&'static str]),
    /// The path of a file; unset by default.
    Path,
    /// The address of a server; unset by default.
    Server,
    /// Any text; unset by default.
    Text,
    /// Paths of folders.
    Paths,
    /// Paths of folders, absolute or starting with `~/`: a relative path would mean another folder in
    /// every directory.
    RootedPaths,
    /// Names of programs.
    Names,
    /// A list of tables, which the user edits in the file.
    Agents,
}

/// The value of a setting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Value {
    Number(u32),
    Switch(bool),
    Word(&'static str),
    Path(String),
    Names(Vec<String>),
    Agents(usize),
}

pub(super) const KEEP_ARCHIVES: &str = "session.reset.keep_archives";
pub(super) const HISTORY_LENGTH: &str = "session.history_length";
pub(super) const STORE: &str = "store.backend";
/// Not shown with its variable, which may have a password in it.
pub(super) const STORE_URL: &str = "store.url";
/// How long a machine that cannot be reached keeps its claims.
pub(super) const LEASE: &str = "claims.lease_seconds";
pub(super) const EDITS: &str = "agent.edits";
/// The work list of `osm claim next`. Only the user's own file counts: a repository's could name any command.
pub(super) const NEXT_FROM: &str = "claims.next.from";
pub(super) const NEXT_COMMAND: &str = "claims.next.from_command";
pub(super) const NEXT_FIELD: &str = "claims.next.field";

/// The settings of prompts, scripts and the log are read in `prompting.rs`.
const OTHERS: [Key; 23] = [
    Key {
        name: KEEP_ARCHIVES,
        doc: "Archive a session before `osm session reset`.",
        kind: Kind::Switch(true),
    },
    Key {
        name: HISTORY_LENGTH,
        doc: "Keep this many commands in the history of a session (0: all).",
        kind: Kind::Number(200),
    },
    Key {
        name: STORE,
        doc: "Store sessions and claims in files (fs), in memory (memory) or on a server (postgres).",
        kind: Kind::Choice(&["fs", "memory", "postgres"]),
    },
    Key {
        name: STORE_URL,
        doc: "The address of the PostgreSQL server, without a password: postgres://user@host/database.",
        kind: Kind::Server,
    },
    Key {
        name: EDITS,
        doc: "What a hook does before an edit of a file that another session holds: refuse it, warn both sessions, or nothing.",
        kind: Kind::Choice(&["refuse", "warn", "off"]),
    },
    Key {
        name: LEASE,
        doc: "On PostgreSQL: how long a claim outlasts its machine, in seconds (at least 2).",
        kind: Kind::Number(120),
    },
    Key {
        name: NEXT_FROM,
        doc: "Read the candidates of `osm claim next` from this file; a relative path starts at the top of the worktree.",
        kind: Kind::Path,
    },
    Key {
        name: NEXT_COMMAND,
        doc: "Run this shell command and read the candidates of `osm claim next` from its output.",
        kind: Kind::Text,
    },
    Key {
        name: NEXT_FIELD,
        doc: "Read these candidates as JSON, and take this field of each object.",
        kind: Kind::Text,
    },
    Key { name: "prompt.tokens", doc: "Count the tokens of prompts.", kind: Kind::Switch(true) },
    Key {
        name: "prompt.budget",
        doc: "Warn when a prompt has more tokens than this (0: no limit).",
        kind: Kind::Number(0),
    },
    Key {
        name: "prompt.max_file_kb",
        doc: "Skip files larger than this, in kilobytes (0: no limit).",
        kind: Kind::Number(1000),
    },
    Key {
        name: "goal.paths",
        doc: "Search these folders for goals, too: absolute paths, or paths that start with ~/.",
        kind: Kind::RootedPaths,
    },
    Key {
        name: "script.module_paths",
        doc: "Search these folders for the modules of scripts; a relative path starts at the configuration folder.",
        kind: Kind::Paths,
    },
    Key {
        name: "script.time_limit_seconds",
        doc: "Stop a script that computes for longer without a pause, in seconds (0: no limit).",
        kind: Kind::Number(30),
    },
    Key {
        name: "script.memory_limit_mb",
        doc: "Stop a script that uses more memory, in megabytes (0: no limit).",
        kind: Kind::Number(512),
    },
    Key {
        name: "log.file",
        doc: "Log modes and scripts to this file; a relative path starts at the configuration folder.",
        kind: Kind::Path,
    },
    Key {
        name: "log.level",
        doc: "Write log messages of this level and above.",
        kind: Kind::Choice(&["info", "debug", "warn", "error", "off"]),
    },
    Key {
        name: "log.max_size_mb",
        doc: "Start a new log file at this size, in megabytes (0: no limit).",
        kind: Kind::Number(10),
    },
    Key { name: "log.max_files", doc: "Keep this many log files.", kind: Kind::Number(5) },
    Key {
        name: "identity.wrappers",
        doc: "Treat these programs as wrappers that only start another program, as sudo does.",
        kind: Kind::Names,
    },
    Key { name: "identity.shells", doc: "Treat these programs as shells.", kind: Kind::Names },
    Key {
        name: "identity.agents",
        doc: "Detect these coding agents, too: a list of tables.",
        kind: Kind::Agents,
    },
];

/// Every setting, in the order of `osm config list`.
pub(crate) fn all() -> impl Iterator<Item = Key> {
    let limits = retention::KEYS.iter();
    limits.map(|key| Key { name: key.name, doc: key.doc, kind: Kind::Retention(key) }).chain(OTHERS)
}

/// The setting of that name.
pub(crate) fn named(name: &str) -> Option<Key> {
    all().find(|key| key.name == name)
}

/// The setting, or the group of settings, with the nearest name.
pub(crate) fn meant(name: &str) -> Option<&'static str> {
    let names: Vec<&'static str> = all().map(|key| key.name).collect();
    let groups = names.iter().flat_map(|name| {
        name.match_indices('.').map(|(dot, _)| name.get(..dot).unwrap_or_default())
    });
    nearest(name, names.iter().copied().chain(groups))
}

/// Whether a name is a group of settings: a table in the file.
pub(super) fn is_group(name: &str) -> bool {
    all().any(|key| key.name.strip_prefix(name).is_some_and(|rest| rest.starts_with('.')))
}

impl Key {
    /// Its default value.
    pub(crate) fn default(&self) -> Value {
        match self.kind {
            Kind::Retention(key) => Value::from(key.default_value()),
            Kind::Switch(switch) => Value::Switch(switch),
            Kind::Number(number) => Value::Number(number),
            Kind::Choice(words) => Value::Word(words[0]),
            Kind::Path | Kind::Server | Kind::Text => Value::Path(String::new()),
            Kind::Names | Kind::Paths | Kind::RootedPaths => Value::Names(Vec::new()),
            Kind::Agents => Value::Agents(0),
        }
    }

    /// The words that it can be set to; nothing for numbers, paths and names.
    pub(crate) fn words(&self) -> &'static [&'static str] {
        match (self.kind, self.default()) {
            (Kind::Choice(words), _) => words,
            (_, Value::Switch(_)) => &["true", "false"],
            _ => &[],
        }
    }

    /// The environment variable that overrides or extends it.
    pub(crate) fn variable(&self) -> Option<&'static str> {
        match self.name {
            STORE => Some("OSM_STORE"),
            "identity.shells" => Some(identity::EXTRA_SHELLS),
            _ => None,
        }
    }

    /// Reads the value in the file.
    pub(super) fn read(&self, item: &Item) -> Result<Value, String> {
        match self.kind {
            Kind::Choice(_) => match item.as_str() {
                Some(word) => self.parse_one(word),
                None => Err(self.mistaken("a word in quotes", item)),
            },
            Kind::Path => match item.as_str() {
                Some(path) => Ok(Value::Path(path.to_owned())),
                None => Err(self.mistaken("a path in quotes", item)),
            },
            Kind::Text => match item.as_str() {
                Some(text) => Ok(Value::Path(text.to_owned())),
                None => Err(self.mistaken("a text in quotes", item)),
            },
            Kind::Server => match item.as_str() {
                // As for a path, an empty text means that it is not set.
                Some("") => Ok(self.default()),
                Some(address) => self.parse_one(address),
                None => Err(self.mistaken("an address in quotes", item)),
            },
            Kind::Paths | Kind::RootedPaths => {
                let list = item.as_array().map(|list| list.iter().map(|it| it.as_str()).collect());
                let paths: Option<Vec<&str>> = list.unwrap_or_else(|| Some(vec![item.as_str()?]));
                let paths = paths.ok_or_else(|| self.mistaken("a list of paths", item))?;
                let paths: Vec<String> = paths.into_iter().map(str::to_owned).collect();
                self.check_list(&paths)?;
                Ok(Value::Names(paths))
            }
            Kind::Names => identity::programs(item)
                .map(Value::Names)
                .map_err(|reason| format!("`{}` {reason}", self.name)),
            Kind::Agents => identity::count_agents(item)
                .map(Value::Agents)
                .ok_or_else(|| format!("`{}` must be a list of tables", self.name)),
            _ => match (self.default(), item.as_integer(), item.as_bool()) {
                (Value::Number(_), Some(number), _) => self.parse_one(&number.to_string()),
                (Value::Switch(_), _, Some(switch)) => Ok(Value::Switch(switch)),
                (Value::Number(_), ..) => Err(self.mistaken("a whole number", item)),
                _ => Err(self.mistaken("true or false", item)),
            },
        }
    }

    fn mistaken(&self, expected: &str, item: &Item) -> String {
        format!("`{}` must be {expected} (found: {})", self.name, item.type_name())
    }

    /// Parses the words of a command line.
    pub(crate) fn parse(&self, words: &[String]) -> Result<Value, String> {
        match (self.kind, words) {
            (Kind::Agents, _) => Err(format!("`{}` is a list of tables", self.name)),
            (Kind::Names | Kind::Paths | Kind::RootedPaths, _) => {
                if words.is_empty() {
                    return Err(self.mistaken_list());
                }
                self.check_list(words)?;
                let mut names = words.to_vec();
                let mut seen = std::collections::HashSet::new();
                names.retain(|name| seen.insert(name.clone()));
                Ok(Value::Names(names))
            }
            (_, [word]) => self.parse_one(word),
            _ => Err(format!("`{}` takes one value, not {}", self.name, words.len())),
        }
    }

    /// Refuses values that would have no effect in a list.
    fn check_list(&self, words: &[String]) -> Result<(), String> {
        if words.iter().any(|word| word.trim().is_empty()) {
            return Err(self.mistaken_list());
        }
        let wrong = |word: &&String| match self.kind {
            Kind::Names => identity::has_folder(word),
            Kind::RootedPaths => !word.starts_with("~/") && !Path::new(word).is_absolute(),
            _ => false,
        };
        match (words.iter().find(wrong), self.kind) {
            (None, _) => Ok(()),
            (Some(word), Kind::Names) => {
                Err(format!("`{}` must be names without a folder, not {word:?}", self.name))
            }
            (Some(word), _) => {
                Err(format!("`{}` must be absolute or start with ~/, not {word:?}", self.name))
            }
        }
    }

    fn mistaken_list(&self) -> String {
        let what = if matches!(self.kind, Kind::Names) { "names of programs" } else { "paths" };
        format!("`{}` must be {what}", self.name)
    }

    /// Parses the value of a variable.
    pub(super) fn parse_one(&self, word: &str) -> Result<Value, String> {
        match self.kind {
            Kind::Retention(key) => {
                let mut policy = Policy::default();
                key.set(&mut policy, word).map_err(|error| error.to_string())?;
                Ok(Value::from(key.get(&policy)))
            }
            Kind::Switch(_) => match word.trim().parse() {
                Ok(switch) => Ok(Value::Switch(switch)),
                Err(_) => Err(format!("`{}` must be true or false, not {word:?}", self.name)),
            },
            Kind::Choice(words) => {
                let known = words.iter().find(|known| **known == word.trim());
                known.map(|known| Value::Word(known)).ok_or_else(|| {
                    format!("`{}` must be {}, not {word:?}", self.name, words.join(" or "))
                })
            }
            Kind::Number(_) => word.trim().parse().map(Value::Number).map_err(|_| {
                format!("`{}` must be a whole number up to {}, not {word:?}", self.name, u32::MAX)
            }),
            Kind::Path | Kind::Text => Ok(Value::Path(word.to_owned())),
            Kind::Server => {
                check_address(word).map_err(|reason| format!("`{}`: {reason}", self.name))?;
                Ok(Value::Path(word.to_owned()))
            }
            Kind::Names | Kind::Paths | Kind::RootedPaths | Kind::Agents => {
                self.parse(&[word.to_owned()])
            }
        }
    }
}

/// Refuses what is not an address, and a password: the file is shown, copied and kept under version control.
fn check_address(address: &str) -> Result<(), String> {
    let variable = |name: &str| (name == "USER").then(|| "user".to_owned());
    let server = osm_postgres::Server::new(address, &variable);
    if server.map_err(|error| error.reason().to_owned())?.has_password() {
        return Err("leave out the password, and put it into ~/.pgpass or PGPASSWORD".into());
    }
    Ok(())
}

impl From<retention::Setting> for Value {
    fn from(setting: retention::Setting) -> Self {
        match setting {
            retention::Setting::Number(number) => Self::Number(number),
            retention::Setting::Switch(switch) => Self::Switch(switch),
        }
    }
}

impl Value {
    /// The value for programs.
    pub(crate) fn to_json(&self) -> serde_json::Value {
        match self {
            Self::Number(number) => (*number).into(),
            Self::Switch(switch) => (*switch).into(),
            Self::Word(word) => (*word).into(),
            Self::Path(path) => path.clone().into(),
            Self::Names(names) => names.clone().into(),
            Self::Agents(count) => (*count).into(),
        }
    }

    /// The value for the file.
    pub(super) fn to_toml(&self) -> toml_edit::Value {
        match self {
            Self::Number(number) => i64::from(*number).into(),
            Self::Switch(switch) => (*switch).into(),
            Self::Word(word) => (*word).into(),
            Self::Path(path) => path.as_str().into(),
            Self::Names(names) => names.iter().collect(),
            Self::Agents(_) => toml_edit::Array::new().into(),
        }
    }
}

/// The value for people, on one line.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => number.fmt(f),
            Self::Switch(switch) => switch.fmt(f),
            Self::Word(word) => f.write_str(word),
            Self::Path(path) if path.is_empty() => f.write_str("none"),
            Self::Path(path) => f.write_str(path),
            Self::Names(names) if names.is_empty() => f.write_str("none"),
            Self::Names(names) => f.write_str(&names.join(", ")),
            Self::Agents(1) => f.write_str("1 agent"),
            Self::Agents(count) => write!(f, "{count} agents"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_setting_is_in_the_documentation() {
        let page = include_str!("../../../../docs/configuration.md");
        for key in all() {
            let row = format!("| `{}` | {} | {} |", key.name, key.default(), key.doc);
            assert!(page.contains(&row), "docs/configuration.md lacks {row}");
        }
    }

    #[test]
    fn defaults_can_be_written_and_read() {
        for key in all() {
            let written: Item = key.default().to_toml().into();
            assert_eq!(key.read(&written), Ok(key.default()), "{}", key.name);
            assert!(!is_group(key.name), "{}", key.name);
        }
        assert!(is_group("session") && is_group("session.reset") && !is_group("session.re"));
    }

    #[test]
    fn what_is_typed() {
        let parse = |name: &str, words: &[&str]| {
            let words: Vec<String> = words.iter().map(ToString::to_string).collect();
            named(name).unwrap().parse(&words)
        };
        assert_eq!(parse("session.max_count", &["7"]), Ok(Value::Number(7)));
        assert_eq!(parse(STORE, &["memory"]), Ok(Value::Word("memory")));
        assert_eq!(
            parse("identity.shells", &["a", "b", "a"]),
            Ok(Value::Names(vec!["a".into(), "b".into()]))
        );
        for (name, words, reason) in [
            ("session.max_count", &["7", "8"][..], "`session.max_count` takes one value, not 2"),
            (STORE, &["disk"], "`store.backend` must be fs or memory or postgres, not \"disk\""),
            (
                KEEP_ARCHIVES,
                &["1"],
                "`session.reset.keep_archives` must be true or false, not \"1\"",
            ),
            ("identity.shells", &["a", ""], "`identity.shells` must be names of programs"),
            (
                "identity.shells",
                &["a/b"],
                "`identity.shells` must be names without a folder, not \"a/b\"",
            ),
            ("goal.paths", &[""], "`goal.paths` must be paths"),
            (
                "goal.paths",
                &["~/a", "b"],
                "`goal.paths` must be absolute or start with ~/, not \"b\"",
            ),
            ("identity.agents", &["a"], "`identity.agents` is a list of tables"),
        ] {
            assert_eq!(parse(name, words), Err(reason.into()));
        }
    }

    #[test]
    fn what_is_written_is_checked_alike() {
        let read = |name: &str, text: &str| {
            named(name).unwrap().read(&Item::Value(text.parse().unwrap())).unwrap_err()
        };
        for (name, text, reason) in [
            ("goal.paths", "['b']", "`goal.paths` must be absolute or start with ~/, not \"b\""),
            ("goal.paths", "''", "`goal.paths` must be paths"),
            ("script.module_paths", "['']", "`script.module_paths` must be paths"),
            ("identity.shells", "['']", "`identity.shells` must be a list of program names"),
            (
                "identity.wrappers",
                "['a/b']",
                "`identity.wrappers` must be names without a folder, not \"a/b\"",
            ),
        ] {
            assert_eq!(read(name, text), reason);
        }
    }

    #[test]
    fn what_was_meant() {
        assert_eq!(meant("session.max_cuont"), Some("session.max_count"));
        assert_eq!(meant("keep_archives"), Some(KEEP_ARCHIVES));
        assert_eq!(meant("sessions"), Some("session"));
        assert_eq!(meant("verbose"), None);
    }
}
