//! What the copy of this binary that has the name of an agent is asked to measure.

use std::fs;
use std::path::{Path, PathBuf};

use osm_testkit::bench::{Result, workspace};
use serde::{Deserialize, Serialize};

/// One session of an agent.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Request {
    /// The name of the agent's process.
    pub(crate) program: String,
    /// The builds of osm, with their names in the tables; the last is the one that users install.
    pub(crate) builds: Vec<(String, PathBuf)>,
    /// The home of each ledger, with the claims that others have in it.
    pub(crate) homes: Vec<(u32, PathBuf)>,
    /// The worktree.
    pub(crate) folder: PathBuf,
    pub(crate) rounds: u32,
    /// Where the times are written.
    pub(crate) times: PathBuf,
}

impl Request {
    pub(crate) fn save(&self, path: &Path) -> Result<()> {
        Ok(fs::write(path, serde_json::to_vec(self)?)?)
    }

    pub(crate) fn load(path: &Path) -> Result<Self> {
        Ok(serde_json::from_slice(&fs::read(path)?)?)
    }
}

/// The builds of osm: that of cargo, and that of `scripts/release` if it exists.
pub(crate) fn builds() -> Vec<(String, PathBuf)> {
    let plain = PathBuf::from(env!("CARGO_BIN_EXE_osm"));
    let shipped = workspace().join("dist/osm");
    let mut builds = vec![("cargo build --release".to_owned(), plain)];
    if shipped.exists() {
        builds.push(("scripts/release".to_owned(), shipped));
    }
    builds
}
