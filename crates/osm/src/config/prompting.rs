//! The settings of modes and scripts: the tables `prompt`, `goal`, `script` and `log`.

use std::path::PathBuf;
use std::time::Duration;

use osm_script::{Level, Limits};

use super::Reading;
use super::keys::Value;
use crate::log::LogSettings;

/// The settings of modes and scripts. An invalid setting has its default value.
#[derive(Clone, Debug)]
pub(crate) struct Prompting {
    /// Whether osm counts tokens.
    pub(crate) tokens: bool,
    /// The number of tokens above which osm warns.
    pub(crate) budget: Option<u64>,
    /// A prompt without something that was asked for is an error (`--fail-fast`).
    pub(crate) complete: bool,
    /// The size in bytes above which osm skips files.
    pub(crate) max_file: Option<u64>,
    /// Search these folders for the modules of scripts.
    pub(crate) module_paths: Vec<PathBuf>,
    /// Folders with goals.
    pub(crate) goal_paths: Vec<String>,
    pub(crate) limits: Limits,
    pub(crate) log: LogSettings,
}

impl From<&Reading> for Prompting {
    fn from(reading: &Reading) -> Self {
        let value = |name: &str| {
            let entry = reading.entry(name);
            entry.value.clone().unwrap_or_else(|_| entry.key.default())
        };
        let number = |name: &str| match value(name) {
            Value::Number(number) => number,
            _ => 0,
        };
        let limit = |name: &str| Some(u64::from(number(name))).filter(|number| *number > 0);
        let file = match value("log.file") {
            Value::Path(path) if !path.is_empty() => Some(PathBuf::from(path)),
            _ => None,
        };
        let module_paths = match value("script.module_paths") {
            Value::Names(paths) => paths.into_iter().map(PathBuf::from).collect(),
            _ => Vec::new(),
        };
        let goal_paths = match value("goal.paths") {
            Value::Names(paths) => paths,
            _ => Vec::new(),
        };
        let level = match value("log.level") {
            Value::Word(word) => Level::named(word),
            _ => None,
        };
        let memory = limit("script.memory_limit_mb").and_then(|it| usize::try_from(it).ok());
        Self {
            tokens: value("prompt.tokens") != Value::Switch(false),
            budget: limit("prompt.budget"),
            complete: false,
            max_file: limit("prompt.max_file_kb").map(|kilobytes| kilobytes * 1000),
            module_paths,
            goal_paths,
            limits: Limits {
                memory: memory.map_or(usize::MAX, |it| it.saturating_mul(1 << 20)),
                time: limit("script.time_limit_seconds").map(Duration::from_secs),
                ..Limits::default()
            },
            log: LogSettings {
                level,
                file,
                max_size_mb: number("log.max_size_mb"),
                max_files: number("log.max_files"),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use osm_identity::Environment;

    fn prompting(text: &str) -> Prompting {
        let environment = Environment::new(1, std::iter::empty());
        Prompting::from(&Reading::new(Ok(text.to_owned()), &environment))
    }

    #[test]
    fn values_and_defaults() {
        let usual = prompting("");
        assert!(usual.tokens && usual.budget.is_none() && usual.log.file.is_none());
        assert_eq!(usual.limits.time, Some(Duration::from_secs(30)));
        assert_eq!(usual.max_file, Some(1_000_000));
        let other = prompting(
            "prompt = { tokens = false, budget = 9, max_file_kb = 0 }\n\
             script = { module_paths = ['/a', 'b'], time_limit_seconds = 0, memory_limit_mb = 8 }\n\
             log = { file = 'x.log', level = 'debug' }\n",
        );
        assert!(!other.tokens && other.budget == Some(9) && other.max_file.is_none());
        assert_eq!((other.limits.time, other.limits.memory), (None, 8 << 20));
        assert_eq!(other.module_paths, [PathBuf::from("/a"), "b".into()]);
        assert_eq!((other.log.level, other.log.file), (Some(Level::Debug), Some("x.log".into())));
        assert_eq!(prompting("[script]\nmemory_limit_mb = 0").limits.memory, usize::MAX);
        assert_eq!(prompting("[log]\nlevel = 'off'").log.level, None);
        assert_eq!(prompting("[prompt]\nbudget = 'x'").budget, None);
    }
}
