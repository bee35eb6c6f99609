//! Draws the results: bars of medians, and a line for the cost of ancestors.

use osm_testkit::bench::chart::{Axes, Bar, Chart, Series};

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
        "{}: the cost of ancestors ({:.1} µs each)",
        report.deep_name, report.per_ancestor.microseconds
    );
    let axes = Axes { across: "processes above osm", up: "µs more than /bin/true" };
    Chart::default()
        .bars(
            "osm session id (less is better; a tick is a target)",
            "median time from start to end, in multiples of /bin/true",
            "/bin/true",
            &bars,
        )
        .lines(&heading, axes, &[ancestors])
        .finish()
}
