//! Pages of the documentation that tests write, so that they are true.

use std::io::Write;
use std::path::Path;

/// Whether a page of `docs/` is what it must be. One that is not is written anew, to be looked at
/// and committed, and the run fails.
#[must_use]
pub fn is_settled(name: &str, page: &str) -> bool {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(name);
    if std::fs::read_to_string(&path).is_ok_and(|old| old == page) {
        return true;
    }
    std::fs::write(&path, page).expect("docs/ can be written");
    let told =
        writeln!(std::io::stderr(), "docs/{name} was out of date; it is written anew: commit it");
    told.expect("standard error can be written");
    false
}
