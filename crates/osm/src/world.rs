//! The outside world, captured once: the only reader of the environment, the arguments and the clock.

use std::ffi::{OsStr, OsString};
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use jiff::Timestamp;
use osm_claims::Token;
use osm_identity::{Environment, Pid, ProcessSource, System};
use osm_store::Clock;
use osm_store::backend::Holder;
#[cfg(unix)]
use rustix::termios::{Winsize, tcgetwinsize};

/// The width of a terminal at this moment, if osm may draw on it.
pub(crate) type Columns = Box<dyn Fn() -> Option<usize> + Send + Sync>;

use crate::cli::own_words;

/// What the program was given.
#[derive(Clone)]
pub struct World {
    /// The command line, without the program's own name.
    pub arguments: Vec<OsString>,
    /// The variables and our pid.
    pub environment: Environment,
    /// The time.
    pub clock: Clock,
    /// The process table.
    pub processes: &'static (dyn ProcessSource + Send + Sync),
}

/// When output is coloured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum ColorChoice {
    /// On a terminal, unless `NO_COLOR` is set
    #[default]
    Auto,
    /// Also in a pipe
    Always,
    /// Not at all
    Never,
}

/// Variables that `osm` itself reads, besides those of identity.
pub const VARIABLES: &[(&str, &str)] = &[
    ("OSM_STORE", "the store of sessions and claims: fs, memory or postgres"),
    ("OSM_DATABASE_URL", "the address of the PostgreSQL server; overrides `store.url`"),
    ("OSM_CONFIG", "the configuration of the upstream tool, for `osm config import-upstream`"),
    ("OSM_HOME", "the folder of configuration and sessions, instead of the default"),
    ("OSM_SCOPE", "the scope of claims, instead of the repository around the working directory"),
    ("OSM_CLAIM_RESOURCE", "set by `osm claim run`: the claimed resource"),
    ("OSM_CLAIM_EPOCH", "set by `osm claim run`: the epoch of the claim"),
    ("OSM_CLAIM_SCOPE", "set by `osm claim run`: the scope of the claim"),
    ("GIT_DIR", "set by git for its hooks: the repository that `osm claim guard check` checks"),
    ("OSM_CLIPBOARD", "a shell command that copies its standard input to the clipboard"),
    ("OSM_CLIPBOARD_PASTE", "a shell command that prints the content of the clipboard"),
    ("NO_COLOR", "print no colors; any value"),
];

/// A time of the system's clock. One that cannot be written is the last that can: commands show
/// ages by it, and what is granted or counted by time has a clock of its own, which refuses.
fn timestamp(time: SystemTime) -> Timestamp {
    Timestamp::try_from(time).unwrap_or(Timestamp::MAX)
}

impl World {
    /// Captures the world of this process.
    #[must_use]
    #[expect(clippy::disallowed_methods, reason = "the one place that reads them")]
    pub fn capture() -> Self {
        let processes = &System;
        let own = processes.own_pid(Pid(std::process::id()));
        Self {
            arguments: std::env::args_os().skip(1).collect(),
            environment: Environment::new(own.0, std::env::vars_os()),
            clock: Arc::new(|| timestamp(SystemTime::now())),
            processes,
        }
    }

    /// Whether a person can answer a question.
    #[must_use]
    pub fn stdin_is_terminal(&self) -> bool {
        std::io::stdin().is_terminal()
    }

    /// Whether results go to a terminal.
    #[must_use]
    pub fn stdout_is_terminal(&self) -> bool {
        std::io::stdout().is_terminal()
    }

    /// Whether messages go to a terminal.
    #[must_use]
    pub fn stderr_is_terminal(&self) -> bool {
        std::io::stderr().is_terminal()
    }

    /// The width of the terminal that results go to; `None` for a pipe or a file.
    #[must_use]
    pub fn columns(&self) -> Option<usize> {
        if !self.stdout_is_terminal() {
            return None;
        }
        #[cfg(unix)]
        let width = width_in(tcgetwinsize(std::io::stdout()));
        #[cfg(not(unix))]
        let width = None;
        Some(width.unwrap_or_else(|| self.usual_columns()))
    }

    /// The width of a terminal that does not tell its own.
    fn usual_columns(&self) -> usize {
        let named = || self.environment.get("COLUMNS")?.to_str()?.parse().ok();
        named().unwrap_or(80)
    }

