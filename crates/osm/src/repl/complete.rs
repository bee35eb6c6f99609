//! What a word could become: commands, files, git's names, programs, options.

use std::ffi::OsString;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::Duration;

use osm_context::Setting;

use super::line::{Line, Word};

/// More than anybody reads.
const MOST: usize = 200;

/// Whoever pressed Tab waits no longer for git.
const GIT_TIME: Duration = Duration::from_secs(2);

/// What a word could become.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Suggestion {
    /// What is to stand there, quoted if need be.
    pub(crate) value: String,
    pub(crate) description: Option<String>,
    /// What it replaces.
    pub(crate) range: Range<usize>,
    /// Whether the word is whole then; a folder is not.
    pub(crate) is_whole: bool,
}

/// A command, as completion needs it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Known {
    pub(crate) name: String,
    pub(crate) description: String,
    /// The kinds of its arguments, or names of completers of scripts.
    pub(crate) completers: Vec<String>,
    /// Its options, without dashes, and what they do.
    pub(crate) flags: Vec<(String, String)>,
}

/// Where names are looked up.
#[derive(Clone, Debug, Default)]
pub(crate) struct Surroundings {
    pub(crate) folder: PathBuf,
    /// What `~` stands for.
    pub(crate) user_home: Option<PathBuf>,
    /// `PATH`.
    pub(crate) programs: Option<OsString>,
    pub(crate) modes: Vec<String>,
}

/// What a completer of a script says to a line up to the cursor.
pub(crate) type Scripted<'a> = &'a dyn Fn(&str) -> Vec<(String, Option<String>)>;

/// A name and what it is.
type Candidate = (String, Option<String>, bool);

/// What the word at a place could become.
pub(crate) fn suggest(
    line: &str,
    place: usize,
    commands: &[Known],
    around: &Surroundings,
    scripted: Scripted<'_>,
) -> Vec<Suggestion> {
    let before = line.get(..place).unwrap_or(line);
    let mut words = Line::parse(before).words;
    let current = match words.pop_if(|word| word.range.end == before.len()) {
        Some(word) => word,
        None => Word { text: String::new(), range: place..place, quoted: false },
    };
    let candidates = match words.first() {
        None => by_name(commands, &current.text),
        Some(first) => match commands.iter().find(|it| it.name == first.text) {
            Some(command) => arguments(command, &current.text, commands, around, scripted),
            None => Vec::new(),
        },
    };
    let mut seen = std::collections::HashSet::new();
    candidates
        .into_iter()
        .filter(|(value, ..)| seen.insert(value.clone()))
        .take(MOST)
        .map(|(value, description, is_whole)| Suggestion {
            value: osm_script::quoted(&value),
            description,
            range: current.range.clone(),
            is_whole,
        })
        .collect()
}

fn by_name(commands: &[Known], prefix: &str) -> Vec<Candidate> {
    let named = commands.iter().filter(|it| it.name.starts_with(prefix));
    named.map(|it| (it.name.clone(), Some(it.description.clone()), true)).collect()
}

fn arguments(
    command: &Known,
    prefix: &str,
    commands: &[Known],
    around: &Surroundings,
    scripted: Scripted<'_>,
) -> Vec<Candidate> {
    if prefix.starts_with('-') {
        let flags = command.flags.iter().map(|(name, what)| (format!("--{name}"), what));
        return flags
            .filter(|(name, _)| name.starts_with(prefix))
            .map(|(name, what)| (name, Some(what.clone()), true))
            .collect();
    }
    let one = |completer: &String| -> Vec<Candidate> {
        match completer.as_str() {
            "command" => by_name(commands, prefix),
            "mode" => starting(prefix, around.modes.iter().map(|it| (it.clone(), None))),
            "file" => files(prefix, around),
            "gitref" => starting(prefix, git_names(&around.folder)),
            "executable" if prefix.contains('/') => files(prefix, around),
            "executable" => programs(prefix, around),
            "flag" => Vec::new(),
            own => starting(prefix, scripted(own)),
        }
    };
    command.completers.iter().flat_map(one).collect()
}

fn starting(
    prefix: &str,
    names: impl IntoIterator<Item = (String, Option<String>)>,
) -> Vec<Candidate> {
    let fits = names.into_iter().filter(|(name, _)| name.starts_with(prefix));
    fits.map(|(name, what)| (name, what, true)).collect()
}

