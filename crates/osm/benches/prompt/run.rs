//! Runs the programs that are compared.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use osm_testkit::bench::{Result, timed, workspace};

use crate::say;

/// A build of osm.
#[derive(Clone)]
pub(crate) struct Osm {
    /// Its name in the tables.
    pub(crate) name: &'static str,
    pub(crate) path: PathBuf,
    /// It is the build that users install, for which the targets hold.
    pub(crate) shipped: bool,
}

impl Osm {
    /// The builds to measure: that of `scripts/release`, if it exists, and that of cargo.
    pub(crate) fn builds() -> Result<Vec<Self>> {
        let plain = PathBuf::from(env!("CARGO_BIN_EXE_osm"));
        let dist = workspace().join("dist/osm");
        if !dist.exists() {
            say("no dist/osm: run scripts/release; measuring only the plain build")?;
            return Ok(vec![Self { name: "`osm`", path: plain, shipped: true }]);
        }
        Ok(vec![
            Self { name: "`dist/osm`", path: dist, shipped: true },
            Self { name: "`cargo build --release`", path: plain, shipped: false },
        ])
    }

    /// A command line of this build, with a folder of its own for sessions.
    pub(crate) fn command(&self, home: &Path, session: &str, words: &[&str]) -> Command {
        let mut command = Command::new(&self.path);
        command.args(words).env_clear().env("PATH", path());
        command.env("OSM_HOME", home).env("OSM_SESSION", session);
        command
    }
}

/// The folders that programs are searched in: git among them.
pub(crate) fn path() -> String {
    std::env::var("PATH").unwrap_or_default()
}

/// How long a program runs, which must succeed, in microseconds.
pub(crate) fn finish(mut command: Command) -> Result<f64> {
    command.stdout(Stdio::null()).stderr(Stdio::null());
    timed(|| match command.status()? {
        status if status.success() => Ok(()),
        status => Err(format!("{command:?}: {status}").into()),
    })
}

/// The peak memory of a program, in megabytes; `None` without `/usr/bin/time`.
pub(crate) fn memory(command: &Command) -> Result<Option<f64>> {
    let gauge = Path::new("/usr/bin/time");
    if !gauge.exists() {
        return Ok(None);
    }
    let note = tempfile::NamedTempFile::new()?;
    let mut gauged = Command::new(gauge);
    gauged.args(["-f", "%M", "-o"]).arg(note.path()).arg(command.get_program());
    gauged.args(command.get_args()).env_clear().stdout(Stdio::null()).stderr(Stdio::null());
    for (name, value) in command.get_envs() {
        if let Some(value) = value {
            gauged.env(name, value);
        }
    }
    if !gauged.status()?.success() {
        return Err(format!("{command:?} failed").into());
    }
    let kilobytes: f64 = std::fs::read_to_string(note.path())?.trim().parse()?;
    Ok(Some(kilobytes / 1e3))
}
