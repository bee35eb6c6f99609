//! A failed command, as the user sees it.

use osm_script::{Kind, ScriptError};

use crate::error::{CommandError, Failure};

/// The message and the hints of a failed command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CommandFailure {
    /// The stable name of the failure, for programs.
    reason: &'static str,
    pub(crate) message: String,
    pub(crate) hints: Vec<String>,
}

impl CommandFailure {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { reason: "command_failed", message: message.into(), hints: Vec::new() }
    }

    fn because(self, reason: &'static str) -> Self {
        Self { reason, ..self }
    }

    pub(crate) fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// The same as an error that ends the program.
    pub(crate) fn into_error(self) -> CommandError {
        let error = CommandError::failed(self.reason, self.message);
        self.hints.into_iter().fold(error, CommandError::with_hint)
    }
}

impl From<ScriptError> for CommandFailure {
    fn from(error: ScriptError) -> Self {
        match error.kind {
            Kind::Interrupted => Self::new("stopped").because("interrupted"),
            Kind::TimedOut => Self::new(format!("stopped: {}", error.message))
                .because("time_limit")
                .with_hint("raise the limit: `osm config set script.time_limit_seconds 300`"),
            Kind::OutOfMemory => Self::new(format!("stopped: {}", error.message))
                .because("memory_limit")
                .with_hint("raise the limit: `osm config set script.memory_limit_mb 2048`"),
            Kind::Thrown | Kind::Unusable => Self::new(message(&error)).because("script_failed"),
        }
    }
}

/// The message of a thrown error. An `Error` thrown by a command of osm is a sentence for the user;
/// any other exception is a fault in a script, and its author needs the place.
fn message(error: &ScriptError) -> String {
    match (error.name.as_str(), &error.place) {
        ("Error", None) => error.message.clone(),
        _ => error.to_string(),
    }
}

impl<F: Failure> From<F> for CommandFailure {
    fn from(error: F) -> Self {
        let failure = Self::new(error.to_string()).because(error.reason());
        error.hints().into_iter().fold(failure, Self::with_hint)
    }
}

impl From<CommandError> for CommandFailure {
    fn from(error: CommandError) -> Self {
        let failure = Self::new(error.message().unwrap_or_default()).because(error.reason());
        error.hints().into_iter().fold(failure, Self::with_hint)
    }
}
