//! The contracts of the upstream tool's modules, function by function. Where osm differs on purpose,
//! docs/scripting.md says so.

mod crypto;
mod flag;
mod json;
#[cfg(unix)]
mod os;
#[cfg(unix)]
mod path;

use serde_json::Value;

use crate::harness::Stage;

/// Checks the values of expressions, in which `it` is the module.
fn check(stage: &Stage, module: &str, rows: &[(&str, Value)]) {
    for (source, expected) in rows {
        let found = stage.value(&format!("{{ const it = require('{module}'); {source} }}"));
        assert_eq!(found, *expected, "{module}: {source}");
    }
}

/// Checks what expressions throw.
fn refuse(stage: &Stage, module: &str, rows: &[(&str, &str, &str)]) {
    for (source, name, message) in rows {
        let error = stage.error(&format!("{{ const it = require('{module}'); {source} }}"));
        assert_eq!((error.name.as_str(), error.message.as_str()), (*name, *message), "{source}");
    }
}
