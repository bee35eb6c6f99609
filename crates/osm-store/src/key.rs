//! The names of state, and the zone that each lies in.
//!
//! A name without a colon is shared between all commands of a session (`contextItems`). A name with
//! one belongs to a command: `prompt-flow:phase` is `phase` of `prompt-flow`; only the first colon
//! counts. The zones never fall back into each other.

use std::fmt;

/// The name of a piece of state.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Key {
    /// All commands see it.
    Shared(String),
    /// One command's own.
    Script {
        /// The command.
        command: String,
        /// The name within it.
        name: String,
    },
}

impl Key {
    /// Reads a name as it is written: `name` or `command:name`.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        match text.split_once(':') {
            None => Self::Shared(text.to_owned()),
            Some((command, name)) => {
                Self::Script { command: command.to_owned(), name: name.to_owned() }
            }
        }
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Shared(name) => f.write_str(name),
            Self::Script { command, name } => write!(f, "{command}:{name}"),
        }
    }
}
