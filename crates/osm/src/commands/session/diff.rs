//! `osm session diff`.

use crate::cli::Format;
use crate::error::CommandError;
use crate::invocation::Invocation;
use crate::ops::session::{self, DiffRequest};
use crate::render::{Ui, brief};

/// Enough bytes for the line that shows a value.
const SHOWN: usize = 1000;

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
        let rows = differences.iter().map(session::difference_json);
        let rows = rows.collect::<Result<Vec<_>, _>>()?;
        ui.json(&rows);
        return Ok(());
    }
    if differences.is_empty() {
        ui.line("No difference");
    }
    for it in differences {
        ui.line(it.path.join(" / "));
        if let Some(before) = it.before {
            ui.line(format!("  - {}", brief(&session::beginning(&before, SHOWN)?, 100)));
        }
        if let Some(after) = it.after {
            ui.line(format!("  + {}", brief(&session::beginning(&after, SHOWN)?, 100)));
        }
    }
    Ok(())
}
