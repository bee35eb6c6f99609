//! `osm:files`: the files that `osm:path` looks through.

use std::path::Path;

use serde_json::json;

use super::Native;

/// A folder that cannot be read has nothing in it, as for a pattern of a shell.
pub(super) const FUNCTIONS: &[(&str, Native)] = &[
    ("exists", |host, it| Ok(json!(host.exists(Path::new(it.text(0)?))))),
    ("list", |host, it| Ok(json!(host.list(Path::new(it.text(0)?)).unwrap_or_default()))),
];
