//! Real coding agents, made to run commands of our choosing.
//!
//! What an agent exports to the commands it runs, and which processes stand between, is known only
//! by looking. [`AGENTS`] lists those that `scripts/install-agents` installs; [`RealAgent::run`]
//! starts one as a user would, in a home of its own, with a [`ScriptedModel`] on the loopback
//! interface in place of its vendor. No account, no key and no network are involved.
//!
//! How each agent is told these things is the business of one file per agent, which turns a
//! `Task` into a `Plan` and does nothing else.

mod aider;
mod claude;
mod cline;
mod cn;
mod codex;
mod conduct;
mod copilot;
mod excerpt;
mod gemini;
mod gptme;
mod grok;
mod hermes;
mod home;
mod invocation;
mod kilo;
mod kimi;
mod nanocoder;
mod open_codex;
mod opencode;
mod pi;
mod pinned;
mod puppy;
mod qwen;
mod reasonix;
mod run;
mod terminal;
mod vibe;

use std::fmt;
use std::path::{Path, PathBuf};

pub use home::Home;
pub use invocation::Invocation;
pub use pinned::Pinned;
pub use run::{Error, Evidence, Run, TIMEOUT, Transcript};

use crate::model::{Script, ScriptedModel};
use crate::tools;

/// The agents that can be driven, in the order of [`pinned.txt`](Pinned).
pub const AGENTS: [Agent; 20] = [
    claude::AGENT,
    codex::AGENT,
    opencode::AGENT,
    gemini::AGENT,
    qwen::AGENT,
    copilot::AGENT,
    kimi::AGENT,
    nanocoder::AGENT,
    grok::AGENT,
    cline::AGENT,
    pi::AGENT,
    cn::AGENT,
    kilo::AGENT,
    reasonix::AGENT,
    open_codex::AGENT,
    aider::AGENT,
    vibe::AGENT,
    gptme::AGENT,
    hermes::AGENT,
    puppy::AGENT,
];

/// One kind of agent.
#[derive(Clone, Copy)]
pub struct Agent {
    /// What it is called here and in `pinned.txt`.
    pub name: &'static str,
    /// What the catalogue calls it.
    pub known_as: &'static str,
    /// The program, below the directory of [`cache_dir`].
    program: &'static str,
    /// When it can take up its last conversation again with a new prompt.
    pub resumes: Resumes,
    /// Whether a command reaches it through the model, so that its results are known.
    pub asks_model: bool,
    plan: fn(&Task) -> Plan,
}

/// When an agent can take up a conversation again with a new prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resumes {
    /// It cannot.
    Never,
    /// When it is given a task and no terminal; on one, a user would have to type the prompt.
    WithoutTerminal,
    /// With a terminal and without.
    Always,
}

/// What an agent is to do, in words that all agents share.
struct Task<'a> {
    /// The base address of the model.
    url: &'a str,
    /// What to tell the agent.
    prompt: &'a str,
    /// What the prompt stands for, for an agent that needs no model to run a command.
    commands: &'a [String],
    home: &'a Path,
    workdir: &'a Path,
    /// Take up the last conversation of this home and folder.
    resume: bool,
    /// Talk with a user at a terminal, instead of doing one task.
    terminal: bool,
}

/// How one agent is told to do it.
#[derive(Default)]
struct Plan {
    args: Vec<String>,
    env: Vec<(&'static str, String)>,
    /// Files to write first: a path below the home, and the content.
    files: Vec<(&'static str, String)>,
}

impl Agent {
    /// The agent of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<&'static Self> {
        AGENTS.iter().find(|agent| agent.name == name)
    }

    /// The package and version that [`AGENTS`] was written against.
    ///
    /// # Panics
    ///
    /// Never, as long as `pinned.txt` has a line for each agent of the table.
    #[must_use]
    pub fn pinned(&self) -> Pinned {
        pinned::find(self.name).expect("every agent of the table has a line in pinned.txt")
    }

    /// Finds the agent below `cache` (see [`cache_dir`]), at the pinned version.
    pub fn installed(&'static self, cache: &Path) -> Result<RealAgent, Missing> {
        let program = cache.join(self.program);
        let pinned = self.pinned();
        let found = pinned.installed_version(cache);
        if program.exists() && found.as_deref() == Some(pinned.version) {
            return Ok(RealAgent { agent: self, cache: cache.to_owned(), program });
        }
        Err(Missing { agent: self.name, wanted: pinned.version, found, program })
    }
}

impl fmt::Debug for Agent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Agent").field(&self.name).finish()
    }
}

/// An agent that is not there, or not at the version we know.
#[derive(Debug)]
pub struct Missing {
    agent: &'static str,
    wanted: &'static str,
    found: Option<String>,
    program: PathBuf,
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} is not installed", self.agent, self.wanted)?;
        match &self.found {
            Some(found) => write!(f, ", but {found} is")?,
            None => write!(f, ": no {}", self.program.display())?,
        }
        write!(f, "; run scripts/install-agents {}", self.agent)
    }
}

impl std::error::Error for Missing {}

/// An agent that is installed here.
#[derive(Clone, Debug)]
pub struct RealAgent {
    /// Which one.
    pub agent: &'static Agent,
    cache: PathBuf,
    program: PathBuf,
}

impl RealAgent {
    /// Runs the commands in one conversation, to its end.
    ///
    /// A resumed conversation is the last one that ran in the same home and folder.
    pub fn run(&self, model: &ScriptedModel, run: &Run<'_>) -> Result<Transcript, Error> {
        let script = model.script(run.commands);
        let invocation = self.prepare(model, &script, run)?;
        conduct::to_the_end(self, &invocation, model, &script, run)
    }

    /// Writes the agent's configuration into the home and says how to start it, for callers that start
    /// it themselves: on a terminal, below another agent.
    pub fn prepare(
        &self,
        model: &ScriptedModel,
        script: &Script,
        run: &Run<'_>,
    ) -> Result<Invocation, Error> {
        let can_resume = match self.agent.resumes {
            Resumes::Never => false,
            Resumes::WithoutTerminal => !run.terminal,
            Resumes::Always => true,
        };
        if run.resume && !can_resume {
            return Err(Error::CannotResume(self.agent.name));
        }
        let plan = (self.agent.plan)(&Task {
            url: &model.url(),
            prompt: &script.prompt(),
            commands: run.commands,
            home: run.home,
            workdir: run.workdir,
            resume: run.resume,
            terminal: run.terminal,
        });
        invocation::prepare(self, plan, run)
    }
}

/// Where `scripts/install-agents` puts the agents.
#[must_use]
pub fn cache_dir() -> PathBuf {
    tools::cache().join("agents")
}
