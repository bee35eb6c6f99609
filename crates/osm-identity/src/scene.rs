//! What the detectors look at: our ancestors, what each of them is, and what variables say.
//!
//! A scene is seen from one process of the chain, its *base*: ourselves, or, to tell which session
//! an agent was started in, that agent. Everything is looked up when it is asked for.

use std::cell::RefCell;
use std::ffi::{OsStr, OsString};
use std::rc::Rc;

use crate::ancestry::Ancestry;
use crate::catalogue::{
    Agent, Catalogue, Grammar, Kind, Multiplexer, Runner, Shell, TerminalProgram, base_name,
};
use crate::environment::{Environment, is_blank};
use crate::instance::ProcessInstance;
use crate::process::{Host, Pid, Process, ProcessSource, ReadError, Terminal};
use crate::script;
use crate::shell::{self, Reads};

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
    /// A program that keeps services running.
    Supervisor,
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
            Self::Supervisor => f.write_str("supervisor"),
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
    /// A program that keeps services running: what is below it is one service.
    Supervisor,
    /// A sandbox with a pid namespace of its own: the agent that built it is out of sight.
    Sandbox,
    /// Nothing more above: the top, or where the walk had to end.
    Top,
}

/// What a process was found to be.
#[derive(Clone, Copy)]
struct Classified<'a> {
    kind: Option<Kind<'a>>,
    /// The name alone tells, so that it is the same for another process of that name.
    by_name: bool,
}

/// A file that a process has open under a number, and the terminal that it is.
type OpenFile = (Pid, u32, Result<Option<Terminal>, ReadError>);

