//! What can be typed after `osm config`.

use std::path::PathBuf;

use clap::Subcommand;
use clap::builder::PossibleValue;

use super::Format;
use super::offer::Offer;
use crate::config::keys;

#[derive(Debug, Subcommand)]
pub(crate) enum Config {
    /// List every setting with its value and where that comes from
    #[command(after_help = "Examples:
  osm config list
  osm config list --json | jq '.[] | select(.source != \"default\")'")]
    List {
        #[command(flatten)]
        format: Format,
    },
    /// Print the value of a setting and nothing else
    #[command(after_help = "Examples:
  osm config get session.max_count
  osm config get identity.shells     one name each line")]
    Get {
        /// The setting, as `osm config list` shows it
        #[arg(value_parser = Offer(settings), hide_possible_values = true)]
        key: String,
    },
    /// Change a setting; the rest of the file stays as it is
    #[command(after_help = "Examples:
  osm config set session.max_age_days 30
  osm config set session.max_count 0               no limit
  osm config set session.auto_cleanup_enabled false
  osm config set identity.wrappers my-run my-env   these, and no others")]
    Set {
        /// The setting, as `osm config list` shows it
        #[arg(value_parser = Offer(settings), hide_possible_values = true)]
        key: String,
        /// The value; several for a list
        #[arg(required = true, value_name = "VALUE", allow_negative_numbers = true)]
        values: Vec<String>,
    },
    /// Take a setting out of the file, back to its default
    #[command(after_help = "Examples:
  osm config unset session.max_count")]
    Unset {
        /// The setting, as `osm config list` shows it
        #[arg(value_parser = Offer(settings), hide_possible_values = true)]
        key: String,
    },
    /// Check the file and show every problem with its line
    #[command(after_help = "Examples:
  osm config validate && echo fine

Until a problem with a limit is mended, nothing is cleaned up.")]
    Validate,
    /// Print where the file is, whether it exists or not
    #[command(after_help = "Examples:
  $EDITOR \"$(osm config path)\"")]
    Path,
    /// Take over the limits that were set for the upstream tool
    #[command(after_help = "Examples:
  osm config import-upstream                 from ~/.osm/config or ~/.one-shot-man/config
  osm config import-upstream /backup/config

OSM_CONFIG, if set, names the file, as it does for that tool. It is only read.")]
    ImportUpstream {
        /// Its file
        file: Option<PathBuf>,
    },
}

fn settings() -> Vec<PossibleValue> {
    keys::all().map(|key| PossibleValue::new(key.name).help(key.doc)).collect()
}