    /// The width of the terminal that a line about long work can be drawn on; the function gives `None`
    /// while osm runs in its background. `None` if messages go elsewhere, or no line can be erased there.
    pub(crate) fn progress_columns(&self) -> Option<Columns> {
        let is_dumb = self.environment.get("TERM") == Some(OsStr::new("dumb"));
        if is_dumb || !self.stderr_is_terminal() {
            return None;
        }
        let usual = self.usual_columns();
        #[cfg(unix)]
        let width = move || {
            // Another terminal than ours has no foreground that we could be in.
            let foreground = rustix::termios::tcgetpgrp(std::io::stderr());
            let is_behind = foreground.is_ok_and(|it| it != rustix::process::getpgrp());
            (!is_behind).then(|| width_in(tcgetwinsize(std::io::stderr())).unwrap_or(usual))
        };
        #[cfg(not(unix))]
        let width = move || Some(usual);
        Some(Box::new(width))
    }

    /// `--color`, as far as it can be known before the command line is parsed.
    fn color_choice(&self) -> ColorChoice {
        let mut words = own_words(&self.arguments).iter();
        while let Some(word) = words.next() {
            let value = match word.to_str() {
                Some("--color") => words.next().and_then(|word| word.to_str()),
                Some(word) => word.strip_prefix("--color="),
                None => None,
            };
            match value {
                Some("always") => return ColorChoice::Always,
                Some("never") => return ColorChoice::Never,
                _ => {}
            }
        }
        ColorChoice::Auto
    }

    /// Where this program is, for programs that are started without our `PATH`; as `PATH` names it,
    /// since the file that a link leads to may be another one after an update.
    #[must_use]
    pub fn program(&self) -> Option<String> {
        let real = std::env::current_exe().ok().filter(|it| it.is_file())?;
        let real = real.canonicalize().unwrap_or(real);
        let named = self.on_path().find(|it| it.canonicalize().is_ok_and(|it| it == real));
        named.or_else(|| std::env::current_exe().ok())?.into_os_string().into_string().ok()
    }

    /// The `osm` that other programs find in `PATH`.
    #[must_use]
    pub fn program_on_path(&self) -> Option<PathBuf> {
        self.on_path().find(|it| it.is_file())
    }

    /// A program in `PATH`.
    pub(crate) fn find_on_path(&self, name: &str) -> Option<PathBuf> {
        self.named_on_path(name).find(|it| it.is_file())
    }

    /// Where `osm` would be in each folder of `PATH`.
    fn on_path(&self) -> impl Iterator<Item = PathBuf> {
        self.named_on_path("osm")
    }

