//! What can be typed.

mod agent;
mod claim;
mod config;
mod deferred;
mod goal;
mod message;
mod mode;
mod own_words;
mod store;
mod trust;

use std::ffi::OsString;
use std::mem::ManuallyDrop;
use std::path::PathBuf;

use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand};

pub(crate) use agent::{Agent, Which as AgentWhich};
pub(crate) use claim::{
    Claim, ClaimCommand, Grant as ClaimGrant, Guard, Held as ClaimHeld, List as ClaimList,
    Place as ClaimPlace, Release,
};
pub(crate) use config::Config;
pub(crate) use goal::{Goal, GoalCommand};
pub(crate) use message::{Ask, Inbox, Tell};
pub(crate) use mode::{LogArguments, ModeArguments, ScriptArguments};
pub(crate) use own_words::own_words;
pub(crate) use store::Store;
pub(crate) use trust::{Trust, TrustCommand};

use self::deferred::Deferred;
use crate::completion::Shell;
use crate::error::CommandError;
use crate::world::ColorChoice;

/// One stable session for every terminal and every coding agent.
#[derive(Debug, Parser)]
#[command(
    name = "osm",
    version,
    disable_help_subcommand = true,
    after_help = "Examples:
  osm                            show this session, all claims, and what to do next
  osm --short                    the same in one line, for shell prompts
  osm session id                 print the id of this session, for scripts
  osm session id --explain       show how the id was found
  OSM_SESSION=build osm whoami   use a session with a name of your choice
  osm claim TASK-7               claim work so that no other session takes it
  osm claims                     list open claims
  osm code-review                build a prompt from files, diffs and notes

Exit codes: 0 success, 1 failure, 2 invalid command line; docs/exit-codes.md lists all."
)]
pub(crate) struct Line {
    /// Use this session instead of the detected one; a new name creates a session
    #[arg(long, global = true, value_name = "ID", alias = "session-id")]
    pub(crate) session: Option<OsString>,
    /// Keep sessions and claims in this store: fs, memory or postgres
    #[arg(long, global = true, value_name = "NAME")]
    pub(crate) store: Option<String>,
    /// Print colors: auto means only on a terminal
    #[arg(long, global = true, value_enum, value_name = "WHEN", default_value_t)]
    pub(crate) color: ColorChoice,
    /// Without a command: print JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Without a command: print one line, for shell prompts and status lines
    #[arg(long, conflicts_with = "json")]
    pub(crate) short: bool,
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Show the current session and the reason for its id
    #[command(after_help = "Examples:
  osm whoami          for people
  osm whoami --json   for programs")]
    Whoami {
        #[command(flatten)]
        format: Format,
    },
    /// Manage sessions; without a command, list them
    Session {
        #[command(subcommand)]
        command: Option<Deferred<Session>>,
    },
    /// Build a prompt for a code review
    #[command(
        alias = "review",
        after_help = "Examples:
  osm code-review                                    at a terminal: type `help`
  osm code-review -c 'add src' -c 'diff main' -c copy
  osm code-review < commands.txt                     one command on each line"
    )]
    CodeReview(Deferred<ModeArguments>),
    /// Build a prompt in two steps: a model writes it, then osm adds the context
    #[command(
        alias = "flow",
        after_help = "Examples:
  osm prompt-flow                                    at a terminal: type `help`
  osm prompt-flow -c 'goal Split the parser' -c 'add src/parse.rs' -c generate -c copy"
    )]
    PromptFlow(Deferred<ModeArguments>),
    /// Build a prompt from a goal
    Goal(Deferred<Goal>),
    /// Run a script
    #[command(after_help = "Examples:
  osm script report.js --test -c main                everything after FILE goes to the script
  osm script --test checks.js
  osm script -i mode.js < commands.txt")]
    Script(Deferred<ScriptArguments>),
    /// Allow scripts in this working tree to run
    Trust(Deferred<Trust>),
    /// Claim work so that no other session takes it
    Claim(Deferred<Claim>),
    /// Release claims
    Release(Deferred<Release>),
    /// List open claims
    Claims(Deferred<ClaimList>),
    /// Ask the holder of a claim, or a session
    Ask(Deferred<Ask>),
    /// Send a message to all sessions of this repository
    Tell(Deferred<Tell>),
    /// Show the messages to this session, and acknowledge them
    Inbox(Deferred<Inbox>),
    /// Manage the store of sessions: its state, tables, copies
    #[command(subcommand, arg_required_else_help = true)]
    Store(Deferred<Store>),
    /// Install hooks into coding agents
    #[command(subcommand, arg_required_else_help = true)]
    Agent(Deferred<Agent>),
    /// Look for problems of this setup, and name the command that fixes each
    #[command(after_help = "Examples:
  osm doctor          what is wrong, why it matters, and the command that fixes it
  osm doctor --fix    also make the repairs that lose nothing
  osm doctor --json   for programs

