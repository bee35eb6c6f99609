//! Turns what was measured into tables, a page and verdicts.

use crate::Result;
use crate::programs::Program;
use crate::request::{Finding, Request};
use crate::statistics::{Spread, slope};

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
}

/// Slopes of the straight lines through the depths.
pub(crate) struct PerAncestor {
    /// Of the fastest starts, beyond the yardstick.
    pub(crate) microseconds: f64,
    /// Of the medians, beyond the yardstick.
    microseconds_of_p50: f64,
    instructions: Option<f64>,
}

/// Whether one program meets its target.
pub(crate) struct Verdict {
    pub(crate) met: bool,
    pub(crate) line: String,
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

    /// Both tables and what follows from them, for a terminal and for the page.
    pub(crate) fn tables(&self) -> String {
        let programs = self.rows.iter().map(|row| {
            vec![
                row.program.name.clone(),
                grouped(row.instructions),
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
                grouped(depth.instructions),
                format!("{:.0}", depth.osm.min),
                format!("{:.0}", depth.osm.p50),
                format!("{:.0}", depth.yardstick.min),
                format!("{:.0}", depth.yardstick.p50),
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
                &["chain", "instructions", "min µs", "p50 µs", "true min µs", "true p50 µs"],
                depths
            ),
            self.per_ancestor.sentence(),
        )
    }

    /// The page `docs/benchmarks/identity.md`.
    pub(crate) fn page(&self) -> String {
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
                .collect::<Vec<_>>()
                .join("; "),
        )
    }

    /// One verdict for each program that has a target. Only the median counts.
    pub(crate) fn verdicts(&self) -> Vec<Verdict> {
        let mut verdicts: Vec<Verdict> = self
            .rows
            .iter()
            .filter_map(|row| {
                let target = row.program.target?;
                let met = row.ratio <= target;
                let word = if met { "PASS" } else { "FAIL" };
                let (name, ratio) = (&row.program.name, row.ratio);
                Some(Verdict {
                    met,
                    line: format!("{word} {name}: {ratio:.2} × /bin/true, target {target:.1}"),
                })
            })
            .collect();
        if verdicts.len() < 2 {
            let line = "FAIL osm, scripts/release: there is no dist/osm".to_owned();
            verdicts.push(Verdict { met: false, line });
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

/// Formats a table whose columns line up as plain text, too. All but the first column are figures.
fn table(head: &[&str], rows: impl Iterator<Item = Vec<String>>) -> String {
    let mut lines: Vec<Vec<String>> = vec![head.iter().map(|&cell| cell.to_owned()).collect()];
    lines.extend(rows);
    let widths: Vec<usize> = (0..head.len())
        .map(|column| lines.iter().map(|line| line[column].chars().count()).max().unwrap_or(0))
        .collect();
    let rule = widths
        .iter()
        .enumerate()
        .map(|(column, width)| match column {
            0 => "-".repeat(*width),
            _ => format!("{}:", "-".repeat(width - 1)),
        })
        .collect();
    lines.insert(1, rule);
    let mut text = String::new();
    for line in lines {
        for (column, (cell, width)) in line.iter().zip(&widths).enumerate() {
            let cell = if column == 0 {
                format!("| {cell:<width$} |")
            } else {
                format!(" {cell:>width$} |")
            };
            text.push_str(&cell);
        }
        text.push('\n');
    }
    text
}

/// Formats a count with a space between thousands, and a dash where nothing was counted.
fn grouped(count: Option<u32>) -> String {
    let Some(count) = count else {
        return "–".to_owned();
    };
    let digits = count.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(' ');
        }
        text.push(digit);
    }
    text
}

/// Describes the machine as far as it matters to a reader: processor, cores, kernel.
fn machine() -> String {
    let processor = std::fs::read_to_string("/proc/cpuinfo")
        .ok()
        .and_then(|text| {
            let line = text.lines().find(|line| line.starts_with("model name"))?;
            Some(line.split_once(':')?.1.trim().to_owned())
        })
        .unwrap_or_else(|| std::env::consts::ARCH.to_owned());
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let kernel = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let kernel = kernel.trim().split('.').take(2).collect::<Vec<_>>().join(".");
    format!("{processor}, {cores} cores, {} {kernel}", std::env::consts::OS)
}
