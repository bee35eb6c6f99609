//! The work list of `osm claim next`: a file, standard input, or what a command prints.
//!
//! A command runs only if the user named it, on the command line or in the user's own configuration. The
//! configuration of a repository names none, because it can be a stranger's.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Duration;

use osm_claims::Resource;
use osm_context::{End, Limits, Setting};

use super::work_list::{self, Malformed, Place};
use super::{Error, resource_of_bytes};
use crate::config::WorkListSettings;
use crate::error::{Exit, Failure};
use crate::interaction::{Interaction, Interrupted};
use crate::invocation::{Invocation, InvocationError};

/// The most bytes that a list may have.
const MOST_BYTES: usize = 256 << 20;

/// The same of JSON, which takes several times its size while it is read.
const MOST_JSON_BYTES: usize = 32 << 20;

/// How long a command may take.
const TIME: Duration = Duration::from_mins(1);

/// A list of what can be claimed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkList {
    /// Where it is.
    pub source: Source,
    /// The field that has the name, if the list is JSON.
    pub field: Option<String>,
}

/// Where a work list is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// In a file; `-` is standard input.
    File(PathBuf),
    /// What this command of the shell prints.
    Command(String),
}

/// Why there are no candidates.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CandidatesError {
    /// None are named, and no list is.
    #[error("no candidates: none are named, and no work list is set")]
    None,
    /// The settings name two lists.
    #[error("claims.next.from and claims.next.from_command are both set")]
    Two,
    /// The list cannot be read.
    #[error("cannot read the candidates in {}: {source}", file.display())]
    Io {
        /// The file.
        file: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The list is too large.
    #[error("the list of candidates {list} is larger than {} MB", most >> 20)]
    TooLong {
        /// The list.
        list: String,
        /// How many bytes it may have.
        most: usize,
    },
    /// An entry has no meaning.
    #[error("invalid candidate on {place} {list}: {reason}")]
    Malformed {
        /// The list.
        list: String,
        /// The entry.
        place: String,
        /// Why.
        reason: String,
        /// What to do about it.
        hint: Option<&'static str>,
    },
    /// An entry cannot be claimed.
    #[error("invalid candidate on {place} {list}: {source}")]
    Resource {
        /// The list.
        list: String,
        /// The entry.
        place: String,
        /// Why.
        source: Box<Error>,
    },
    /// The command cannot be run.
    #[error("cannot run the command {command:?}: {source}")]
    Start {
        /// The command.
        command: String,
        /// Why.
        source: osm_context::Error,
    },
    /// The command failed.
    #[error("the command {command:?} failed: {how}{}", said_by(said))]
    Failed {
        /// The command.
        command: String,
        /// How it ended.
        how: String,
        /// What it printed to standard error.
        said: String,
    },
    /// The command takes too long.
    #[error("the command {command:?} was stopped: it did not end within {} s", after.as_secs())]
    TimedOut {
        /// The command.
        command: String,
        /// How long it may take.
        after: Duration,
    },
    /// The command printed nothing, not even an empty list.
    #[error("the command {command:?} printed no candidates{}", said_by(said))]
    Silent {
        /// The command.
        command: String,
        /// What it printed to standard error.
        said: String,
    },
    /// The user stopped it.
    #[error(transparent)]
    Interrupted(#[from] Interrupted),
    /// There is no working directory.
    #[error(transparent)]
    Invocation(#[from] InvocationError),
}

/// The last line of what a command complained of, as the end of a sentence.
fn said_by(said: &str) -> String {
    let last = said.lines().map(str::trim).rfind(|line| !line.is_empty());
    last.map(|line| format!(": {line}")).unwrap_or_default()
}

impl Failure for CandidatesError {
    fn reason(&self) -> &'static str {
        match self {
            Self::None => "usage",
            Self::Two => "invalid_setting",
            Self::Io { .. } => "unreadable_candidates",
            Self::TooLong { .. } => "too_many_candidates",
            Self::Malformed { .. } | Self::Resource { .. } => "invalid_candidate",
            Self::Start { .. }
            | Self::Failed { .. }
            | Self::TimedOut { .. }
            | Self::Silent { .. } => "candidates_command_failed",
            Self::Interrupted(error) => error.reason(),
            Self::Invocation(error) => error.reason(),
        }
    }

    fn exit(&self) -> Exit {
        match self {
            Self::None | Self::Malformed { .. } | Self::Resource { .. } => Exit::Usage,
            Self::Interrupted(error) => error.exit(),
            Self::Invocation(error) => error.exit(),
            _ => Exit::Failure,
        }
    }

    fn hints(&self) -> Vec<String> {
        let hint = match self {
            Self::None => {
                "name them, or a list: --from FILE, --from-command COMMAND; or set one: osm config set claims.next.from TASKS.md"
            }
            Self::Two => "unset one of them: osm config unset claims.next.from",
            Self::Malformed { hint, .. } => {
                return hint.iter().map(|it| (*it).to_owned()).collect();
            }
            Self::Failed { .. } | Self::TimedOut { .. } | Self::Silent { .. } => {
                "run the command by itself to see what it does"
            }
            _ => return Vec::new(),
        };
        vec![hint.into()]
    }
}

/// The work list of the settings.
pub fn configured(invocation: &Invocation) -> Result<WorkList, CandidatesError> {
    let WorkListSettings { from, command, field } = invocation.settings.work_list.clone();
    let source = match (from, command) {
        (None, None) => return Err(CandidatesError::None),
        (Some(_), Some(_)) => return Err(CandidatesError::Two),
        (None, Some(command)) => Source::Command(command),
        // It is one list for the whole worktree, wherever in it the command is run.
        (Some(file), None) => {
            let top = invocation.repository().map(|it| it.worktree.clone());
            Source::File(top.map_or_else(|| PathBuf::from(&file), |top| top.join(&file)))
        }
    };
    Ok(WorkList { source, field })
}

/// Reads the candidates of a work list, in their order.
pub fn candidates(
    invocation: &Invocation,
    list: &WorkList,
    scope: Option<&str>,
    interaction: &mut dyn Interaction,
) -> Result<Vec<Resource>, CandidatesError> {
    let most = if list.field.is_some() { MOST_JSON_BYTES } else { MOST_BYTES };
    let (name, text) = match &list.source {
        Source::File(file) => (format!("of {}", file.display()), read(file, most)?),
        Source::Command(command) => {
            let folder = invocation.folder()?;
            let text = printed(command, &folder, TIME, most, interaction)?;
            (format!("of what {command:?} printed"), text)
        }
    };
    if text.len() > most {
        return Err(CandidatesError::TooLong { list: name, most });
    }
    let entries = work_list::parse(&text, list.field.as_deref());
    let entries = entries.map_err(|Malformed { place, reason }| CandidatesError::Malformed {
        list: name.clone(),
        place: place.to_string(),
        hint: reason.hint(),
        reason: reason.to_string(),
    })?;
    let wrong = |place: Place, source| CandidatesError::Resource {
        list: name.clone(),
        place: place.to_string(),
        source: Box::new(source),
    };
    let resource = |it: work_list::Entry| {
        resource_of_bytes(invocation, &it.name, scope).map_err(|error| wrong(it.place, error))
    };
    entries.into_iter().map(resource).collect()
}

/// The text of a file, up to one byte more than it may have.
fn read(file: &Path, most: usize) -> Result<Vec<u8>, CandidatesError> {
    let error = |source| CandidatesError::Io { file: file.to_owned(), source };
    let mut text = Vec::new();
    let most = most as u64 + 1;
    if file == Path::new("-") {
        std::io::stdin().lock().take(most).read_to_end(&mut text).map_err(error)?;
    } else {
        let open = std::fs::File::open(file).map_err(error)?;
        open.take(most).read_to_end(&mut text).map_err(error)?;
    }
    Ok(text)
}

/// What a command of the shell prints.
fn printed(
    command: &str,
    folder: &Path,
    time: Duration,
    most: usize,
    interaction: &mut dyn Interaction,
) -> Result<Vec<u8>, CandidatesError> {
    let shown = interaction.begin(&format!("running {command}"));
    let interrupted = || shown.is_stopped();
    let limits = Limits { output: most, time, ..Limits::default() };
    let setting = Setting { limits, interrupted: &interrupted, ..Setting::new(folder) };
    let shell = if cfg!(windows) { ["cmd", "/c"] } else { ["sh", "-c"] };
    let words = [shell[0], shell[1], command].map(str::to_owned);
    let ran = osm_context::run_apart(&words, folder, &setting);
    let command = || command.to_owned();
    let ran = match ran {
        Err(osm_context::Error::Interrupted) => return Err(shown.interrupted().into()),
        ran => ran.map_err(|source| CandidatesError::Start { command: command(), source })?,
    };
    let how = match ran.end {
        End::TimedOut => {
            return Err(CandidatesError::TimedOut { command: command(), after: time });
        }
        End::Killed => Some("a signal ended it".to_owned()),
        End::Exited(0) => None,
        End::Exited(code) => Some(format!("exit code {code}")),
    };
    let said = ran.errors;
    if let Some(how) = how {
        return Err(CandidatesError::Failed { command: command(), how, said });
    }
    if ran.beyond > 0 {
        let list = format!("of what {:?} printed", command());
        return Err(CandidatesError::TooLong { list, most });
    }
    if ran.output.trim_ascii().is_empty() {
        return Err(CandidatesError::Silent { command: command(), said });
    }
    Ok(ran.output)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use crate::interaction::Silence;

    fn of(command: &str, time: Duration, most: usize) -> Result<String, String> {
        let printed = printed(command, Path::new("/"), time, most, &mut Silence);
        printed
            .map(|text| String::from_utf8_lossy(&text).into_owned())
            .map_err(|error| format!("{}: {error}", error.reason()))
    }

    #[test]
    fn commands_that_print_no_list() {
        let of = |command| of(command, TIME, 100);
        assert_eq!(of("pwd; echo noise >&2"), Ok("/\n".into()));
        for (command, expected) in [
            ("echo a; echo no database >&2; exit 3", "failed: exit code 3: no database"),
            ("kill -9 $$", "failed: a signal ended it"),
            ("echo; echo no tasks >&2", "printed no candidates: no tasks"),
            ("true", "printed no candidates"),
            ("no-such-program-63 2>/dev/null", "failed: exit code 127"),
        ] {
            let error = of(command).unwrap_err();
            assert!(error.starts_with("candidates_command_failed: the command"), "{error}");
            assert!(error.ends_with(expected), "{error}");
        }
        let long = of("printf %200s x").unwrap_err();
        assert!(long.starts_with("too_many_candidates: "), "{long}");
    }

    #[test]
    fn a_command_without_an_end_is_stopped() {
        // The shell waits for itself; only the limit ends it.
        let error = of("while :; do :; done", Duration::ZERO, 100).unwrap_err();
        assert!(error.contains("was stopped: it did not end within 0 s"), "{error}");
    }
}
