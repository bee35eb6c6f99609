//! What may be asked of a benchmark on the command line.

use super::Result;

/// The options that all benchmarks take.
#[derive(Debug)]
pub struct Options {
    /// A missed target fails the run.
    pub check: bool,
    /// The results are written to `docs/benchmarks`.
    pub write: bool,
    /// Fewer and smaller measurements, for work on the code; never recorded.
    pub quick: bool,
    /// How often everything is measured.
    pub rounds: Option<u32>,
}

impl Options {
    /// Reads them.
    pub fn parse(words: &[&str]) -> Result<Self> {
        let mut options = Self { check: false, write: true, quick: false, rounds: None };
        let mut words = words.iter();
        while let Some(&word) = words.next() {
            match word {
                "--bench" => {}
                "--check" => options.check = true,
                "--no-write" => options.write = false,
                "--quick" => (options.quick, options.write) = (true, false),
                "--rounds" => {
                    let rounds = words.next().ok_or("--rounds needs a number")?;
                    let number = rounds.parse().ok().filter(|rounds| *rounds > 0);
                    options.rounds =
                        Some(number.ok_or_else(|| {
                            format!("--rounds {rounds}: not a number of at least 1")
                        })?);
                }
                _ => return Err(format!("unknown option {word}").into()),
            }
        }
        Ok(options)
    }
}
