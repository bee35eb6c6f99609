//! Bare repositories that a folder is inside of.
//!
//! A clone can contain a folder that is a bare repository, with a configuration of a stranger's. A
//! user who does not want such a folder to be used says so in `safe.bareRepository`, which Git reads
//! only from the user's and the system's configuration and from its command line. Git itself is asked
//! for it, and only where the folder is in such a repository.

use std::path::Path;
use std::process::{Command, Stdio};

use osm_identity::Repository;

/// The repository around a folder, unless Git would refuse it.
pub(crate) fn repository_around(folder: &Path) -> Option<Repository> {
    Repository::around(folder).filter(|it| !it.is_implicit_bare() || !must_be_explicit())
}

/// Whether a bare repository must be named: `safe.bareRepository=explicit`.
fn must_be_explicit() -> bool {
    let output = Command::new("git")
        .args(["config", "--get", "safe.bareRepository"])
        // The configuration of no repository is read.
        .env("GIT_DIR", "/dev/null")
        .current_dir("/")
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output();
    output.is_ok_and(|it| it.stdout.trim_ascii() == b"explicit")
}
