//! What we know of programs: data, in one table per kind.
//!
//! A [`Catalogue`] is the built-in tables plus what a user adds to them. It answers one question,
//! [`Catalogue::look_up`]: what is a program of this name? Names are compared whole. A name is
//! never searched for inside another, so a user, a folder or a file that happens to be called
//! `claude` is not an agent.

use std::borrow::Cow;

mod agents;
mod multiplexers;
mod programs;
mod shells;
mod terminals;

pub use agents::{AGENTS, Agent, Record};
pub use multiplexers::{KnownBy, MULTIPLEXERS, Multiplexer, Owner};
pub use programs::{INTERPRETERS, REMOTES, ROOTS, SANDBOXES, SUPERVISORS, WRAPPERS};
pub use shells::{Grammar, Options, SHELLS, Shell, Style};
pub use terminals::{RUNNERS, Runner, TERMINALS, TerminalProgram};

/// Names of a table, each compared whole; a final `*` stands for any rest.
pub type Names = &'static [&'static str];

/// What a program is, by its name.
#[derive(Clone, Copy, Debug)]
pub enum Kind<'a> {
    /// A coding agent.
    Agent(&'a Agent),
    /// A program that keeps terminals alive behind others.
    Multiplexer(&'a Multiplexer),
    /// A server of remote logins.
    Remote,
    /// A terminal emulator, or an editor that hosts terminals.
    Terminal(&'a TerminalProgram),
    /// A runner of continuous-integration jobs.
    Runner(&'a Runner),
    /// A program that starts another in a pid namespace of its own.
    Sandbox,
    /// The top of every tree: init, service managers, login managers.
    Root,
    /// A program that keeps services running, each of which is something of its own.
    Supervisor,
    /// A program that runs another and is nothing by itself.
    Wrapper,
    /// A command shell.
    Shell(&'a Shell),
    /// A program that runs a script; the script's name tells what it is.
    Interpreter,
}

/// The built-in tables and a user's additions.
#[derive(Clone, Debug, Default)]
pub struct Catalogue {
    agents: Vec<Agent>,
    wrappers: Vec<String>,
    shells: Vec<String>,
}

impl Catalogue {
    /// The built-in tables alone.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds an agent; it is asked before the built-in ones.
    pub fn add_agent(&mut self, agent: Agent) {
        self.agents.push(agent);
    }

    /// Adds a wrapper by its program name.
    pub fn add_wrapper(&mut self, name: impl Into<String>) {
        self.wrappers.push(name.into());
    }

    /// Adds a shell by its program name.
    pub fn add_shell(&mut self, name: impl Into<String>) {
        self.shells.push(name.into());
    }

    /// All agents, a user's first, then the built-in ones in the order in which look-alikes must
    /// be told apart.
    pub fn agents(&self) -> impl Iterator<Item = &Agent> {
        self.agents.iter().chain(AGENTS)
    }

    /// What a program of that name is; `None` for an ordinary one.
    #[must_use]
    pub fn look_up(&self, name: &str) -> Option<Kind<'_>> {
        let name = &*normalize(name);
        let among = |names: Names| names.iter().any(|pattern| matches(pattern, name));
        let added = |names: &[String]| names.iter().any(|pattern| matches(pattern, name));
        // Shells and wrappers first: they are what nearly every ancestor is.
        if let Some(shell) = SHELLS.iter().find(|shell| among(shell.names)) {
            return Some(Kind::Shell(shell));
        }
        if added(&self.shells) {
            return Some(Kind::Shell(&shells::UNKNOWN));
        }
        if added(&self.wrappers) {
            return Some(Kind::Wrapper);
        }
        if let Some(agent) = self.agents.iter().find(|agent| among(agent.programs)) {
            return Some(Kind::Agent(agent));
        }
        if !BUILT_IN.may_have(name) {
            return None;
        }
        if let Some(agent) = AGENTS.iter().find(|agent| among(agent.programs)) {
            return Some(Kind::Agent(agent));
        }
        if let Some(row) = MULTIPLEXERS.iter().find(|row| among(row.programs)) {
            return Some(Kind::Multiplexer(row));
        }
        if let Some(row) = TERMINALS.iter().find(|row| among(row.programs)) {
            return Some(Kind::Terminal(row));
        }
        if let Some(row) = RUNNERS.iter().find(|row| among(row.programs)) {
            return Some(Kind::Runner(row));
        }
        let plain: [(Names, Kind); 6] = [
            (WRAPPERS, Kind::Wrapper),
            (INTERPRETERS, Kind::Interpreter),
            (REMOTES, Kind::Remote),
            (ROOTS, Kind::Root),
            (SUPERVISORS, Kind::Supervisor),
            (SANDBOXES, Kind::Sandbox),
        ];
        plain.into_iter().find(|(names, _)| among(names)).map(|(_, kind)| kind)
    }

    /// The agent whose package the path lies in.
    ///
    /// Packages are runs of whole path components (`@openai/codex`), never parts of one.
    #[must_use]
    pub fn agent_by_path(&self, path: &str) -> Option<&Agent> {
        let path = path.replace('\\', "/");
        let padded = format!("/{}/", path.trim_matches('/'));
        self.agents().find(|agent| {
            agent.packages.iter().any(|package| padded.contains(&format!("/{package}/")))
        })
    }
}

/// Which lengths the names of a table have, for each first byte. Most ancestors are ordinary programs, which no name in
/// any table is; that is told by one look, where it would take hundreds.
struct Lengths([u16; 256]);

/// The names of the built-in tables.
static BUILT_IN: Lengths = {
    let mut lengths = Lengths([0; 256]);
    let mut row = 0;
    while row < SHELLS.len() {
        lengths = lengths.with(SHELLS[row].names);
        row += 1;
    }
    row = 0;
    while row < AGENTS.len() {
        lengths = lengths.with(AGENTS[row].programs);
        row += 1;
    }
    row = 0;
    while row < MULTIPLEXERS.len() {
        lengths = lengths.with(MULTIPLEXERS[row].programs);
        row += 1;
    }
    row = 0;
    while row < TERMINALS.len() {
        lengths = lengths.with(TERMINALS[row].programs);
        row += 1;
    }
    row = 0;
    while row < RUNNERS.len() {
        lengths = lengths.with(RUNNERS[row].programs);
        row += 1;
    }
    let lengths = lengths.with(WRAPPERS).with(INTERPRETERS).with(REMOTES);
    lengths.with(ROOTS).with(SUPERVISORS).with(SANDBOXES)
};

impl Lengths {
    /// A name that the kernel cut counts like one that it would cut.
    const fn bit(length: usize) -> u16 {
        1 << if length > KERNEL_NAME { KERNEL_NAME } else { length }
    }

    const fn with(mut self, names: Names) -> Self {
        let mut at = 0;
        while at < names.len() {
            let name = names[at].as_bytes();
            let first = name[0].to_ascii_lowercase() as usize;
            // Any rest can stand for a final `*`.
            self.0[first] |= match name {
                [prefix @ .., b'*'] => !(Self::bit(prefix.len()) - 1),
                _ => Self::bit(name.len()),
            };
            at += 1;
        }
        self
    }

    fn may_have(&self, name: &str) -> bool {
        let first = name.as_bytes().first().map(|byte| usize::from(byte.to_ascii_lowercase()));
        first.is_some_and(|first| self.0[first] & Self::bit(name.len()) != 0)
    }
}

/// The bare name of a program: no folder, no `-` of a login shell, no `.exe`.
#[must_use]
pub fn base_name(path: &str) -> &str {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    name.strip_prefix('-').unwrap_or(name)
}

/// A name as the tables spell it: Windows adds `.exe` and ignores case.
fn normalize(name: &str) -> Cow<'_, str> {
    let name = match name.len().checked_sub(4).and_then(|at| name.split_at_checked(at)) {
        Some((stem, extension)) if extension.eq_ignore_ascii_case(".exe") => stem,
        _ => name,
    };
    if cfg!(windows) { name.to_lowercase().into() } else { name.into() }
}

/// The kernel keeps this many bytes of a name.
const KERNEL_NAME: usize = 15;

/// Whether a pattern of the tables names a program: whole, up to a final `*`, or up to the cut
/// that the kernel makes.
fn matches(pattern: &str, name: &str) -> bool {
    // Every ancestor is compared with every name: most differ in their first letter.
    let first = |text: &str| text.as_bytes().first().map(u8::to_ascii_lowercase);
    if first(pattern) != first(name) && pattern != "*" {
        return false;
    }
    let same = |one: &str, other: &str| {
        if cfg!(windows) { one.eq_ignore_ascii_case(other) } else { one == other }
    };
    if let Some(prefix) = pattern.strip_suffix('*') {
        return name.get(..prefix.len()).is_some_and(|start| same(prefix, start));
    }
    let cut = name.len() == KERNEL_NAME && pattern.len() > KERNEL_NAME;
    same(pattern.get(..KERNEL_NAME).filter(|_| cut).unwrap_or(pattern), name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_compared_whole() {
        let catalogue = Catalogue::new();
        let kind = |name| catalogue.look_up(name);
        assert!(matches!(kind("claude"), Some(Kind::Agent(agent)) if agent.name == "claude-code"));
        assert!(matches!(kind("claude.exe"), Some(Kind::Agent(_))));
        for name in
            ["claudette", "notclaude", "claude-wrapper", "cursors", "authorized", "share", ""]
        {
            assert!(kind(name).is_none(), "{name}: {:?}", kind(name));
        }
        assert!(matches!(kind("bash"), Some(Kind::Shell(_))));
        assert!(matches!(kind("python3.11"), Some(Kind::Interpreter)));
        assert!(matches!(kind("tmux: server"), Some(Kind::Multiplexer(_))));
        assert!(kind("tmux: client").is_none());
    }

    #[test]
    fn no_name_of_a_table_is_passed_over() {
        let plain = [WRAPPERS, INTERPRETERS, REMOTES, ROOTS, SUPERVISORS, SANDBOXES];
        let rows = SHELLS.iter().map(|row| row.names).chain(AGENTS.iter().map(|row| row.programs));
        let rows = rows.chain(MULTIPLEXERS.iter().map(|row| row.programs));
        let rows = rows.chain(TERMINALS.iter().map(|row| row.programs));
        let rows = rows.chain(RUNNERS.iter().map(|row| row.programs)).chain(plain);
        let catalogue = Catalogue::new();
        for name in rows.flatten() {
            let name = name.strip_suffix('*').unwrap_or(name);
            assert!(catalogue.look_up(name).is_some(), "{name}");
            if let Some(cut) = name.get(..KERNEL_NAME) {
                assert!(catalogue.look_up(cut).is_some(), "{cut}");
            }
        }
        for name in ["python3.14", "python3.14-anything-long"] {
            assert!(matches!(catalogue.look_up(name), Some(Kind::Interpreter)), "{name}");
        }
    }

    #[test]
    fn the_cut_of_the_kernel_is_undone() {
        let catalogue = Catalogue::new();
        assert!(matches!(catalogue.look_up("gnome-terminal-"), Some(Kind::Terminal(_))));
        assert!(matches!(catalogue.look_up("wezterm-mux-ser"), Some(Kind::Multiplexer(_))));
        assert!(catalogue.look_up("gnome-terminal").is_none());
    }

    #[test]
    fn packages_are_whole_path_components() {
        let catalogue = Catalogue::new();
        let name = |path| catalogue.agent_by_path(path).map(|agent| agent.name);
        assert_eq!(name("/usr/lib/node_modules/@openai/codex/bin/codex.js"), Some("codex"));
        assert_eq!(name("/home/u/.local/share/claude/versions/2.1.325"), Some("claude-code"));
        assert_eq!(name("/home/claude/project/versions/x"), None);
        assert_eq!(name("/home/u/not@openai/codex/x"), None);
    }

    #[test]
    fn a_users_agent_comes_first() {
        let mut catalogue = Catalogue::new();
        catalogue.add_agent(Agent::defined("mine".into(), vec!["claude".into()], Vec::new(), None));
        assert!(
            matches!(catalogue.look_up("claude"), Some(Kind::Agent(agent)) if agent.name == "mine")
        );
    }

    #[test]
    fn bare_names() {
        for (path, name) in
            [("/usr/bin/node", "node"), ("-bash", "bash"), ("C:\\x\\cmd.exe", "cmd.exe"), ("", "")]
        {
            assert_eq!(base_name(path), name);
        }
    }
}
