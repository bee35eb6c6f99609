//! Turns what was measured into tables, a page, a picture and verdicts.

use osm_testkit::bench::chart::{Axes, Bar, Chart, Series};
use osm_testkit::bench::machine;
use osm_testkit::bench::outcome::{Outcome, Verdict};
use osm_testkit::bench::statistics::Spread;
use osm_testkit::bench::table::{NOTHING, grouped, table};

use crate::growth::Growth;
use crate::many::Crowd;
use crate::save::Single;
use crate::writers::Contest;

/// The most that an open, a change and a save may take, in bare saves.
const MOST_SAVE: f64 = 1.2;
/// The most that `list`, `clean` and `purge` may take, in what is bare of them.
const MOST_CROWD: f64 = 2.0;
/// The most that a file may grow by with a command, in texts that the command changed.
const MOST_GROWTH: f64 = 2.0;

/// Everything that the page, the picture and the verdicts say.
pub(crate) struct Report {
    pub(crate) saves: Vec<Single>,
    pub(crate) growths: Vec<Growth>,
    pub(crate) crowds: Vec<Crowd>,
    pub(crate) writers: Vec<Contest>,
}

/// A ratio to the floor, and the most that it may be.
struct Claim {
    name: String,
    ratio: f64,
    target: Option<f64>,
}

impl Report {
    /// What is shown, written down and judged.
    pub(crate) fn outcome(&self) -> Outcome {
        Outcome {
            name: "store",
            tables: self.tables(),
            page: self.page(),
            picture: self.picture(),
            verdicts: self.verdicts(),
        }
    }

    fn claims(&self) -> Vec<Claim> {
        let claim = |name: String, ours: Spread, floor: Spread, target| Claim {
            name,
            ratio: ours.p50 / floor.p50,
            target,
        };
        let saves = self.saves.iter().flat_map(|it| {
            let name = it.state.name;
            [
                claim(format!("save {name}"), it.save, it.bare_save, Some(MOST_SAVE)),
                claim(format!("load {name}"), it.load, it.bare_load, None),
            ]
        });
        let crowds = self.crowds.iter().flat_map(|it| {
            let count = grouped(it.count.into());
            let most = Some(MOST_CROWD);
            [
                claim(format!("list {count}"), it.list, it.bare_list, most),
                claim(format!("clean {count}"), it.clean, it.bare_unlink, most),
                claim(format!("purge {count}"), it.purge, it.bare_unlink, most),
            ]
        });
        saves.chain(crowds).collect()
    }

    fn verdicts(&self) -> Vec<Verdict> {
        let mut verdicts: Vec<Verdict> = self
            .claims()
            .iter()
            .filter_map(|Claim { name, ratio, target }| {
                let target = (*target)?;
                let what = format!("{name}: {ratio:.2} × bare, target {target:.1}");
                Some(Verdict::new(*ratio <= target, &what))
            })
            .collect();
        for growth in &self.growths {
            let (name, ratio) = (growth.state.name, growth.bytes_per_change());
            let what =
                format!("history over {name}: {ratio:.2} × what changed, target {MOST_GROWTH:.1}");
            verdicts.push(Verdict::new(ratio <= MOST_GROWTH, &what));
        }
        for it in &self.writers {
            let what = format!("{} writers: {} of {} lost", it.writers, it.lost, it.changes);
            verdicts.push(Verdict::new(it.lost == 0, &what));
        }
        verdicts
    }

    fn tables(&self) -> String {
        format!(
            "{}\n{}\n{}\n{}",
            self.save_table(),
            self.growth_table(),
            self.crowd_table(),
            self.writer_table()
        )
    }

    fn save_table(&self) -> String {
        let rows = self.saves.iter().flat_map(|it| {
            let row = |what: &str, ours: Spread, floor: Spread| {
                vec![
                    format!("{what} {}", it.state.name),
                    grouped(it.size),
                    milliseconds(floor.p50),
                    milliseconds(ours.p50),
                    milliseconds(ours.p95),
                    format!("{:.2}", ours.p50 / floor.p50),
                ]
            };
            [
                row("open, change, save", it.save, it.bare_save),
                row("the same in one list", it.save_list, it.bare_save),
                row("open", it.load, it.bare_load),
            ]
        });
        table(&["one session", "bytes", "bare p50 ms", "p50 ms", "p95 ms", "÷ bare"], rows)
    }

    fn growth_table(&self) -> String {
        let rows = self.growths.iter().flat_map(|growth| {
            growth.stages.iter().map(|stage| {
                vec![
                    growth.state.name.to_owned(),
                    stage.entries.to_string(),
                    grouped(stage.size.into()),
                    milliseconds(stage.bare.p50),
                    milliseconds(stage.save.p50),
                    format!("{:.2}", stage.save.p50 / stage.bare.p50),
                ]
            })
        });
        table(&["state", "history", "bytes", "bare p50 ms", "change, save p50 ms", "÷ bare"], rows)
    }

    fn crowd_table(&self) -> String {
        let rows = self.crowds.iter().flat_map(|it| {
            let row = |what: &str, ours: f64, floor: Spread| {
                vec![
                    format!("{what} {}", grouped(it.count.into())),
                    milliseconds(floor.p50),
                    milliseconds(ours),
                    format!("{:.1}", ours / f64::from(it.count)),
                    format!("{:.2}", ours / floor.p50),
                ]
            };
            [
                Some(row("list", it.list.p50, it.bare_list)),
                Some(row("clean", it.clean.p50, it.bare_unlink)),
                Some(row("purge", it.purge.p50, it.bare_unlink)),
                it.trash.map(|trash| row("clean into the trash", trash, it.bare_unlink)),
            ]
            .into_iter()
            .flatten()
        });
        table(&["many sessions", "bare p50 ms", "p50 ms", "µs each", "÷ bare"], rows)
    }

