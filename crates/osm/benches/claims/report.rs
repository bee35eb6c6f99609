//! Turns what was measured into tables, a page, a picture and verdicts.

use osm_testkit::bench::chart::{Axes, Bar, Chart, Series};
use osm_testkit::bench::machine;
use osm_testkit::bench::outcome::{Outcome, Verdict};
use osm_testkit::bench::statistics::Spread;
use osm_testkit::bench::table::{grouped, table};

use crate::commit::Single;
use crate::contest::Contest;
use crate::many::Crowd;
use crate::peers;

/// The most that a claim may take, in bare commits.
const MOST_CLAIM: f64 = 1.5;
/// The most that `osm claim` as users install it may take, in programs that commit.
const MOST_PROGRAM: f64 = 1.35;
/// The most that this many processes may take, in processes that commit.
const MOST_CONTEST: (u32, f64) = (64, 1.6);
/// The most that `claim next` may take for one of at least so many candidates, in bare look-ups.
/// With fewer, the commit of the one that is claimed takes most of the time.
const MOST_NEXT: (u32, f64) = (1_000, 3.0);

/// Everything that the page, the picture and the verdicts say.
pub(crate) struct Report {
    pub(crate) single: Single,
    pub(crate) contests: Vec<Contest>,
    pub(crate) crowds: Vec<Crowd>,
}

impl Report {
    /// What is shown, written down and judged.
    pub(crate) fn outcome(&self) -> Outcome {
        let tables = [self.single_table(), self.contest_table(), self.crowd_table()];
        Outcome {
            name: "claims",
            tables: tables.join("\n"),
            page: Self::page(&tables),
            picture: self.picture(),
            verdicts: self.verdicts(),
        }
    }

    fn verdicts(&self) -> Vec<Verdict> {
        let it = &self.single;
        let mut verdicts: Vec<Verdict> = [("claim", it.claim), ("release", it.release)]
            .into_iter()
            .map(|(name, spread)| {
                let ratio = spread.p50 / it.commit.p50;
                let what = format!("{name}: {ratio:.2} × one commit, target {MOST_CLAIM}");
                Verdict::new(ratio <= MOST_CLAIM, &what)
            })
            .collect();
        let shipped = it.claim_programs.last().map_or(f64::NAN, |(_, spread)| spread.p50);
        let mut judge = |what: &str, ratio: f64, target: f64| {
            let what = format!("{what}: {ratio:.2} × the floor, target {target}");
            verdicts.push(Verdict::new(ratio <= target, &what));
        };
        judge("`osm claim` as a program", shipped / it.commit_program.p50, MOST_PROGRAM);
        let (processes, most) = MOST_CONTEST;
        for contest in self.contests.iter().filter(|it| it.processes == processes) {
            judge(&format!("{processes} processes"), contest.bare / contest.many, most);
        }
        let (candidates, most) = MOST_NEXT;
        for crowd in self.crowds.iter().filter(|it| it.count >= candidates) {
            let what = format!("`claim next` of {} candidates", grouped(crowd.count.into()));
            judge(&what, crowd.next.p50 / crowd.bare_next.p50, most);
        }
        for (name, spread) in &it.peers {
            let ratio = spread.p50 / shipped;
            let what = format!("`osm claim` is ahead of {name}, which takes {ratio:.1} × as long");
            verdicts.push(Verdict::new(ratio > 1.0, &what));
        }
        verdicts
    }

    fn single_table(&self) -> String {
        let it = &self.single;
        let row = |name: &str, spread: Spread, floor: Spread| {
            vec![
                name.to_owned(),
                milliseconds(spread.p50),
                milliseconds(spread.p95),
                format!("{:.2}", spread.p50 / floor.p50),
            ]
        };
        let mut rows = vec![
            row("one commit", it.commit, it.commit),
            row("claim", it.claim, it.commit),
            row("release", it.release, it.commit),
            row("a program that commits", it.commit_program, it.commit_program),
        ];
        for (name, spread) in &it.claim_programs {
            rows.push(row(name, *spread, it.commit_program));
        }
        for (name, spread) in &it.peers {
            rows.push(row(name, *spread, it.commit_program));
        }
        table(&["one claim", "p50 ms", "p95 ms", "÷ floor"], rows)
    }

    fn contest_table(&self) -> String {
        let rows = self.contests.iter().map(|it| {
            vec![
                it.processes.to_string(),
                format!("{:.0}", it.bare),
                format!("{:.0}", it.many),
                format!("{:.2}", it.bare / it.many),
                format!("{:.0}", it.one),
            ]
        });
        let head = [
            "processes",
            "two commits, per second",
            "claim and release, per second",
            "÷ floor",
            "tries for one resource, per second",
        ];
        table(&head, rows)
    }

