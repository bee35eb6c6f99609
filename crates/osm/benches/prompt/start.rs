//! Measures the time from the start of a mode on a terminal to its first prompt.

use std::path::Path;
use std::time::{Duration, Instant};

use osm_testkit::bench::Result;
use osm_testkit::bench::options::Options;
use osm_testkit::bench::statistics::Spread;
use osm_testkit::terminal::Terminal;

use crate::run::{self, Osm};
use crate::say;

const ROUNDS: u32 = 30;
/// The prompt of the mode, which the program for comparison prints too.
const PROMPT: &str = "(code-review)";

/// The time to the first prompt, in microseconds.
pub(crate) struct Start {
    /// A shell that prints the prompt and does nothing else.
    pub(crate) bare: Spread,
    /// Each build of osm; the first one is the one that users install.
    pub(crate) builds: Vec<(&'static str, Spread)>,
}

pub(crate) fn measure(options: &Options, builds: &[Osm], folder: &Path) -> Result<Start> {
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
    let mut programs = vec![vec![
        "sh".to_owned(),
        "-c".to_owned(),
        format!("printf '{PROMPT} > '; exec sleep 60"),
    ]];
    let command = |osm: &Osm| vec![osm.path.display().to_string(), "code-review".to_owned()];
    programs.extend(builds.iter().map(command));
    let mut times = vec![Vec::new(); programs.len()];
    for _ in 0..options.rounds.unwrap_or(ROUNDS) {
        for (program, times) in programs.iter().zip(&mut times) {
            times.push(until_prompt(program, &environment, folder)?);
        }
    }
    let spreads: Vec<Spread> = times.iter().map(|times| Spread::of(times)).collect();
    let names = builds.iter().map(|osm| osm.name);
    Ok(Start { bare: spreads[0], builds: names.zip(spreads[1..].iter().copied()).collect() })
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
