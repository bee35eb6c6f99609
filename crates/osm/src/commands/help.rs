//! `osm help` and `osm version`: the same as `--help` and `--version`.

use serde_json::json;

use crate::cli::{self, Format};
use crate::error::CommandError;
use crate::render::Ui;

/// The help of a command, which the argument parser prints.
pub(super) fn of(command: &[String]) -> CommandError {
    let mut arguments: Vec<std::ffi::OsString> = command.iter().map(Into::into).collect();
    arguments.push("--help".into());
    match cli::parse(&arguments) {
        Err(error) => error,
        Ok(_) => CommandError::failed("usage", "cannot show the help of this command"),
    }
}

pub(super) fn version(format: Format, ui: &mut Ui) {
    let version = env!("CARGO_PKG_VERSION");
    if format.json {
        return ui.json(&json!({ "name": "osm", "version": version }));
    }
    ui.line(format!("osm {version}"));
}
