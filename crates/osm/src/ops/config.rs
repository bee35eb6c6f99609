//! Shows and changes settings.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use osm_store::FsBackend;
use osm_store::audit::{Action, Event, Who};
use osm_store::backend::Backend;
use serde::Serialize;
use serde_json::json;

use super::path_text;
use crate::config::keys::{self, Key, Kind, Value};
use crate::config::upstream::{self, LeftOut, Upstream};
use crate::config::{self, Entry, NO_CLEANUP, Reading};
use crate::error::{Exit, Failure};
use crate::{Interaction, Invocation, World};

pub use crate::config::{ChangeError, InvalidLimits, Problem};

/// A setting.
#[derive(Clone, Debug, Serialize)]
pub struct Setting {
    pub key: &'static str,
    /// The value; `None` if it is invalid.
    pub value: Option<serde_json::Value>,
    /// The value as one line of text.
    #[serde(skip)]
    pub text: String,
    pub default: serde_json::Value,
    pub source: Source,
    /// The file, if it sets the value.
    #[serde(serialize_with = "path_text::optional")]
    pub file: Option<PathBuf>,
    pub line: Option<usize>,
    /// The environment variable that sets the value.
    pub variable: Option<&'static str>,
    /// Why the value is invalid.
    pub problem: Option<String>,
    pub doc: &'static str,
}

/// Where a value comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Source {
    Env,
    Config,
    Default,
}

impl Setting {
    fn new(entry: &Entry, file: Option<&Path>) -> Self {
        let source = match (entry.variable, entry.line) {
            (Some(_), _) => Source::Env,
            (None, Some(_)) => Source::Config,
            (None, None) => Source::Default,
        };
        Self {
            key: entry.key.name,
            value: entry.value.as_ref().ok().map(Value::to_json),
            text: entry.value.as_ref().map_or("invalid".into(), ToString::to_string),
            default: entry.key.default().to_json(),
            source,
            file: entry.line.and(file).map(Path::to_owned),
            line: entry.line,
            variable: entry.variable,
            problem: entry.value.as_ref().err().cloned(),
            doc: entry.key.doc,
        }
    }

    /// The source with its file and line, or its variable.
    #[must_use]
    pub fn place(&self) -> String {
        let mut places = Vec::new();
        if let (Some(line), Some(file)) = (self.line, &self.file) {
            places.push(format!("config ({}:{line})", file.display()));
        }
        places.extend(self.variable.map(|name| format!("env {name}")));
        if places.is_empty() { "default".into() } else { places.join(", ") }
    }
}

/// All settings.
#[derive(Clone, Debug)]
pub struct Settings {
    pub settings: Vec<Setting>,
    /// The problems that `osm config validate` shows.
    pub problems: Problems,
}

/// A setting that was changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Changed {
    pub key: &'static str,
    pub value: serde_json::Value,
    #[serde(skip)]
    pub text: String,
    /// The value before; `None` if that was invalid or is the same.
    pub before: Option<serde_json::Value>,
    #[serde(skip)]
    pub before_text: Option<String>,
    /// Whether the value before was the default.
    pub was_default: bool,
}

/// A setting that was removed from the file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Unset {
    pub key: String,
    /// Whether the file set it.
    pub was_set: bool,
    /// The value that applies now; `None` if osm does not know the setting.
    pub default: Option<serde_json::Value>,
    #[serde(skip)]
    pub default_text: Option<String>,
    #[serde(serialize_with = "path_text::one")]
    pub file: PathBuf,
}

/// The problems of the configuration.
#[derive(Clone, Debug, Serialize)]
pub struct Validation {
    #[serde(serialize_with = "path_text::one")]
    pub file: PathBuf,
    pub exists: bool,
    /// Each with its file and line.
    pub problems: Vec<String>,
    /// Whether osm removes no sessions until they are fixed.
    pub stops_cleanup: bool,
}

