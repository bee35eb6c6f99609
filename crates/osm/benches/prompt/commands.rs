//! Measures many commands in one session, each of which is saved.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::Path;

use osm_testkit::bench::options::Options;
use osm_testkit::bench::statistics::Spread;
use osm_testkit::bench::{Result, timed};

use crate::run::{Osm, finish};
use crate::say;

/// The number of commands that a session's history keeps.
pub(crate) const MANY: u32 = 200;
const ROUNDS: u32 = 5;

/// What a command costs, in microseconds.
pub(crate) struct Commands {
    /// One of many, without the start of the program.
    pub(crate) each: Spread,
    /// Replacing a file of the same size durably.
    pub(crate) bare: Spread,
    /// Bytes of the session after all of them.
    pub(crate) size: u64,
}

pub(crate) fn measure(options: &Options, osm: &Osm, folder: &Path) -> Result<Commands> {
    say(&format!("{MANY} commands"))?;
    let home = folder.join("home");
    fs::create_dir_all(&home)?;
    let lines = |count: u32| (1..=count).map(|number| format!("note remark number {number}\n"));
    let script = |count: u32| -> Result<_> {
        let file = folder.join(format!("commands-{count}"));
        fs::write(&file, lines(count).collect::<String>())?;
        Ok(file)
    };
    let (one, many) = (script(1)?, script(MANY)?);
    let (mut each, mut bare) = (Vec::new(), Vec::new());
    let mut size = 0;
    for round in 0..options.rounds.unwrap_or(ROUNDS) {
        let run = |name: &str, file: &Path| {
            let mut command = osm.command(&home, &format!("{name}-{round}"), &["code-review"]);
            command.stdin(File::open(file)?);
            finish(command)
        };
        let start = run("one", &one)?;
        each.push((run("many", &many)? - start) / f64::from(MANY - 1));
        size = largest(&home.join("sessions"))?;
        let bytes = vec![b'x'; usize::try_from(size)?];
        bare.push(timed(|| replace(folder, &bytes))?);
    }
    Ok(Commands { each: Spread::of(&each), bare: Spread::of(&bare), size })
}

/// The size of the longest session.
fn largest(sessions: &Path) -> Result<u64> {
    let sizes = fs::read_dir(sessions)?.map(|entry| Ok(entry?.metadata()?.len()));
    Ok(sizes.collect::<Result<Vec<_>>>()?.into_iter().max().unwrap_or_default())
}

/// Replaces a file durably.
fn replace(folder: &Path, bytes: &[u8]) -> Result<()> {
    let temporary = folder.join("temporary");
    let mut file = File::create(&temporary)?;
    file.write_all(bytes)?;
    file.sync_data()?;
    drop(file);
    fs::rename(temporary, folder.join("document"))?;
    Ok(File::open(folder)?.sync_all()?)
}
