//! `docs/conformance.md`, made from a whole run.

use std::fmt::Write as _;

use osm_testkit::{page, tools};

use super::situation::{Group, Ids, Situation, Stop};

/// The rows that ran, and what came of them.
pub(crate) struct Page {
    wanted: usize,
    rows: Vec<Row>,
}

struct Row {
    situation: Situation,
    sources: String,
    result: String,
    skipped: bool,
}

impl Page {
    pub(crate) fn new(wanted: usize) -> Self {
        Self { wanted, rows: Vec::new() }
    }

    pub(crate) fn add(&mut self, situation: Situation, ids: &Ids) {
        let (sources, result) = match ids {
            Ok(ids) => (sources(ids), "holds".to_owned()),
            Err(Stop::Skipped(reason)) => (String::new(), format!("skipped: {reason}")),
            Err(Stop::Failed(_)) => (String::new(), "**fails**".to_owned()),
        };
        let skipped = matches!(ids, Err(Stop::Skipped(_)));
        self.rows.push(Row { situation, sources, result, skipped });
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
                writeln!(text, "| {} | {} | {} |", row.situation.name, row.sources, row.result)
                    .expect("writing to a string succeeds");
            }
        }
        text
    }
}

const GROUPS: &[(Group, &str)] = &[
    (Group::Same, "One session"),
    (Group::Differ, "Different sessions"),
    (Group::NotFooled, "Not fooled"),
    (Group::RealAgent, "Real agents"),
];

const HEAD: &str = "# Conformance

Which situations are one session, and which are several. Every row is run with real processes by
`cargo test -p osm --test conformance`; this page is written by a whole run of `./scripts/test`
and checked by it. \"Found by\" names the namespaces of the ids that were seen.
";

/// The namespaces of some ids, each once, in order.
fn sources(ids: &[String]) -> String {
    let mut sources: Vec<&str> = Vec::new();
    for id in ids {
        let namespace = id.split("--").next().unwrap_or_default();
        if !sources.contains(&namespace) {
            sources.push(namespace);
        }
    }
    sources.join(", ")
}
