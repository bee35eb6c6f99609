//! Times programs from start to end, in turns.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use osm_testkit::bench::Result;
use osm_testkit::bench::turns::Turns;

use crate::programs::Program;
use crate::request::{Finding, Request};
use crate::{callgrind, chain};

/// Rounds that do not count: caches fill, the processor wakes up.
const WARM_UP: u32 = 20;

/// Measures all programs here, then the yardstick and osm under each chain.
pub(crate) fn everything(request: &Path) -> Result<()> {
    let path = request;
    let request = Request::load(path)?;
    say(&format!("{} programs, {} rounds each", request.programs.len(), request.rounds))?;
    let all: Vec<usize> = (0..request.programs.len()).collect();
    record(&request, 0, &all)?;
    for &levels in &request.chains {
        say(&format!("under a chain of {levels}"))?;
        chain::start(levels, path)?;
    }
    Ok(())
}

/// Times and counts some of the programs from where this process stands.
pub(crate) fn record(request: &Request, chain: u32, which: &[usize]) -> Result<()> {
    let programs: Vec<&Program> = which.iter().map(|&index| &request.programs[index]).collect();
    let times = in_turns(&programs, request.rounds)?;
    for (&program, microseconds) in which.iter().zip(times) {
        let instructions = callgrind::instructions(&request.programs[program], &request.scratch)?;
        Finding { chain, program, microseconds, instructions }.save(request)?;
    }
    Ok(())
}

/// Starts each program once per round.
fn in_turns(programs: &[&Program], rounds: u32) -> Result<Vec<Vec<f64>>> {
    // Opened once: with `Stdio::null()`, each start would pay for opening it again.
    let nowhere = File::options().write(true).open("/dev/null")?;
    let mut commands = Vec::new();
    for program in programs {
        let mut command = program.command();
        command.stdout(nowhere.try_clone()?);
        commands.push(command);
    }
    let mut times = vec![Vec::new(); programs.len()];
    let mut turns = Turns::of(programs.len());
    for round in 0..WARM_UP + rounds {
        for &index in turns.next_round() {
            let microseconds = time_once(&mut commands[index])?;
            if round >= WARM_UP {
                times[index].push(microseconds);
            }
        }
    }
    Ok(times)
}

/// Times one start. The standard library uses `posix_spawn` for a command as plain as these, so no
/// copy of this process's memory map is part of the figure.
fn time_once(command: &mut Command) -> Result<f64> {
    let start = Instant::now();
    let status = command.spawn()?.wait()?;
    let elapsed = start.elapsed();
    if !status.success() {
        return Err(format!("{}: {status}", command.get_program().display()).into());
    }
    Ok(elapsed.as_secs_f64() * 1e6)
}

/// Shows the progress of the measurement.
pub(crate) fn say(message: &str) -> io::Result<()> {
    writeln!(io::stdout(), "identity benchmark: {message}")
}