/// Settings that were imported.
#[derive(Clone, Debug, Serialize)]
pub struct Imported {
    #[serde(serialize_with = "path_text::one")]
    pub from: PathBuf,
    #[serde(serialize_with = "path_text::one")]
    pub to: PathBuf,
    pub settings: Vec<Changed>,
    /// Relative paths, which osm has no setting for.
    pub left_out: Vec<LeftOut>,
}

/// What to set.
#[derive(Clone, Debug)]
pub struct SetRequest {
    pub key: String,
    /// One value, or several for a list.
    pub values: Vec<String>,
}

/// Why a setting could not be shown or changed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is no folder for the file.
    #[error("no folder for the configuration: neither HOME nor OSM_HOME is set")]
    NoHome,
    /// There is no such setting.
    #[error("unknown setting {name:?}")]
    UnknownSetting { name: String, meant: Option<&'static str> },
    /// The new value is invalid.
    #[error("{reason}")]
    InvalidValue { reason: String, edit: Option<PathBuf> },
    /// The value in the file or the variable is invalid.
    #[error("{reason} (set by {place})")]
    InvalidSetting { reason: String, place: String },
    /// The file cannot be read.
    #[error("{}", .problem.place(.path))]
    InvalidFile { path: PathBuf, problem: Problem },
    /// The configuration has problems.
    #[error("{0}")]
    Problems(Problems),
    /// There is no file to import.
    #[error("{}", no_file(.0))]
    NothingToImport(Vec<PathBuf>),
    /// The file to import is invalid.
    #[error("{}", .problem.place(.path))]
    InvalidImport { path: PathBuf, problem: Problem },
    /// The file could not be changed.
    #[error(transparent)]
    Change(#[from] ChangeError),
}

impl Failure for Error {
    fn reason(&self) -> &'static str {
        match self {
            Self::NoHome => "no_home",
            Self::UnknownSetting { .. } => "unknown_setting",
            Self::InvalidValue { .. } => "invalid_value",
            Self::InvalidSetting { .. } => "invalid_setting",
            Self::InvalidFile { .. } | Self::InvalidImport { .. } => "invalid_file",
            Self::Problems(_) => "problems",
            Self::NothingToImport(_) => "not_found",
            Self::Change(error) => error.reason(),
        }
    }

    fn exit(&self) -> Exit {
        match self {
            Self::UnknownSetting { .. } | Self::NothingToImport(_) => Exit::NotFound,
            Self::InvalidValue { .. } => Exit::Usage,
            Self::Change(error) => error.exit(),
            _ => Exit::Failure,
        }
    }

    fn hints(&self) -> Vec<String> {
        let hint = match self {
            Self::NoHome => "set HOME, or OSM_HOME to a folder".into(),
            Self::UnknownSetting { meant: Some(meant), .. } => format!("did you mean {meant}?"),
            Self::UnknownSetting { meant: None, .. } => "see `osm config list`".into(),
            Self::InvalidValue { edit: Some(file), .. } => format!("edit {}", file.display()),
            Self::InvalidFile { .. } | Self::Problems(Problems { stops_cleanup: true, .. }) => {
                NO_CLEANUP.into()
            }
            Self::NothingToImport(_) => "name the file: osm config import-upstream FILE".into(),
            Self::InvalidImport { .. } => "nothing was changed".into(),
            Self::Change(error) => return error.hints(),
            _ => return Vec::new(),
        };
        vec![hint]
    }

    fn unwritable(&self) -> Option<&Path> {
        match self {
            Self::Change(error) => error.unwritable(),
            _ => None,
        }
    }
}

/// How many problems the configuration has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Problems {
    pub count: usize,
    /// Whether osm removes no sessions until they are fixed.
    pub stops_cleanup: bool,
}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let noun = if self.count == 1 { "problem" } else { "problems" };
        write!(f, "{} {noun} in the configuration", self.count)
    }
}

