//! Which files a script may load by `require`.
//!
//! Trust in a goal covers every byte that it loads: each module is checked when it is loaded, with the
//! bytes that run. `osm trust` records the modules that a file names, and those that they name.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::{Trust, Verdict};
use crate::ownership;

/// Larger files are refused: they are not code that a person has read.
pub(crate) const MAX_BYTES: u64 = 1 << 20;
/// `osm trust` records at most this many modules of a file.
const MAX_FILES: usize = 1000;

/// Which modules may run.
#[derive(Debug, Default)]
pub(crate) enum ModuleRules {
    /// The user named the script on the command line, which is consent to all that it loads.
    Named,
    /// Every module must be trusted.
    #[default]
    Trusted,
    /// Every module must be trusted, except those in folders of the user.
    Goal(GoalModules),
}

/// The rules for the modules of a goal.
#[derive(Debug, Default)]
pub(crate) struct GoalModules {
    pub(crate) trust: Trust,
    /// Real paths of folders of the user, in which code needs no trust.
    pub(crate) own: Vec<PathBuf>,
}

impl ModuleRules {
    /// Reads a module; `None` if it is not a file. The error says why it must not run.
    pub(crate) fn read(&self, path: &Path) -> Result<Option<Vec<u8>>, String> {
        let cannot = |reason: String| format!("cannot load {}: {reason}", path.display());
        if !path.is_file() {
            return Ok(None);
        }
        if let Self::Named = self {
            return std::fs::read(path).map(Some).map_err(|error| cannot(error.to_string()));
        }
        let Some(bytes) = ownership::read(path, MAX_BYTES).map_err(cannot)? else {
            return Ok(None);
        };
        match self.verdict(path, &bytes) {
            Verdict::Trusted => Ok(Some(bytes)),
            verdict => Err(format!(
                "{}; read it, then run: osm trust {}",
                cannot(verdict.reason().into()),
                crate::ops::goal::shell_word(path)
            )),
        }
    }

    fn verdict(&self, path: &Path, bytes: &[u8]) -> Verdict {
        match self {
            Self::Named => Verdict::Trusted,
            Self::Trusted => Verdict::Unknown,
            Self::Goal(goal) => {
                let real = std::fs::canonicalize(path).unwrap_or_default();
                if goal.own.iter().any(|own| real.starts_with(own)) {
                    return Verdict::Trusted;
                }
                goal.trust.verdict(path, bytes)
            }
        }
    }
}

/// A file at its real path with its bytes, and all modules that it names, and those that they name.
/// Modules that cannot be read are left out; loading them fails later.
pub(crate) fn with_modules(real: PathBuf, bytes: Vec<u8>) -> Vec<(PathBuf, Vec<u8>)> {
    let mut seen = HashSet::from([real.clone()]);
    let mut files = vec![(real, bytes)];
    let mut next = 0;
    while let Some((path, bytes)) = files.get(next) {
        let folder = path.parent().unwrap_or(path).to_owned();
        for name in names(path, bytes) {
            let found = osm_script::module_files(&folder, &name).into_iter();
            let mut found = found.filter(|file| file.is_file());
            let Some(real) = found.next().and_then(|file| std::fs::canonicalize(file).ok()) else {
                continue;
            };
            if files.len() < MAX_FILES
                && seen.insert(real.clone())
                && let Ok(Some(bytes)) = ownership::read(&real, MAX_BYTES)
            {
                files.push((real, bytes));
            }
        }
        next += 1;
    }
    files
}

/// The names that a file requires. The code of a JSON goal is in its texts.
fn names(path: &Path, bytes: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(bytes);
    let is_json = path.extension().is_some_and(|it| it.eq_ignore_ascii_case("json"));
    if !is_json {
        return osm_script::required_names(&text);
    }
    let mut names = Vec::new();
    let mut left: Vec<Value> = serde_json::from_str(&text).into_iter().collect();
    while let Some(value) = left.pop() {
        match value {
            Value::String(text) => names.extend(osm_script::required_names(&text)),
            Value::Array(values) => left.extend(values),
            Value::Object(fields) => left.extend(fields.into_iter().map(|(_, value)| value)),
            _ => {}
        }
    }
    names
}
