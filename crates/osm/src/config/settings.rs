//! The settings as commands use them.

use std::time::Duration;

use osm_claims::DEFAULT_PRESENCE;
use osm_identity::{Catalogue, Environment};
use osm_store::retention::Policy;

use super::keys::{
    EDITS, HISTORY_LENGTH, KEEP_ARCHIVES, Kind, LEASE, NEXT_COMMAND, NEXT_FIELD, NEXT_FROM, STORE,
    STORE_URL, Value,
};
use super::{Prompting, Reading};
use crate::World;
use crate::error::Failure;

/// What a problem with the limits means.
pub(crate) const NO_CLEANUP: &str = "osm removes no sessions until this is fixed";

/// The limits of retention are uncertain: this is the first problem in the file that concerns them.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cannot clean up: the limits in the configuration are invalid: {0}")]
pub struct InvalidLimits(String);

impl Failure for InvalidLimits {
    fn reason(&self) -> &'static str {
        "invalid_limits"
    }

    fn hints(&self) -> Vec<String> {
        vec!["see `osm config validate`".into()]
    }
}

/// The settings of this run.
pub(crate) struct Settings {
    /// Programs that identity detection knows.
    pub(crate) catalogue: Catalogue,
    /// Whether a reset archives the session.
    pub(crate) keep_archives: bool,
    /// How many commands a session remembers; 0 for all.
    pub(crate) history_length: usize,
    /// The settings of modes and scripts.
    pub(crate) prompting: Prompting,
    /// The term of the leases by which other machines know claims.
    pub(crate) lease: Duration,
    /// What a hook does before an edit of a file that another session holds.
    pub(crate) edits: Edits,
    /// The work list of `osm claim next`.
    pub(crate) work_list: WorkListSettings,
    policy: Policy,
    /// Why no limit applies.
    invalid_limits: Option<InvalidLimits>,
    /// The store, or why its name is invalid.
    store: Result<&'static str, InvalidStore>,
    /// The address of the server in the file.
    pub(crate) store_url: Option<String>,
}

/// The work list that `osm claim next` reads if nothing else is named.
#[derive(Clone, Debug, Default)]
pub(crate) struct WorkListSettings {
    pub(crate) from: Option<String>,
    pub(crate) command: Option<String>,
    pub(crate) field: Option<String>,
}

/// What a hook does before an edit of a file that another session holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Edits {
    /// Nothing.
    Off,
    /// Lets it through, and tells both sessions.
    Warn,
    /// Refuses it.
    #[default]
    Refuse,
}

impl Edits {
    /// What the word of the setting means.
    fn named(word: &str) -> Self {
        match word {
            "warn" => Self::Warn,
            "off" => Self::Off,
            _ => Self::Refuse,
        }
    }
}

/// Why no store can be chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum InvalidStore {
    /// The variable names no store.
    Variable(&'static str),
    /// The file does not; why, and where.
    File(String),
}

impl Settings {
    /// Reads the file and the variables. Problems with them are returned, to be shown.
    pub(crate) fn load(world: &World) -> (Self, Vec<String>) {
        let reading = Reading::of(world);
        let problems = problems(&reading);
        (Self::from(reading), problems)
    }

    /// The limits of retention. If they are uncertain, osm keeps everything.
    pub(crate) fn policy(&self) -> &Policy {
        &self.policy
    }

    /// The same for an explicit cleanup, which fails if the limits are uncertain.
    pub(crate) fn checked_policy(&self) -> Result<&Policy, InvalidLimits> {
        self.invalid_limits.clone().map_or(Ok(&self.policy), Err)
    }

    /// The name of the store: one of those that `store.backend` can be.
    pub(crate) fn store(&self) -> Result<&'static str, InvalidStore> {
        self.store.clone()
    }
}

