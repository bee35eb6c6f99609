//! Completion of a word: commands, files, Git revisions, programs, options.

use std::ffi::OsString;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::Duration;

use osm_context::Setting;

use crate::render::escape;

use osm_script::words::{Line, Word};

/// The most suggestions shown.
const MAX_SUGGESTIONS: usize = 200;

/// How long git may take after Tab was pressed.
const GIT_TIMEOUT: Duration = Duration::from_secs(2);

/// A completion of a word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Suggestion {
    /// The completed word, quoted where it has to be.
    pub(crate) value: String,
    pub(crate) description: Option<String>,
    /// The part of the line that it replaces.
    pub(crate) range: Range<usize>,
    /// Whether the word is complete; a folder is not, its entries follow.
    pub(crate) is_whole: bool,
}

/// A command, as completion needs it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct CommandSpec {
    pub(crate) name: String,
    pub(crate) description: String,
    /// The kinds of its arguments, or names of completers of scripts.
    pub(crate) completers: Vec<String>,
    /// Its options, without dashes, and what they do.
    pub(crate) flags: Vec<(String, String)>,
    /// Whether the rest of its line is a text.
    pub(crate) takes_text: bool,
}

/// Where files and programs are looked up.
#[derive(Clone, Debug, Default)]
pub(crate) struct CompletionScope {
    pub(crate) folder: PathBuf,
    /// The folder for `~`.
    pub(crate) user_home: Option<PathBuf>,
    /// `PATH`.
    pub(crate) programs: Option<OsString>,
}

/// Calls a completer for the line: that of the modes, or one of a script.
pub(crate) type Scripted<'a> = &'a dyn Fn(&str) -> Vec<(String, Option<String>)>;

/// A name, its description, and whether it is complete.
type Candidate = (String, Option<String>, bool);

/// The completions of the word at a position of the line.
pub(crate) fn suggest(
    line: &str,
    place: usize,
    commands: &[CommandSpec],
    scope: &CompletionScope,
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
            Some(command) => arguments(command, &current.text, commands, scope, scripted),
            None => Vec::new(),
        },
    };
    let mut seen = std::collections::HashSet::new();
    candidates
        .into_iter()
        // The menu writes to the terminal itself. A name that controls it cannot be completed, only typed.
        .filter(|(value, ..)| !value.contains(escape::is_unsafe) && seen.insert(value.clone()))
        .take(MAX_SUGGESTIONS)
        .map(|(value, description, is_whole)| Suggestion {
            value: osm_script::words::quote(&value),
            description: description.map(|text| escape::one_line(&text).into_owned()),
            range: current.range.clone(),
            is_whole,
        })
        .collect()
}

fn by_name(commands: &[CommandSpec], prefix: &str) -> Vec<Candidate> {
    let named = commands.iter().filter(|it| it.name.starts_with(prefix));
    named.map(|it| (it.name.clone(), Some(it.description.clone()), true)).collect()
}

fn arguments(
    command: &CommandSpec,
    prefix: &str,
    commands: &[CommandSpec],
    scope: &CompletionScope,
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
            "file" => files(prefix, scope),
            "gitref" => starting(prefix, git_names(&scope.folder)),
            "executable" if prefix.contains('/') => files(prefix, scope),
            "executable" => programs(prefix, scope),
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

/// Files and folders whose path starts with `prefix`; hidden ones only if it names a dot.
fn files(prefix: &str, scope: &CompletionScope) -> Vec<Candidate> {
    let (typed_folder, start) = match prefix.rsplit_once('/') {
        Some((folder, start)) => (format!("{folder}/"), start),
        None if prefix == "~" => return vec![("~/".into(), None, false)],
        None => (String::new(), prefix),
    };
    let folder = match (typed_folder.strip_prefix("~/"), &scope.user_home) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => scope.folder.join(&typed_folder),
    };
    let Ok(entries) = std::fs::read_dir(&folder) else { return Vec::new() };
    let mut found: Vec<Candidate> = entries
        .filter_map(Result::ok)
        .filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            let is_wanted =
                name.starts_with(start) && (!name.starts_with('.') || !start.is_empty());
            // Follows links: a link to a folder is completed as a folder.
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
    setting.limits.time = GIT_TIMEOUT;
    let refs = osm_context::git::refs(folder, &setting).unwrap_or_default();
    refs.into_iter().map(|it| (it.name, Some(it.about))).collect()
}

/// Programs in `PATH`.
fn programs(prefix: &str, scope: &CompletionScope) -> Vec<Candidate> {
    let Some(path) = &scope.programs else { return Vec::new() };
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

    fn commands() -> Vec<CommandSpec> {
        let known = |name: &str, completers: &[&str]| CommandSpec {
            name: name.into(),
            completers: completers.iter().map(ToString::to_string).collect(),
            flags: vec![("from-diff".into(), "changed files".into())],
            ..CommandSpec::default()
        };
        vec![
            known("add", &["file", "flag"]),
            known("mode", &["mode"]),
            known("exec", &["executable"]),
            known("own", &["colours"]),
        ]
    }

    fn scope() -> (tempfile::TempDir, CompletionScope) {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("src")).unwrap();
        for name in ["src/a.rs", "src/b c.rs", "sum.txt", ".hidden"] {
            std::fs::write(folder.path().join(name), "").unwrap();
        }
        let scope = CompletionScope {
            folder: folder.path().to_owned(),
            user_home: Some(folder.path().join("src")),
            programs: Some(folder.path().join("src").into()),
        };
        (folder, scope)
    }

    fn values(line: &str) -> Vec<String> {
        let (_folder, scope) = scope();
        let colours = |name: &str| {
            let named = |name: &str| vec![(name.to_owned(), None)];
            match name {
                "colours" => named("red"),
                "mode" => named("code-review"),
                _ => Vec::new(),
            }
        };
        let all = suggest(line, line.len(), &commands(), &scope, &colours);
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

    // Windows has no such file names.
    #[cfg(unix)]
    #[test]
    fn nothing_that_controls_a_terminal_reaches_the_menu() {
        let (folder, scope) = scope();
        std::fs::write(folder.path().join("s\u{1b}]0;x\u{7}"), "").unwrap();
        std::fs::write(folder.path().join("s\u{202e}x"), "").unwrap();
        let found = suggest("add s", 5, &commands(), &scope, &|_| Vec::new());
        let found: Vec<String> = found.into_iter().map(|it| it.value).collect();
        assert_eq!(found, ["src/", "sum.txt"]);
        let hostile =
            |_: &str| vec![("red".to_owned(), Some("\u{1b}[2J\u{9b}\u{2066}".to_owned()))];
        let found = suggest("own ", 4, &commands(), &scope, &hostile);
        assert_eq!(found[0].description.as_deref(), Some(r"\u{1b}[2J\u{9b}\u{2066}"));
    }

    #[test]
    fn the_replaced_part() {
        let (_folder, scope) = scope();
        let line = "add 'src/b tail";
        let all = suggest(line, 10, &commands(), &scope, &|_| Vec::new());
        assert_eq!((all[0].range.clone(), all[0].is_whole), (4..10, true));
        let all = suggest("add s", 5, &commands(), &scope, &|_| Vec::new());
        assert!(!all[0].is_whole && all[1].is_whole);
    }
}
