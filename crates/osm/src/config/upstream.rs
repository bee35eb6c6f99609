//! Reads the settings in the configuration of the upstream tool that osm has, too.
//!
//! Its file has lines of `key value`, first those for all commands and then `[section]`s, without
//! quotes. osm ignores what is not in [`NAMES`], and never changes the file.

use std::path::{Path, PathBuf};

use serde::Serialize;

use super::Problem;
use super::keys::{self, Key, Kind, Value};
use crate::World;

/// What the file says.
#[derive(Debug, Default)]
pub(crate) struct Upstream {
    pub(crate) settings: Vec<Setting>,
    pub(crate) left_out: Vec<LeftOut>,
}

/// A setting in the file.
#[derive(Debug)]
pub(crate) struct Setting {
    /// The setting of osm.
    pub(crate) key: Key,
    pub(crate) value: Value,
}

/// A relative path. It starts at the working directory of each command of the upstream tool; no setting
/// of osm means that.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LeftOut {
    /// The line of the file.
    pub line: usize,
    /// The setting of osm.
    pub key: &'static str,
    /// The path.
    pub path: String,
}

/// The section, the name in it, and the setting of osm. The settings of all commands have no section.
const NAMES: [(&str, &str, &str); 8] = [
    ("", "goal.paths", "goal.paths"),
    ("", "script.module-paths", "script.module_paths"),
    ("", "log.file", "log.file"),
    ("sessions", "maxAgeDays", "session.max_age_days"),
    ("sessions", "maxCount", "session.max_count"),
    ("sessions", "maxSizeMB", "session.max_size_mb"),
    ("sessions", "autoCleanupEnabled", "session.auto_cleanup_enabled"),
    ("sessions", "cleanupIntervalHours", "session.cleanup_interval_hours"),
];

/// What separates the paths of a list.
const SEPARATORS: [char; 2] = [',', if cfg!(windows) { ';' } else { ':' }];

/// Where the file can be, in the order in which osm looks.
pub(crate) fn places(world: &World) -> Vec<PathBuf> {
    if let Some(path) = world.environment.get("OSM_CONFIG") {
        return vec![path.into()];
    }
    let Some(home) = world.user_home() else { return Vec::new() };
    [".osm", ".one-shot-man"].iter().map(|folder| home.join(folder).join("config")).collect()
}

/// The settings in a text; `home` is what `~` means. If one is set twice, the last one applies, as in the
/// upstream tool.
pub(crate) fn read(text: &str, home: Option<&Path>) -> Result<Upstream, Problem> {
    let mut found = Upstream::default();
    let mut section = "";
    for (number, line) in text.lines().enumerate() {
        let (number, line) = (number + 1, line.trim());
        if let Some(name) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            section = name.trim();
            continue;
        }
        let Some((theirs, value)) = line.split_once(char::is_whitespace) else { continue };
        let known = NAMES.iter().find(|it| it.0 == section && it.1 == theirs);
        let Some(&(_, theirs, ours)) = known else { continue };
        let key = keys::named(ours).expect("the table names existing settings");
        found.settings.retain(|earlier| earlier.key.name != key.name);
        found.left_out.retain(|earlier| earlier.key != key.name);
        let problem = |reason| Problem::on_line(number, format!("{theirs}: {reason}"));
        let value = value.trim();
        let words = match key.kind {
            Kind::Path | Kind::Server => vec![value],
            Kind::Paths | Kind::RootedPaths => value.split(SEPARATORS).map(str::trim).collect(),
            _ => {
                let value = key.parse_one(as_we_write(theirs, value)).map_err(problem)?;
                found.settings.push(Setting { key, value });
                continue;
            }
        };
        let mut paths = Vec::new();
        for word in words.into_iter().filter(|word| !word.is_empty()) {
            if let Some(path) = rooted(word, home).map_err(|reason| problem(reason.into()))? {
                paths.push(path);
            } else {
                let path = word.to_owned();
                found.left_out.push(LeftOut { line: number, key: key.name, path });
            }
        }
        if !paths.is_empty() {
            let value = key.parse(&paths).map_err(problem)?;
            found.settings.push(Setting { key, value });
        }
    }
    Ok(found)
}

/// A path that means the same in every directory; `None` if it is relative.
fn rooted(path: &str, home: Option<&Path>) -> Result<Option<String>, &'static str> {
    let Some(rest) = path.strip_prefix('~').filter(|rest| {
        rest.is_empty() || rest.starts_with('/') || (cfg!(windows) && rest.starts_with('\\'))
    }) else {
        return Ok(Path::new(path).is_absolute().then(|| path.to_owned()));
    };
    let home = home.and_then(Path::to_str).ok_or("the home folder that ~ means is not known")?;
    Ok(Some(format!("{home}{rest}")))
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

    fn found(text: &str) -> Vec<(&'static str, String)> {
        let found = read(text, Some(Path::new("/home/ada"))).unwrap();
        found.settings.iter().map(|it| (it.key.name, it.value.to_string())).collect()
    }

    #[test]
    fn only_known_settings_are_read() {
        let text = "# mine\nmaxCount 1\nverbose true\n\n[sessions]\n# keep\nmaxAgeDays 30\n  maxCount 0\n\
                    maxSizeMB\t7\nautoCleanupEnabled OFF\nmaxAgeDays  31\ncolour red\nlog.file /x\n\n\
                    [help]\nmaxCount 3\n";
        assert_eq!(
            found(text),
            [
                ("session.max_count", "0".into()),
                ("session.max_size_mb", "7".into()),
                ("session.auto_cleanup_enabled", "false".into()),
                ("session.max_age_days", "31".into()),
            ]
        );
        assert_eq!(found(""), []);
        assert_eq!(found("[sessions]\nmaxCount"), []);
        assert_eq!(found("goal.paths  , \nlog.file \n"), []);
    }

    #[cfg(unix)]
    #[test]
    fn paths_that_mean_the_same_everywhere_are_taken() {
        let text = "goal.paths /team goals:~/goals,/team goals\n\
                    script.module-paths lib,~/js\nlog.file ./osm.log\n";
        assert_eq!(
            found(text),
            [
                ("goal.paths", "/team goals, /home/ada/goals".into()),
                ("script.module_paths", "/home/ada/js".into()),
            ]
        );
        let left_out = read(text, Some(Path::new("/home/ada"))).unwrap().left_out;
        let relative = |line, key, path: &str| LeftOut { line, key, path: path.into() };
        assert_eq!(
            left_out,
            [relative(2, "script.module_paths", "lib"), relative(3, "log.file", "./osm.log")]
        );
        let again = format!("{text}log.file ~/osm.log\nscript.module-paths /js\n");
        assert_eq!(
            found(&again)[1..],
            [("log.file", "/home/ada/osm.log".into()), ("script.module_paths", "/js".into())]
        );
        assert!(read(&again, Some(Path::new("/home/ada"))).unwrap().left_out.is_empty());
        let problem = read("log.file ~/x\n", None).unwrap_err();
        assert_eq!(
            problem.to_string(),
            "line 1: log.file: the home folder that ~ means is not known"
        );
    }

    #[test]
    fn invalid_values_are_refused() {
        let problem = read("[sessions]\nmaxCount many\n", None).unwrap_err();
        assert_eq!(
            problem.to_string(),
            "line 2: maxCount: `session.max_count` must be a whole number from 0 to 4294967295, not \"many\""
        );
        assert!(read("[sessions]\nautoCleanupEnabled maybe\n", None).is_err());
    }
}
