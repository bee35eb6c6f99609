//! Finds the programs to compare.
//!
//! The first is the yardstick. Users who have peers installed name them; no peer is required.

use std::fs::File;
use std::path::Path;
use std::process::{Command, Stdio};

use serde::{Deserialize, Serialize};

use crate::measure::say;
use osm_testkit::bench::Result;
use osm_testkit::bench::peers::{Peer, named};

/// One program and how it is started.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Program {
    /// What the tables call it.
    pub(crate) name: String,
    /// The program and its arguments.
    pub(crate) command: Vec<String>,
    /// The most that its median may be, in medians of the yardstick.
    pub(crate) target: Option<f64>,
    /// The program that is measured under chains of processes, too.
    pub(crate) deep: bool,
}

impl Program {
    fn new(name: &str, command: &[&str]) -> Self {
        Self {
            name: name.to_owned(),
            command: command.iter().map(|&word| word.to_owned()).collect(),
            target: None,
            deep: false,
        }
    }

    /// The command line to start it with.
    pub(crate) fn command(&self) -> Command {
        let (program, arguments) = self.command.split_first().expect("a program has a path");
        let mut command = Command::new(program);
        command.args(arguments);
        command
    }
}

/// Lists the programs that exist on this machine, each tried once.
///
/// A program that fails at once looks very fast, so one that fails is an error; and the two builds
/// of osm must say the same when asked from the same place.
pub(crate) fn find(workspace: &Path) -> Result<Vec<Program>> {
    let mut programs = vec![Program::new("/bin/true", &["/bin/true"])];
    match build_nothing()? {
        Some(path) => programs.push(Program::new("static C, does nothing", &[&path])),
        None => say("no C compiler that links statically: left out the floor")?,
    }

    let release = Program {
        target: Some(1.6),
        ..Program::new("osm, cargo build --release", &[env!("CARGO_BIN_EXE_osm"), "session", "id"])
    };
    let id = printed_id(&release)?;
    let dist_path = workspace.join("dist/osm");
    let dist_path = dist_path.to_str().ok_or("the path of the workspace is not UTF-8")?;
    if Path::new(dist_path).exists() {
        let dist = Program {
            target: Some(0.8),
            deep: true,
            ..Program::new("osm, scripts/release", &[dist_path, "session", "id"])
        };
        let dist_id = printed_id(&dist)?;
        if dist_id != id {
            return Err(format!("the builds disagree: {id} and {dist_id}").into());
        }
        programs.extend([release, dist]);
    } else {
        say("no dist/osm: run scripts/release; measuring the plain build only")?;
        programs.push(Program { deep: true, ..release });
    }

    for peer in peers()? {
        printed_id(&peer)?;
        programs.push(peer);
    }
    for program in &programs {
        drop_from_memory(Path::new(&program.command[0]))?;
    }
    Ok(programs)
}

/// Makes the kernel forget a program's file, so that the next start reads it from the disk.
///
/// A file that was just written lies in memory in larger pieces than one that was read, and these
/// are cheaper to map: a program starts a tenth faster right after it was built than it ever will
/// for its users. `/bin/true` has no such advantage, so no other program gets it.
fn drop_from_memory(path: &Path) -> Result<()> {
    let synced = File::open(path).and_then(|file| file.sync_all());
    synced.map_err(|error| format!("{}: {error}", path.display()))?;
    let dropped = Command::new("dd")
        .arg(format!("if={}", path.display()))
        .args(["iflag=nocache", "count=0", "status=none"])
        .status();
    if !dropped.is_ok_and(|status| status.success()) {
        say("no dd that knows nocache: what was just built starts faster than it will for users")?;
    }
    Ok(())
}

/// Programs that the user names: `name=/path/to/program arguments`.
fn peers() -> Result<Vec<Program>> {
    let program = |peer: &Peer| {
        let words: Vec<&str> = peer.command.split_whitespace().collect();
        Program::new(&peer.name, &words)
    };
    Ok(named()?.iter().map(program).collect())
}

/// Runs a program and returns the line that it printed.
fn printed_id(program: &Program) -> Result<String> {
    let output = program
        .command()
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("{}: {error}", program.command.join(" ")))?;
    let printed = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    if !output.status.success() || printed.is_empty() {
        return Err(format!(
            "{}: {}, printed {printed:?}; not worth measuring",
            program.command.join(" "),
            output.status
        )
        .into());
    }
    Ok(printed)
}

/// Compiles the program that does nothing, with the smallest C library to be had.
fn build_nothing() -> Result<Option<String>> {
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/identity/nothing.c");
    let program = concat!(env!("CARGO_TARGET_TMPDIR"), "/nothing");
    for compiler in ["musl-gcc", "cc"] {
        let status = Command::new(compiler)
            .args(["-O2", "-static", "-s", "-o", program, source])
            .stderr(Stdio::null())
            .status();
        match status {
            Ok(status) if status.success() => return Ok(Some(program.to_owned())),
            Ok(_) => {}
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(format!("{compiler}: {error}").into()),
        }
    }
    Ok(None)
}
