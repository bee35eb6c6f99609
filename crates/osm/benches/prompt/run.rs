//! Programs, run to their end.

use std::path::Path;
use std::process::{Command, Stdio};

use osm_testkit::bench::{Result, timed};

/// The program itself, in a home of its own.
pub(crate) fn osm(home: &Path, session: &str, words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_osm"));
    command.args(words).env_clear().env("PATH", path());
    command.env("OSM_HOME", home).env("OSM_SESSION", session);
    command
}

/// Where programs are looked for: git among them.
pub(crate) fn path() -> String {
    std::env::var("PATH").unwrap_or_default()
}

/// How long a process takes from its start to its end, which must be a good one.
pub(crate) fn finish(mut command: Command) -> Result<f64> {
    command.stdout(Stdio::null()).stderr(Stdio::null());
    timed(|| match command.status()? {
        status if status.success() => Ok(()),
        status => Err(format!("{command:?}: {status}").into()),
    })
}

/// The most memory that a program has at once, in megabytes; `None` where nobody measures it.
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
