//! Other processes that claim in the same ledger: `examples/claimant.rs`.

use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Output, Stdio};

/// The program; `cargo test` builds examples too.
pub(crate) fn program() -> PathBuf {
    let deps = std::env::current_exe().unwrap();
    let folder = deps.parent().and_then(Path::parent).unwrap();
    let name = format!("claimant{}", std::env::consts::EXE_SUFFIX);
    let program = folder.join("examples").join(name);
    assert!(program.is_file(), "{} is missing: build the examples", program.display());
    program
}

/// Runs one to its end.
pub(crate) fn run(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(program());
    command.arg(folder).args(arguments).stdin(Stdio::null()).output().unwrap()
}

/// Runs one that must succeed, and returns what it says.
pub(crate) fn say(folder: &Path, arguments: &[&str]) -> String {
    said(&run(folder, arguments))
}

/// What one said that succeeded.
#[track_caller]
pub(crate) fn said(output: &Output) -> String {
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout.clone()).unwrap().trim().to_owned()
}

/// Runs a shell script as root in namespaces of its own, in which `"$0" "$@"` is the claimant.
#[cfg(target_os = "linux")]
pub(crate) fn in_namespaces(options: &[&str], script: &str, arguments: &[&str]) -> Output {
    use osm_testkit::{tools, trials};

    let unshare = trials::need(tools::root().and_then(|()| tools::program("unshare")));
    let mut command = Command::new(unshare);
    command.args(options).args(["sh", "-ec", script]).arg(program()).args(arguments);
    command.stdin(Stdio::null()).output().unwrap()
}

/// One that goes on until it is let go, or killed.
pub(crate) struct Claimant {
    process: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Claimant {
    /// Starts it and waits until it says that it is where it should be.
    pub(crate) fn start(folder: &Path, arguments: &[&str]) -> Self {
        Self::start_by(&mut Command::new(program()), folder, arguments)
    }

    /// The same by a command that runs it in another place.
    pub(crate) fn start_below(words: &[&str], folder: &Path, arguments: &[&str]) -> Self {
        let mut command = Command::new(words[0]);
        Self::start_by(command.args(&words[1..]).arg(program()), folder, arguments)
    }

    fn start_by(command: &mut Command, folder: &Path, arguments: &[&str]) -> Self {
        command.arg(folder).args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = command.spawn().unwrap();
        let input = process.stdin.take();
        let mut output = BufReader::new(process.stdout.take().unwrap());
        let mut line = String::new();
        output.read_line(&mut line).unwrap();
        assert!(!line.is_empty(), "{arguments:?} said nothing");
        Self { process, input, output }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.process.id()
    }

    /// Lets it end by itself, and returns the last that it said.
    pub(crate) fn finish(mut self) -> String {
        drop(self.input.take());
        let last = self.output.by_ref().lines().map(Result::unwrap).last();
        assert!(self.process.wait().unwrap().success());
        last.unwrap_or_default()
    }

    /// Kills it, with no chance to let go of anything, and does not collect it.
    pub(crate) fn kill(&mut self) {
        self.process.kill().unwrap();
    }

    /// Collects one that was killed.
    pub(crate) fn collect(mut self) {
        self.process.wait().unwrap();
        // Below a sandbox it ends later than what was killed. Until then its input stays open: at the end of its
        // input it would let go of what it holds.
        self.output.read_to_end(&mut Vec::new()).unwrap();
    }
}
