//! What each argument takes.
//!
//! The argument parser knows names and options, but not that an argument is a session. A test checks
//! that every argument that takes a value has a row here, unless the parser lists its values.

use super::ShellOffers;

/// What an argument takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Text of the user's own.
    Text,
    Files,
    Programs,
    /// One of these words.
    Words(&'static [&'static str]),
    /// The name of a command of osm, and then of one below it.
    Commands,
    Sessions,
    Archives,
    SessionsAndArchives,
    /// The agents of sessions.
    Agents,
    /// The branches on which sessions were used.
    Branches,
    Goals,
    Settings,
    /// A value of the setting that was named before.
    SettingValues,
    Claims(WhichClaims),
    /// Files whose code may run.
    Trusted,
}

/// Which claims an argument means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WhichClaims {
    All,
    /// Those that this session holds.
    Mine,
    /// Those of an earlier process of this session.
    Resumable,
    /// Those that are offered to this session.
    Offered,
}

impl Kind {
    /// What the shell itself adds.
    pub(crate) fn shell(self) -> ShellOffers {
        match self {
            Self::Files => ShellOffers::Files,
            Self::Programs => ShellOffers::Programs,
            _ => ShellOffers::Nothing,
        }
    }
}

/// A command, an argument, what it takes. `*` is every command without a row of its own.
type Row = (&'static str, &'static str, Kind);

const ROWS: &[Row] = &[
    ("*", "session", Kind::Sessions),
    ("*", "store", Kind::Words(&["fs", "memory", "postgres"])),
    ("*", "id", Kind::Sessions),
    ("*", "scope", Kind::Text),
    ("*", "note", Kind::Text),
    ("*", "request", Kind::Text),
    ("*", "reason", Kind::Text),
    ("*", "epoch", Kind::Text),
    ("*", "ttl", Kind::Words(&["15m", "1h", "8h"])),
    ("*", "wait", Kind::Words(&["30s", "10m", "1h"])),
    ("*", "term", Kind::Words(&["1h", "8h"])),
    ("*", "commands", Kind::Text),
    ("*", "budget", Kind::Text),
    ("*", "log_file", Kind::Files),
    ("*", "file", Kind::Files),
    ("*", "resource", Kind::Claims(WhichClaims::All)),
    ("*", "resources", Kind::Claims(WhichClaims::All)),
    ("session list", "agent", Kind::Agents),
    ("session list", "branch", Kind::Branches),
    ("session list", "repository", Kind::Files),
    ("session diff", "one", Kind::SessionsAndArchives),
    ("session diff", "other", Kind::SessionsAndArchives),
    ("session delete", "ids", Kind::SessionsAndArchives),
    ("session restore", "name", Kind::Archives),
    ("session export", "output", Kind::Files),
    ("session import", "files", Kind::Files),
    ("store copy", "from", Kind::Words(&["fs", "postgres"])),
    ("store copy", "to", Kind::Words(&["fs", "postgres"])),
    ("goal", "name", Kind::Goals),
    ("goal show", "name", Kind::Goals),
    ("goal new", "name", Kind::Text),
    ("goal new", "description", Kind::Text),
    ("script", "words", Kind::Files),
    ("trust", "paths", Kind::Files),
    ("trust revoke", "paths", Kind::Trusted),
    ("claim next", "candidates", Kind::Claims(WhichClaims::All)),
    ("claim next", "from", Kind::Files),
    ("claim next", "from_command", Kind::Text),
    ("claim next", "field", Kind::Words(&["id"])),
    ("claim path", "paths", Kind::Files),
    ("claim check", "resource", Kind::Claims(WhichClaims::Mine)),
    ("claim renew", "resource", Kind::Claims(WhichClaims::Mine)),
    ("claim note", "resource", Kind::Claims(WhichClaims::Mine)),
    ("claim handoff", "resource", Kind::Claims(WhichClaims::Mine)),
    ("claim handoff", "to", Kind::Sessions),
    ("claim accept", "resource", Kind::Claims(WhichClaims::Offered)),
    ("claim resume", "resources", Kind::Claims(WhichClaims::Resumable)),
    ("claim run", "command", Kind::Programs),
    ("claim log", "by", Kind::Sessions),
    ("claim log", "since", Kind::Words(&["10m", "24h"])),
    ("claim log", "until", Kind::Text),
    ("claim log", "at", Kind::Text),
    ("claim log", "last", Kind::Text),
    ("release", "resources", Kind::Claims(WhichClaims::Mine)),
    ("ask", "target", Kind::Claims(WhichClaims::All)),
    ("*", "text", Kind::Text),
    ("agent install", "names", Kind::Words(crate::agent::table::NAMES)),
    ("agent remove", "names", Kind::Words(crate::agent::table::NAMES)),
    ("agent hook", "event", Kind::Words(crate::agent::event::WORDS)),
    ("config get", "key", Kind::Settings),
    ("config set", "key", Kind::Settings),
    ("config set", "values", Kind::SettingValues),
    ("config unset", "key", Kind::Settings),
    ("help", "command", Kind::Commands),
    ("man", "command", Kind::Commands),
    ("man", "folder", Kind::Files),
    ("complete", "words", Kind::Text),
];

/// What an argument of a command takes.
pub(super) fn of(command: &str, argument: &str) -> Option<Kind> {
    let row = |name: &str| ROWS.iter().find(|it| it.0 == name && it.1 == argument);
    row(command).or_else(|| row("*")).map(|it| it.2)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every command with its path, and every argument of it that takes a value.
    fn arguments(command: &clap::Command, path: &str, found: &mut Vec<(String, String)>) {
        let takes_any =
            |it: &&clap::Arg| it.get_action().takes_values() && it.get_possible_values().is_empty();
        let own = command.get_arguments().filter(takes_any);
        found.extend(own.map(|it| (path.to_owned(), it.get_id().to_string())));
        for below in command.get_subcommands() {
            let path = format!("{path} {}", below.get_name()).trim().to_owned();
            arguments(below, &path, found);
        }
    }

    #[test]
    fn every_argument_has_a_kind_and_every_row_an_argument() {
        let mut found = Vec::new();
        arguments(&crate::cli::command(), "", &mut found);
        for (command, argument) in &found {
            assert!(of(command, argument).is_some(), "add a row for osm {command}: {argument}");
        }
        for (command, argument, _) in ROWS {
            let is_it =
                |it: &(String, String)| it.1 == *argument && (*command == "*" || it.0 == *command);
            assert!(found.iter().any(is_it), "there is no osm {command}: {argument}");
        }
    }
}