/// Files and folders whose path begins so. Hidden ones only if they are asked for.
fn files(prefix: &str, around: &Surroundings) -> Vec<Candidate> {
    let (typed_folder, start) = match prefix.rsplit_once('/') {
        Some((folder, start)) => (format!("{folder}/"), start),
        None if prefix == "~" => return vec![("~/".into(), None, false)],
        None => (String::new(), prefix),
    };
    let folder = match (typed_folder.strip_prefix("~/"), &around.user_home) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => around.folder.join(&typed_folder),
    };
    let Ok(entries) = std::fs::read_dir(&folder) else { return Vec::new() };
    let mut found: Vec<Candidate> = entries
        .filter_map(Result::ok)
        .filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            let is_wanted =
                name.starts_with(start) && (!name.starts_with('.') || !start.is_empty());
            // A link to a folder is one, here.
            let is_folder = || entry.path().is_dir();
            is_wanted.then(|| {
                let is_folder = is_folder();
                let end = if is_folder { "/" } else { "" };
                (format!("{typed_folder}{name}{end}"), None, !is_folder)
            })
        })
        .collect();
    found.sort();
    found
}

/// Branches, tags and the last commits.
fn git_names(folder: &Path) -> Vec<(String, Option<String>)> {
    let mut setting = Setting::new(folder);
    setting.limits.time = GIT_TIME;
    let refs = osm_context::git::refs(folder, &setting).unwrap_or_default();
    refs.into_iter().map(|it| (it.name, Some(it.about))).collect()
}

/// Programs that are found by their name.
fn programs(prefix: &str, around: &Surroundings) -> Vec<Candidate> {
    let Some(path) = &around.programs else { return Vec::new() };
    let mut names: Vec<String> = std::env::split_paths(path)
        .filter_map(|folder| std::fs::read_dir(folder).ok())
        .flatten()
        .filter_map(Result::ok)
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| name.starts_with(prefix))
        .collect();
    names.sort();
    names.dedup();
    names.into_iter().map(|name| (name, None, true)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn commands() -> Vec<Known> {
        let known = |name: &str, completers: &[&str]| Known {
            name: name.into(),
            completers: completers.iter().map(ToString::to_string).collect(),
            flags: vec![("from-diff".into(), "changed files".into())],
            ..Known::default()
        };
        vec![
            known("add", &["file", "flag"]),
            known("mode", &["mode"]),
            known("exec", &["executable"]),
            known("own", &["colours"]),
        ]
    }

    fn around() -> (tempfile::TempDir, Surroundings) {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("src")).unwrap();
        for name in ["src/a.rs", "src/b c.rs", "sum.txt", ".hidden"] {
            std::fs::write(folder.path().join(name), "").unwrap();
        }
        let around = Surroundings {
            folder: folder.path().to_owned(),
            user_home: Some(folder.path().join("src")),
            programs: Some(folder.path().join("src").into()),
            modes: vec!["code-review".into(), "flow".into()],
        };
        (folder, around)
    }

    fn values(line: &str) -> Vec<String> {
        let (_folder, around) = around();
        let colours = |name: &str| {
            let red = ("red".to_owned(), None);
            if name == "colours" { vec![red] } else { Vec::new() }
        };
        let all = suggest(line, line.len(), &commands(), &around, &colours);
        all.into_iter().map(|it| it.value).collect()
    }

    #[test]
    fn words() {
        for (line, expected) in [
            ("", &["add", "mode", "exec", "own"][..]),
            ("a", &["add"]),
            ("add s", &["src/", "sum.txt"]),
            ("add src/", &["src/a.rs", "'src/b c.rs'"]),
            ("add 'src/b", &["'src/b c.rs'"]),
            ("add ~/a", &["'~/a.rs'"]),
            ("add ", &["src/", "sum.txt"]),
            ("add .h", &[".hidden"]),
            ("add nothing", &[]),
            ("add --", &["--from-diff"]),
            ("mode c", &["code-review"]),
            ("exec a", &["a.rs"]),
            ("own ", &["red"]),
            ("own b", &[]),
            ("none x", &[]),
        ] {
            assert_eq!(values(line), expected, "{line}");
        }
    }

    #[test]
    fn what_is_replaced() {
        let (_folder, around) = around();
        let line = "add 'src/b tail";
        let all = suggest(line, 10, &commands(), &around, &|_| Vec::new());
        assert_eq!((all[0].range.clone(), all[0].is_whole), (4..10, true));
        let all = suggest("add s", 5, &commands(), &around, &|_| Vec::new());
        assert!(!all[0].is_whole && all[1].is_whole);
    }
}