/// What the configuration of a repository says about edits. It can be a stranger's, so it counts only where it
/// is stricter than the user's.
pub(crate) fn edits_of_repository(text: &str, environment: &Environment) -> Edits {
    let reading = Reading::new(Ok(text.to_owned()), environment);
    let is_set = reading.entry(EDITS).line.is_some();
    if is_set { edits(&reading) } else { Edits::Off }
}

impl From<Reading> for Settings {
    fn from(reading: Reading) -> Self {
        let invalid_limits = invalid_limits(&reading);
        let policy =
            if invalid_limits.is_some() { Policy::keep_everything() } else { policy(&reading) };
        let keep_archives = reading.entry(KEEP_ARCHIVES).value != Ok(Value::Switch(false));
        let history_length = match reading.entry(HISTORY_LENGTH).value {
            Ok(Value::Number(length)) => length as usize,
            _ => osm_store::MOST_HISTORY,
        };
        Self {
            keep_archives,
            history_length,
            lease: lease(&reading),
            edits: edits(&reading),
            prompting: Prompting::from(&reading),
            policy,
            invalid_limits,
            store: store(&reading),
            store_url: text(&reading, STORE_URL),
            work_list: WorkListSettings {
                from: text(&reading, NEXT_FROM),
                command: text(&reading, NEXT_COMMAND),
                field: text(&reading, NEXT_FIELD),
            },
            catalogue: reading.catalogue,
        }
    }
}

/// The text of a setting, unless it is empty.
fn text(reading: &Reading, name: &str) -> Option<String> {
    match &reading.entry(name).value {
        Ok(Value::Path(text)) if !text.is_empty() => Some(text.clone()),
        _ => None,
    }
}

fn edits(reading: &Reading) -> Edits {
    match reading.entry(EDITS).value {
        Ok(Value::Word(word)) => Edits::named(word),
        _ => Edits::default(),
    }
}

/// A term has to leave time for renewing it.
fn lease(reading: &Reading) -> Duration {
    const SHORTEST: Duration = Duration::from_secs(2);
    match reading.entry(LEASE).value {
        Ok(Value::Number(seconds)) => Duration::from_secs(seconds.into()).max(SHORTEST),
        _ => DEFAULT_PRESENCE,
    }
}

/// The policy of a reading without problems.
fn policy(reading: &Reading) -> Policy {
    let mut policy = Policy::default();
    for entry in &reading.entries {
        if let (Kind::Retention(key), Ok(value)) = (entry.key.kind, &entry.value) {
            key.set(&mut policy, &value.to_string()).expect("what was read can be set");
        }
    }
    policy
}

/// The first problem that makes the limits uncertain.
fn invalid_limits(reading: &Reading) -> Option<InvalidLimits> {
    let problem = reading.all_problems().find(|problem| problem.is_about_retention())?;
    Some(InvalidLimits(problem.place(reading.path.as_deref()?)))
}

fn store(reading: &Reading) -> Result<&'static str, InvalidStore> {
    let entry = reading.entry(STORE);
    Err(match (&entry.value, entry.variable, &reading.path) {
        (Ok(Value::Word(word)), ..) => return Ok(word),
        (Ok(_), ..) => unreachable!("a choice is a word"),
        (Err(_), Some(variable), _) => InvalidStore::Variable(variable),
        (Err(reason), None, Some(path)) => {
            InvalidStore::File(format!("{}: {reason}", path.display()))
        }
        (Err(reason), None, None) => InvalidStore::File(reason.clone()),
    })
}

