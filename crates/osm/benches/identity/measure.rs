//! Times programs from start to end, in turns.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use crate::programs::Program;
use crate::request::{Finding, Request};
use crate::{Result, callgrind, chain};

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

/// Starts each program once per round, in a new order each time, so that whatever else the machine
/// does in a moment hits all of them alike and nobody always follows the same neighbour.
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
    let mut order: Vec<usize> = (0..programs.len()).collect();
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
    for round in 0..WARM_UP + rounds {
        dice.shuffle(&mut order);
        for &index in &order {
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

/// Tells whoever waits how far we are.
pub(crate) fn say(message: &str) -> io::Result<()> {
    writeln!(io::stdout(), "identity benchmark: {message}")
}

/// A xorshift generator: the order of turns needs no better one, and the same seed gives the same
/// order.
struct Dice(u64);

impl Dice {
    fn roll(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// Shuffles by Fisher and Yates.
    fn shuffle(&mut self, order: &mut [usize]) {
        for last in (1..order.len()).rev() {
            let bound = u64::try_from(last + 1).expect("a slice is no longer than u64");
            let other = usize::try_from(self.roll() % bound).expect("smaller than the slice");
            order.swap(last, other);
        }
    }
}
