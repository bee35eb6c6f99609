//! The arguments of `osm agent` and `osm prime`.

use clap::{Args, Subcommand};

use super::Format;

#[derive(Debug, Subcommand)]
pub(crate) enum Agent {
    /// Install hooks, so that an edit of a file that another session holds is refused
    #[command(after_help = "Examples:
  osm agent install                     in every agent that this user has settings of
  osm agent install claude codex
  osm agent install claude --project    for all users of this repository
  osm agent install --all --dry-run     show the difference, and change nothing
  osm agent install --check             exit with 1 if something would change

Agents: claude, codex, gemini, qwen, opencode, copilot, cline, pi, cursor, crush, goose.
osm keeps the rest of your files, and `osm agent remove` restores them.")]
    Install {
        #[command(flatten)]
        which: Which,
        /// Change nothing, and exit with 1 if something would change
        #[arg(long, conflicts_with = "dry_run")]
        check: bool,
        /// Also make Codex trust the hooks, which it otherwise asks you for in /hooks
        #[arg(long)]
        trust: bool,
        /// Do not ask for confirmation
        #[arg(long, short)]
        yes: bool,
    },
    /// Remove what `osm agent install` wrote
    #[command(after_help = "Examples:
  osm agent remove                      from every agent of this user
  osm agent remove claude --project")]
    Remove {
        #[command(flatten)]
        which: Which,
    },
    /// Show which agents have hooks
    Status {
        #[command(flatten)]
        format: Format,
    },
    /// Prove that the hooks work: two sessions race for a file, and one is killed
    Check {
        #[command(flatten)]
        format: Format,
    },
    /// Answer the hook of an agent, which writes its event to standard input
    #[command(
        after_help = "Agents run this command; `osm agent install` configures it. It always exits with 0: \
                            the answer is on standard output, in the form that the agent reads."
    )]
    Hook {
        /// The event: session-start, subagent-start, before-tool, after-tool or session-end
        event: String,
    },
}

/// Which agents, and where.
#[derive(Args, Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is an option of its own")]
pub(crate) struct Which {
    /// The agents [default: those that this user has settings of]
    #[arg(value_name = "AGENT")]
    pub(crate) names: Vec<String>,
    /// All agents that osm knows
    #[arg(long, conflicts_with = "names")]
    pub(crate) all: bool,
    /// Change your own settings, for every project (default)
    #[arg(long, conflicts_with = "project")]
    pub(crate) user: bool,
    /// Change the settings of this repository, for all its users
    #[arg(long)]
    pub(crate) project: bool,
    /// Show the difference, and change nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) format: Format,
}
