//! Reads the limits in the configuration of the upstream tool.
//!
//! Its file has lines of `key value` under `[section]`s, without quotes. Only `[sessions]` is about
//! retention; osm ignores the other sections, and never changes the file.

use std::path::PathBuf;

use super::Problem;
use super::keys::{self, Key, Value};
use crate::World;

/// A limit in the file.
#[derive(Debug)]
pub(crate) struct Limit {
    /// Its name in the upstream tool.
    theirs: &'static str,
    /// The setting of osm.
    pub(crate) key: Key,
    pub(crate) value: Value,
}

/// The names of the upstream tool, and ours.
const NAMES: [(&str, &str); 5] = [
    ("maxAgeDays", "session.max_age_days"),
    ("maxCount", "session.max_count"),
    ("maxSizeMB", "session.max_size_mb"),
    ("autoCleanupEnabled", "session.auto_cleanup_enabled"),
    ("cleanupIntervalHours", "session.cleanup_interval_hours"),
];

/// Where the file can be, in the order in which osm looks.
pub(crate) fn places(world: &World) -> Vec<PathBuf> {
    if let Some(path) = world.environment.get("OSM_CONFIG") {
        return vec![path.into()];
    }
    let home = if cfg!(windows) { "USERPROFILE" } else { "HOME" };
    let Some(home) = world.environment.get(home).map(PathBuf::from) else { return Vec::new() };
    [".osm", ".one-shot-man"].iter().map(|folder| home.join(folder).join("config")).collect()
}

/// The limits in a text. If one is set twice, the last one applies, as in the upstream tool.
pub(crate) fn read(text: &str) -> Result<Vec<Limit>, Problem> {
    let mut taken: Vec<Limit> = Vec::new();
    let mut in_sessions = false;
    for (number, line) in text.lines().enumerate() {
        let (number, line) = (number + 1, line.trim());
        if let Some(section) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            in_sessions = section.trim() == "sessions";
            continue;
        }
        let Some((theirs, value)) = line.split_once(char::is_whitespace) else { continue };
        let known = NAMES.iter().find(|(name, _)| in_sessions && *name == theirs);
        let Some(&(theirs, ours)) = known else { continue };
        let key = keys::named(ours).expect("the table names existing settings");
        let value = key
            .parse_one(as_we_write(theirs, value.trim()))
            .map_err(|reason| Problem::on_line(number, format!("{theirs}: {reason}")))?;
        taken.retain(|earlier| earlier.theirs != theirs);
        taken.push(Limit { theirs, key, value });
    }
    Ok(taken)
}

/// The upstream tool accepts more words for true and false.
fn as_we_write<'a>(key: &str, value: &'a str) -> &'a str {
    let is = |words: [&str; 4]| words.iter().any(|word| value.eq_ignore_ascii_case(word));
    match key {
        "autoCleanupEnabled" if is(["true", "1", "yes", "on"]) => "true",
        "autoCleanupEnabled" if is(["false", "0", "no", "off"]) => "false",
        _ => value,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<(&'static str, &'static str, String)> {
        let taken = read(text).unwrap();
        taken.iter().map(|it| (it.theirs, it.key.name, it.value.to_string())).collect()
    }

    #[test]
    fn only_limits_are_read() {
        let text = "# mine\nmaxCount 1\nverbose true\n\n[sessions]\n# keep\nmaxAgeDays 30\n  maxCount 0\n\
                    maxSizeMB\t7\nautoCleanupEnabled OFF\nmaxAgeDays  31\ncolour red\n\n[help]\nmaxCount 3\n";
        assert_eq!(
            found(text),
            [
                ("maxCount", "session.max_count", "0".into()),
                ("maxSizeMB", "session.max_size_mb", "7".into()),
                ("autoCleanupEnabled", "session.auto_cleanup_enabled", "false".into()),
                ("maxAgeDays", "session.max_age_days", "31".into()),
            ]
        );
        assert_eq!(found(""), []);
        assert_eq!(found("[sessions]\nmaxCount"), []);
    }

    #[test]
    fn invalid_values_are_refused() {
        let problem = read("[sessions]\nmaxCount many\n").unwrap_err();
        assert_eq!(
            problem.to_string(),
            "line 2: maxCount: `session.max_count` must be a whole number from 0 to 4294967295, not \"many\""
        );
        assert!(read("[sessions]\nautoCleanupEnabled maybe\n").is_err());
    }
}
