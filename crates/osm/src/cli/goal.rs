//! The arguments of `osm goal`.

use clap::{Args, Subcommand};

use super::{Format, ModeArguments};

/// `osm goal NAME`, or a subcommand.
#[derive(Args, Debug)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "Examples:
  osm goal                                    list all goals
  osm goal commit-message                     collect files and diffs, then type `copy`
  osm goal commit-message -c 'run --staged'   print the prompt for the staged changes
  osm goal doc-generator -c 'type api' -c 'add src' -c copy
  osm goal commit-message@tree                use the working tree's goal of this name
  osm goal new my-goal                        create a goal

A goal in the working tree that contains code runs only after `osm trust FILE`."
)]
pub(crate) struct Goal {
    #[command(subcommand)]
    pub(crate) command: Option<GoalCommand>,
    /// The goal; without one, list all goals
    #[arg(value_name = "NAME")]
    pub(crate) name: Option<String>,
    #[command(flatten)]
    pub(crate) mode: ModeArguments,
}

#[derive(Debug, Subcommand)]
pub(crate) enum GoalCommand {
    /// List goals
    #[command(after_help = "Examples:
  osm goal list
  osm goal list --json | jq '.[] | select(.origin != \"builtin\")'")]
    List {
        #[command(flatten)]
        format: Format,
    },
    /// Show the variables, commands and instructions of a goal
    #[command(after_help = "Examples:
  osm goal show test-generator
  osm goal show commit-message --json")]
    Show {
        /// The goal
        name: String,
        #[command(flatten)]
        format: Format,
    },
    /// Create a goal that you can edit
    #[command(after_help = "Examples:
  osm goal new release-notes              for you, in every repository
  osm goal new release-notes --here       for everyone who works in this repository
  osm goal new deploy --json-file         with a command in JavaScript")]
    New {
        /// Name of the goal: letters, digits and hyphens
        name: String,
        /// Describe the purpose of the goal in one sentence
        #[arg(long, short, value_name = "TEXT")]
        description: Option<String>,
        /// Create it in .osm/goals of the working directory
        #[arg(long)]
        here: bool,
        /// Create a JSON file, which can contain code
        #[arg(long)]
        json_file: bool,
        #[command(flatten)]
        format: Format,
    },
    /// Show the folders in which osm looks for goals
    #[command(after_help = "Examples:
  osm goal paths
  osm config set goal.paths ~/team/goals   add a folder")]
    Paths {
        #[command(flatten)]
        format: Format,
    },
}
