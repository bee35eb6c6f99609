//! `osm:context`: files, diffs and notes become a prompt, without passing through a script.

use serde_json::Value;

use crate::desk::Desk;

pub(super) fn call(_desk: &Desk, function: &str, _arguments: &[Value]) -> Result<Value, String> {
    Err(format!("osm:context has no function {function}"))
}