fn no_file(places: &[PathBuf]) -> String {
    let places: Vec<String> = places.iter().map(|place| place.display().to_string()).collect();
    match places.as_slice() {
        [] => "no file to import: HOME is not set".into(),
        places => format!("file not found: {}", places.join(" or ")),
    }
}

/// Lists every setting.
pub fn list(invocation: &Invocation) -> Result<Settings, Error> {
    let reading = readable(invocation.world)?;
    let file = reading.path.as_deref();
    let settings = reading.entries.iter().map(|entry| Setting::new(entry, file)).collect();
    let count = reading.problems.len() + reading.wrong_variables.len();
    let stops_cleanup = config::Settings::from(reading).checked_policy().is_err();
    Ok(Settings { settings, problems: Problems { count, stops_cleanup } })
}

/// Looks up one setting, whose value must be valid.
pub fn get(invocation: &Invocation, name: &str) -> Result<Setting, Error> {
    let key = named(name)?;
    let reading = readable(invocation.world)?;
    let setting = Setting::new(reading.entry(key.name), reading.path.as_deref());
    match setting.problem.clone() {
        None => Ok(setting),
        Some(reason) => Err(Error::InvalidSetting { reason, place: setting.place() }),
    }
}

/// Changes a setting in the file.
pub fn set(
    invocation: &Invocation,
    request: &SetRequest,
    interaction: &mut dyn Interaction,
) -> Result<Changed, Error> {
    let world = invocation.world;
    let key = named(&request.key)?;
    let path = path(invocation)?;
    let value = key.parse(&request.values).map_err(|reason| {
        let edit = matches!(key.kind, Kind::Agents).then(|| path.clone());
        Error::InvalidValue { reason, edit }
    })?;
    let before = Reading::of(world);
    config::change(&path, |text| config::set(text, key.name, &value))?;
    audit(&[key.name], &before, world, interaction);
    let outranked = key.variable().filter(|name| world.environment.get(name).is_some());
    if let (Some(variable), Kind::Choice(_)) = (outranked, key.kind) {
        interaction.warn(&format!("{variable} is set and overrides the file"));
    }
    Ok(changed(key, &value, &before))
}

fn changed(key: Key, value: &Value, before: &Reading) -> Changed {
    let entry = before.entry(key.name);
    let was_default = entry.line.is_none() && entry.variable.is_none();
    let before = match &entry.value {
        Ok(old) if was_default || (entry.line.is_some() && old != value) => Some(old),
        _ => None,
    };
    Changed {
        key: key.name,
        value: value.to_json(),
        text: value.to_string(),
        before: before.map(Value::to_json),
        before_text: before.map(ToString::to_string),
        was_default,
    }
}

/// Removes a setting from the file.
pub fn unset(
    invocation: &Invocation,
    name: &str,
    interaction: &mut dyn Interaction,
) -> Result<Unset, Error> {
    let file = path(invocation)?;
    let before = Reading::of(invocation.world);
    let mut was_set = false;
    // Without a file there is nothing to change, so not even the lock file is created.
    if !matches!(config::read(&file), Ok(None)) {
        config::change(&file, |text| {
            let without = config::unset(text, name)?;
            was_set = without.is_some();
            Ok(without.unwrap_or_else(|| text.to_owned()))
        })?;
    }
    let key = if was_set { keys::named(name) } else { Some(named(name)?) };
    if was_set {
        audit(&[name], &before, invocation.world, interaction);
    }
    let default = key.map(|key| key.default());
    Ok(Unset {
        key: name.to_owned(),
        was_set,
        default: default.as_ref().map(Value::to_json),
        default_text: default.as_ref().map(ToString::to_string),
        file,
    })
}

