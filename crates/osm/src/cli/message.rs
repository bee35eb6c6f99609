//! The arguments of `osm ask`, `osm tell` and `osm inbox`.

use std::ffi::OsString;

use clap::Args;

use super::ClaimPlace;

/// `osm ask TARGET TEXT`.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  osm ask path:src/auth.rs 'may I have it for ten minutes?'
  osm ask TASK-7 'is this done?'          the holder of a resource
  osm ask swift-otter 'which port?'       a session, by id, unique prefix of an id, or handle

The message goes to every running session that holds the resource or a path that overlaps it. It is delivered at
the session's next hook or command about claims, and repeated until `osm inbox` acknowledges it.")]
pub(crate) struct Ask {
    /// A claimed resource, a session, or a path whose holder is asked
    pub(crate) target: OsString,
    /// The text, at most 4096 bytes
    pub(crate) text: String,
    #[command(flatten)]
    pub(crate) place: ClaimPlace,
}

/// `osm tell --all TEXT`.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  osm tell --all 'main is broken, do not pull'

Sessions of this repository get it for 24 hours, until each acknowledges it with `osm inbox`. To one session:
osm ask SESSION TEXT.")]
pub(crate) struct Tell {
    /// Send it to every other session of the scope
    #[arg(long, required = true)]
    pub(crate) all: bool,
    /// The text, at most 4096 bytes
    pub(crate) text: String,
    #[command(flatten)]
    pub(crate) place: ClaimPlace,
}

/// `osm inbox`.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  osm inbox           show the messages to this session, and acknowledge them
  osm inbox --keep    show them, and let osm repeat them
  osm inbox --json    for programs")]
pub(crate) struct Inbox {
    /// Do not acknowledge the messages
    #[arg(long)]
    pub(crate) keep: bool,
    #[command(flatten)]
    pub(crate) place: ClaimPlace,
}
