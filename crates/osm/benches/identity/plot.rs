//! Draws the results as an SVG picture: bars of medians, and a line for the cost of ancestors.
//!
//! Written by hand, for it needs a handful of shapes. The background is painted, so that the
//! picture can be read on dark pages, and the font is whatever sans-serif the reader has.

use std::fmt::Write as _;

use crate::report::Report;

const WIDTH: f64 = 760.0;
/// Where bars begin, to the right of their names.
const LEFT: f64 = 230.0;
const RIGHT: f64 = 700.0;
const BAR: f64 = 22.0;
const GAP: f64 = 12.0;
/// The height of the lower panel's plot.
const PANEL: f64 = 180.0;

const INK: &str = "#1f2328";
const FAINT: &str = "#d0d7de";
const OURS: &str = "#1a7f64";
const OTHERS: &str = "#8c959f";

/// Draws the whole picture.
pub(crate) fn draw(report: &Report) -> String {
    let mut shapes = String::new();
    let below_bars = bars(report, &mut shapes);
    let bottom = ancestors(report, below_bars + 50.0, &mut shapes);
    let height = bottom + 20.0;
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height:.0}\" width=\"{WIDTH}\" \
         height=\"{height:.0}\" font-family=\"sans-serif\" font-size=\"13\" fill=\"{INK}\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n{shapes}</svg>\n"
    )
}

/// Draws the bars and returns where they end.
fn bars(report: &Report, shapes: &mut String) -> f64 {
    title(
        shapes,
        30.0,
        "Start to end, in medians of /bin/true (less is better; a tick is a target)",
    );
    let longest = report.rows.iter().map(|row| row.ratio).fold(1.0, f64::max);
    let scale = (RIGHT - LEFT) / longest;
    let mut top = 48.0;
    for row in &report.rows {
        let colour = if row.program.target.is_some() { OURS } else { OTHERS };
        let middle = top + BAR / 2.0 + 4.5;
        let length = row.ratio * scale;
        text(shapes, LEFT - 8.0, middle, "end", &row.program.name);
        draw_into(
            shapes,
            format_args!(
                "<rect x=\"{LEFT}\" y=\"{top:.1}\" width=\"{length:.1}\" height=\"{BAR}\" fill=\"{colour}\"/>"
            ),
        );
        let mut end = length;
        if let Some(target) = row.program.target.filter(|target| *target <= longest) {
            let x = LEFT + target * scale;
            line(shapes, (x, top - 3.0), (x, top + BAR + 3.0), INK);
            end = end.max(target * scale);
        }
        text(shapes, LEFT + end + 6.0, middle, "start", &format!("{:.2}", row.ratio));
        top += BAR + GAP;
    }
    let x = LEFT + scale;
    draw_into(
        shapes,
        format_args!(
            "<line x1=\"{x:.1}\" y1=\"44\" x2=\"{x:.1}\" y2=\"{top:.1}\" stroke=\"{INK}\" stroke-dasharray=\"4 3\"/>"
        ),
    );
    text(shapes, x, top + 14.0, "middle", "/bin/true");
    top + 14.0
}

/// Draws the line over the lengths of the chains and returns where it ends.
fn ancestors(report: &Report, top: f64, shapes: &mut String) -> f64 {
    let heading = format!(
        "{}: µs beyond /bin/true, by processes above ({:.1} µs each)",
        report.deep_name, report.per_ancestor.microseconds
    );
    title(shapes, top, &heading);
    let (left, lower) = (70.0, top + 18.0 + PANEL);
    let values = || report.depths.iter().map(crate::report::Depth::beyond_yardstick);
    let (low, high, step) = axis(values().fold(0.0, f64::min), values().fold(0.0, f64::max));
    let last = report.depths.iter().map(|depth| f64::from(depth.chain)).fold(1.0, f64::max);
    let x = |chain: f64| left + chain / last * (RIGHT - left);
    let y = |value: f64| lower - (value - low) / (high - low) * PANEL;

    let mut tick = low;
    while tick <= high + step / 2.0 {
        line(
            shapes,
            (left, y(tick)),
            (RIGHT, y(tick)),
            if tick.abs() < step / 2.0 { INK } else { FAINT },
        );
        text(shapes, left - 8.0, y(tick) + 4.5, "end", &format!("{tick:.0}"));
        tick += step;
    }
    let mut points = String::new();
    for depth in &report.depths {
        let (x, y) = (x(f64::from(depth.chain)), y(depth.beyond_yardstick()));
        write!(points, "{x:.1},{y:.1} ").expect("a string takes all");
        draw_into(
            shapes,
            format_args!("<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3.5\" fill=\"{OURS}\"/>"),
        );
        text(shapes, x, lower + 18.0, "middle", &depth.chain.to_string());
    }
    draw_into(
        shapes,
        format_args!(
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{OURS}\" stroke-width=\"2\"/>",
            points.trim_end()
        ),
    );
    lower + 18.0
}

/// Chooses the ends of an axis and the step of its ticks: a round number that gives at most eight
/// of them.
fn axis(low: f64, high: f64) -> (f64, f64, f64) {
    let span = (high - low).max(1.0);
    let step = [1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1000.0]
        .into_iter()
        .find(|step| span / step <= 7.0)
        .unwrap_or(span / 7.0);
    let (low, high) = ((low / step).floor() * step, (high / step).ceil() * step);
    (low, if high > low { high } else { low + step }, step)
}

fn title(shapes: &mut String, y: f64, words: &str) {
    draw_into(
        shapes,
        format_args!(
            "<text x=\"20\" y=\"{y:.1}\" font-size=\"15\" font-weight=\"bold\">{}</text>",
            escaped(words)
        ),
    );
}

fn text(shapes: &mut String, x: f64, y: f64, anchor: &str, words: &str) {
    draw_into(
        shapes,
        format_args!(
            "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{}</text>",
            escaped(words)
        ),
    );
}

fn line(shapes: &mut String, from: (f64, f64), to: (f64, f64), colour: &str) {
    let ((x1, y1), (x2, y2)) = (from, to);
    draw_into(
        shapes,
        format_args!(
            "<line x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\" stroke=\"{colour}\"/>"
        ),
    );
}

fn draw_into(shapes: &mut String, shape: std::fmt::Arguments<'_>) {
    writeln!(shapes, "{shape}").expect("a string takes all");
}

/// Names of peers come from outside.
fn escaped(words: &str) -> String {
    words.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
