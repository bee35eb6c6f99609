//! Programs that a test stands on, and what happens where one is missing.
//!
//! A test that cannot run says so and why. On a machine that was set up for testing
//! (`OSM_TEST_STRICT` is set) that is a failure: nothing may be skipped there in silence.

use std::fmt;
use std::io;
use std::path::PathBuf;

/// Why a test could not run.
#[derive(Debug)]
pub struct Skipped(pub String);

/// Why a row of a table of tests gave nothing.
#[derive(Debug)]
pub enum Stop {
    /// Something that it needs is missing.
    Skipped(String),
    /// It went wrong.
    Failed(String),
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Skipped(reason) => write!(f, "skipped: {reason}"),
            Self::Failed(reason) => f.write_str(reason),
        }
    }
}

impl From<Skipped> for Stop {
    fn from(Skipped(reason): Skipped) -> Self {
        Self::Skipped(reason)
    }
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Self {
        Self::Failed(error.to_string())
    }
}

/// Whether a test that cannot run is a failure.
#[must_use]
pub fn strict() -> bool {
    variable("OSM_TEST_STRICT").is_some()
}

/// The folder, outside the repository, of what tests install: `OSM_TEST_CACHE`, or one in the
/// user's cache.
#[must_use]
pub fn cache() -> PathBuf {
    let base = || {
        variable("XDG_CACHE_HOME").map_or_else(
            || PathBuf::from(variable("HOME").unwrap_or_else(|| "/".into())).join(".cache"),
            PathBuf::from,
        )
    };
    variable("OSM_TEST_CACHE").map_or_else(|| base().join("osm-test"), PathBuf::from)
}

/// The place of a program on `PATH`.
pub fn program(name: &str) -> Result<PathBuf, Skipped> {
    let path = variable("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .chain([PathBuf::from("/usr/sbin"), PathBuf::from("/sbin")])
        .map(|folder| folder.join(name))
        .find(|file| file.is_file())
        .ok_or_else(|| Skipped(format!("{name} is not installed")))
}

/// The compiler of TypeScript: a script for Node.js, which `scripts/install-test-tools` installs.
pub fn typescript() -> Result<PathBuf, Skipped> {
    let compiler = cache().join("typescript/node_modules/typescript/bin/tsc");
    let missing = || Skipped("typescript is not installed: run scripts/install-test-tools".into());
    compiler.is_file().then_some(compiler).ok_or_else(missing)
}

/// Nushell, which Debian does not have: `scripts/install-test-tools` installs it.
pub fn nushell() -> Result<PathBuf, Skipped> {
    let packages = cache().join("nushell/node_modules/@nushell");
    let packages = std::fs::read_dir(packages).into_iter().flatten().filter_map(Result::ok);
    packages
        .map(|package| package.path().join("bin/nu"))
        .find(|program| program.is_file())
        .ok_or_else(|| Skipped("nushell is not installed: run scripts/install-test-tools".into()))
}

/// That we are root: namespaces, other users and servers ask for it.
pub fn root() -> Result<(), Skipped> {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let is_root = status.lines().any(|line| line.starts_with("Uid:\t0\t"));
    is_root.then_some(()).ok_or_else(|| Skipped("not root".into()))
}

/// That we see every process of the machine, which a container does not.
pub fn first_pid_namespace() -> Result<(), Skipped> {
    let namespace = std::fs::read_link("/proc/self/ns/pid").unwrap_or_default();
    let is_first = namespace.as_os_str() == "pid:[4026531836]";
    is_first.then_some(()).ok_or_else(|| Skipped("in a pid namespace below the machine's".into()))
}

/// A variable of the test process itself.
#[expect(clippy::disallowed_methods, reason = "tests are set up through variables")]
pub(crate) fn variable(name: &str) -> Option<std::ffi::OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}
