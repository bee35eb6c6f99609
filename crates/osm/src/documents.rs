//! Results as programs read them: one JSON document for each, the same in `--json` and over MCP.
//!
//! The keys are part of what programs rely on.

pub(crate) mod claim;
pub(crate) mod message;
pub(crate) mod session;

use serde_json::Value;

use crate::Failure;
use crate::error::CommandError;

/// The document of an error: reason, exit code, message and hints.
pub(crate) fn failure(error: impl Failure + 'static) -> Value {
    CommandError::from(error).report().unwrap_or_default()
}
