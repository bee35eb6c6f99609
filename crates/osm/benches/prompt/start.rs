//! From the start of a mode on a terminal to its first prompt.

use std::path::Path;
use std::time::{Duration, Instant};

use osm_testkit::bench::Result;
use osm_testkit::bench::options::Options;
use osm_testkit::bench::statistics::Spread;
use osm_testkit::terminal::Terminal;

use crate::run;
use crate::say;

const ROUNDS: u32 = 30;
/// What the prompt of the mode, and of the program that stands in for the floor, says.
const PROMPT: &str = "(code-review)";

/// How long it takes, in microseconds.
pub(crate) struct Start {
    pub(crate) osm: Spread,
    /// A shell that says the same and nothing else.
    pub(crate) bare: Spread,
}

pub(crate) fn measure(options: &Options, folder: &Path) -> Result<Start> {
    say("the first prompt")?;
    std::fs::create_dir_all(folder)?;
    let home = folder.display().to_string();
    let environment = [
        ("OSM_HOME".to_owned(), home.clone()),
        ("OSM_SESSION".to_owned(), "bench".to_owned()),
        ("HOME".to_owned(), home),
        ("PATH".to_owned(), run::path()),
        ("TERM".to_owned(), "xterm-256color".to_owned()),
    ];
    let program = env!("CARGO_BIN_EXE_osm").to_owned();
    let ours = [program, "code-review".to_owned()];
    let theirs = ["sh", "-c", &format!("printf '{PROMPT} > '; exec sleep 60")].map(str::to_owned);
    let (mut osm, mut bare) = (Vec::new(), Vec::new());
    for _ in 0..options.rounds.unwrap_or(ROUNDS) {
        osm.push(until_prompt(&ours, &environment, folder)?);
        bare.push(until_prompt(&theirs, &environment, folder)?);
    }
    Ok(Start { osm: Spread::of(&osm), bare: Spread::of(&bare) })
}

fn until_prompt(
    program: &[String],
    environment: &[(String, String)],
    folder: &Path,
) -> Result<f64> {
    let begun = Instant::now();
    let terminal = Terminal::start(program, environment, folder)?;
    while !terminal.screen().contains(PROMPT) {
        if begun.elapsed() > Duration::from_secs(10) {
            return Err(format!("{program:?} shows no prompt: {}", terminal.screen()).into());
        }
        std::thread::sleep(Duration::from_micros(50));
    }
    Ok(begun.elapsed().as_secs_f64() * 1e6)
}
