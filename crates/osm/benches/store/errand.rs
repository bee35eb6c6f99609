//! What this binary does when it is run once more: a process of its own, start-up and all.

use std::path::Path;
use std::process::{Command, Stdio};

use osm_identity::System;
use osm_store::cleanup::{Cleaner, Options};
use osm_store::retention::{Mode, Policy, Uptime};
use osm_testkit::bench::Result;

use crate::{bare, sample, writers};

/// Such a process, not started yet; what it says goes nowhere.
pub(crate) fn command(words: &[&str], place: &Path) -> Result<Command> {
    let mut command = Command::new(std::env::current_exe()?);
    command.arg("--errand").args(words).arg(place).stdout(Stdio::null());
    Ok(command)
}

/// Does an errand.
pub(crate) fn run(words: &[&str]) -> Result<()> {
    match *words {
        ["list", folder] => bare::list(Path::new(folder)).map(|_| ()),
        ["unlink", folder] => bare::unlink(Path::new(folder)),
        ["clean", root] => clean(Path::new(root)),
        ["write", writer, changes, root] => {
            writers::write(Path::new(root), writer, changes.parse()?)
        }
        _ => Err(format!("no such errand: {words:?}").into()),
    }
}

/// What `osm session clean` does, but for good: the trash is a second copy, synced one by one.
fn clean(root: &Path) -> Result<()> {
    let store = sample::store(root)?;
    let cleaner = Cleaner {
        backend: store.backend(),
        policy: &Policy::default(),
        holder: &sample::holder(),
        current: &[],
        processes: &System,
        uptime: &Uptime::default(),
    };
    let options = Options { keep_in_trash: false, ..Options::default() };
    let report = cleaner.clean_up(Mode::Clean, &options, &mut |_| {})?;
    match report.failed.first() {
        None => Ok(()),
        Some(failed) => Err(format!("{}: {}", failed.item, failed.error).into()),
    }
}
