//! What the detectors look at: our ancestors, what each of them is, and what variables say.
//!
//! A scene is seen from one process of the chain, its *base*: ourselves, or, to tell which session
//! an agent was started in, that agent. Everything is looked up when it is asked for.

use std::ffi::{OsStr, OsString};

use crate::ancestry::Ancestry;
use crate::catalogue::{Agent, Catalogue, Kind, Multiplexer, Runner, TerminalProgram, base_name};
use crate::environment::{Environment, is_blank};
use crate::instance::ProcessInstance;
use crate::process::{Host, Pid, Process, ProcessSource, ReadError};
use crate::{script, shell};

/// What a process is to identity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Role {
    /// The process that asks.
    Myself,
    /// A program that runs another and is nothing by itself.
    Wrapper,
    /// A shell that runs one command or one script.
    EphemeralShell,
    /// An interactive shell.
    Shell,
    /// A coding agent.
    Agent(&'static str),
    /// The server of a multiplexer.
    Multiplexer(&'static str),
    /// A server of remote logins.
    Remote,
    /// A program that hosts terminals.
    Terminal(&'static str),
    /// A runner of CI jobs.
    Runner(&'static str),
    /// The top of the tree, or of a container's.
    Root,
    /// Anything else.
    Ordinary,
}

impl std::fmt::Display for Role {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Myself => f.write_str("this process"),
            Self::Wrapper => f.write_str("wrapper"),
            Self::EphemeralShell => f.write_str("shell of one command"),
            Self::Shell => f.write_str("shell"),
            Self::Agent(name) => write!(f, "agent {name}"),
            Self::Multiplexer(name) => write!(f, "{name} server"),
            Self::Remote => f.write_str("remote login"),
            Self::Terminal(name) => write!(f, "terminal {name}"),
            Self::Runner(name) => write!(f, "CI runner {name}"),
            Self::Root => f.write_str("root"),
            Self::Ordinary => f.write_str("process"),
        }
    }
}

/// What cuts us off from whatever lies further up.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Boundary<'a> {
    Agent(&'a Agent),
    Multiplexer(&'a Multiplexer),
    Remote,
    Terminal(&'a TerminalProgram),
    Runner(&'a Runner),
    /// A sandbox with a pid namespace of its own: the agent that built it is out of sight.
    Sandbox,
    /// Nothing more above: the top, or where the walk had to end.
    Top,
}

/// The view from one process of the chain.
pub(crate) struct Scene<'a> {
    pub(crate) environment: &'a Environment,
    pub(crate) source: &'a dyn ProcessSource,
    pub(crate) catalogue: &'a Catalogue,
    pub(crate) host: Result<Host, ReadError>,
    pub(crate) ancestry: Ancestry<'a>,
    /// The kind of each process that was asked for so far.
    kinds: Vec<Option<Kind<'a>>>,
    /// The role of each that was looked at closely, which costs a look at its arguments.
    roles: Vec<Option<Role>>,
    /// The process that asks, as a place in the chain.
    pub(crate) base: usize,
}

impl<'a> Scene<'a> {
    pub(crate) fn new(
        environment: &'a Environment,
        source: &'a dyn ProcessSource,
        catalogue: &'a Catalogue,
    ) -> Self {
        let host = source.host();
        let contained = host.as_ref().is_ok_and(|host| host.contained);
        let ancestry = Ancestry::new(source, environment.pid(), contained);
        let (kinds, roles) = (Vec::new(), Vec::new());
        Self { environment, source, catalogue, host, ancestry, kinds, roles, base: 0 }
    }

    /// A variable as the base process has it; blank counts as unset.
    pub(crate) fn variable(&self, name: &str) -> Option<OsString> {
        if self.base == 0 {
            return self.environment.get(name).map(OsStr::to_owned);
        }
        let pid = self.ancestry.known().get(self.base)?.pid;
        self.initial(pid, name)
    }

    /// A variable as the base process has it, or as it stood right below a boundary.
    ///
    /// `sudo`, `su -` and `env -i` strip variables on the way down, but the first process below a
    /// boundary was given its variables by that boundary.
    pub(crate) fn evidence(&self, boundary: usize, name: &str) -> Option<OsString> {
        self.variable(name).or_else(|| self.below(boundary, name))
    }

    /// A variable of the first process below a boundary.
    pub(crate) fn below(&self, boundary: usize, name: &str) -> Option<OsString> {
        let first = boundary.checked_sub(1).filter(|at| *at > self.base)?;
        self.initial(self.ancestry.known().get(first)?.pid, name)
    }

    /// A variable that a process was started with.
    pub(crate) fn initial(&self, pid: Pid, name: &str) -> Option<OsString> {
        self.source.variable(pid, name).ok().flatten().filter(|value| !is_blank(value))
    }

    pub(crate) fn process(&mut self, at: usize) -> Option<&Process> {
        self.ancestry.get(at)
    }

    /// The exact process at a place of the chain.
    pub(crate) fn instance(&mut self, at: usize) -> Option<ProcessInstance> {
        let host = self.host.as_ref().ok()?;
        let process = self.ancestry.get(at)?;
        Some(ProcessInstance::of(process, host, self.source))
    }

    /// The first boundary above the base and its place; for [`Boundary::Top`] that is one past
    /// the last process below it.
    pub(crate) fn boundary(&mut self) -> (usize, Boundary<'a>) {
        let mut at = self.base + 1;
        loop {
            let Some(pid) = self.process(at).map(|process| process.pid) else {
                return (at, Boundary::Top);
            };
            match self.kind(at) {
                Some(Kind::Agent(agent)) => return (at, Boundary::Agent(agent)),
                Some(Kind::Multiplexer(row)) => return (at, Boundary::Multiplexer(row)),
                Some(Kind::Remote) => return (at, Boundary::Remote),
                Some(Kind::Terminal(row)) => return (at, Boundary::Terminal(row)),
                Some(Kind::Runner(row)) => return (at, Boundary::Runner(row)),
                Some(Kind::Sandbox) if pid == Pid(1) => return (at, Boundary::Sandbox),
                Some(Kind::Root) => return (at, Boundary::Top),
                _ => at += 1,
            }
        }
    }

    /// Whether the process at a place is the same agent as the one below it: agents start
    /// themselves again, through launchers or with other options.
    pub(crate) fn is_agent(&mut self, at: usize, agent: &Agent) -> bool {
        matches!(self.kind(at), Some(Kind::Agent(other)) if other.name == agent.name)
    }

    /// What the process at a place is, by its name and, where that asks for it, by its arguments.
    pub(crate) fn kind(&mut self, at: usize) -> Option<Kind<'a>> {
        while self.kinds.len() <= at {
            let next = self.kinds.len();
            self.ancestry.get(next);
            let process = self.ancestry.known().get(next);
            let kind = process.and_then(|process| self.classify(process));
            self.kinds.push(kind);
        }
        self.kinds[at]
    }

    fn classify(&self, process: &Process) -> Option<Kind<'a>> {
        let contained = self.host.as_ref().is_ok_and(|host| host.contained);
        if process.pid == Pid(1) && !contained {
            return Some(Kind::Root);
        }
        let kind = match self.catalogue.look_up(&process.name) {
            Some(Kind::Interpreter) => self.classify_by_arguments(process),
            None if is_version(&process.name) => self.classify_by_arguments(process),
            kind => kind,
        };
        match kind {
            Some(Kind::Agent(agent)) if !self.is_genuine(agent, process) => None,
            kind => kind,
        }
    }

    /// What a process that is not in the chain is, by name.
    pub(crate) fn role_of(&self, process: &Process) -> Role {
        match self.classify(process) {
            Some(Kind::Agent(agent)) => Role::Agent(agent.name),
            _ => Role::Ordinary,
        }
    }

    fn is_genuine(&self, agent: &Agent, process: &Process) -> bool {
        let marked = agent.marker.is_none_or(|marker| {
            self.environment.get(marker).is_some() || self.initial(process.pid, marker).is_some()
        });
        marked && !agent.impostors.contains(&process.name.as_str())
    }

    /// For a process whose own name says nothing: its script, its first argument, its file.
    fn classify_by_arguments(&self, process: &Process) -> Option<Kind<'a>> {
        let arguments = self.arguments(process.pid);
        let file = self.source.executable(process.pid).ok();
        let file = file.as_ref().map(|path| path.to_string_lossy());
        let file = file.as_deref().map(|path| path.strip_suffix(" (deleted)").unwrap_or(path));
        let script = script::of(&arguments);
        let paths = [script, arguments.first().map(String::as_str), file];
        for path in paths.into_iter().flatten() {
            match self.catalogue.look_up(base_name(path)) {
                None | Some(Kind::Interpreter) => {}
                // `node sh` is not a shell, but `busybox sh` is one.
                Some(Kind::Shell | Kind::Wrapper | Kind::Root) if process.name != "busybox" => {}
                kind => return kind,
            }
            if let Some(agent) = self.catalogue.agent_by_path(path) {
                return Some(Kind::Agent(agent));
            }
        }
        None
    }

    fn arguments(&self, pid: Pid) -> Vec<String> {
        let arguments = self.source.arguments(pid).unwrap_or_default();
        arguments.iter().map(|argument| argument.to_string_lossy().into_owned()).collect()
    }

    /// Whether the process at a place is only part of what it runs: ourselves, a wrapper, or a
    /// shell of one command.
    pub(crate) fn is_transparent(&mut self, at: usize) -> bool {
        at == self.base || matches!(self.role(at), Role::Wrapper | Role::EphemeralShell)
    }

    /// What the process at a place is, looked at closely.
    pub(crate) fn role(&mut self, at: usize) -> Role {
        if let Some(Some(role)) = self.roles.get(at) {
            return *role;
        }
        let role = self.look_closely(at);
        self.roles.resize(self.roles.len().max(at + 1), None);
        self.roles[at] = Some(role);
        role
    }

    fn look_closely(&mut self, at: usize) -> Role {
        if at == 0 {
            return Role::Myself;
        }
        let kind = self.kind(at);
        let Some(process) = self.ancestry.get(at) else {
            return Role::Ordinary;
        };
        let (pid, name) = (process.pid, process.name.clone());
        match kind {
            Some(Kind::Agent(agent)) => Role::Agent(agent.name),
            Some(Kind::Multiplexer(row)) => Role::Multiplexer(row.name),
            Some(Kind::Remote) => Role::Remote,
            Some(Kind::Terminal(row)) => Role::Terminal(row.name),
            Some(Kind::Runner(row)) => Role::Runner(row.name),
            Some(Kind::Root) => Role::Root,
            Some(Kind::Wrapper | Kind::Sandbox) => Role::Wrapper,
            Some(Kind::Shell) => {
                let mut arguments = self.arguments(pid);
                if name == "busybox" && !arguments.is_empty() {
                    arguments.remove(0);
                }
                if shell::is_ephemeral(&arguments) { Role::EphemeralShell } else { Role::Shell }
            }
            Some(Kind::Interpreter) | None => {
                // A script that begins with `#!` carries its own name; its first argument tells.
                let arguments = self.arguments(pid);
                let by_shell = arguments.first().is_some_and(|first| {
                    matches!(self.catalogue.look_up(base_name(first)), Some(Kind::Shell))
                });
                if by_shell && shell::is_ephemeral(&arguments) {
                    Role::EphemeralShell
                } else {
                    Role::Ordinary
                }
            }
        }
    }
}

/// Claude Code's native build is a file named after its version.
fn is_version(name: &str) -> bool {
    name.contains('.') && name.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
}
