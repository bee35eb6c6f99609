//! Turns what was measured into tables, a page and verdicts.

use osm_testkit::bench::outcome::{Outcome, Verdict};
use osm_testkit::bench::statistics::{Spread, slope};
use osm_testkit::bench::table::{NOTHING, grouped, table};
use osm_testkit::bench::{Result, machine};

use crate::programs::Program;
use crate::request::{Finding, Request};
use crate::{DEEP_TARGET, plot};

/// Everything that the page, the plot and the verdicts say.
pub(crate) struct Report {
    rounds: u32,
    /// The programs in the terminal itself; the first is the yardstick.
    pub(crate) rows: Vec<Row>,
    /// What osm costs under each chain.
    pub(crate) depths: Vec<Depth>,
    /// The name of the program measured under chains.
    pub(crate) deep_name: String,
    /// What one more ancestor costs.
    pub(crate) per_ancestor: PerAncestor,
}

/// One program.
pub(crate) struct Row {
    pub(crate) program: Program,
    spread: Spread,
    instructions: Option<u32>,
    /// Its median in medians of the yardstick.
    pub(crate) ratio: f64,
    /// The same of the fastest starts, the ones least disturbed.
    ratio_of_min: f64,
}

/// The yardstick and osm under a chain of one length.
pub(crate) struct Depth {
    pub(crate) chain: u32,
    yardstick: Spread,
    osm: Spread,
    instructions: Option<u32>,
}

impl Depth {
    /// What osm takes beyond the yardstick at the same depth, in microseconds.
    ///
    /// It is the fastest start of each that is compared. The depths are measured one after the
    /// other, and whatever else the machine does changes in the meantime; the fastest starts hardly
    /// feel it.
    pub(crate) fn beyond_yardstick(&self) -> f64 {
        self.osm.min - self.yardstick.min
    }

    /// The median of osm in medians of the yardstick at the same depth.
    fn ratio(&self) -> f64 {
        self.osm.p50 / self.yardstick.p50
    }
}

/// Slopes of the straight lines through the depths.
pub(crate) struct PerAncestor {
    /// Of the fastest starts, beyond the yardstick.
    pub(crate) microseconds: f64,
    /// Of the medians, beyond the yardstick.
    microseconds_of_p50: f64,
    instructions: Option<f64>,
}

impl Report {
    pub(crate) fn new(request: &Request, findings: &[Finding]) -> Result<Self> {
        let find = |chain: u32, program: usize| {
            findings
                .iter()
                .find(|finding| finding.chain == chain && finding.program == program)
                .ok_or_else(|| format!("{} was not measured", request.programs[program].name))
        };
        let yardstick = Spread::of(&find(0, 0)?.microseconds);
        let mut rows = Vec::new();
        for (index, program) in request.programs.iter().enumerate() {
            let finding = find(0, index)?;
            let spread = Spread::of(&finding.microseconds);
            rows.push(Row {
                program: program.clone(),
                spread,
                instructions: finding.instructions,
                ratio: spread.p50 / yardstick.p50,
                ratio_of_min: spread.min / yardstick.min,
            });
        }
        let mut depths = Vec::new();
        for &chain in &request.chains {
            let osm = find(chain, request.deep)?;
            depths.push(Depth {
                chain,
                yardstick: Spread::of(&find(chain, 0)?.microseconds),
                osm: Spread::of(&osm.microseconds),
                instructions: osm.instructions,
            });
        }
        Ok(Self {
            rounds: request.rounds,
            rows,
            per_ancestor: PerAncestor::of(&depths),
            depths,
            deep_name: request.programs[request.deep].name.clone(),
        })
    }

    /// What is shown, written down and judged.
    pub(crate) fn outcome(&self) -> Outcome {
        Outcome {
            name: "identity",
            tables: self.tables(),
            page: self.page(),
            picture: plot::draw(self),
            verdicts: self.verdicts(),
        }
    }

    /// Both tables and what follows from them, for a terminal and for the page.
    fn tables(&self) -> String {
        let programs = self.rows.iter().map(|row| {
            vec![
                row.program.name.clone(),
                counted(row.instructions),
                format!("{:.0}", row.spread.min),
                format!("{:.0}", row.spread.p50),
                format!("{:.0}", row.spread.p95),
                format!("{:.2}", row.ratio),
                format!("{:.2}", row.ratio_of_min),
            ]
        });
        let depths = self.depths.iter().map(|depth| {
            vec![
                depth.chain.to_string(),
                counted(depth.instructions),
                format!("{:.0}", depth.osm.min),
                format!("{:.0}", depth.osm.p50),
                format!("{:.0}", depth.yardstick.min),
                format!("{:.0}", depth.yardstick.p50),
                format!("{:.2}", depth.ratio()),
            ]
        });
        format!(
            "{}\nUnder a chain of other processes, {}:\n\n{}\n{}\n",
            table(
                &[
                    "program",
                    "instructions",
                    "min µs",
                    "p50 µs",
                    "p95 µs",
                    "p50 ÷ true",
                    "min ÷ true"
                ],
                programs
            ),
            self.deep_name,
            table(
                &[
                    "chain",
                    "instructions",
                    "min µs",
                    "p50 µs",
                    "true min µs",
                    "true p50 µs",
                    "p50 ÷ true"
                ],
                depths
            ),
            self.per_ancestor.sentence(),
        )
    }

