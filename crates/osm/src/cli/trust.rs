//! What can be typed after `osm trust`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::Format;

/// `osm trust PATH…`, or something else that is done with trust.
#[derive(Args, Debug)]
#[command(
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    after_help = "Examples:
  osm trust osm-goals/deploy.json          after you have read it
  osm trust list
  osm trust revoke osm-goals/deploy.json

Trust is in a file's content: after a change, also by `git pull`, it has to be given again."
)]
pub(crate) struct Trust {
    #[command(subcommand)]
    pub(crate) command: Option<TrustCommand>,
    /// The files whose code may run, as they are now
    #[arg(required = true, value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) format: Format,
}

#[derive(Debug, Subcommand)]
pub(crate) enum TrustCommand {
    /// List what is trusted, and whether it is still the same
    #[command(after_help = "Examples:
  osm trust list
  osm trust list --json | jq -r '.[] | select(.state != \"trusted\") | .path'")]
    List {
        #[command(flatten)]
        format: Format,
    },
    /// Trust files no longer
    #[command(after_help = "Examples:
  osm trust revoke osm-goals/deploy.json
  osm trust revoke osm-goals                every file below a folder")]
    Revoke {
        /// The files or folders; they need not exist any more
        #[arg(required = true, value_name = "PATH")]
        paths: Vec<PathBuf>,
        #[command(flatten)]
        format: Format,
    },
}
