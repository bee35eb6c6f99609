//! Other processes that work in the same store: `examples/worker.rs`.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

/// The worker program; `cargo test` builds examples too.
pub(crate) fn program() -> PathBuf {
    let deps = std::env::current_exe().unwrap();
    let folder = deps.parent().and_then(Path::parent).unwrap();
    let program = folder.join("examples").join(format!("worker{}", std::env::consts::EXE_SUFFIX));
    assert!(program.is_file(), "{} is missing: build the examples", program.display());
    program
}

/// A worker that is not started yet.
pub(crate) fn worker(root: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(program());
    command.arg(root).args(arguments).stdin(Stdio::null());
    command
}

/// Windows' "internal error": Wine, when hard pressed, starts a process that dies before its first
/// instruction.
const NEVER_RAN: i32 = 1359;
const MOST_STARTS: usize = 10;

/// Runs a worker to its end.
pub(crate) fn run(root: &Path, arguments: &[&str]) -> Output {
    let mut starts = (0..MOST_STARTS).map(|_| worker(root, arguments).output());
    let ran = starts.find(|output| match output {
        Err(error) => !(cfg!(windows) && error.raw_os_error() == Some(NEVER_RAN)),
        Ok(_) => true,
    });
    ran.expect("one of so many starts").unwrap()
}

/// Runs a worker that must succeed, and returns what it says.
pub(crate) fn say(root: &Path, arguments: &[&str]) -> String {
    let output = run(root, arguments);
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// A worker that keeps a session open until it is dropped.
pub(crate) struct Hold(Child);

impl Hold {
    pub(crate) fn new(root: &Path, session: &str) -> Self {
        use std::io::BufRead;
        let mut child = worker(root, &["hold", session])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        std::io::BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        assert_eq!(line, "open\n");
        Self(child)
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        drop(self.0.wait());
    }
}
