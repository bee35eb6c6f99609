//! Turns what was measured into a table, a page, a picture and verdicts.

use osm_testkit::bench::chart::{Bar, Chart};
use osm_testkit::bench::machine;
use osm_testkit::bench::outcome::{Outcome, Verdict};
use osm_testkit::bench::statistics::Spread;
use osm_testkit::bench::table::{grouped, table};

use crate::agents::{AGENTS, Question};
use crate::measure::{OTHERS, Row, What};

/// The most milliseconds that a hook may take beyond `/bin/true`.
const MOST: [(Question, f64); 2] = [(Question::Ours, 3.0), (Question::New, 6.0)];
/// The most that the claims of others may add to a hook before an edit, as a ratio. It is not 1: a larger tree has
/// one more level.
const MOST_GROWTH: f64 = 1.1;

/// Everything that the page, the picture and the verdicts say.
pub(crate) struct Report {
    pub(crate) rows: Vec<Row>,
}

impl Report {
    /// What is shown, written down and judged.
    pub(crate) fn outcome(&self) -> Outcome {
        let table = self.table();
        Outcome {
            name: "agents",
            page: page(&table),
            tables: table,
            picture: self.picture(),
            verdicts: self.verdicts(),
        }
    }

    fn yardstick(&self, agent: &str) -> Spread {
        let is_it = |row: &&Row| row.agent == agent && matches!(row.what, What::Yardstick);
        self.rows.iter().find(is_it).expect("it takes its turns").spread
    }

    /// Milliseconds beyond the yardstick.
    fn beyond(&self, row: &Row) -> f64 {
        (row.spread.p50 - self.yardstick(row.agent).p50) / 1e3
    }

    /// The hooks of the program that users install.
    fn shipped(&self) -> impl Iterator<Item = (&Row, Question, u32)> {
        self.rows.iter().filter_map(|row| match &row.what {
            What::Hook { question, others, is_shipped: true, .. } => {
                Some((row, *question, *others))
            }
            _ => None,
        })
    }

    fn table(&self) -> String {
        let rows = self.rows.iter().map(|row| {
            let (what, build, others) = match &row.what {
                What::Yardstick => ("`/bin/true`".to_owned(), String::new(), String::new()),
                What::Hook { question, build, others, .. } => {
                    (question.name().to_owned(), build.clone(), grouped(u64::from(*others)))
                }
                What::Peer(name) => (name.clone(), String::new(), String::new()),
            };
            vec![
                format!("{}: {what}", row.agent),
                build,
                others,
                milliseconds(row.spread.p50),
                milliseconds(row.spread.p95),
                format!("{:.2}", self.beyond(row)),
            ]
        });
        let head = ["hook", "build", "claims of others", "p50 ms", "p95 ms", "beyond true ms"];
        table(&head, rows)
    }

    fn verdicts(&self) -> Vec<Verdict> {
        let mut verdicts = Vec::new();
        for (row, question, others) in self.shipped() {
            let name = format!("{}, {}", row.agent, question.name());
            if let Some((_, most)) = MOST.iter().find(|(it, _)| *it == question) {
                let beyond = self.beyond(row);
                let what = format!(
                    "{name}, {} claims of others: {beyond:.2} ms beyond /bin/true, target {most}",
                    grouped(u64::from(others))
                );
                verdicts.push(Verdict::new(beyond <= *most, &what));
            }
            let alone = self.shipped().find(|(it, asked, others)| {
                it.agent == row.agent && *asked == question && *others == 0
            });
            if let Some((alone, ..)) = alone.filter(|_| others > 0 && question != Question::Command)
            {
                let ratio = row.spread.p50 / alone.spread.p50;
                let what = format!(
                    "{name}: {ratio:.2} × as long with {} claims of others, target {MOST_GROWTH}",
                    grouped(u64::from(others))
                );
                verdicts.push(Verdict::new(ratio <= MOST_GROWTH, &what));
            }
        }
        verdicts
    }

    fn picture(&self) -> String {
        let first = AGENTS[0].name;
        let floor = self.yardstick(first).p50;
        let hooks = self.shipped().filter(|(row, ..)| row.agent == first);
        let mut bars: Vec<Bar> = hooks
            .map(|(row, question, others)| Bar {
                name: format!("{}, {} claims", question.name(), grouped(u64::from(others))),
                ratio: row.spread.p50 / floor,
                target: MOST
                    .iter()
                    .find(|(it, _)| *it == question)
                    .map(|(_, most)| (floor + most * 1e3) / floor),
            })
            .collect();
        bars.extend(self.rows.iter().filter_map(|row| match &row.what {
            What::Peer(name) => {
                Some(Bar { name: name.clone(), ratio: row.spread.p50 / floor, target: None })
            }
            _ => None,
        }));
        Chart::default()
            .bars(
                "A hook of Claude Code (less is better; a tick is a target)",
                "median time from start to end, in multiples of /bin/true",
                "/bin/true",
                &bars,
            )
            .finish()
    }
}

fn page(table: &str) -> String {
    format!(
        "# How long does an agent wait for a hook?\n\
         \n\
         ![Hooks in medians of /bin/true](agents.svg)\n\
         \n\
         An agent waits for `osm agent hook` before and after its tools. Each figure is the whole process, from start \
         to end, below a process that has the agent's name, with the payload that the agent sends, in a Git \
         repository; all take turns in the same run. Compare within the table: milliseconds are of this machine \
         ({machine}), its disk and this moment. A new claim is one synced commit. In the second ledger another running \
         session has claimed {others} files of the same worktree.\n\
         \n\
         {table}\n\
         A hook before a command looks at the files of other sessions, so its time grows with their number.\n\
         \n\
         Other programs are measured if they are named in `OSM_BENCH_PEERS`. In November 2026, PyPI has \
         `agent-file-claim`, a script in Python; `pact` and `lockpick` in npm, PyPI and crates.io are other programs.\n\
         \n\
         Targets, for the program of `scripts/release`: before an edit of a file that is ours already at most \
         {ours} ms beyond `/bin/true`, with a new claim at most {new} ms; with {others} claims of others at most \
         {MOST_GROWTH} × as long as without.\n\
         \n\
         Reproduce with `scripts/bench agents`; `--check` fails where a target is missed. \
         `OSM_BENCH_PEERS='name=command:…'` adds programs, each run by a shell in the worktree, with the payload \
         of Claude Code on standard input. How it is measured: [crates/osm/benches/agents](../../crates/osm/benches/agents/main.rs).\n",
        machine = machine(),
        others = grouped(u64::from(OTHERS)),
        ours = MOST[0].1,
        new = MOST[1].1,
    )
}

fn milliseconds(microseconds: f64) -> String {
    format!("{:.2}", microseconds / 1e3)
}
