//! The arguments of `osm config`.

use std::path::PathBuf;

use clap::Subcommand;

use super::Format;

#[derive(Debug, Subcommand)]
pub(crate) enum Config {
    /// List every setting with its value and source
    #[command(after_help = "Examples:
  osm config list
  osm config list --json | jq '.[] | select(.source != \"default\")'")]
    List {
        #[command(flatten)]
        format: Format,
    },
    /// Print the value of a setting
    #[command(after_help = "Examples:
  osm config get session.max_count
  osm config get identity.shells     a list: one value on each line")]
    Get {
        /// The setting, as in `osm config list`
        key: String,
        #[command(flatten)]
        format: Format,
    },
    /// Change a setting and keep the rest of the file
    #[command(after_help = "Examples:
  osm config set session.max_age_days 30
  osm config set session.max_count 0               no limit
  osm config set session.auto_cleanup_enabled false
  osm config set identity.wrappers my-run my-env   replace the list")]
    Set {
        /// The setting, as in `osm config list`
        key: String,
        /// The value, or several for a list
        #[arg(required = true, value_name = "VALUE", allow_negative_numbers = true)]
        values: Vec<String>,
        #[command(flatten)]
        format: Format,
    },
    /// Remove a setting from the file, so that its default applies
    #[command(after_help = "Examples:
  osm config unset session.max_count")]
    Unset {
        /// The setting, as in `osm config list`
        key: String,
        #[command(flatten)]
        format: Format,
    },
    /// Check the file and show every problem with its line
    #[command(after_help = "Examples:
  osm config validate && echo valid

While a limit is invalid, osm removes no sessions.")]
    Validate {
        #[command(flatten)]
        format: Format,
    },
    /// Print the path of the file, which need not exist
    #[command(after_help = "Examples:
  $EDITOR \"$(osm config path)\"")]
    Path {
        #[command(flatten)]
        format: Format,
    },
    /// Import settings of the upstream tool
    #[command(after_help = "Examples:
  osm config import-upstream                 from ~/.osm/config or ~/.one-shot-man/config
  osm config import-upstream /backup/config

osm imports goal.paths, script.module-paths, log.file, and the limits under [sessions]. If OSM_CONFIG is set, it names the file, as for the upstream tool. osm does not change that file.")]
    ImportUpstream {
        /// The file of the upstream tool
        file: Option<PathBuf>,
        #[command(flatten)]
        format: Format,
    },
}
