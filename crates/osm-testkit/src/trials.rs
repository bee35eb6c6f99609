//! A test harness in which a test can say, while it runs, that it cannot: it is then reported as
//! ignored.
//!
//! The standard harness knows only tests that pass and tests that fail, so a test without its tool
//! counts as passed there. A test program uses this harness instead with `harness = false` in its
//! `Cargo.toml`, and in its `main.rs`:
//!
//! ```text
//! #[macro_use]
//! extern crate osm_testkit; // its #[test] replaces the standard one
//!
//! fn main() -> std::process::ExitCode {
//!     osm_testkit::trials::run()
//! }
//! ```
//!
//! Everything else stays: `#[test]` functions in modules, `cargo test NAME`, `--exact`.

use std::panic::{self, AssertUnwindSafe};
use std::process::ExitCode;

#[doc(hidden)]
pub use inventory;
use libtest_mimic::{Arguments, Completion, Failed, Trial};

use crate::tools::{self, Skipped, Stop};

/// A function with `#[test]`.
pub struct Test {
    path: &'static str,
    run: fn(),
}

impl Test {
    /// A test by the path of its function.
    #[must_use]
    pub const fn new(path: &'static str, run: fn()) -> Self {
        Self { path, run }
    }

    /// Its path without the crate, as the standard harness prints it.
    fn name(&self) -> &'static str {
        self.path.split_once("::").map_or(self.path, |(_, name)| name)
    }

    fn run(&self) -> Result<(), Stop> {
        panic::catch_unwind(AssertUnwindSafe(self.run)).or_else(|payload| {
            match payload.downcast::<Skipped>() {
                Ok(skipped) => Err(Stop::from(*skipped)),
                Err(payload) => panic::resume_unwind(payload),
            }
        })
    }
}

inventory::collect!(Test);

/// Ends a test that lacks something. It is reported as ignored; under `OSM_TEST_STRICT` it fails.
pub fn skip(reason: Skipped) -> ! {
    panic::resume_unwind(Box::new(reason)) // No message: this is not a failure.
}

/// The value, or the end of a test that cannot go on without it.
pub fn need<T>(tool: Result<T, Skipped>) -> T {
    tool.unwrap_or_else(|reason| skip(reason))
}

/// Runs the tests that the command line asks for.
///
/// # Panics
///
/// If this program has no tests: registration does not work on this platform.
#[must_use]
pub fn run() -> ExitCode {
    let arguments = Arguments::from_args();
    let tests: Vec<&'static Test> = inventory::iter::<Test>.into_iter().collect();
    assert!(!tests.is_empty(), "no test was registered");
    let trials = tests
        .into_iter()
        .map(|test| Trial::ignorable_test(test.name(), move || report(test.run())));
    let mut trials: Vec<Trial> = trials.collect();
    trials.sort_by(|one, other| one.name().cmp(other.name()));
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// What the harness reports for the result of a test.
pub fn report(result: Result<(), Stop>) -> Result<Completion, Failed> {
    match result {
        Ok(()) => Ok(Completion::Completed),
        Err(Stop::Skipped(reason)) if !tools::strict() => Ok(Completion::ignored_with(reason)),
        Err(stop) => Err(stop.to_string().into()),
    }
}