    /// The page `docs/benchmarks/identity.md`.
    fn page(&self) -> String {
        format!(
            "# How fast is `osm session id`?\n\
             \n\
             ![Medians in medians of /bin/true, and the cost of ancestors](identity.svg)\n\
             \n\
             From start to end of the process, in an interactive shell in a terminal. The programs take turns, \
             {rounds} rounds, in a new order each round, and none profits from having just been built. \
             Compare within the table: microseconds are of this machine ({machine}) and this moment. \
             Instructions are those in user mode, counted by callgrind.\n\
             \n\
             {tables}\
             \n\
             Targets: {targets}.\n\
             \n\
             Reproduce with `scripts/bench identity`; `--check` fails where a target is missed. \
             `OSM_BENCH_PEERS='name=/path/to/program arguments:…'` adds programs. \
             How it is measured: [crates/osm/benches/identity](../../crates/osm/benches/identity/main.rs).\n",
            rounds = self.rounds,
            machine = machine(),
            tables = self.tables(),
            targets = self
                .rows
                .iter()
                .filter_map(|row| Some((row, row.program.target?)))
                .map(|(row, target)| format!(
                    "{} at most {target:.1} × `/bin/true`",
                    row.program.name
                ))
                .chain(Some(format!(
                    "{} under a chain of {} at most {:.1} × `/bin/true` there",
                    self.deep_name, DEEP_TARGET.0, DEEP_TARGET.1
                )))
                .collect::<Vec<_>>()
                .join("; "),
        )
    }

    /// One verdict for each program that has a target. Only the median counts.
    fn verdicts(&self) -> Vec<Verdict> {
        let mut verdicts: Vec<Verdict> = self
            .rows
            .iter()
            .filter_map(|row| {
                let target = row.program.target?;
                let (name, ratio) = (&row.program.name, row.ratio);
                let what = format!("{name}: {ratio:.2} × /bin/true, target {target:.1}");
                Some(Verdict::new(ratio <= target, &what))
            })
            .collect();
        let deep = self.depths.iter().filter(|depth| depth.chain == DEEP_TARGET.0);
        verdicts.extend(deep.map(|depth| {
            let (chain, target) = DEEP_TARGET;
            let ratio = depth.ratio();
            let what = format!(
                "{} under a chain of {chain}: {ratio:.2} × /bin/true, target {target:.1}",
                self.deep_name
            );
            Verdict::new(ratio <= target, &what)
        }));
        if self.rows.iter().filter(|row| row.program.target.is_some()).count() < 2 {
            verdicts.push(Verdict::new(false, "osm, scripts/release: there is no dist/osm"));
        }
        verdicts
    }
}

impl PerAncestor {
    fn of(depths: &[Depth]) -> Self {
        let line = |value: &dyn Fn(&Depth) -> f64| {
            let points: Vec<(f64, f64)> =
                depths.iter().map(|depth| (f64::from(depth.chain), value(depth))).collect();
            slope(&points)
        };
        let counted: Option<Vec<(f64, f64)>> = depths
            .iter()
            .map(|depth| Some((f64::from(depth.chain), f64::from(depth.instructions?))))
            .collect();
        Self {
            microseconds: line(&Depth::beyond_yardstick),
            microseconds_of_p50: line(&|depth| depth.osm.p50 - depth.yardstick.p50),
            instructions: counted.map(|points| slope(&points)),
        }
    }

    fn sentence(&self) -> String {
        let instructions = self
            .instructions
            .map(|count| format!(" and {count:.0} instructions"))
            .unwrap_or_default();
        format!(
            "Each ancestor costs {:.1} µs{instructions} (linear fit of the fastest starts beyond \
             `/bin/true`; {:.1} µs by the medians).",
            self.microseconds, self.microseconds_of_p50
        )
    }
}

fn counted(instructions: Option<u32>) -> String {
    instructions.map_or_else(|| NOTHING.to_owned(), |count| grouped(count.into()))
}
