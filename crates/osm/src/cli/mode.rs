//! `osm code-review`, `osm prompt-flow`, `osm script`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;

/// The options of every command that runs a mode or a script.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct ModeArguments {
    /// Run this command of the mode and exit; repeat the option for more commands
    #[arg(short = 'c', long = "command", value_name = "COMMAND")]
    pub(crate) commands: Vec<String>,
    /// Stop at the first command that fails; `show` and `copy` fail if something is missing in the prompt
    #[arg(long)]
    pub(crate) fail_fast: bool,
    /// Do not count tokens
    #[arg(long)]
    pub(crate) no_tokens: bool,
    /// Warn when a prompt has more tokens than this
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
    /// Write log messages of this level and above; without --log-file, to osm.log in the configuration folder
    #[arg(long, value_name = "LEVEL", value_parser = ["debug", "info", "warn", "error", "off"])]
    pub(crate) log_level: Option<String>,
}

#[derive(Args, Clone, Debug)]
pub(crate) struct ScriptArguments {
    /// The script to run, and its arguments. Everything after FILE belongs to the script, which reads it
    /// from `args`; options of osm come before FILE
    // One argument, so that the parser takes no word after FILE for an option of osm.
    #[arg(required = true, trailing_var_arg = true, value_names = ["FILE", "ARGUMENT"])]
    pub(crate) words: Vec<OsString>,
    /// Run the script as a test: print the progress of `ctx`, and fail if a test fails
    #[arg(long)]
    pub(crate) test: bool,
    /// Enter the mode that the script registers, even if stdin is not a terminal
    #[arg(long, short)]
    pub(crate) interactive: bool,
    #[command(flatten)]
    pub(crate) mode: ModeArguments,
}
