//! The arguments of `osm store`.

use clap::Subcommand;

use super::Format;

#[derive(Debug, Subcommand)]
pub(crate) enum Store {
    /// Show where sessions are kept, and whether the store works
    #[command(after_help = "Examples:
  osm store status
  osm --store postgres store status --json")]
    Status {
        #[command(flatten)]
        format: Format,
    },
    /// Create or upgrade the tables of a PostgreSQL server
    #[command(after_help = "Example:
  osm --store postgres store migrate

osm creates the tables at their first use. It upgrades them only by this command, because older versions of osm
cannot use them afterwards.")]
    Migrate {
        #[command(flatten)]
        format: Format,
    },
    /// Copy all sessions and archives from one store to another
    #[command(after_help = "Examples:
  osm store copy fs postgres       from the files of this machine to the server
  osm store copy postgres fs       and back

A copy that was interrupted continues when you run it again. Sessions that the target has with another content are
not changed. Each copy is read back and compared.")]
    Copy {
        /// The store to copy from: fs or postgres
        from: String,
        /// The store to copy to: fs or postgres
        to: String,
        #[command(flatten)]
        format: Format,
    },
    /// Read every session and archive, and report those that are damaged
    #[command(after_help = "Example:
  osm store check")]
    Check {
        #[command(flatten)]
        format: Format,
    },
}
