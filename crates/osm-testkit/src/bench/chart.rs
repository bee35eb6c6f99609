//! Draws results as an SVG picture: panels of bars and of lines, one below the other.
//!
//! Written by hand, for it needs a handful of shapes. The background is painted, so that the
//! picture can be read on dark pages, and the font is whatever sans-serif the reader has.

use std::fmt::Write as _;

const WIDTH: f64 = 760.0;
/// Where bars begin, to the right of their names.
const LEFT: f64 = 230.0;
const RIGHT: f64 = 700.0;
const BAR: f64 = 22.0;
const GAP: f64 = 12.0;
/// The height of the plot of a panel of lines.
const PANEL: f64 = 180.0;
/// Between two panels.
const BETWEEN: f64 = 50.0;

const INK: &str = "#1f2328";
const FAINT: &str = "#d0d7de";
const OTHERS: &str = "#8c959f";
/// The first is that of our bars, too.
const OURS: [&str; 3] = ["#1a7f64", "#8250df", "#bc4c00"];

/// One bar.
#[derive(Debug)]
pub struct Bar {
    /// What stands to its left.
    pub name: String,
    /// How long it is, where the yardstick is 1.
    pub ratio: f64,
    /// The most that it may be; drawn as a tick.
    pub target: Option<f64>,
}

/// One line.
#[derive(Debug)]
pub struct Series {
    /// What stands beside it; empty if it is the only one.
    pub name: String,
    /// From left to right.
    pub points: Vec<(f64, f64)>,
}

/// A picture under way.
#[derive(Debug)]
pub struct Chart {
    shapes: String,
    /// Where the next panel begins.
    top: f64,
}

impl Default for Chart {
    fn default() -> Self {
        Self { shapes: String::new(), top: 30.0 }
    }
}

impl Chart {
    /// Adds a panel of bars, beside a yardstick.
    #[must_use]
    pub fn bars(mut self, heading: &str, yardstick: &str, bars: &[Bar]) -> Self {
        self.title(heading);
        let begin = self.top + 14.0;
        let longest = bars.iter().map(|bar| bar.ratio).fold(1.0, f64::max);
        let scale = (RIGHT - LEFT) / longest;
        let mut top = self.top + 18.0;
        for bar in bars {
            let colour = if bar.target.is_some() { OURS[0] } else { OTHERS };
            let middle = top + BAR / 2.0 + 4.5;
            let length = bar.ratio * scale;
            self.text(LEFT - 8.0, middle, "end", &bar.name);
            self.draw(format_args!(
                "<rect x=\"{LEFT}\" y=\"{top:.1}\" width=\"{length:.1}\" height=\"{BAR}\" fill=\"{colour}\"/>"
            ));
            let mut end = length;
            if let Some(target) = bar.target.filter(|target| *target <= longest) {
                let x = LEFT + target * scale;
                self.line((x, top - 3.0), (x, top + BAR + 3.0), INK);
                end = end.max(target * scale);
            }
            self.text(LEFT + end + 6.0, middle, "start", &format!("{:.2}", bar.ratio));
            top += BAR + GAP;
        }
        let x = LEFT + scale;
        self.draw(format_args!(
            "<line x1=\"{x:.1}\" y1=\"{begin:.1}\" x2=\"{x:.1}\" y2=\"{top:.1}\" stroke=\"{INK}\" stroke-dasharray=\"4 3\"/>"
        ));
        self.text(x, top + 14.0, "middle", yardstick);
        self.top = top + 14.0 + BETWEEN;
        self
    }

    /// Adds a panel of lines over the same places; the axes begin at 0.
    #[must_use]
    pub fn lines(mut self, heading: &str, lines: &[Series]) -> Self {
        self.title(heading);
        let (left, lower) = (70.0, self.top + 18.0 + PANEL);
        let points = || lines.iter().flat_map(|line| &line.points);
        let (low, high, step) = axis(
            points().map(|point| point.1).fold(0.0, f64::min),
            points().map(|point| point.1).fold(0.0, f64::max),
        );
        let last = points().map(|point| point.0).fold(1.0, f64::max);
        let x = |value: f64| left + value / last * (RIGHT - left);
        let y = |value: f64| lower - (value - low) / (high - low) * PANEL;

        let mut tick = low;
        while tick <= high + step / 2.0 {
            let colour = if tick.abs() < step / 2.0 { INK } else { FAINT };
            self.line((left, y(tick)), (RIGHT, y(tick)), colour);
            let digits = usize::from(step < 1.0);
            self.text(left - 8.0, y(tick) + 4.5, "end", &format!("{tick:.digits$}"));
            tick += step;
        }
        let mut labelled = Vec::new();
        for (at, line) in lines.iter().enumerate() {
            let colour = OURS[at % OURS.len()];
            let mut path = String::new();
            for &(value, height) in &line.points {
                let (x, y) = (x(value), y(height));
                write!(path, "{x:.1},{y:.1} ").expect("a string takes all");
                self.draw(format_args!(
                    "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3.5\" fill=\"{colour}\"/>"
                ));
                if !labelled.contains(&value.to_bits()) {
                    labelled.push(value.to_bits());
                    self.text(x, lower + 18.0, "middle", &value.to_string());
                }
            }
            self.draw(format_args!(
                "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"/>",
                path.trim_end()
            ));
            if let Some(&(value, height)) = line.points.last() {
                self.text(x(value) + 8.0, y(height) + 4.5, "start", &line.name);
            }
        }
        self.top = lower + 18.0 + BETWEEN;
        self
    }

    /// The whole picture.
    #[must_use]
    pub fn finish(self) -> String {
        let height = self.top - BETWEEN + 20.0;
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height:.0}\" width=\"{WIDTH}\" \
             height=\"{height:.0}\" font-family=\"sans-serif\" font-size=\"13\" fill=\"{INK}\">\n\
             <rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n{}</svg>\n",
            self.shapes
        )
    }

    fn title(&mut self, words: &str) {
        let y = self.top;
        self.draw(format_args!(
            "<text x=\"20\" y=\"{y:.1}\" font-size=\"15\" font-weight=\"bold\">{}</text>",
            escaped(words)
        ));
    }

    fn text(&mut self, x: f64, y: f64, anchor: &str, words: &str) {
        if !words.is_empty() {
            self.draw(format_args!(
                "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{}</text>",
                escaped(words)
            ));
        }
    }

    fn line(&mut self, from: (f64, f64), to: (f64, f64), colour: &str) {
        let ((x1, y1), (x2, y2)) = (from, to);
        self.draw(format_args!(
            "<line x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\" stroke=\"{colour}\"/>"
        ));
    }

    fn draw(&mut self, shape: std::fmt::Arguments<'_>) {
        writeln!(self.shapes, "{shape}").expect("a string takes all");
    }
}

/// Chooses the ends of an axis and the step of its ticks: a round number that gives at most eight
/// of them.
fn axis(low: f64, high: f64) -> (f64, f64, f64) {
    let span = if high > low { high - low } else { 1.0 };
    let step = [0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1000.0]
        .into_iter()
        .find(|step| span / step <= 7.0)
        .unwrap_or(span / 7.0);
    let (low, high) = ((low / step).floor() * step, (high / step).ceil() * step);
    (low, if high > low { high } else { low + step }, step)
}

/// Names may come from outside.
fn escaped(words: &str) -> String {
    words.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
