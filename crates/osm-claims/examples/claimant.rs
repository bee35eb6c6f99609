//! A process that claims things: what tests start many of, stop and kill.
//!
//! ```text
//! claimant FOLDER WHO claim RESOURCE          claims it
//! claimant FOLDER WHO release RESOURCE        lets go of it
//! claimant FOLDER WHO offer RESOURCE SESSION  offers it
//! claimant FOLDER WHO accept RESOURCE         takes up an offer
//! claimant FOLDER WHO sweep                   frees what the dead hold
//! claimant FOLDER WHO look RESOURCE           prints what is known of its owner
//! claimant FOLDER WHO hold RESOURCE           claims it, until standard input ends
//! claimant FOLDER WHO lock                    keeps everybody from writing until standard input ends
//! claimant FOLDER WHO see PROCESS             prints what is known of a process, given as JSON
//! claimant FOLDER WHO repair                  repairs the ledger
//! claimant FOLDER WHO reuse TIMES             has a pid used again TIMES within one clock tick
//! ```
//!
//! `WHO` is a session: `NAME` without a process, `NAME@self` or `NAME@PID` with one. What was done
//! is said on standard output. The exit code is that of the refusal, or 1.

use std::io::{self, Read, Write};
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

use osm_claims::clock::SystemClock;
use osm_claims::repair;
use osm_claims::{
    Caller, ClaimOptions, Claims, LivenessProbe, Outcome, Reason, Requester, Resource, Scope,
    SqliteLedger, SystemProbe,
};
use osm_identity::{Liveness, ProcessInstance, System};

type Answer<T = ()> = Result<T, Box<dyn std::error::Error>>;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let refused = error.downcast_ref::<osm_claims::Error>().and_then(|it| it.refusal());
            let verdict = refused.and_then(|it| it.verdict);
            let verdict = verdict.map(|it| format!(", {it}")).unwrap_or_default();
            drop(writeln!(io::stderr(), "{error}{verdict}"));
            refused.map_or(ExitCode::FAILURE, |it| code(it.reason))
        }
    }
}

/// The place of the reason in the list of all, after those that shells and systems use.
fn code(reason: Reason) -> ExitCode {
    let place = Reason::ALL.iter().position(|it| *it == reason);
    place.and_then(|it| u8::try_from(10 + it).ok()).map_or(ExitCode::FAILURE, ExitCode::from)
}

fn run(arguments: &[&str]) -> Answer {
    let [folder, who, command, rest @ ..] = arguments else {
        return Err("claimant FOLDER WHO COMMAND …".into());
    };
    match (*command, rest) {
        ("see", [process]) => {
            let process: ProcessInstance = serde_json::from_str(process)?;
            return say(SystemProbe(System).look(&process));
        }
        ("reuse", [times]) => return reuse(times.parse()?),
        ("repair", []) => {
            let clock = std::sync::Arc::new(SystemClock::new(&System)?);
            let repaired = repair::repair(Path::new(folder), clock)?;
            return say(if repaired.copy.is_some() { "repaired" } else { "whole" });
        }
        _ => {}
    }
    let ledger = SqliteLedger::open(Path::new(folder), &System)?;
    let path = ledger.path().to_owned();
    let claims = Claims::new(Box::new(ledger), Box::new(SystemProbe(System)));
    let (requester, options) = (requester(who)?, ClaimOptions::default());
    let resource = |name: &str| Resource::new(name);
    match (*command, rest) {
        ("claim", [name]) => done(&claims.claim(&requester, &resource(name)?, &options)?),
        ("release", [name]) => done(&claims.release(&requester, &resource(name)?, None, false)?),
        ("offer", [name, to]) => {
            done(&claims.offer(&requester, &resource(name)?, None, Some(to), &options)?)
        }
        ("accept", [name]) => done(&claims.accept(&requester, &resource(name)?, &options)?),
        ("sweep", []) => {
            let swept = claims.sweep(&requester, false, false)?;
            if swept.failed() > 0 {
                return Err(format!("{} failed", swept.failed()).into());
            }
            say(format!("freed {}", swept.freed()))
        }
        ("look", [name]) => match claims.status(&requester, &resource(name)?)? {
            Some(listed) => say(listed.verdict),
            None => Err("it was never claimed".into()),
        },
        ("hold", [name]) => {
            done(&claims.claim(&requester, &resource(name)?, &options)?)?;
            io::stdin().read_to_end(&mut Vec::new())?;
            done(&claims.release(&requester, &resource(name)?, None, false)?)
        }
        ("lock", []) => {
            let mut connection = rusqlite::Connection::open(path)?;
            let immediate = rusqlite::TransactionBehavior::Immediate;
            let _lock = connection.transaction_with_behavior(immediate)?;
            say("locked")?;
            io::stdin().read_to_end(&mut Vec::new())?;
            Ok(())
        }
        _ => Err(format!("unknown: {command} {rest:?}").into()),
    }
}

fn requester(who: &str) -> Answer<Requester> {
    let (session, process) = match who.split_once('@') {
        None => (who, None),
        Some((session, "self")) => (session, Some(std::process::id())),
        Some((session, pid)) => (session, Some(pid.parse()?)),
    };
    let caller = Caller {
        session: session.into(),
        process: process.map(|pid| ProcessInstance::with_pid(pid, &System)).transpose()?,
        agent: None,
        host: "test".into(),
        is_random: false,
        is_sole: true,
        is_process: false,
    };
    Ok(Requester { scope: Scope::named("test"), caller })
}

/// Kills a process and has its number given to another one within the same clock tick. Needs a pid
/// namespace of its own.
fn reuse(times: usize) -> Answer {
    let start = || Command::new("sleep").arg("1000").stdin(Stdio::null()).spawn();
    let mut seen = 0;
    while seen < times {
        let mut first = start()?;
        let before = ProcessInstance::with_pid(first.id(), &System)?;
        first.kill()?;
        first.wait()?;
        std::fs::write("/proc/sys/kernel/ns_last_pid", (before.pid.0 - 1).to_string())?;
        let mut second = start()?;
        let after = ProcessInstance::with_pid(second.id(), &System)?;
        let verdict = SystemProbe(System).look(&before);
        second.kill()?;
        second.wait()?;
        if after.pid != before.pid {
            return Err("the pid was not used again".into());
        }
        if !matches!(verdict, Liveness::Dead(_)) {
            return Err(format!("{verdict}").into());
        }
        if after.start == before.start {
            say(verdict)?;
            seen += 1;
        }
    }
    Ok(())
}

fn done(outcome: &Outcome) -> Answer {
    say(format!("{:?} {}", outcome.change, outcome.claim.token()))
}

fn say(text: impl std::fmt::Display) -> Answer {
    let mut stdout = io::stdout().lock();
    writeln!(stdout, "{text}")?;
    Ok(stdout.flush()?)
}
