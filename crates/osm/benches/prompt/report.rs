//! Turns what was measured into tables, a page, a picture and verdicts.

use osm_testkit::bench::chart::{Bar, Chart, Series};
use osm_testkit::bench::machine;
use osm_testkit::bench::outcome::{Outcome, Verdict};
use osm_testkit::bench::statistics::Spread;
use osm_testkit::bench::table::{NOTHING, grouped, table};

use crate::commands::{Commands, MANY};
use crate::start::Start;
use crate::trees::Tree;

/// The most that a prompt may take, in `cat`s of the same files.
const MOST_PROMPT: f64 = 1.3;
/// From so many files on: with fewer, starting a program is most of it.
const FROM: u32 = 10_000;
/// The longest that a first prompt may take, in milliseconds.
const MOST_START: f64 = 20.0;

/// Everything that the page, the picture and the verdicts say.
pub(crate) struct Report {
    pub(crate) trees: Vec<Tree>,
    pub(crate) start: Start,
    pub(crate) commands: Commands,
}

impl Report {
    /// What is shown, written down and judged.
    pub(crate) fn outcome(&self) -> Outcome {
        let tables = [self.tree_table(), self.start_table(), self.command_table()];
        Outcome {
            name: "prompt",
            tables: tables.join("\n"),
            page: Self::page(&tables),
            picture: self.picture(),
            verdicts: self.verdicts(),
        }
    }

    fn verdicts(&self) -> Vec<Verdict> {
        let mut verdicts = Vec::new();
        for it in &self.trees {
            let files = grouped(it.count.into());
            if it.count >= FROM {
                let ratio = it.plain.p50 / it.cat.p50;
                let what = format!("{files} files: {ratio:.2} × cat, target {MOST_PROMPT}");
                verdicts.push(Verdict::new(ratio <= MOST_PROMPT, &what));
            }
            for peer in &it.peers {
                let ours = if peer.counts { it.counted } else { it.plain };
                let ratio = peer.time.p50 / ours.p50;
                let name = &peer.name;
                let what =
                    format!("{files} files: ahead of {name}, which takes {ratio:.1} × as long");
                verdicts.push(Verdict::new(ratio > 1.0, &what));
            }
        }
        let start = self.start.osm.p50 / 1e3;
        let what = format!("first prompt after {start:.1} ms, target {MOST_START}");
        verdicts.push(Verdict::new(start <= MOST_START, &what));
        verdicts
    }

    fn tree_table(&self) -> String {
        let mut rows = Vec::new();
        for it in &self.trees {
            let row = |name: &str, time: Spread, memory: Option<f64>| {
                vec![
                    format!("{} files, {name}", grouped(it.count.into())),
                    milliseconds(time.p50),
                    milliseconds(time.p95),
                    format!("{:.2}", time.p50 / it.cat.p50),
                    memory.map_or(NOTHING.into(), |memory| format!("{memory:.0}")),
                ]
            };
            let kilobytes = grouped(it.bytes / 1000);
            rows.push(row(&format!("`cat` ({kilobytes} kB)"), it.cat, None));
            rows.push(row("`osm`", it.plain, it.plain_memory));
            rows.push(row("`osm`, tokens counted", it.counted, it.counted_memory));
            for peer in &it.peers {
                let counts = if peer.counts { ", tokens counted" } else { "" };
                rows.push(row(&format!("{}{counts}", peer.name), peer.time, peer.memory));
            }
        }
        table(&["a prompt of", "p50 ms", "p95 ms", "÷ cat", "memory MB"], rows)
    }

    fn start_table(&self) -> String {
        let row = |name: &str, time: Spread| {
            vec![name.to_owned(), milliseconds(time.p50), milliseconds(time.p95)]
        };
        let rows = [
            row("a shell that prints a prompt", self.start.bare),
            row("`osm code-review`", self.start.osm),
        ];
        table(&["to the first prompt", "p50 ms", "p95 ms"], rows)
    }

    fn command_table(&self) -> String {
        let it = &self.commands;
        let rows = [vec![
            MANY.to_string(),
            grouped(it.size),
            milliseconds(it.bare.p50),
            milliseconds(it.each.p50),
            format!("{:.2}", it.each.p50 / it.bare.p50),
        ]];
        let head = ["commands", "bytes after them", "bare p50 ms", "each p50 ms", "÷ bare"];
        table(&head, rows)
    }

    fn page(tables: &[String; 3]) -> String {
        let [trees, start, commands] = tables;
        format!(
            "# How fast is a prompt?\n\
             \n\
             ![A prompt in `cat`s of the same files](prompt.svg)\n\
             \n\
             Each figure stands beside what nobody can do without, in the same run, in turns. Compare within a table: \
             milliseconds are of this machine ({machine}), its disk and this moment.\n\
             \n\
             ## A tree of files\n\
             \n\
             `osm code-review -c 'add TREE' -c show`: the program starts, walks the tree by its ignore rules, notes it in \
             a session that is saved durably, reads every file, fences it and writes the prompt. The floor is one `cat` \
             of the same files, which knows their names already. Nothing is kept from one round to the next but what the \
             system keeps in memory for everybody.\n\
             \n\
             {trees}\n\
             ## The first prompt\n\
             \n\
             From the start of the program on a terminal until the prompt of the mode is there.\n\
             \n\
             {start}\n\
             ## Many commands\n\
             \n\
             Each command is saved before the next one begins, with the state after it. The floor is to write, sync and \
             rename a file of the size that the session has after all of them.\n\
             \n\
             {commands}\n\
             Targets: a prompt of {from} files at most {MOST_PROMPT} × `cat`; ahead of every other tool that is named; \
             the first prompt after at most {MOST_START} ms.\n\
             \n\
             Reproduce with `scripts/bench prompt`; `--check` fails where a target is missed. \
             `OSM_BENCH_PEERS='name=command:name+tokens=command'` adds programs, each run by a shell with the folder in \
             `$TREE`. How it is measured: [crates/osm/benches/prompt](../../crates/osm/benches/prompt/main.rs).\n",
            machine = machine(),
            from = grouped(FROM.into()),
        )
    }

    fn picture(&self) -> String {
        let mut bars = Vec::new();
        if let Some(it) = self.trees.last() {
            let bar = |name: &str, time: Spread, target| Bar {
                name: name.to_owned(),
                ratio: time.p50 / it.cat.p50,
                target,
            };
            bars.push(bar("osm", it.plain, Some(MOST_PROMPT)));
            bars.push(bar("osm, tokens counted", it.counted, None));
            for peer in &it.peers {
                let counts = if peer.counts { ", tokens counted" } else { "" };
                bars.push(bar(&format!("{}{counts}", peer.name), peer.time, None));
            }
        }
        let each = |name: &str, of: &dyn Fn(&Tree) -> Spread| Series {
            name: name.to_owned(),
            points: self
                .trees
                .iter()
                .map(|it| (f64::from(it.count), of(it).p50 / f64::from(it.count)))
                .collect(),
        };
        let lines = [
            each("cat", &|it| it.cat),
            each("osm", &|it| it.plain),
            each("osm, tokens counted", &|it| it.counted),
        ];
        Chart::default()
            .bars("In cats of the same files (less is better; a tick is a target)", "cat", &bars)
            .lines("Microseconds for each file, by their number", &lines)
            .finish()
    }
}

fn milliseconds(microseconds: f64) -> String {
    format!("{:.1}", microseconds / 1e3)
}
