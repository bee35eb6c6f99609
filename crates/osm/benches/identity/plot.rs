//! Draws the results: bars of medians, and a line for the cost of ancestors.

use osm_testkit::bench::chart::{Bar, Chart, Series};

use crate::report::{Depth, Report};

/// Draws the whole picture.
pub(crate) fn draw(report: &Report) -> String {
    let bars: Vec<Bar> = report
        .rows
        .iter()
        .map(|row| Bar {
            name: row.program.name.clone(),
            ratio: row.ratio,
            target: row.program.target,
        })
        .collect();
    let ancestors = Series {
        name: String::new(),
        points: report
            .depths
            .iter()
            .map(|depth| (f64::from(depth.chain), Depth::beyond_yardstick(depth)))
            .collect(),
    };
    let heading = format!(
        "{}: µs beyond /bin/true, by processes above ({:.1} µs each)",
        report.deep_name, report.per_ancestor.microseconds
    );
    Chart::default()
        .bars(
            "Start to end, in medians of /bin/true (less is better; a tick is a target)",
            "/bin/true",
            &bars,
        )
        .lines(&heading, &[ancestors])
        .finish()
}
