//! Turns the results into tables, a page, a picture and verdicts.

use osm_testkit::bench::chart::{Axes, Bar, Chart, Series};
use osm_testkit::bench::machine;
use osm_testkit::bench::outcome::{Outcome, Verdict};
use osm_testkit::bench::statistics::Spread;
use osm_testkit::bench::table::{NOTHING, grouped, table};

use crate::commands::{Commands, MANY};
use crate::start::Start;
use crate::trees::{Build, Run, Tree};

/// The most that a prompt may take, in multiples of `cat`.
const MOST_PROMPT: f64 = 1.3;
/// The same with token counts, for real code.
const MOST_COUNTED: f64 = 8.0;
/// The targets hold for trees of at least so many files: with fewer, starting a program takes longer than
/// reading them.
const FROM: usize = 5_000;
/// The longest time to the first prompt, in milliseconds.
const MOST_START: f64 = 15.0;

/// All results.
pub(crate) struct Report {
    pub(crate) trees: Vec<Tree>,
    pub(crate) start: Start,
    pub(crate) commands: Commands,
}

impl Report {
    /// The tables, the page, the picture and the verdicts.
    pub(crate) fn outcome(&self) -> Outcome {
        let tables = [self.tree_table(), self.start_table(), self.command_table()];
        Outcome {
            name: "prompt",
            tables: tables.join("\n"),
            page: self.page(&tables),
            picture: self.picture(),
            verdicts: self.verdicts(),
        }
    }

    fn verdicts(&self) -> Vec<Verdict> {
        let mut verdicts = Vec::new();
        for tree in &self.trees {
            for (counts, target) in [(false, Some(MOST_PROMPT)), (true, counted_target(tree))] {
                let (Some(run), Some(target)) = (tree.shipped(counts), target) else { continue };
                if tree.files >= FROM {
                    let ratio = run.time.p50 / tree.cat.p50;
                    let what =
                        format!("{}, {}: {ratio:.2} × cat, target {target}", tree.name, title(run));
                    verdicts.push(Verdict::new(ratio <= target, &what));
                }
            }
            for peer in tree.runs.iter().filter(|run| run.build == Build::Peer) {
                let Some(ours) = tree.shipped(peer.counts) else { continue };
                let ratio = peer.time.p50 / ours.time.p50;
                let what =
                    format!("{}: {} takes {ratio:.1} × as long as osm", tree.name, peer.name);
                verdicts.push(Verdict::new(ratio > 1.0, &what));
            }
        }
        if let Some((name, time)) = self.start.builds.first() {
            let start = time.p50 / 1e3;
            let what = format!("{name}: first prompt after {start:.1} ms, target {MOST_START}");
            verdicts.push(Verdict::new(start <= MOST_START, &what));
        }
        verdicts
    }

    fn tree_table(&self) -> String {
        let mut rows = Vec::new();
        for tree in &self.trees {
            let row = |name: &str, time: Spread, memory: Option<f64>| {
                vec![
                    format!("{}, {name}", tree.name),
                    milliseconds(time.p50),
                    milliseconds(time.p95),
                    format!("{:.2}", time.p50 / tree.cat.p50),
                    memory.map_or(NOTHING.into(), |memory| format!("{memory:.0}")),
                ]
            };
            let kilobytes = grouped(tree.bytes / 1000);
            rows.push(row(&format!("`cat` ({kilobytes} kB)"), tree.cat, None));
            for run in &tree.runs {
                rows.push(row(&title(run), run.time, run.memory));
            }
        }
        table(&["a prompt of", "p50 ms", "p95 ms", "÷ cat", "memory MB"], rows)
    }

