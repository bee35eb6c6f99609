//! The arguments of `osm trust`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::Format;

/// `osm trust PATH…`, or a subcommand.
#[derive(Args, Debug)]
#[command(
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    after_help = "Examples:
  osm trust osm-goals/deploy.json          read the file first
  osm trust list
  osm trust revoke osm-goals/deploy.json

You trust the current content of a file. If it changes, for example by `git pull`, its code does not run until
you trust it again."
)]
pub(crate) struct Trust {
    #[command(subcommand)]
    pub(crate) command: Option<TrustCommand>,
    /// Files whose code may run until their content changes
    #[arg(required = true, value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) format: Format,
}

#[derive(Debug, Subcommand)]
pub(crate) enum TrustCommand {
    /// List trusted files, and whether they changed
    #[command(after_help = "Examples:
  osm trust list
  osm trust list --json | jq -r '.[] | select(.state != \"trusted\") | .path'")]
    List {
        #[command(flatten)]
        format: Format,
    },
    /// Stop trusting files
    #[command(after_help = "Examples:
  osm trust revoke osm-goals/deploy.json
  osm trust revoke osm-goals                all files below a folder")]
    Revoke {
        /// Files or folders, which need not exist any more
        #[arg(required = true, value_name = "PATH")]
        paths: Vec<PathBuf>,
        #[command(flatten)]
        format: Format,
    },
}