/// Checks the file and the variables.
pub fn validate(invocation: &Invocation) -> Result<Validation, Error> {
    let reading = Reading::of(invocation.world);
    let file = path(invocation)?;
    let problems = reading
        .all_problems()
        .map(|problem| problem.place(&file))
        .chain(reading.wrong_variables.iter().cloned())
        .collect();
    let exists = reading.exists;
    let stops_cleanup = config::Settings::from(reading).checked_policy().is_err();
    Ok(Validation { file, exists, problems, stops_cleanup })
}

impl Validation {
    /// The error that the problems are.
    pub fn check(&self) -> Result<(), Error> {
        match self.problems.len() {
            0 => Ok(()),
            count => Err(Error::Problems(Problems { count, stops_cleanup: self.stops_cleanup })),
        }
    }
}

/// The path of the file, which need not exist.
pub fn path(invocation: &Invocation) -> Result<PathBuf, Error> {
    invocation.world.config_file().ok_or(Error::NoHome)
}

/// Imports settings of the upstream tool, from `file` or from where that tool keeps them.
pub fn import_upstream(
    invocation: &Invocation,
    file: Option<&Path>,
    interaction: &mut dyn Interaction,
) -> Result<Imported, Error> {
    let world = invocation.world;
    let places = file.map_or_else(|| upstream::places(world), |file| vec![file.to_owned()]);
    let invalid = |path: &Path, problem| Error::InvalidImport { path: path.to_owned(), problem };
    let mut found = None;
    for place in &places {
        if let Some(text) = config::read(place).map_err(|problem| invalid(place, problem))? {
            found = Some((place.clone(), text));
            break;
        }
    }
    let Some((from, text)) = found else { return Err(Error::NothingToImport(places)) };
    let Upstream { settings, left_out } =
        upstream::read(&text, world.user_home()).map_err(|problem| invalid(&from, problem))?;
    let to = path(invocation)?;
    let before = Reading::of(world);
    if !settings.is_empty() {
        config::change(&to, |text| {
            settings
                .iter()
                .try_fold(text.to_owned(), |text, it| config::set(&text, it.key.name, &it.value))
        })?;
        let names: Vec<&str> = settings.iter().map(|it| it.key.name).collect();
        audit(&names, &before, world, interaction);
    }
    let settings = settings.iter().map(|it| changed(it.key, &it.value, &before)).collect();
    Ok(Imported { from, to, settings, left_out })
}

/// Records the change in the audit log. The change is made already, so a failure is a warning.
fn audit(names: &[&str], before: &Reading, world: &World, interaction: &mut dyn Interaction) {
    let values = |reading: &Reading| -> serde_json::Value {
        let value = |name: &str| {
            let is_set = |entry: &&Entry| entry.key.name == name && entry.line.is_some();
            let value = reading.entries.iter().find(is_set)?.value.as_ref();
            value.ok().map(Value::to_json)
        };
        names.iter().map(|name| ((*name).to_owned(), json!(value(name)))).collect()
    };
    let event = Event {
        before: values(before),
        after: values(&Reading::of(world)),
        ..Event::new(world.now(), Who::new(&world.holder(), None), Action::Configure)
    };
    let home = world.home().unwrap_or_default();
    let audited = FsBackend::open(&home, Arc::clone(&world.clock)).and_then(|store| {
        let store: &dyn Backend = &store;
        store.audit(&world.holder(), &event)
    });
    if let Err(error) = audited {
        interaction.warn(&format!("cannot record the change in the audit log: {error}"));
    }
}

fn named(name: &str) -> Result<Key, Error> {
    keys::named(name).ok_or_else(|| {
        let meant = keys::meant(name).filter(|meant| keys::named(meant).is_some());
        Error::UnknownSetting { name: name.to_owned(), meant }
    })
}

/// The settings, unless the whole file is invalid.
fn readable(world: &World) -> Result<Reading, Error> {
    let reading = Reading::of(world);
    if let (Some(problem), Some(path)) = (&reading.broken, &reading.path) {
        return Err(Error::InvalidFile { path: path.clone(), problem: problem.clone() });
    }
    Ok(reading)
}
