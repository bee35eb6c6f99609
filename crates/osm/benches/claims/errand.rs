//! What this binary does when it is run once more: a process of its own, start-up and all.

use std::path::Path;
use std::process::{Command, Stdio};

use osm_testkit::bench::Result;

use crate::{bare, contest};

/// Such a process, not started yet; what it says goes nowhere.
pub(crate) fn command(words: &[&str], place: &Path) -> Result<Command> {
    let mut command = Command::new(std::env::current_exe()?);
    command.arg("--errand").args(words).arg(place).stdout(Stdio::null());
    Ok(command)
}

/// Does an errand.
pub(crate) fn run(words: &[&str]) -> Result<()> {
    match *words {
        ["commit", folder] => {
            let folder = Path::new(folder);
            let connection = bare::open(folder)?;
            bare::commit(&connection)?;
            bare::close(connection, folder)
        }
        ["commits", count, folder] => contest::commit(Path::new(folder), count.parse()?),
        ["claims", name, count, spread, folder] => {
            contest::claim(Path::new(folder), name, count.parse()?, spread == "many")
        }
        _ => Err(format!("no such errand: {words:?}").into()),
    }
}
