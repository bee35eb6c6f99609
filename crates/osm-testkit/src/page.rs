//! Pages of the documentation that tests write, so that they are true.

use std::io::{self, Write};
use std::path::Path;

/// Whether a page of `docs/` is what it must be. One that is not is rewritten, to be looked at
/// and committed, and the run fails.
pub fn is_settled(name: &str, page: &str) -> io::Result<bool> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(name);
    if std::fs::read_to_string(&path).is_ok_and(|old| old == page) {
        return Ok(true);
    }
    std::fs::write(&path, page)?;
    writeln!(io::stderr(), "docs/{name} was out of date; it is rewritten: commit it")?;
    Ok(false)
}