It exits with 8 if there is a problem that is not fixed; a notice alone is no problem.")]
    Doctor {
        /// Make the repairs that lose nothing: modes, files of crashed processes, hooks that are not current
        #[arg(long)]
        fix: bool,
        #[command(flatten)]
        format: Format,
    },
    /// Print what an agent needs to know: its session, claims, and rules
    #[command(after_help = "Examples:
  osm prime          a text of less than 400 tokens, for a model
  osm prime --json   for programs")]
    Prime {
        #[command(flatten)]
        format: Format,
    },
    /// Serve an agent over the Model Context Protocol (MCP), on stdin and stdout
    #[command(after_help = "Examples:
  osm agent install                    write the server into the settings of your agents
  claude mcp add osm -- osm mcp        the same for one agent, with its own command

Tools: whoami, status, claim, next, release, note, handoff, context_add, context_list, prompt.")]
    Mcp,
    /// Show and change settings
    #[command(subcommand, arg_required_else_help = true)]
    Config(Deferred<Config>),
    /// Print what a shell loads when it starts: completion, and this session in the prompt
    #[command(after_help = "Examples:
  eval \"$(osm shell-init bash --prompt)\"               in ~/.bashrc
  eval \"$(osm shell-init zsh --prompt)\"                in ~/.zshrc
  osm shell-init fish --prompt | source                in ~/.config/fish/config.fish
  osm shell-init nu --prompt | save -f ($nu.user-autoload-dirs.0 | path join osm.nu)
  osm shell-init pwsh --prompt | Out-String | Invoke-Expression")]
    ShellInit {
        /// The shell
        shell: Shell,
        /// Show this session in the prompt, as `osm --short` prints it
        #[arg(long)]
        prompt: bool,
    },
    /// Print a completion script for a shell
    #[command(after_help = "Examples:
  osm completion bash > ~/.local/share/bash-completion/completions/osm
  osm completion zsh  > \"${fpath[1]}/_osm\"
  osm completion fish > ~/.config/fish/completions/osm.fish
  osm completion nushell > ~/.config/nushell/autoload/osm.nu
  osm completion powershell >> $PROFILE
  osm completion elvish >> ~/.config/elvish/rc.elv

