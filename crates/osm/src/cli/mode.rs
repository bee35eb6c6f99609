//! `osm code-review`, `osm prompt-flow`, `osm script`.

use std::path::PathBuf;

use clap::Args;

/// What every command that runs scripts takes.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct ModeArguments {
    /// Run this command of the mode, then the next, and end
    #[arg(short = 'c', long = "command", value_name = "COMMAND")]
    pub(crate) commands: Vec<String>,
    /// End at the first command that fails
    #[arg(long)]
    pub(crate) fail_fast: bool,
    /// Do not count tokens
    #[arg(long)]
    pub(crate) no_tokens: bool,
    /// Warn of prompts with more tokens than these
    #[arg(long, value_name = "TOKENS")]
    pub(crate) budget: Option<u64>,
    #[command(flatten)]
    pub(crate) log: LogArguments,
}

#[derive(Args, Clone, Debug, Default)]
pub(crate) struct LogArguments {
    /// Write a log to this file
    #[arg(long, value_name = "FILE")]
    pub(crate) log_file: Option<PathBuf>,
    /// The least that is written to the log; without a file, to osm.log beside the configuration
    #[arg(long, value_name = "LEVEL", value_parser = ["debug", "info", "warn", "error", "off"])]
    pub(crate) log_level: Option<String>,
}

#[derive(Args, Clone, Debug)]
pub(crate) struct ScriptArguments {
    /// The script
    pub(crate) file: PathBuf,
    /// What it gets as `args`
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENT")]
    pub(crate) arguments: Vec<String>,
    /// Run it as a test: `ctx` tells what it does, and a failure is one
    #[arg(long)]
    pub(crate) test: bool,
    /// Enter the mode that it registers, though nobody is at a terminal
    #[arg(long, short)]
    pub(crate) interactive: bool,
    #[command(flatten)]
    pub(crate) mode: ModeArguments,
}
