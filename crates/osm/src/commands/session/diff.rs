//! `osm session diff`.

use serde_json::{Value, json};

use crate::cli::Format;
use crate::error::CommandError;
use crate::invocation::Invocation;
use crate::ops::session::{self, DiffRequest};
use crate::render::{Ui, brief};

pub(super) fn run(
    one: Option<&str>,
    other: Option<&str>,
    format: Format,
    invocation: &Invocation,
    ui: &mut Ui,
) -> Result<(), CommandError> {
    let request = DiffRequest { one: one.map(str::to_owned), other: other.map(str::to_owned) };
    let differences = session::diff(invocation, &request)?;
    if format.json {
        let rows: Vec<Value> = differences
            .iter()
            .map(|it| json!({"path": it.path, "before": it.before, "after": it.after}))
            .collect();
        ui.json(&rows);
        return Ok(());
    }
    if differences.is_empty() {
        ui.line("No difference");
    }
    for it in differences {
        ui.line(it.path.join(" / "));
        if let Some(before) = it.before {
            ui.line(format!("  - {}", brief(&before.to_string(), 100)));
        }
        if let Some(after) = it.after {
            ui.line(format!("  + {}", brief(&after.to_string(), 100)));
        }
    }
    Ok(())
}
