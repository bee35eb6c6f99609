//! `docs/conformance.md`, made from a whole run, and the record by which two runs are compared.

use std::fmt::Write as _;

use osm_testkit::{page, tools};

use super::situation::{Group, Identity, Ids, Situation, Stop};

/// The rows that ran, and what came of them.
pub(crate) struct Page {
    wanted: usize,
    rows: Vec<Row>,
}

struct Row {
    situation: Situation,
    result: String,
    skipped: bool,
    /// Which ids were one, and what found each: `1:anchor 1:anchor 2:multiplexer tmux`.
    ids: String,
}

impl Page {
    pub(crate) fn new(wanted: usize) -> Self {
        Self { wanted, rows: Vec::new() }
    }

    pub(crate) fn add(&mut self, situation: Situation, ids: &Ids) {
        let result = match ids {
            Ok(_) => "holds".to_owned(),
            Err(Stop::Skipped(reason)) => format!("skipped: {reason}"),
            Err(Stop::Failed(_)) => "**fails**".to_owned(),
        };
        let skipped = matches!(ids, Err(Stop::Skipped(_)));
        let ids = ids.as_deref().map(pattern).unwrap_or_default();
        self.rows.push(Row { situation, result, skipped, ids });
    }

    /// A line for each row, without anything that another run changes: an id itself is of this run.
    pub(crate) fn record(&self) -> String {
        let mut lines: Vec<String> = self
            .rows
            .iter()
            .map(|row| format!("{}: {}: {}\n", row.situation.trial_name(), row.result, row.ids))
            .collect();
        lines.sort_unstable();
        lines.concat()
    }

    /// Writes the page after a whole strict run, or compares it. A partial run settles nothing.
    pub(crate) fn is_settled(&self) -> bool {
        let whole = self.rows.len() == self.wanted && !self.rows.iter().any(|row| row.skipped);
        if !whole || !tools::strict() {
            return true;
        }
        page::is_settled("conformance.md", &self.render()).expect("docs/ can be written")
    }

    fn render(&self) -> String {
        let mut text = String::from(HEAD);
        for (group, title) in GROUPS {
            let mut rows: Vec<&Row> =
                self.rows.iter().filter(|row| row.situation.group == *group).collect();
            rows.sort_by_key(|row| row.situation.name);
            write!(text, "\n## {title}\n\n| situation | found by | |\n|---|---|---|\n")
                .expect("writing to a string succeeds");
            for row in rows {
                let Situation { name, found_by, .. } = row.situation;
                writeln!(text, "| {name} | {} | {} |", found_by.join(", "), row.result)
                    .expect("writing to a string succeeds");
            }
        }
        text
    }
}

/// The ids, each by the place of its first occurrence.
fn pattern(ids: &[Identity]) -> String {
    let names: Vec<String> = ids
        .iter()
        .map(|it| {
            let first = ids.iter().position(|other| other.id == it.id).unwrap_or_default();
            format!("{}:{}", first + 1, it.found_by())
        })
        .collect();
    names.join(" ")
}

const GROUPS: &[(Group, &str)] = &[
    (Group::Same, "One session"),
    (Group::Differ, "Different sessions"),
    (Group::NotFooled, "Misleading variables and names"),
    (Group::RealAgent, "Real agents"),
];

const HEAD: &str = "# Conformance

This page lists situations that are one session, and situations that are several.
`cargo test -p osm --test conformance` runs every row with real processes; a complete run of
`./scripts/test full` writes this page and fails if it was out of date. \"Found by\" names the detectors that
must win, in the order in which the row asks. `osm session id --explain` shows the detectors for your own
terminal. `scripts/run-tests --twice` runs all rows twice and fails if a row differs.

Some programs have no row, because a test cannot install or drive them by name on Debian 12:

- zellij and shpool have no Debian package, and the tests do not build their crates. `wezterm-mux-server` and Eternal
  Terminal have no Debian package and no crate. What the catalogue says of them is tested with process tables.
- code-server is in npm, but only a browser opens its terminals.
- podman installs, but its runtime (`crun`) starts no container where cgroups are in hybrid mode. The rows with `unshare`
  and systemd-nspawn use the same namespaces.
";
