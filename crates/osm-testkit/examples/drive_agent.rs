//! Drives a real coding agent with a scripted model and shows what came of it.
//!
//!     scripts/install-agents
//!     cargo run -p osm-testkit --example drive_agent -- claude 'env | sort' 'ps -ef --forest'
//!
//! The commands are run in one conversation. `--resume` between two of them ends the conversation
//! and goes on with it in a new process. `--terminal` gives the agent a terminal, as a person does,
//! `--env NAME=VALUE` a variable, `--home DIR` a home that stays.

use std::error::Error;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use osm_testkit::agents::{self, AGENTS, Agent, Home, Run};
use osm_testkit::model::ScriptedModel;

const USAGE: &str =
    "[--terminal] [--home DIR] [--env NAME=VALUE]... COMMAND... [--resume COMMAND...]";

fn main() -> ExitCode {
    match drive() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Nobody is left to tell when standard error is gone too.
            drop(writeln!(io::stderr(), "drive_agent: {error}"));
            ExitCode::FAILURE
        }
    }
}

fn drive() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let Some(agent) = args.next().as_deref().and_then(Agent::named) else {
        let names = AGENTS.map(|agent| agent.name).join("|");
        return Err(format!("usage: drive_agent {names} {USAGE}").into());
    };
    let (mut terminal, mut home, mut env) = (false, None, Vec::new());
    let mut conversations = vec![Vec::new()];
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--terminal" => terminal = true,
            "--home" => home = Some(PathBuf::from(args.next().ok_or("--home needs a folder")?)),
            "--env" => env.push(args.next().ok_or("--env needs NAME=VALUE")?),
            "--resume" => conversations.push(Vec::new()),
            _ => conversations.last_mut().expect("starts with one").push(arg),
        }
    }
    let env: Vec<_> = env.iter().filter_map(|set| set.split_once('=')).collect();

    let real = agent.installed(&agents::cache_dir())?;
    let model = ScriptedModel::start()?;
    let scratch = Home::new()?;
    let home = home.unwrap_or_else(|| scratch.to_owned());
    let workdir = home.join("work");
    let mut out = io::stdout().lock();
    for (index, commands) in conversations.iter().enumerate() {
        let resume = index > 0;
        let run = Run { resume, terminal, env: &env, ..Run::new(&home, &workdir, commands) };
        let transcript = real.run(&model, &run)?;
        let how = if resume { "resumed" } else { "started" };
        let (pid, took) = (transcript.pid, transcript.took.as_secs_f64());
        writeln!(out, "== {} {how}: pid {pid}, {took:.1} s", agent.name)?;
        for (command, result) in commands.iter().zip(&transcript.results) {
            writeln!(out, "$ {command}\n{}", result.trim_end())?;
        }
        if !terminal {
            writeln!(out, "-- stdout\n{}", transcript.stdout.trim_end())?;
            writeln!(out, "-- stderr\n{}", transcript.stderr.trim_end())?;
        }
    }
    writeln!(out, "== requests")?;
    for exchange in model.exchanges() {
        let (method, target, size) = (exchange.method, exchange.target, exchange.request.len());
        writeln!(out, "{method} {target} ({size} bytes) -> {}", exchange.status)?;
    }
    Ok(())
}