    /// Where a program would be in each folder of `PATH`.
    fn named_on_path(&self, name: &str) -> impl Iterator<Item = PathBuf> + use<'_> {
        let path = self.environment.get("PATH").unwrap_or_default();
        let name = format!("{name}{}", std::env::consts::EXE_SUFFIX);
        std::env::split_paths(path)
            .filter(|folder| folder.is_absolute())
            .map(move |folder| folder.join(&name))
    }

    /// The folder for temporary files.
    #[must_use]
    pub fn temporary(&self) -> PathBuf {
        std::env::temp_dir()
    }

    /// The time.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        (self.clock)()
    }

    /// Where claims count, if the user says so.
    #[must_use]
    pub fn claim_scope(&self) -> Option<String> {
        self.environment.get("OSM_SCOPE").map(|name| name.to_string_lossy().into_owned())
    }

    /// Where that claim counts, as the ledger calls it.
    #[must_use]
    pub fn given_scope(&self) -> Option<&str> {
        self.environment.get("OSM_CLAIM_SCOPE")?.to_str()
    }

    /// The claim that this command was started with, by `osm claim run`.
    #[must_use]
    pub fn given_claim(&self) -> Option<(&OsStr, Token)> {
        let resource = self.environment.get("OSM_CLAIM_RESOURCE")?;
        let token = self.environment.get("OSM_CLAIM_EPOCH")?.to_str()?.parse().ok()?;
        Some((resource, token))
    }

    /// The machine's name, for people.
    #[must_use]
    pub fn host_name(&self) -> String {
        let known = std::fs::read_to_string("/proc/sys/kernel/hostname").ok();
        let named = || {
            let variable =
                ["HOSTNAME", "COMPUTERNAME"].iter().find_map(|it| self.environment.get(it));
            variable.map(|name| name.to_string_lossy().into_owned())
        };
        known
            .map(|name| name.trim().to_owned())
            .or_else(named)
            .unwrap_or_else(|| "localhost".into())
    }

    /// Who we are, for others who meet our locks, and for the audit.
    #[must_use]
    pub fn holder(&self) -> Holder {
        let words: Vec<_> =
            self.arguments.iter().take(4).map(|word| word.to_string_lossy()).collect();
        let command = format!("osm {}", words.join(" "));
        Holder::new(self.processes, self.environment.pid(), self.host_name(), self.now(), command)
    }

    /// The folder that we were started in; `None` if it is gone.
    #[must_use]
    #[expect(clippy::disallowed_methods, reason = "the one place that reads it")]
    pub fn folder(&self) -> Option<PathBuf> {
        std::env::current_dir().ok()
    }

    /// The folder of configuration and sessions; `None` where not even a home is known.
    #[must_use]
    pub fn home(&self) -> Option<PathBuf> {
        let chosen = self.absolute_path("OSM_HOME").map(Path::to_owned);
        chosen.or_else(|| Some(self.configuration_folder()?.join("one-shot-man")))
    }

    /// The sessions of the upstream tool, whether they exist or not.
    #[must_use]
    pub fn upstream_sessions(&self) -> Option<PathBuf> {
        Some(self.configuration_folder()?.join("osm").join("sessions"))
    }

    /// The folder in which programs keep their configuration.
    fn configuration_folder(&self) -> Option<PathBuf> {
        if cfg!(windows) {
            return self.absolute_path("APPDATA").map(Path::to_owned);
        }
        let home = self.absolute_path("HOME");
        if cfg!(target_os = "macos") {
            return Some(home?.join("Library/Application Support"));
        }
        let chosen = self.absolute_path("XDG_CONFIG_HOME").map(Path::to_owned);
        chosen.or_else(|| Some(home?.join(".config")))
    }

    /// The user's home, which `~` means.
    #[must_use]
    pub fn user_home(&self) -> Option<&Path> {
        self.absolute_path(if cfg!(windows) { "USERPROFILE" } else { "HOME" })
    }

    /// The value of a variable, if it is an absolute path: a relative one would be another folder in
    /// every directory.
    fn absolute_path(&self, name: &str) -> Option<&Path> {
        self.environment.get(name).map(Path::new).filter(|path| path.is_absolute())
    }

    /// The configuration file, whether it exists or not.
    #[must_use]
    pub fn config_file(&self) -> Option<PathBuf> {
        self.home().map(|home| home.join("config.toml"))
    }

    /// Whether output is coloured.
    #[must_use]
    pub fn wants_color(&self) -> bool {
        match self.color_choice() {
            ColorChoice::Always => true,
            ColorChoice::Never => false,
            ColorChoice::Auto => {
                let variable = |name| self.environment.get(name);
                variable("NO_COLOR").is_none_or(OsStr::is_empty)
                    && variable("TERM") != Some(OsStr::new("dumb"))
                    && self.stdout_is_terminal()
            }
        }
    }
}

/// The width of a terminal, if it tells.
#[cfg(unix)]
fn width_in(size: rustix::io::Result<Winsize>) -> Option<usize> {
    size.ok().map(|size| usize::from(size.ws_col)).filter(|width| *width > 0)
}

#[cfg(all(test, unix, not(target_os = "macos")))]
mod tests {
    use super::*;

    fn world(variables: &[(&str, &str)]) -> World {
        World {
            arguments: Vec::new(),
            environment: Environment::new(
                1,
                variables.iter().map(|(name, value)| (name.into(), value.into())),
            ),
            clock: Arc::new(|| Timestamp::UNIX_EPOCH),
            processes: &System,
        }
    }

    #[test]
    fn where_files_live() {
        let home = |variables: &[_]| world(variables).home();
        assert_eq!(home(&[("HOME", "/h")]), Some("/h/.config/one-shot-man".into()));
        assert_eq!(
            home(&[("HOME", "/h"), ("XDG_CONFIG_HOME", "/x")]),
            Some("/x/one-shot-man".into())
        );
        assert_eq!(
            home(&[("HOME", "/h"), ("XDG_CONFIG_HOME", "relative")]),
            Some("/h/.config/one-shot-man".into()),
            "a relative folder would be another one in every directory"
        );
        assert_eq!(home(&[("HOME", "/h"), ("OSM_HOME", "/o")]), Some("/o".into()));
        assert_eq!(home(&[]), None);
        let upstream = |variables: &[_]| world(variables).upstream_sessions();
        let moved = [("HOME", "/h"), ("OSM_HOME", "/o")];
        assert_eq!(upstream(&moved), Some("/h/.config/osm/sessions".into()));
        assert_eq!(upstream(&[("OSM_HOME", "/o")]), None);
    }
}
