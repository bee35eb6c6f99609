//! A program that is killed, or failed, at every system call with which it touches a folder.
//!
//! `strace` counts the calls that a command makes from its first look at the folder on; then the
//! command is run once for each of them and stopped right there: by SIGKILL, by SIGTERM or SIGINT in
//! turn, by an input/output error, by a full disk.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// What may stop a call; the polite signals take turns.
const STOPS: [[&str; 4]; 2] = [
    ["signal=KILL", "signal=TERM", "error=EIO", "error=ENOSPC"],
    ["signal=KILL", "signal=INT", "error=EIO", "error=ENOSPC"],
];

/// How a program learns the folder that it works in.
#[derive(Clone, Copy, Debug)]
pub enum FolderBy {
    /// Its first argument.
    Argument,
    /// A variable of its environment, which has no others.
    Variable(&'static str),
}

/// A program that works in a folder.
pub struct Stops {
    /// The words that start `strace`, for a program that runs elsewhere; none for one that does not.
    pub launcher: Vec<OsString>,
    /// The program.
    pub program: PathBuf,
    /// How it learns the folder.
    pub folder_by: FolderBy,
    /// The calls by which it reads or changes the folder, with commas between them.
    pub calls: &'static str,
    /// Where the trace goes.
    pub log: PathBuf,
}

impl Stops {
    /// Runs a command, and stops it at a point if one is given.
    pub fn run(
        &self,
        folder: &Path,
        arguments: &[&str],
        point: Option<&str>,
    ) -> io::Result<Output> {
        let words = [&self.launcher[..], &["strace".into()]].concat();
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]).args(["-f", "-qq", "-o"]).arg(&self.log);
        command.args(["-e", &format!("trace={}", self.calls)]);
        if let Some(point) = point {
            command.args(["-e", &format!("inject={point}")]);
        }
        match self.folder_by {
            FolderBy::Argument => command.arg(&self.program).arg(folder),
            FolderBy::Variable(name) => {
                let mut variable = OsString::from(format!("{name}="));
                variable.push(folder);
                command.args(["env", "-i"]).arg(variable).arg(&self.program)
            }
        };
        command.args(arguments).stdin(Stdio::null()).output()
    }

    /// Every point at which a command can be stopped, found by running it once.
    pub fn points(&self, folder: &Path, arguments: &[&str]) -> io::Result<Vec<String>> {
        let output = self.run(folder, arguments, None)?;
        if !output.status.success() {
            return Err(io::Error::other(format!("{arguments:?}: {output:?}")));
        }
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        let mut points = Vec::new();
        let mut begun = false;
        let name = folder.display().to_string();
        for line in fs::read_to_string(&self.log)?.lines() {
            // The loader's calls come first.
            begun |= line.contains(&name) && !line.contains("execve");
            let call = line.split_whitespace().nth(1).and_then(|call| call.split('(').next());
            let known = |call: &&str| self.calls.split(',').find(|it| it.trim() == *call);
            let Some(call) = call.and_then(|call| known(&call)) else { continue };
            let count = counts.entry(call.trim()).or_insert(0);
            *count += 1;
            if begun {
                let stops = STOPS[*count % 2];
                points.extend(stops.map(|stop| format!("{}:{stop}:when={count}", call.trim())));
            }
        }
        Ok(points)
    }
}

/// Copies a folder; files keep their rights.
pub fn copy_folder(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir(to)?;
    fs::set_permissions(to, fs::metadata(from)?.permissions())?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_folder(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), &target)?;
        }
    }
    Ok(())
}
