//! `osm session delete`.

use crate::cli::{Force, Sure};
use crate::error::CommandError;
use crate::invocation::Invocation;
use crate::ops::session::{self, DeleteRequest};
use crate::render::Ui;

pub(super) fn run(
    names: &[String],
    force: Force,
    sure: Sure,
    invocation: &Invocation,
    ui: &mut Ui,
) -> Result<(), CommandError> {
    let request =
        DeleteRequest { ids: names.to_vec(), force: force.force, consent: super::consent(sure) };
    let result = session::delete(invocation, &request, ui)?;
    let verb = if result.dry_run { "would delete" } else { "deleted" };
    for item in &result.deleted {
        ui.line(format!("{verb} {}", item.label()));
    }
    let mut failed = result.failed.into_iter().map(|(_, error)| CommandError::from(error));
    let last = failed.next_back();
    for error in failed {
        ui.fail(&error);
    }
    last.map_or(Ok(()), Err)
}
