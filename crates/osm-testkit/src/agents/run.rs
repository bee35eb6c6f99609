//! One conversation: what it is to do, what came of it, and what is known if nothing did.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::Invocation;
use super::excerpt::{self, end_of};
use crate::model::Exchange;

/// How long a conversation may take. The slowest takes some ten seconds on an idle machine.
pub const TIMEOUT: Duration = Duration::from_mins(2);

/// What a conversation is to do, and where.
#[derive(Clone, Copy, Debug)]
pub struct Run<'a> {
    /// The agent's home, which holds its settings and its past conversations.
    pub home: &'a Path,
    /// Where it works.
    pub workdir: &'a Path,
    /// Shell commands, run one after the other, each in a call of the agent's shell tool. Gemini
    /// CLI refuses `$( )` and backquotes in them: put such things into a script.
    pub commands: &'a [String],
    /// Go on with the last conversation of this home and folder.
    pub resume: bool,
    /// Give the agent a terminal, as a person does who talks with it. Its commands then find other
    /// things than those of an agent that was given one task and no terminal: some agents open a
    /// terminal for each command, Codex leaves them to a process in the background.
    pub terminal: bool,
    /// Variables for the agent on top of its own. A `PATH` is searched after the pinned Node.js.
    pub env: &'a [(&'a str, &'a str)],
}

impl<'a> Run<'a> {
    /// A new conversation without a terminal and without further variables.
    #[must_use]
    pub fn new(home: &'a Path, workdir: &'a Path, commands: &'a [String]) -> Self {
        Self { home, workdir, commands, resume: false, terminal: false, env: &[] }
    }
}

/// What came of a conversation.
#[derive(Clone, Debug)]
pub struct Transcript {
    /// What the agent told the model about each command, in the agent's own wording.
    pub results: Vec<String>,
    /// What the agent printed; on a terminal, all that it drew there.
    pub stdout: String,
    /// What it complained about; on a terminal, nothing.
    pub stderr: String,
    /// From start to exit.
    pub took: Duration,
    /// The agent's process, which is gone.
    pub pid: u32,
}

/// Why a conversation came to nothing.
#[derive(Debug)]
pub enum Error {
    /// The agent has no way to go on with a conversation.
    CannotResume(&'static str),
    /// A file or folder of its home could not be written.
    Prepare(PathBuf, io::Error),
    /// It could not be started or waited for.
    Start(PathBuf, io::Error),
    /// It did not end in [`TIMEOUT`].
    TimedOut(Box<Evidence>),
    /// It ended with an error, which is told in words.
    Failed(String, Box<Evidence>),
    /// It ended well, but not all commands were run.
    Unfinished(Box<Evidence>),
}

/// What is known about a conversation that went wrong.
#[derive(Debug)]
pub struct Evidence {
    /// What was started.
    pub invocation: Invocation,
    /// What came of it until then.
    pub transcript: Transcript,
    /// How many commands there were.
    pub commands: usize,
    /// What the model was asked, and answered.
    pub exchanges: Vec<Exchange>,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::CannotResume(agent) => {
                write!(f, "{agent} cannot resume a conversation in this way")
            }
            Self::Prepare(path, error) => write!(f, "{}: {error}", path.display()),
            Self::Start(path, error) => write!(f, "cannot run {}: {error}", path.display()),
            Self::TimedOut(evidence) => {
                write!(f, "not done after {} s\n{evidence}", TIMEOUT.as_secs())
            }
            Self::Failed(status, evidence) => write!(f, "{status}\n{evidence}"),
            Self::Unfinished(evidence) => write!(
                f,
                "{} of {} commands were run\n{evidence}",
                evidence.transcript.results.len(),
                evidence.commands
            ),
        }
    }
}

impl std::error::Error for Error {}

impl fmt::Display for Evidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { invocation, transcript, exchanges, .. } = self;
        writeln!(f, "program: {} {:?}", invocation.program.display(), invocation.args)?;
        for (index, result) in transcript.results.iter().enumerate() {
            writeln!(f, "result {index}: {}", end_of(result))?;
        }
        writeln!(f, "stdout: {}", end_of(&excerpt::plain(&transcript.stdout)))?;
        writeln!(f, "stderr: {}", end_of(&excerpt::plain(&transcript.stderr)))?;
        for exchange in exchanges {
            let Exchange { method, target, request, status, answer } = exchange;
            writeln!(f, "{method} {target} ({} bytes) -> {status}", request.len())?;
            writeln!(f, "  {}", end_of(answer).trim_end())?;
        }
        Ok(())
    }
}