/// The view from one process of the chain.
pub(crate) struct Scene<'a> {
    pub(crate) environment: &'a Environment,
    pub(crate) source: &'a dyn ProcessSource,
    pub(crate) catalogue: &'a Catalogue,
    pub(crate) host: Result<Host, ReadError>,
    pub(crate) ancestry: Ancestry<'a>,
    /// The kind of each process that was asked for so far.
    kinds: Vec<Classified<'a>>,
    /// The boundary above a base, for the base that was asked for last.
    boundary: Option<(usize, (usize, Boundary<'a>))>,
    /// The terminals that processes were found to have open, by the number of the file.
    open: RefCell<Vec<OpenFile>>,
    /// The arguments that were read so far.
    arguments: RefCell<Vec<(Pid, Rc<[String]>)>>,
    /// The role of each that was looked at closely, which costs a look at its arguments.
    roles: Vec<Option<Role>>,
    /// The process that asks, as a place in the chain.
    pub(crate) base: usize,
    /// The caller does not read the reasons of the detectors, so they need not be written out.
    pub(crate) is_silent: bool,
}

impl<'a> Scene<'a> {
    pub(crate) fn new(
        environment: &'a Environment,
        source: &'a dyn ProcessSource,
        catalogue: &'a Catalogue,
    ) -> Self {
        let host = source.host();
        let contained = host.as_ref().is_ok_and(|host| host.contained);
        let ancestry = Ancestry::new(source, source.own_pid(environment.pid()), contained);
        Self {
            environment,
            source,
            catalogue,
            host,
            ancestry,
            kinds: Vec::new(),
            boundary: None,
            open: RefCell::default(),
            arguments: RefCell::default(),
            roles: Vec::new(),
            base: 0,
            is_silent: false,
        }
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
        match self.boundary {
            Some((base, boundary)) if base == self.base => boundary,
            _ => {
                let boundary = self.find_boundary();
                self.boundary = Some((self.base, boundary));
                boundary
            }
        }
    }

    fn find_boundary(&mut self) -> (usize, Boundary<'a>) {
        let mut at = self.base + 1;
        loop {
            let Some(process) = self.process(at) else { return (at, Boundary::Top) };
            let (pid, has_terminal) = (process.pid, process.terminal.is_some());
            match self.kind(at) {
                Some(Kind::Agent(agent)) => return (at, Boundary::Agent(agent)),
                Some(Kind::Multiplexer(row)) => return (at, Boundary::Multiplexer(row)),
                Some(Kind::Remote) => return (at, Boundary::Remote),
                Some(Kind::Terminal(row)) => return (at, Boundary::Terminal(row)),
                Some(Kind::Runner(row)) => return (at, Boundary::Runner(row)),
                Some(Kind::Sandbox) if pid == Pid(1) => return (at, Boundary::Sandbox),
                Some(Kind::Supervisor) if !has_terminal => return (at, Boundary::Supervisor),
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
            let unknown = Classified { kind: None, by_name: false };
            let classified = match self.ancestry.known().get(next) {
                Some(process) => self.named_alike(next).unwrap_or_else(|| self.classify(process)),
                None => unknown,
            };
            self.kinds.push(classified);
        }
        self.kinds[at].kind
    }

    /// What is known of the process at a place by one of the same name below it. A chain of shells
    /// has few names, and the catalogue has many.
    fn named_alike(&self, at: usize) -> Option<Classified<'a>> {
        let known = self.ancestry.known();
        let alike = (0..at).rev().find(|below| known[*below].name == known[at].name)?;
        Some(self.kinds[alike]).filter(|it| it.by_name && known[at].pid != Pid(1))
    }

    fn classify(&self, process: &Process) -> Classified<'a> {
        let contained = self.host.as_ref().is_ok_and(|host| host.contained);
        if process.pid == Pid(1) && !contained {
            return Classified { kind: Some(Kind::Root), by_name: false };
        }
        let named = self.catalogue.look_up(&process.name);
        let (kind, by_name) = match named {
            Some(Kind::Interpreter) => (self.classify_by_arguments(process), false),
            None if is_version(&process.name) => (self.classify_by_arguments(process), false),
            kind => (kind, !matches!(kind, Some(Kind::Agent(_)))),
        };
        match kind {
            Some(Kind::Agent(agent)) if !self.is_genuine(agent, process) => {
                Classified { kind: None, by_name }
            }
            kind => Classified { kind, by_name },
        }
    }

    /// What a process that is not in the chain is, by name.
    pub(crate) fn role_of(&self, process: &Process) -> Role {
        match self.classify(process).kind {
            Some(Kind::Agent(agent)) => Role::Agent(agent.name),
            _ => Role::Ordinary,
        }
    }

    fn is_genuine(&self, agent: &Agent, process: &Process) -> bool {
        let marked = agent.marker.is_none_or(|marker| {
            self.environment.get(marker).is_some() || self.initial(process.pid, marker).is_some()
        });
        let is_run = || {
            let arguments = self.arguments(process.pid);
            let first = arguments.first().and_then(|it| self.catalogue.look_up(base_name(it)));
            matches!(first, Some(Kind::Interpreter))
        };
        marked
            && (!agent.is_script || is_run())
            && !agent.impostors.contains(&process.name.as_str())
    }

    /// For a process whose own name says nothing: its script, its first argument, its file.
    fn classify_by_arguments(&self, process: &Process) -> Option<Kind<'a>> {
        let arguments = self.arguments(process.pid);
        let (script, name) = (script::of(&arguments), arguments.first().map(String::as_str));
        let kind =
            [script, name].into_iter().flatten().find_map(|path| self.by_path(process, path));
        let is_of_the_system = SYSTEM_INTERPRETERS.iter().any(|it| process.name.starts_with(it));
        if kind.is_some() || is_of_the_system {
            return kind;
        }
        let file = self.source.executable(process.pid).ok()?;
        let file = file.to_string_lossy();
        self.by_path(process, file.strip_suffix(" (deleted)").unwrap_or(&file))
    }

    /// What a process is, by the path of its script or its file.
    fn by_path(&self, process: &Process, path: &str) -> Option<Kind<'a>> {
        match self.catalogue.look_up(base_name(path)) {
            None | Some(Kind::Interpreter) => {}
            Some(Kind::Shell(shell)) if shell.is_script => return Some(Kind::Shell(shell)),
            // `node sh` is not a shell, but `busybox sh` is one.
            Some(Kind::Shell(_) | Kind::Wrapper | Kind::Root) if process.name != "busybox" => {}
            kind => return kind,
        }
        self.catalogue.agent_by_path(path).map(Kind::Agent)
    }

    /// The arguments of a process, read once.
    pub(crate) fn arguments(&self, pid: Pid) -> Rc<[String]> {
        let mut known = self.arguments.borrow_mut();
        if let Some((_, arguments)) = known.iter().find(|(it, _)| *it == pid) {
            return Rc::clone(arguments);
        }
        let arguments = self.source.arguments(pid).unwrap_or_default();
        let text = |argument: &OsString| argument.to_string_lossy().into_owned();
        let arguments: Rc<[String]> = arguments.iter().map(text).collect();
        known.push((pid, Rc::clone(&arguments)));
        arguments
    }

    /// Whether the process at a place is a shell, interactive or not. For the others no arguments are read.
    pub(crate) fn is_shell(&mut self, at: usize) -> bool {
        matches!(self.kind(at), Some(Kind::Shell(_)))
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
        let (pid, leads) = (process.pid, process.session == Some(process.pid));
        match kind {
            Some(Kind::Agent(agent)) => Role::Agent(agent.name),
            Some(Kind::Multiplexer(row)) => Role::Multiplexer(row.name),
            Some(Kind::Remote) => Role::Remote,
            Some(Kind::Terminal(row)) => Role::Terminal(row.name),
            Some(Kind::Runner(row)) => Role::Runner(row.name),
            Some(Kind::Root) => Role::Root,
            Some(Kind::Supervisor) => Role::Supervisor,
            Some(Kind::Wrapper | Kind::Sandbox) => Role::Wrapper,
            Some(Kind::Shell(shell)) => self.shell_role(pid, leads, shell, &self.arguments(pid)),
            Some(Kind::Interpreter) | None => {
                // A script that begins with `#!` carries its own name; its first argument tells.
                let arguments = self.arguments(pid);
                let first = arguments.first().map(|first| base_name(first));
                match first.and_then(|name| self.catalogue.look_up(name)) {
                    Some(Kind::Shell(shell))
                        if self.shell_role(pid, leads, shell, &arguments)
                            == Role::EphemeralShell =>
                    {
                        Role::EphemeralShell
                    }
                    _ => Role::Ordinary,
                }
            }
        }
    }

    fn shell_role(&self, pid: Pid, leads: bool, shell: &Shell, arguments: &[String]) -> Role {
        match shell::reads(&script::own_arguments(arguments, shell), shell.grammar) {
            Reads::Interactively => Role::Shell,
            Reads::Input if self.reads_terminal(pid, leads, shell) => Role::Shell,
            Reads::Input | Reads::OneCommand | Reads::Script => Role::EphemeralShell,
        }
    }

    /// Whether the name of the process at a place is that of an interpreter, so that only its script
    /// tells what it is.
    pub(crate) fn is_interpreter(&mut self, at: usize) -> bool {
        let name = self.process(at).map(|process| process.name.clone()).unwrap_or_default();
        matches!(self.catalogue.look_up(&name), Some(Kind::Interpreter))
    }

    /// Whether the process at a place is a shell that runs a script file.
    pub(crate) fn runs_script(&mut self, at: usize) -> bool {
        let kind = self.kind(at);
        let Some(pid) = self.process(at).map(|process| process.pid) else { return false };
        let arguments = self.arguments(pid);
        let first = || self.catalogue.look_up(base_name(arguments.first()?));
        let Some(Kind::Shell(shell)) = kind.or_else(first) else { return false };
        shell::reads(&script::own_arguments(&arguments, shell), shell.grammar) == Reads::Script
    }

    /// Whether a shell that reads its standard input reads a terminal. Where its files may not be
    /// looked at, its arguments are all there is, and they say that it is a person's.
    fn reads_terminal(&self, pid: Pid, leads: bool, shell: &Shell) -> bool {
        let can_be_terminal = |number: &u32| {
            !matches!(self.open_terminal(pid, *number), Ok(None) | Err(ReadError::Absent))
        };
        let Grammar { stdin, kept, .. } = shell.grammar;
        // The first process on a terminal; others have one above them that tells more.
        stdin.iter().any(can_be_terminal) || (leads && kept.iter().any(can_be_terminal))
    }

    /// The terminal that a process has open under a number, looked at once.
    fn open_terminal(&self, pid: Pid, number: u32) -> Result<Option<Terminal>, ReadError> {
        let mut known = self.open.borrow_mut();
        if let Some((.., found)) = known.iter().find(|it| (it.0, it.1) == (pid, number)) {
            return *found;
        }
        let found = self.source.open_terminal(pid, number);
        known.push((pid, number, found));
        found
    }

    /// The terminal of the process at a place.
    ///
    /// The kernel takes it from a shell whose window is closed or whose connection is lost; while
    /// that shell says goodbye (an exit trap, a logout script) it still has it open.
    pub(crate) fn terminal(&mut self, at: usize) -> Option<Terminal> {
        let process = self.process(at)?;
        let (pid, session) = (process.pid, process.session);
        if process.terminal.is_some() || session != Some(pid) {
            return process.terminal;
        }
        let Some(Kind::Shell(shell)) = self.kind(at) else { return None };
        let open = |number: &u32| self.open_terminal(pid, *number).ok().flatten();
        let terminal = shell.grammar.stdin.iter().chain(shell.grammar.kept).find_map(open)?;
        (self.role(at) == Role::Shell).then_some(terminal)
    }
}

/// Interpreters that no agent brings along: their file says no more than their name.
const SYSTEM_INTERPRETERS: &[&str] =
    &["python", "Python", "pypy", "ruby", "perl", "java", "busybox"];

/// Claude Code's native build is a file named after its version.
fn is_version(name: &str) -> bool {
    name.contains('.') && name.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
}
