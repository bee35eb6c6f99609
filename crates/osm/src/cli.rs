//! What can be typed.

use std::ffi::OsString;

use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand};
use clap_complete::Shell;

use crate::error::CommandError;

/// One stable session for every terminal and every coding agent.
#[derive(Debug, Parser)]
#[command(
    name = "osm",
    version,
    disable_help_subcommand = true,
    after_help = "Examples:
  osm                            where you are, and why
  osm session id                 the id of this session, for scripts
  osm session id --explain       how it was found
  OSM_SESSION=build osm whoami   a session of your own choice

Exit codes: 0 done, 1 failed, 2 wrong command line."
)]
pub(crate) struct Line {
    /// Use this session instead of the one that is detected
    #[arg(long, global = true, value_name = "ID", alias = "session-id")]
    pub(crate) session: Option<OsString>,
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Tell which session this is
    #[command(after_help = "Examples:
  osm whoami          for people
  osm whoami --json   for programs")]
    Whoami {
        #[command(flatten)]
        format: Format,
    },
    /// Work with sessions
    #[command(subcommand, arg_required_else_help = true)]
    Session(Session),
    /// Print a completion script for a shell
    #[command(after_help = "Examples:
  osm completion bash > ~/.local/share/bash-completion/completions/osm
  osm completion zsh  > \"${fpath[1]}/_osm\"
  osm completion fish > ~/.config/fish/completions/osm.fish")]
    Completion {
        /// The shell to complete in
        shell: Shell,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum Session {
    /// Print the id of this session
    #[command(after_help = "Examples:
  osm session id                   the id and nothing else
  osm session id --explain         the ancestry, and every candidate with its reason
  osm session id --json | jq .source
  osm session id --session build   the id that a name stands for")]
    Id {
        /// Show the ancestry and every candidate, with the reason why it won or lost
        #[arg(long, conflicts_with = "json")]
        explain: bool,
        #[command(flatten)]
        format: Format,
    },
}

#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct Format {
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Reads a command line.
pub(crate) fn parse(arguments: &[OsString]) -> Result<Line, CommandError> {
    let command = command();
    let long: Vec<String> = long_options(&command);
    let arguments = arguments.iter().map(|argument| with_two_dashes(argument, &long));
    command
        .try_get_matches_from(std::iter::once("osm".into()).chain(arguments))
        .and_then(|matches| Line::from_arg_matches(&matches))
        .map_err(|error| CommandError::Arguments(Box::new(error)))
}

/// The command tree, for parsing, help and completion.
pub(crate) fn command() -> clap::Command {
    Line::command()
}

/// `-session` means `--session`, as in other tools that people come from.
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
    fn the_tree_is_sound() {
        command().debug_assert();
    }

    #[test]
    fn long_options_take_one_dash_or_two() {
        for spelling in ["--session", "-session", "--session-id", "-session-id"] {
            assert_eq!(session(&["session", "id", spelling, "x"]), Some("x".into()), "{spelling}");
        }
        assert_eq!(session(&["session", "id", "-session=-x"]), Some("-x".into()));
        assert_eq!(session(&["-session", "x", "whoami"]), Some("x".into()));
    }
}