    fn writer_table(&self) -> String {
        let alone = self.writers.first().map_or(1.0, |it| it.throughput);
        let rows = self.writers.iter().map(|it| {
            vec![
                it.writers.to_string(),
                it.changes.to_string(),
                if it.lost == 0 { NOTHING.to_owned() } else { it.lost.to_string() },
                format!("{:.0}", it.throughput),
                format!("{:.2}", it.throughput / alone),
            ]
        });
        table(&["writers", "changes", "lost", "changes per second", "÷ one writer"], rows)
    }

    fn page(&self) -> String {
        let growth: Vec<String> = self
            .growths
            .iter()
            .map(|it| format!("{:.2} over {}", it.bytes_per_change(), it.state.name))
            .collect();
        format!(
            "# How fast are sessions kept, listed and cleaned?\n\
             \n\
             ![Medians in medians of the bare system calls, and how they grow](store.svg)\n\
             \n\
             Each figure stands beside the system calls that every implementation needs, for the same bytes and files, in \
             the same run, in turns. Compare within a table: milliseconds are of this machine ({machine}), its disk and \
             this moment.\n\
             \n\
             ## One session\n\
             \n\
             Bare is: write a file beside the old one, sync it, rename it, sync the folder; for opening, read the file. \
             A state is made of texts, each under a key of its own, and a change replaces one of them; where all of them \
             are in one list, a change reads and hands over the whole list. Measured with the library, in one process; \
             opening the store and registering as a holder of the session are part of it. What \
             replaces a file leaves the space of the old one to be given back by another thread, where bare waits for \
             it; nothing else is measured until that is over.\n\
             \n\
             {saves}\n\
             ## History\n\
             \n\
             The session stays open. Each command replaces one text of the state, and history keeps the whole state \
             after each of the last 200. Per command the file grows by what changed, times: {growth}.\n\
             \n\
             {growths}\n\
             ## Many sessions\n\
             \n\
             From start to end of a process. `list` and `purge` are `osm session list` and `osm session purge -y` with \
             their output thrown away. `clean` is the same code as `osm session clean -y`, by age, without the second copy \
             in the trash, which is synced for each session; with it, it is `clean into the trash`. Bare is a process \
             that reads the folder and looks at each document, or that reads the folder and unlinks every file in it. \
             Each session is a document and two locks.\n\
             \n\
             {crowds}\n\
             ## Many writers\n\
             \n\
             Processes that start at the same time and each add items to one list of one session, one save for each. \
             The time includes their start.\n\
             \n\
             {writers}\n\
             Targets: a save at most {MOST_SAVE} × bare; list, clean and purge at most {MOST_CROWD} × bare; a file \
             that grows by at most {MOST_GROWTH} × what changed; no change lost.\n\
             \n\
             Reproduce with `scripts/bench store`; `--check` fails where a target is missed, `--quick` leaves out the \
             largest. How it is measured: [crates/osm/benches/store](../../crates/osm/benches/store/main.rs).\n",
            machine = machine(),
            growth = growth.join(", "),
            saves = self.save_table(),
            growths = self.growth_table(),
            crowds = self.crowd_table(),
            writers = self.writer_table(),
        )
    }

    fn picture(&self) -> String {
        let bars: Vec<Bar> = self
            .claims()
            .into_iter()
            .map(|Claim { name, ratio, target }| Bar { name, ratio, target })
            .collect();
        let history: Vec<Series> = self
            .growths
            .iter()
            .map(|growth| Series {
                name: growth.state.name.to_owned(),
                points: growth
                    .stages
                    .iter()
                    .map(|it| (f64::from(it.entries), it.save.p50 / it.bare.p50))
                    .collect(),
            })
            .collect();
        let each = |name: &str, of: &dyn Fn(&Crowd) -> Spread| Series {
            name: name.to_owned(),
            points: self
                .crowds
                .iter()
                .map(|it| (f64::from(it.count), of(it).p50 / f64::from(it.count)))
                .collect(),
        };
        let crowds = [
            each("list", &|it| it.list),
            each("clean", &|it| it.clean),
            each("purge", &|it| it.purge),
        ];
        Chart::default()
            .bars(
                "One session, and many (less is better; a tick is a target)",
                "median time, in multiples of the bare system calls",
                "bare",
                &bars,
            )
            .lines(
                "A change in a long history (less is better)",
                Axes { across: "commands in the history", up: "multiples of bare" },
                &history,
            )
            .lines(
                "Many sessions (less is better)",
                Axes { across: "sessions", up: "µs for each session" },
                &crowds,
            )
            .finish()
    }
}

impl Growth {
    /// By how much the file grows with a command, in texts that it changed.
    fn bytes_per_change(&self) -> f64 {
        let [first, .., last] = self.stages.as_slice() else {
            return 0.0;
        };
        let commands = f64::from(last.entries - first.entries);
        (f64::from(last.size) - f64::from(first.size)) / commands / f64::from(self.state.text)
    }
}

fn milliseconds(microseconds: f64) -> String {
    format!("{:.2}", microseconds / 1e3)
}
