//! Draws results as an SVG picture: panels of bars and of lines, one below the other.
//!
//! Written by hand, for it needs a handful of shapes. The background is painted, so that the
//! picture can be read on dark pages, and the font is whatever sans-serif the reader has.

mod layout;
#[cfg(test)]
mod tests;

use std::fmt::Write as _;

use layout::{Scale, apart, axis, number, width};

const WIDTH: f64 = 760.0;
/// Nothing is drawn beyond it, at either side.
const MARGIN: f64 = 20.0;
const BAR: f64 = 22.0;
const GAP: f64 = 12.0;
/// The height of the plot of a panel of lines.
const PANEL: f64 = 180.0;
/// Between two panels.
const BETWEEN: f64 = 50.0;
/// Between a shape and the words beside it.
const BESIDE: f64 = 8.0;
/// The height of a line of words.
const LINE: f64 = 18.0;

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

/// What is measured along the axes of a panel of lines, with its unit.
#[derive(Clone, Copy, Debug)]
pub struct Axes<'a> {
    /// From left to right. If the places differ very much, the axis is logarithmic, and says so.
    pub across: &'a str,
    /// From the bottom up.
    pub up: &'a str,
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
    /// Adds a panel of bars, beside a yardstick; `measured` says what their length is.
    #[must_use]
    pub fn bars(mut self, heading: &str, measured: &str, yardstick: &str, bars: &[Bar]) -> Self {
        self.title(heading);
        let value = |bar: &Bar| format!("{:.2}", bar.ratio);
        let widest = |words: &mut dyn Iterator<Item = String>| {
            words.map(|it| width(&it)).fold(0.0, f64::max)
        };
        let left = MARGIN + widest(&mut bars.iter().map(|bar| bar.name.clone())) + BESIDE;
        let right = WIDTH - MARGIN - widest(&mut bars.iter().map(value)) - BESIDE;
        let begin = self.top + 14.0;
        let longest = bars.iter().map(|bar| bar.ratio).fold(1.0, f64::max);
        let scale = (right - left) / longest;
        let mut top = self.top + 18.0;
        for bar in bars {
            let colour = if bar.target.is_some() { OURS[0] } else { OTHERS };
            let middle = top + BAR / 2.0 + 4.5;
            let length = bar.ratio * scale;
            self.text(left - BESIDE, middle, "end", &bar.name);
            self.draw(format_args!(
                "<rect x=\"{left:.1}\" y=\"{top:.1}\" width=\"{length:.1}\" height=\"{BAR}\" fill=\"{colour}\"/>"
            ));
            let mut end = length;
            if let Some(target) = bar.target.filter(|target| *target <= longest) {
                let x = left + target * scale;
                self.line((x, top - 3.0), (x, top + BAR + 3.0), INK);
                end = end.max(target * scale);
            }
            self.text(left + end + BESIDE, middle, "start", &value(bar));
            top += BAR + GAP;
        }
        let x = left + scale;
        self.draw(format_args!(
            "<line x1=\"{x:.1}\" y1=\"{begin:.1}\" x2=\"{x:.1}\" y2=\"{top:.1}\" stroke=\"{INK}\" stroke-dasharray=\"4 3\"/>"
        ));
        self.text(x, top + 14.0, "middle", &format!("{yardstick} = 1"));
        self.text(f64::midpoint(left, right), top + 14.0 + LINE, "middle", measured);
        self.top = top + 14.0 + LINE + BETWEEN;
        self
    }

    /// Adds a panel of lines over the same places; the axis that goes up begins at 0.
    #[must_use]
    pub fn lines(mut self, heading: &str, axes: Axes, lines: &[Series]) -> Self {
        self.title(heading);
        let points = || lines.iter().flat_map(|line| &line.points);
        let (low, high, step) = axis(
            points().map(|point| point.1).fold(0.0, f64::min),
            points().map(|point| point.1).fold(0.0, f64::max),
        );
        let digits = usize::from(step < 1.0);
        let height = |tick: f64| format!("{tick:.digits$}");
        let widest = width(&height(low)).max(width(&height(high)));
        let left = MARGIN + LINE + widest + BESIDE;
        let names = lines.iter().map(|line| width(&line.name)).fold(0.0, f64::max);
        let right = WIDTH - MARGIN - names - BESIDE;
        let lower = self.top + LINE + PANEL;
        let places = Scale::over(points().map(|point| point.0), left, right);
        let x = |value: f64| places.at(value);
        let y = |value: f64| lower - (value - low) / (high - low) * PANEL;

        let mut tick = low;
        while tick <= high + step / 2.0 {
            let colour = if tick.abs() < step / 2.0 { INK } else { FAINT };
            self.line((left, y(tick)), (right, y(tick)), colour);
            self.text(left - BESIDE, y(tick) + 4.5, "end", &height(tick));
            tick += step;
        }
        self.upwards(MARGIN, f64::midpoint(lower - PANEL, lower), axes.up);
        self.places(&places, lower + LINE, points().map(|point| point.0));
        let across = format!("{}{}", axes.across, places.note());
        self.text(f64::midpoint(left, right), lower + 2.0 * LINE, "middle", &across);
        for (at, line) in lines.iter().enumerate() {
            let points = line.points.iter().map(|&(place, height)| (x(place), y(height)));
            self.polyline(points, OURS[at % OURS.len()]);
        }
        let end = |line: &Series| line.points.last().map_or(lower, |point| y(point.1));
        let ends = apart(&lines.iter().map(end).collect::<Vec<_>>(), lower);
        for (at, (line, end)) in lines.iter().zip(ends).enumerate() {
            let colour = OURS[at % OURS.len()];
            self.coloured(right + BESIDE, end + 4.5, "start", &line.name, colour);
        }
        self.top = lower + 2.0 * LINE + BETWEEN;
        self
    }

    /// Writes the places of an axis below it, without those that would touch the one before.
    fn places(&mut self, scale: &Scale, y: f64, places: impl Iterator<Item = f64>) {
        let mut places: Vec<f64> = places.collect();
        places.sort_by(f64::total_cmp);
        let mut free = f64::NEG_INFINITY;
        for place in places {
            let (x, words) = (scale.at(place), number(place));
            let half = width(&words) / 2.0;
            if x - half > free {
                self.text(x, y, "middle", &words);
                free = x + half + BESIDE;
            }
        }
    }

    fn polyline(&mut self, points: impl Iterator<Item = (f64, f64)>, colour: &str) {
        let mut path = String::new();
        for (x, y) in points {
            write!(path, "{x:.1},{y:.1} ").expect("a string takes all");
            self.draw(format_args!(
                "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3.5\" fill=\"{colour}\"/>"
            ));
        }
        self.draw(format_args!(
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"/>",
            path.trim_end()
        ));
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
        self.coloured(x, y, anchor, words, INK);
    }

    fn coloured(&mut self, x: f64, y: f64, anchor: &str, words: &str, colour: &str) {
        if !words.is_empty() {
            self.draw(format_args!(
                "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" fill=\"{colour}\">{}</text>",
                escaped(words)
            ));
        }
    }

    /// Words that are read from the bottom up.
    fn upwards(&mut self, x: f64, y: f64, words: &str) {
        let x = x + 10.0;
        self.draw(format_args!(
            "<text transform=\"translate({x:.1} {y:.1}) rotate(-90)\" text-anchor=\"middle\">{}</text>",
            escaped(words)
        ));
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

/// Names may come from outside.
fn escaped(words: &str) -> String {
    words.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
