//! Programs that keep terminals alive behind others.
//!
//! A pane outlives the terminal it is looked at through and even its own shell, so the pane is
//! the session. Its name is reused by the next server, so the server's incarnation is part of it.
//! Everything else in a pane's environment is frozen at the moment the server started, which is
//! why a server between us and an agent or a terminal cuts off whatever those left in variables.

use super::Names;

/// A multiplexer, and the variables that name one of its panes.
#[derive(Clone, Copy, Debug)]
pub struct Multiplexer {
    /// Its name, and the namespace of its ids.
    pub name: &'static str,
    /// Names of its server process.
    pub programs: Names,
    /// The variables that together name a pane.
    pub pane: Names,
    /// The variable that tells the server's pid.
    pub owner: Option<Owner>,
    /// What a pane is known by.
    pub known_by: KnownBy,
}

/// What tells the panes of one server apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KnownBy {
    /// The variables: the name of a pane is never given to another, and outlives its shell.
    Variables,
    /// The first process in it: names are given again (screen numbers its windows, and they can be
    /// renumbered), or are the user's.
    FirstProcess,
    /// Nothing: a server has one pane.
    Server,
}

/// Where the pid of a server stands.
#[derive(Clone, Copy, Debug)]
pub struct Owner {
    /// In this variable,
    pub variable: &'static str,
    /// split at this character,
    pub separator: char,
    /// in this field, counted from 0.
    pub field: usize,
}

/// All that we know, each by its server process.
pub static MULTIPLEXERS: &[Multiplexer] = &[
    Multiplexer {
        name: "tmux",
        programs: &["tmux: server", "tmux"],
        pane: &["TMUX_PANE"],
        owner: Some(Owner { variable: "TMUX", separator: ',', field: 1 }),
        known_by: KnownBy::Variables,
    },
    Multiplexer {
        name: "screen",
        programs: &["screen", "SCREEN"],
        pane: &["STY", "WINDOW"],
        owner: Some(Owner { variable: "STY", separator: '.', field: 0 }),
        known_by: KnownBy::FirstProcess,
    },
    Multiplexer {
        name: "zellij",
        programs: &["zellij"],
        pane: &["ZELLIJ_SESSION_NAME", "ZELLIJ_PANE_ID"],
        owner: None,
        known_by: KnownBy::Variables,
    },
    Multiplexer {
        name: "wezterm",
        programs: &["wezterm-mux-server", "wezterm-gui"],
        pane: &["WEZTERM_PANE"],
        owner: None,
        known_by: KnownBy::Variables,
    },
    Multiplexer {
        name: "shpool",
        programs: &["shpool"],
        pane: &["SHPOOL_SESSION_NAME"],
        owner: None,
        known_by: KnownBy::FirstProcess,
    },
    Multiplexer {
        name: "abduco",
        programs: &["abduco"],
        pane: &["ABDUCO_SESSION"],
        owner: None,
        known_by: KnownBy::Server,
    },
    Multiplexer {
        name: "dtach",
        programs: &["dtach"],
        pane: &[],
        owner: None,
        known_by: KnownBy::Server,
    },
    Multiplexer {
        name: "herdr",
        programs: &["herdr"],
        pane: &["HERDR_PANE_ID"],
        owner: None,
        known_by: KnownBy::Variables,
    },
];
