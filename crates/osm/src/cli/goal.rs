//! What can be typed after `osm goal`.

use clap::builder::PossibleValue;
use clap::{Args, Subcommand};

use super::offer::Offer;
use super::{Format, ModeArguments};
use crate::goals;

/// `osm goal NAME`, or something else that is done with goals.
#[derive(Args, Debug)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "Examples:
  osm goal                                    all goals
  osm goal commit-message                     collect what belongs to it, then `copy`
  osm goal commit-message -c 'run --staged'   print the prompt for what is staged
  osm goal doc-generator -c 'type api' -c 'add src' -c copy
  osm goal NAME@tree                          the goal of the working tree, if the name means another
  osm goal new my-goal                        a goal of one's own

Goals of the working tree that bring code along run only after `osm trust FILE`."
)]
pub(crate) struct Goal {
    #[command(subcommand)]
    pub(crate) command: Option<GoalCommand>,
    /// The goal; all are listed if none is named
    #[arg(value_name = "NAME", value_parser = Offer(built_in), hide_possible_values = true)]
    pub(crate) name: Option<String>,
    #[command(flatten)]
    pub(crate) mode: ModeArguments,
}

#[derive(Debug, Subcommand)]
pub(crate) enum GoalCommand {
    /// List the goals, with what they are for and where they come from
    #[command(after_help = "Examples:
  osm goal list
  osm goal list --json | jq '.[] | select(.origin != \"builtin\")'")]
    List {
        #[command(flatten)]
        format: Format,
    },
    /// Show a goal: its variables, its commands, its instructions
    #[command(after_help = "Examples:
  osm goal show test-generator
  osm goal show commit-message --json")]
    Show {
        /// The goal
        #[arg(value_parser = Offer(built_in), hide_possible_values = true)]
        name: String,
        #[command(flatten)]
        format: Format,
    },
    /// Write a file to begin a goal of one's own with
    #[command(after_help = "Examples:
  osm goal new release-notes              for all your work
  osm goal new release-notes --here       for whoever works in this repository
  osm goal new deploy --json-file         with a command of its own, in JavaScript")]
    New {
        /// Its name: letters, digits and hyphens
        name: String,
        /// What it is for, in a sentence
        #[arg(long, short, value_name = "TEXT")]
        description: Option<String>,
        /// Write it into .osm/goals of the working directory
        #[arg(long)]
        here: bool,
        /// Write JSON, which can have handlers
        #[arg(long)]
        json_file: bool,
    },
    /// Show where goals are looked for
    #[command(after_help = "Examples:
  osm goal paths
  osm config set goal.paths ~/team/goals   another folder")]
    Paths {
        #[command(flatten)]
        format: Format,
    },
}

fn built_in() -> Vec<PossibleValue> {
    goals::built_in_names().map(PossibleValue::new).collect()
}
