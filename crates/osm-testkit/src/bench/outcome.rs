//! How a run ends: what is printed, what is written down, whether that is a success.

use std::io::Write as _;
use std::process::ExitCode;

use super::options::Options;
use super::{Result, workspace};

/// Whether one target is met.
#[derive(Debug)]
pub struct Verdict {
    met: bool,
    line: String,
}

impl Verdict {
    /// Judges what was measured of `what`.
    #[must_use]
    pub fn new(met: bool, what: &str) -> Self {
        Self { met, line: format!("{} {what}", if met { "PASS" } else { "FAIL" }) }
    }
}

/// Everything that a run has to say.
#[derive(Debug)]
pub struct Outcome {
    /// The benchmark's name, which is its files' too.
    pub name: &'static str,
    /// What is shown in the terminal.
    pub tables: String,
    /// `docs/benchmarks/NAME.md`.
    pub page: String,
    /// `docs/benchmarks/NAME.svg`.
    pub picture: String,
    /// One for each target.
    pub verdicts: Vec<Verdict>,
}

impl Outcome {
    /// Shows it all, writes it down if it is to be; says whether that is a success.
    pub fn publish(self, options: &Options) -> Result<bool> {
        let mut stdout = std::io::stdout().lock();
        writeln!(stdout, "\n{}", self.tables)?;
        if options.write {
            let folder = workspace().join("docs/benchmarks");
            std::fs::create_dir_all(&folder)?;
            std::fs::write(folder.join(self.name).with_extension("md"), self.page)?;
            std::fs::write(folder.join(self.name).with_extension("svg"), self.picture)?;
            writeln!(stdout, "wrote docs/benchmarks/{0}.md and {0}.svg\n", self.name)?;
        }
        let mut all_met = true;
        for verdict in self.verdicts {
            writeln!(stdout, "{}", verdict.line)?;
            all_met &= verdict.met;
        }
        Ok(all_met || !options.check)
    }
}

/// What the process ends with.
#[must_use]
pub fn exit_code(name: &str, end: Result<bool>) -> ExitCode {
    match end {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            // If not even stderr can be written to, the exit code still tells.
            writeln!(std::io::stderr(), "{name} benchmark: {error}").ok();
            ExitCode::FAILURE
        }
    }
}
