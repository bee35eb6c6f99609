//! A command that failed, as whoever typed it sees it.

use osm_script::{Kind, ScriptError};

use crate::error::CommandError;

/// What happened, and what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    pub(crate) message: String,
    pub(crate) hints: Vec<String>,
}

impl Failure {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), hints: Vec::new() }
    }

    pub(crate) fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// The same as the end of the program.
    pub(crate) fn into_error(self) -> CommandError {
        let error = CommandError::failed(self.message);
        self.hints.into_iter().fold(error, CommandError::with_hint)
    }
}

impl From<ScriptError> for Failure {
    fn from(error: ScriptError) -> Self {
        match error.kind {
            Kind::Interrupted => Self::new("stopped"),
            Kind::TimedOut => Self::new("stopped: it computed for too long")
                .with_hint("`osm config set script.time_limit_seconds 300` gives it more time"),
            Kind::OutOfMemory => Self::new("stopped: it needed too much memory")
                .with_hint("`osm config set script.memory_limit_mb 2048` gives it more"),
            Kind::Thrown | Kind::Spoiled => Self::new(said(&error)),
        }
    }
}

/// An error that a command of ours throws is a sentence for people; a fault in a script is for its
/// author, who wants to know what and where.
fn said(error: &ScriptError) -> String {
    match (error.name.as_str(), &error.place) {
        ("Error", None) => error.message.clone(),
        _ => error.to_string(),
    }
}

impl From<osm_store::Error> for Failure {
    fn from(error: osm_store::Error) -> Self {
        let failure = Self::new(error.to_string());
        error.hint().into_iter().fold(failure, Self::with_hint)
    }
}