    fn crowd_table(&self) -> String {
        let rows = self.crowds.iter().map(|it| {
            let each = |spread: Spread| format!("{:.2}", spread.p50 / f64::from(it.count));
            vec![
                grouped(it.count.into()),
                milliseconds(it.list.p50),
                each(it.list),
                format!("{:.2}", it.list.p50 / it.bare_list.p50),
                milliseconds(it.next.p50),
                each(it.next),
                format!("{:.2}", it.next.p50 / it.bare_next.p50),
                milliseconds(it.claim_program.p50),
            ]
        });
        let head = [
            "open claims",
            "list ms",
            "µs each",
            "÷ bare",
            "next ms",
            "µs each",
            "÷ bare",
            "`osm claim` ms",
        ];
        table(&head, rows)
    }

    fn page(tables: &[String; 3]) -> String {
        let [single, contests, crowds] = tables;
        format!(
            "# How fast are claims?\n\
             \n\
             ![A claim in bare commits, and how lists and choices grow](claims.svg)\n\
             \n\
             Each figure stands beside its floor, measured in the same run, in turns. Compare within a table: \
             milliseconds are of this machine ({machine}), its disk and this moment.\n\
             \n\
             ## One claim\n\
             \n\
             The floor is one row in a SQLite database that is kept as the ledger is (a write-ahead log, synced with \
             every commit). A claim looks up the requester, the open claim and whether its owner is running, writes the claim and \
             its event, and commits once. Programs are timed from start to end.\n\
             \n\
             {single}\n\
             ## Many processes\n\
             \n\
             Processes that start at the same time and each claim and release, resources of their own or all the same \
             one; the time includes their start. After each run the events are replayed, which shows that no two had \
             one resource at once.\n\
             \n\
             {contests}\n\
             ## Many claims\n\
             \n\
             `list` is what `osm claims` does: all open claims with a verdict on each owner, beside reading their rows. \
             `next` is what `osm claim next` does if all candidates but the last are taken, with the release of that \
             one, beside finding each by its name. Both grow with the number of claims that they look at, and with \
             nothing else. `osm claim` is the program that claims one more, which no number of other claims makes \
             slower.\n\
             \n\
             {crowds}\n\
             ## Other programs\n\
             \n\
             Other programs are measured in the first table if they are named in `OSM_BENCH_PEERS`. A program belongs \
             there if npm, PyPI, crates.io or the Go module proxy has it by its name, under a licence that lets everyone run it. \
             In November 2026 that is true for none of these:\n\
             \n\
             {unavailable}\n\
             Targets: claim and release at most {MOST_CLAIM} × one commit; `osm claim` as users install it at most \
             {MOST_PROGRAM} × a program that commits; {processes} processes at most {contest} × the floor; `next` at \
             most {next} × bare from {candidates} candidates on.\n\
             \n\
             Reproduce with `scripts/bench claims`; `--check` fails where the target is missed. \
             `OSM_BENCH_PEERS='name=command:…'` adds programs, each run by a shell with a new number in `$ROUND`. How \
             it is measured: [crates/osm/benches/claims](../../crates/osm/benches/claims/main.rs).\n",
            machine = machine(),
            unavailable = peers::unavailable(),
            processes = MOST_CONTEST.0,
            contest = MOST_CONTEST.1,
            next = MOST_NEXT.1,
            candidates = grouped(MOST_NEXT.0.into()),
        )
    }

    fn picture(&self) -> String {
        let it = &self.single;
        let bar = |name: &str, spread: Spread, floor: Spread, target| Bar {
            name: name.to_owned(),
            ratio: spread.p50 / floor.p50,
            target,
        };
        let mut bars = vec![
            bar("claim", it.claim, it.commit, Some(MOST_CLAIM)),
            bar("release", it.release, it.commit, Some(MOST_CLAIM)),
        ];
        let last = it.claim_programs.len().saturating_sub(1);
        for (at, (name, spread)) in it.claim_programs.iter().enumerate() {
            let target = (at == last).then_some(MOST_PROGRAM);
            bars.push(bar(&name.replace('`', ""), *spread, it.commit_program, target));
        }
        for (name, spread) in &it.peers {
            bars.push(bar(name, *spread, it.commit_program, None));
        }
        let each = |name: &str, of: &dyn Fn(&Crowd) -> Spread| Series {
            name: name.to_owned(),
            points: self
                .crowds
                .iter()
                .filter(|it| it.count >= 1_000)
                .map(|it| (f64::from(it.count), of(it).p50 / f64::from(it.count)))
                .collect(),
        };
        Chart::default()
            .bars(
                "One claim (less is better; a tick is a target)",
                "median time, in multiples of one commit to the same kind of database",
                "one commit",
                &bars,
            )
            .lines(
                "Many claims (less is better)",
                Axes { across: "open claims", up: "µs for each open claim" },
                &[each("list", &|it| it.list), each("next", &|it| it.next)],
            )
            .finish()
    }
}

fn milliseconds(microseconds: f64) -> String {
    format!("{:.2}", microseconds / 1e3)
}