/// The problems to warn about. An unknown name may be a setting of a newer osm.
fn problems(reading: &Reading) -> Vec<String> {
    let Some(path) = &reading.path else { return Vec::new() };
    let broken = reading.broken.iter().map(|broken| broken.ignored(path));
    let others = reading.problems.iter().filter(|problem| !problem.is_unknown()).map(|problem| {
        let so = if problem.is_about_retention() { "; osm removes no sessions" } else { "" };
        format!("{}: {problem}{so}", path.display())
    });
    broken.chain(others).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(text: &str, variables: &[(&str, &str)]) -> Settings {
        let variables = variables.iter().map(|(name, value)| (name.into(), value.into()));
        let environment = Environment::new(1, variables);
        let reading = Reading::new(Ok(text.to_owned()), &environment);
        Settings::from(Reading { path: Some("config.toml".into()), ..reading })
    }

    #[test]
    fn values_and_defaults() {
        let quiet = settings("", &[]);
        assert_eq!(quiet.checked_policy().unwrap(), &Policy::default());
        assert!(quiet.keep_archives);
        assert_eq!(quiet.store().unwrap(), "fs");

        let loud = settings(
            "[session]\nmax_count = 1_000\nmax_age_days = 0x10\nauto_cleanup_enabled = false\n\
             reset.keep_archives = false\n[store]\nbackend = 'memory'\n[newer]\nthing = 1\n",
            &[],
        );
        let expected = Policy {
            max_count: 1000,
            max_age_days: 16,
            auto_cleanup_enabled: false,
            ..Policy::default()
        };
        assert_eq!(loud.checked_policy().unwrap(), &expected);
        assert_eq!(loud.policy(), &expected);
        assert!(!loud.keep_archives);
        assert_eq!(loud.store().unwrap(), "memory");
    }

    #[test]
    fn an_invalid_file_removes_nothing() {
        for text in [
            "[session]\nmax_count = 1O00",
            "[session]\nmax_count = -1",
            "[session]\nmax_count = 4294967296",
            "[session]\nmax_count = '1000'",
            "[session]\nmax_count = 1000.0",
            "[session]\nauto_cleanup_enabled = 0",
            "[session]\nmax_cuont = 1000",
            "[session.max_count]\n",
            "[sessions]\nmax_count = 1000",
            "[sesion]\nmax_count = 1000",
            "max_count = 1000",
            "session = 7",
            "[[session]]\nmax_count = 1000",
            "[session]\nmax_count = 1000\n[session]\n",
            "[session]\nmax_count = 1000\n[identity",
            "\0",
        ] {
            let settings = settings(text, &[]);
            assert_eq!(settings.policy(), &Policy::keep_everything(), "{text}");
            assert!(settings.keep_archives, "{text}");
            let message = settings.checked_policy().unwrap_err().to_string();
            assert!(message.contains("invalid: config.toml:"), "{message}");
        }
    }

    #[test]
    fn other_problems_leave_the_limits_alone() {
        for text in ["[identity]\nshells = 3", "[store]\nbackend = 3", "verbose = true", "[claim]"]
        {
            let text = format!("session.max_count = 7\n{text}\n");
            assert_eq!(settings(&text, &[]).policy().max_count, 7, "{text}");
        }
    }

    #[test]
    fn a_repository_only_makes_edits_stricter() {
        let environment = Environment::new(1, []);
        let of = |text: &str| edits_of_repository(text, &environment);
        assert_eq!(of("agent.edits = 'off'"), Edits::Off);
        assert_eq!(of("[agent]\nedits = 'warn'"), Edits::Warn);
        assert_eq!(of("agent.edits = 'refuse'"), Edits::Refuse);
        assert_eq!(of("[session]\nmax_count = 1"), Edits::Off, "it says nothing");
        assert_eq!(of("agent.edits = "), Edits::Off);
        assert_eq!(Edits::Off.max(Edits::Warn).max(Edits::Refuse), Edits::Refuse);
    }

    #[test]
    fn a_variable_names_the_store() {
        let store = |text, value| settings(text, &[("OSM_STORE", value)]).store();
        assert_eq!(store("store.backend = 'fs'", "memory").unwrap(), "memory");
        assert_eq!(store("store.backend = 'nonsense'", "memory").unwrap(), "memory");
        assert_eq!(store("store.backend = 'memory'", " ").unwrap(), "memory");
        assert_eq!(store("", "disk"), Err(InvalidStore::Variable("OSM_STORE")));
        assert!(settings("store.backend = 'nonsense'", &[]).store().is_err(), "not somewhere else");
    }
}