    fn start_table(&self) -> String {
        let row = |name: &str, time: Spread| {
            vec![name.to_owned(), milliseconds(time.p50), milliseconds(time.p95)]
        };
        let mut rows = vec![row("a shell that prints a prompt", self.start.bare)];
        rows.extend(self.start.builds.iter().map(|(name, time)| row(name, *time)));
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

    fn page(&self, tables: &[String; 3]) -> String {
        let [trees, start, commands] = tables;
        format!(
            "# How fast is a prompt?\n\
             \n\
             ![A prompt in `cat`s of the same files](prompt.svg)\n\
             \n\
             Every figure is compared with a minimum that was measured in the same run, alternately. Compare within a \
             table: the milliseconds depend on the machine ({machine}) and its disk.\n\
             \n\
             ## A tree of files\n\
             \n\
             `osm code-review -c 'add TREE' -c show`: osm starts, walks the tree by its ignore rules, saves the item in \
             the session, reads every file, puts it into a fence and writes the prompt. The minimum is one `cat` of the same \
             files, which gets their names as arguments. The files are in the page cache. Real code is {real} of the \
             crates that cargo has fetched.\n\
             \n\
             {trees}\n\
             ## The first prompt\n\
             \n\
             From the start of the program on a terminal until the mode shows its prompt.\n\
             \n\
             {start}\n\
             ## Many commands\n\
             \n\
             osm saves the state after each command before it runs the next one. The minimum is to write, sync and rename \
             a file of the size that the session has at the end.\n\
             \n\
             {commands}\n\
             Targets, for `dist/osm`: a prompt of 10 000 files at most {MOST_PROMPT} × `cat`; with token counts of real \
             code at most {MOST_COUNTED} × `cat`; faster than every other tool that is named; the first prompt after at \
             most {MOST_START} ms.\n\
             \n\
             Reproduce with `scripts/bench prompt`; `--check` fails if a target is missed. \
             `OSM_BENCH_PEERS='name=command:name+tokens=command'` adds programs; a shell runs each with the folder in \
             `$TREE`. How it is measured: [crates/osm/benches/prompt](../../crates/osm/benches/prompt/main.rs).\n",
            machine = machine(),
            real =
                self.trees.iter().find(|tree| tree.real).map_or("10 000 files", |tree| &tree.name),
        )
    }

    fn picture(&self) -> String {
        let mut bars = Vec::new();
        let files = self.trees.last().map_or("files", |tree| &tree.name);
        if let Some(tree) = self.trees.last() {
            bars.extend(tree.runs.iter().map(|run| Bar {
                name: title(run).replace('`', ""),
                ratio: run.time.p50 / tree.cat.p50,
                target: match run.build {
                    Build::Shipped if run.counts => counted_target(tree),
                    Build::Shipped => Some(MOST_PROMPT),
                    Build::Other | Build::Peer => None,
                },
            }));
        }
        let each = |name: &str, of: &dyn Fn(&Tree) -> Option<Spread>| Series {
            name: name.to_owned(),
            points: self
                .trees
                .iter()
                .filter(|tree| !tree.real)
                .filter_map(|tree| {
                    #[expect(clippy::cast_precision_loss, reason = "there are few files")]
                    let files = tree.files as f64;
                    Some((files, of(tree)?.p50 / files))
                })
                .collect(),
        };
        let lines = [
            each("cat", &|tree| Some(tree.cat)),
            each("osm", &|tree| Some(tree.shipped(false)?.time)),
            each("osm, tokens counted", &|tree| Some(tree.shipped(true)?.time)),
        ];
        Chart::default()
            .bars(
                &format!("A prompt of {files} (less is better; a tick is a target)"),
                "median time from start to end, in multiples of cat of the same files",
                "cat",
                &bars,
            )
            .lines(
                "Small and large trees (less is better)",
                Axes { across: "files in the tree", up: "µs per file" },
                &lines,
            )
            .finish()
    }
}

/// The most that a prompt with token counts may take, in multiples of `cat`.
fn counted_target(tree: &Tree) -> Option<f64> {
    tree.real.then_some(MOST_COUNTED)
}

fn title(run: &Run) -> String {
    format!("{}{}", run.name, if run.counts { ", tokens counted" } else { "" })
}

fn milliseconds(microseconds: f64) -> String {
    format!("{:.1}", microseconds / 1e3)
}