The script asks osm itself, so the shell also offers sessions, archives, claims, goals and settings.")]
    Completion {
        /// The shell to complete in
        shell: Shell,
    },
    /// Renew the leases of the session that standard input names, while its processes live
    #[command(hide = true)]
    Keep,
    /// Print what can stand at the end of a command line, for completion scripts
    #[command(hide = true)]
    Complete {
        /// The words after `osm`; the last one is completed
        #[arg(last = true)]
        words: Vec<OsString>,
    },
    /// Show the help of osm or of a command
    Help {
        /// The command, such as `session list`
        command: Vec<String>,
    },
    /// Print the manual page of a command, or write all pages into a folder
    #[command(after_help = "Examples:
  osm man claim | man -l -
  osm man --folder ~/.local/share/man/man1")]
    Man {
        /// The command, such as `session list`
        command: Vec<String>,
        /// Write the pages of all commands into this folder
        #[arg(long, value_name = "FOLDER", conflicts_with = "command")]
        folder: Option<PathBuf>,
    },
    /// Print the version
    Version {
        #[command(flatten)]
        format: Format,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum Session {
    /// Print the id of this session
    #[command(after_help = "Examples:
  osm session id                   only the id
  osm session id --explain         the ancestor processes, and the reason of every detector
  osm session id --json | jq .source
  osm session id --session build   the id of the session with this name")]
    Id {
        /// Show the ancestor processes, and every detector with its result and reason
        #[arg(long, conflicts_with = "json")]
        explain: bool,
        #[command(flatten)]
        format: Format,
    },
    /// List sessions
    #[command(after_help = "Examples:
  osm session list --sort active
  osm session list --agent claude-code --branch main
  osm session list --format json | jq '.[] | select(.isActive) | .id'")]
    List(ListArguments),
    /// Show the state and the last commands of a session
    Info {
        /// The session, by id, unique prefix of an id, or handle [default: this one]
        id: Option<String>,
        #[command(flatten)]
        format: Format,
    },
    /// Print the file of a session
    Path {
        /// The session, by id, unique prefix of an id, or handle [default: this one]
        id: Option<String>,
        /// Print the folder of all sessions
        #[arg(long, conflicts_with = "id")]
        folder: bool,
    },
    /// Show the commands in the history of a session
    History {
        /// The session, by id, unique prefix of an id, or handle [default: this one]
        id: Option<String>,
        #[command(flatten)]
        format: Format,
    },
    /// Compare two states of sessions
    #[command(after_help = "Examples:
  osm session diff                  what the last command of this session changed
  osm session diff @3               what changed since command 3 of this session
  osm session diff ex--a_ca@3 ex--a_ca@7
  osm session diff ex--a_ca ex--b_3e
  osm session diff ex--a_ca--reset--2026-01-02T03-04-05Z--000.session.json ex--a_ca")]
    Diff {
        /// A session, one of its commands (ID@NUMBER), or an archived document
        one: Option<String>,
        /// Another one [default: the current state of the session]
        other: Option<String>,
        #[command(flatten)]
        format: Format,
    },
    /// Delete sessions or archives; `osm session restore` restores sessions from the trash
    Delete {
        /// The sessions, by id, unique prefix of an id, or handle; or archives, by name
        #[arg(required = true)]
        ids: Vec<String>,
        #[command(flatten)]
        force: Force,
        #[command(flatten)]
        sure: Sure,
    },
    /// Remove sessions that exceed the limits of the configuration
    Clean {
        #[command(flatten)]
        sure: Sure,
        #[command(flatten)]
        format: Format,
    },
    /// Delete every session that is not in use; they cannot be restored
    Purge {
        #[command(flatten)]
        sure: Sure,
        #[command(flatten)]
        format: Format,
    },
    /// Empty a session, and archive its state and history
    Reset(ResetArguments),
    /// List archived, quarantined, recovered and deleted sessions
    Archives {
        #[command(flatten)]
        format: Format,
    },
    /// Restore an archived session
    Restore {
        /// The name of the archive, from `osm session archives`
        name: String,
        /// Restore it as this session; a new name creates a session
        #[arg(long = "as", value_name = "ID")]
        id: Option<String>,
        #[command(flatten)]
        force: Force,
        #[command(flatten)]
        sure: Sure,
    },
    /// Write a session as plain JSON
    Export {
        /// The session, by id, unique prefix of an id, or handle [default: this one]
        id: Option<String>,
        /// Write to this file, which must not exist
        #[arg(long, short, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// Import sessions from exports, session files, or files of the upstream tool
    Import {
        /// The files; osm does not change them
        #[arg(required_unless_present = "upstream")]
        files: Vec<PathBuf>,
        /// Import all sessions of the upstream tool, from the folder in which it keeps them
        #[arg(long, conflicts_with_all = ["files", "id"])]
        upstream: bool,
        /// Import it as this session; a new name creates a session
        #[arg(long = "as", value_name = "ID")]
        id: Option<String>,
        #[command(flatten)]
        force: Force,
        #[command(flatten)]
        sure: Sure,
    },
}

#[derive(Args, Debug, Default)]
pub(crate) struct ListArguments {
    /// Print this format
    #[arg(long, value_enum, default_value_t = ListFormat::Text)]
    pub(crate) format: ListFormat,
    /// Sort in this order
    #[arg(long, value_enum, default_value_t = ListSort::Default)]
    pub(crate) sort: ListSort,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// List only sessions of this agent
    #[arg(long, value_name = "NAME")]
    pub(crate) agent: Option<String>,
    /// List only sessions last used in this repository
    #[arg(long, value_name = "FOLDER")]
    pub(crate) repository: Option<String>,
    /// List only sessions last used on this branch
    #[arg(long, value_name = "NAME")]
    pub(crate) branch: Option<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum ListFormat {
    #[default]
    Text,
    Json,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum ListSort {
    #[default]
    /// By id
    Default,
    /// Open sessions first, then the last used
    Active,
}

#[derive(Args, Debug)]
pub(crate) struct ResetArguments {
    /// The session, by id, unique prefix of an id, or handle [default: this one]
    pub(crate) id: Option<String>,
    /// Archive the session, even if `session.reset.keep_archives` is false
    #[arg(long, conflicts_with = "no_archive")]
    pub(crate) keep_archives: bool,
    /// Do not archive the session
    #[arg(long)]
    pub(crate) no_archive: bool,
    #[command(flatten)]
    pub(crate) force: Force,
    #[command(flatten)]
    pub(crate) sure: Sure,
}

#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct Force {
    /// Break a lock whose holder is proven dead; never that of a process that may be running
    #[arg(long)]
    pub(crate) force: bool,
}

#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct Sure {
    /// Do not ask for confirmation
    #[arg(long, short)]
    pub(crate) yes: bool,
    /// Show what would be done, and change nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
}

#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct Format {
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Reads a command line.
pub(crate) fn parse(arguments: &[OsString]) -> Result<Line, CommandError> {
    // To free the tree takes as long as to build it, and the program ends soon.
    let mut command = ManuallyDrop::new(Line::command());
    let (ours, theirs) = arguments.split_at(own_words(arguments).len());
    let has_one_dash = ours.iter().any(has_one_dash);
    let long = if has_one_dash { long_options(&self::command()) } else { Vec::new() };
    let ours = ours.iter().map(|argument| with_two_dashes(argument, &long));
    let arguments = ours.chain(theirs.iter().cloned());
    command
        .try_get_matches_from_mut(std::iter::once("osm".into()).chain(arguments))
        .and_then(|matches| Line::from_arg_matches(&matches))
        .map_err(|error| CommandError::Arguments(Box::new(error)))
}

/// Whether errors are asked for as JSON, too. Known before the command line is parsed, because an
/// invalid one is an error like any other.
pub(crate) fn wants_json(arguments: &[OsString]) -> bool {
    let ours = own_words(arguments);
    let list = ours
        .iter()
        .zip(ours.iter().skip(1))
        .any(|(option, value)| (option == "--format" || option == "-format") && value == "json");
    let named = ours.iter().any(|word| {
        ["--json", "-json", "--format=json", "-format=json"].iter().any(|it| word == it)
    });
    named || list
}

/// The whole command tree, for completion: with the arguments of every command, and with the options
/// that all commands share in each of them.
pub(crate) fn command() -> clap::Command {
    let mut command = Line::command();
    command.build();
    command
}

/// Whether an argument can be a long option with one dash, which only a look at all options tells.
fn has_one_dash(argument: &OsString) -> bool {
    let name = argument.to_str().and_then(|text| text.strip_prefix('-'));
    name.is_some_and(|name| name.len() > 1 && !name.starts_with('-'))
}

/// `-session` means `--session`, as in the upstream tool.
fn with_two_dashes(argument: &OsString, long: &[String]) -> OsString {
    let spelled = argument.to_str().and_then(|text| text.strip_prefix('-')).filter(|text| {
        let name = text.split('=').next().unwrap_or_default();
        long.iter().any(|option| option == name)
    });
    match spelled {
        Some(_) => {
            let mut doubled = OsString::from("-");
            doubled.push(argument);
            doubled
        }
        None => argument.clone(),
    }
}

/// The long options of a command and of everything below it.
fn long_options(command: &clap::Command) -> Vec<String> {
    let own = command.get_arguments().flat_map(|argument| {
        argument
            .get_long_and_visible_aliases()
            .unwrap_or_default()
            .into_iter()
            .chain(argument.get_all_aliases().unwrap_or_default())
    });
    let standard = ["help", "version"].into_iter();
    own.chain(standard)
        .map(str::to_owned)
        .chain(command.get_subcommands().flat_map(long_options))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session(arguments: &[&str]) -> Option<OsString> {
        let arguments: Vec<OsString> = arguments.iter().map(OsString::from).collect();
        parse(&arguments).unwrap().session
    }

    #[test]
    fn only_the_command_script_keeps_its_arguments() {
        let wants = |line: &str| {
            let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            wants_json(&words)
        };
        assert!(wants("claims --json") && wants("session list --format json"));
        assert!(wants("goal show script --json") && wants("--session script claims --json"));
        assert!(!wants("script it.js --json") && !wants("--store fs script it.js --json"));
        assert!(!wants("claim run work -- ls --json"));
    }

    #[test]
    fn the_tree_is_sound() {
        Line::command().debug_assert();
    }

    #[test]
    fn long_options_take_one_dash_or_two() {
        for spelling in ["--session", "-session", "--session-id", "-session-id"] {
            assert_eq!(session(&["session", "id", spelling, "x"]), Some("x".into()), "{spelling}");
        }
        assert_eq!(session(&["session", "id", "-session=-x"]), Some("-x".into()));
        assert_eq!(session(&["-session", "x", "whoami"]), Some("x".into()));
        let line: Vec<OsString> =
            ["claim", "run", "r", "--", "ls", "-session"].map(OsString::from).into();
        let Some(Command::Claim(claim)) = parse(&line).unwrap().command else { panic!() };
        let Some(ClaimCommand::Run { command, .. }) = &claim.command else { panic!() };
        assert_eq!(*command, ["ls", "-session"], "another program's options are its own");
    }

    #[test]
    fn everything_after_the_file_belongs_to_the_script() {
        for (line, words, test) in [
            ("script it.js --test -c X", "it.js --test -c X", false),
            ("script it.js -test --session x", "it.js -test --session x", false),
            ("script -test it.js -json", "it.js -json", true),
            ("-session s script --test -c X it.js --help -- -V", "it.js --help -- -V", true),
            ("script -- it.js --test", "it.js --test", false),
            ("script -cX it.js", "it.js", false),
        ] {
            let typed: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            let Some(Command::Script(script)) = parse(&typed).unwrap().command else { panic!() };
            let kept: Vec<_> = script.words.iter().map(|it| it.to_str().unwrap()).collect();
            assert_eq!((kept.join(" ").as_str(), script.test), (words, test), "{line}");
        }
    }
}
