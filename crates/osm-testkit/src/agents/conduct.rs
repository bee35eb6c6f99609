//! Conducting a conversation from its start to its end, within a time, leaving no process behind.

use std::fs::File;
use std::io::{self, Read, Seek};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use super::run::Evidence;
use super::{Error, Invocation, RealAgent, Run, TIMEOUT, Transcript, terminal};
use crate::model::{Script, ScriptedModel};

/// How often a running agent is looked at.
pub(super) const TICK: Duration = Duration::from_millis(10);

/// How an agent ended, and what it printed until then.
pub(super) struct Ending {
    /// `None` when the time was over.
    pub(super) outcome: Option<Result<(), String>>,
    pub(super) stdout: String,
    pub(super) stderr: String,
    pub(super) pid: u32,
}

pub(super) fn to_the_end(
    real: &RealAgent,
    invocation: &Invocation,
    model: &ScriptedModel,
    script: &Script,
    run: &Run<'_>,
) -> Result<Transcript, Error> {
    let started = Instant::now();
    let deadline = started + TIMEOUT;
    let ending = if run.terminal {
        // An agent that asks a model is done when it has told the last result; it then waits for
        // its user, who leaves.
        let expected = real.agent.asks_model.then_some(run.commands.len());
        let done = || expected.is_some_and(|expected| model.results(script).len() >= expected);
        terminal::converse(invocation, deadline, done)
    } else {
        without_terminal(invocation, deadline)
    };
    let ending = ending.map_err(|error| Error::Start(invocation.program.clone(), error))?;
    let Ending { outcome, stdout, stderr, pid } = ending;
    let transcript =
        Transcript { results: model.results(script), stdout, stderr, took: started.elapsed(), pid };
    let commands = run.commands.len();
    let complete = !real.agent.asks_model || transcript.results.len() >= commands;
    if complete && outcome == Some(Ok(())) {
        return Ok(transcript);
    }
    let evidence = Box::new(Evidence {
        invocation: invocation.clone(),
        transcript,
        commands,
        exchanges: model.exchanges(),
    });
    Err(match outcome {
        None => Error::TimedOut(evidence),
        Some(Err(how)) => Error::Failed(how, evidence),
        Some(Ok(())) => Error::Unfinished(evidence),
    })
}

fn without_terminal(invocation: &Invocation, deadline: Instant) -> io::Result<Ending> {
    // Files and not pipes: what an agent leaves running keeps a pipe open for ever.
    let mut stdout = tempfile::tempfile()?;
    let mut stderr = tempfile::tempfile()?;
    let mut command = invocation.command();
    command.stdin(Stdio::null()).stdout(stdout.try_clone()?).stderr(stderr.try_clone()?);
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let mut group = Group(command.spawn()?);
    let status = group.wait(deadline)?;
    let pid = group.0.id();
    drop(group);
    Ok(Ending {
        outcome: status.map(|s| if s.success() { Ok(()) } else { Err(s.to_string()) }),
        stdout: content(&mut stdout)?,
        stderr: content(&mut stderr)?,
        pid,
    })
}

fn content(file: &mut File) -> io::Result<String> {
    file.rewind()?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// An agent and the processes of its group; none of them outlives the value.
struct Group(Child);

impl Group {
    /// The exit status, or `None` at the deadline.
    fn wait(&mut self, deadline: Instant) -> io::Result<Option<ExitStatus>> {
        loop {
            if let Some(status) = self.0.try_wait()? {
                return Ok(Some(status));
            }
            if Instant::now() >= deadline {
                return Ok(None);
            }
            thread::sleep(TICK);
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if cfg!(unix) {
            kill(&format!("-{}", self.0.id()));
        }
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

/// Kills a process, or, with a minus before the number, a group. It fails if no process is left.
pub(super) fn kill(target: &str) {
    let mut kill = Command::new("kill");
    kill.args(["-KILL", "--", target]).stdin(Stdio::null());
    drop(kill.stdout(Stdio::null()).stderr(Stdio::null()).status());
}
