//! What one process of the benchmark asks of another, and what comes back.
//!
//! The processes share a folder and nothing else: between them lie a terminal, a shell and a chain
//! of processes, whose streams are part of what is measured.

use std::fs::{self, File, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::programs::Program;
use osm_testkit::bench::Result;

/// What is to be measured.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Request {
    /// The programs that take turns; the first is the yardstick.
    pub(crate) programs: Vec<Program>,
    /// The program that is measured under chains, by its place in `programs`.
    pub(crate) deep: usize,
    /// How often each is started.
    pub(crate) rounds: u32,
    /// The lengths of the chains.
    pub(crate) chains: Vec<u32>,
    /// The folder for everything that is written on the way.
    pub(crate) scratch: PathBuf,
}

impl Request {
    /// Writes the request into its folder and returns its path.
    pub(crate) fn save(&self) -> Result<PathBuf> {
        let path = self.scratch.join("request.json");
        fs::write(&path, serde_json::to_vec(self)?)?;
        Ok(path)
    }

    /// Reads a request back.
    pub(crate) fn load(path: &Path) -> Result<Self> {
        Ok(serde_json::from_slice(&fs::read(path)?)?)
    }

    fn findings_path(&self) -> PathBuf {
        self.scratch.join("findings.jsonl")
    }
}

/// What was found out about one program at one depth.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Finding {
    /// How many processes the chain put above the program; none in the terminal itself.
    pub(crate) chain: u32,
    /// The program, by its place in the request.
    pub(crate) program: usize,
    /// How long each start took until its end, in microseconds.
    pub(crate) microseconds: Vec<f64>,
    /// Instructions in user mode, where callgrind is installed.
    pub(crate) instructions: Option<u32>,
}

impl Finding {
    /// Adds this to what was found so far.
    pub(crate) fn save(&self, request: &Request) -> Result<()> {
        let mut file: File =
            OpenOptions::new().create(true).append(true).open(request.findings_path())?;
        let mut line = serde_json::to_vec(self)?;
        line.push(b'\n');
        Ok(file.write_all(&line)?)
    }

    /// Reads all findings, of which none may be missing.
    pub(crate) fn load_all(request: &Request) -> Result<Vec<Self>> {
        let text = fs::read_to_string(request.findings_path())
            .map_err(|error| format!("the measuring process left nothing behind: {error}"))?;
        let findings: Vec<Self> =
            text.lines().map(serde_json::from_str).collect::<std::result::Result<_, _>>()?;
        let expected = request.programs.len() + 2 * request.chains.len();
        if findings.len() != expected {
            return Err(format!("{} of {expected} measurements were made", findings.len()).into());
        }
        Ok(findings)
    }
}
