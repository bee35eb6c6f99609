//! A terminal's screen as a picture (SVG) for the documentation.
//!
//! What tmux says a pane shows is text with SGR codes (`capture-pane -e`). It becomes text again, in
//! the same colours, so that it can be selected and found. The grid is kept whatever font a reader
//! has: each run of one style stands where its column is, and is as long as its characters. Every
//! character is one column here.

mod color;
mod sgr;

use std::fmt::Write;

use sgr::{Style, cells};

/// A screen.
#[derive(Clone, Copy, Debug, Default)]
pub struct Screen<'a> {
    /// What stands there, with SGR codes.
    pub text: &'a str,
    /// How many columns it has.
    pub columns: usize,
    /// The column and the line of the cursor, from 0 on, if it is to be seen.
    pub cursor: Option<(usize, usize)>,
    /// What it shows, for those who cannot see it.
    pub title: &'a str,
}

const FONT: &str = "ui-monospace,'SF Mono',Menlo,Consolas,'DejaVu Sans Mono',monospace";
/// In tenths of a pixel, so that all sums are exact.
const CELL: (usize, usize) = (84, 190);
const MARGIN: (usize, usize) = (160, 140);
const BASELINE: usize = 140;
/// How strong what is faint shows.
const FAINT: &str = "0.6";

/// Draws a screen. Empty lines at its end are left out.
#[must_use]
pub fn svg(screen: &Screen) -> String {
    let lines = cells(screen.text);
    let used = lines.iter().rposition(|line| !line.is_empty()).map_or(0, |last| last + 1);
    let rows = used.max(screen.cursor.map_or(0, |(_, row)| row + 1));
    let wide = length(2 * MARGIN.0 + screen.columns * CELL.0);
    let high = length(2 * MARGIN.1 + rows * CELL.1);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{wide}\" height=\"{high}\" \
         viewBox=\"0 0 {wide} {high}\" role=\"img\">\n<title>{}</title>\n\
         <rect width=\"{wide}\" height=\"{high}\" rx=\"10\" fill=\"{}\"/>\n\
         <g font-family=\"{FONT}\" font-size=\"14\" fill=\"{}\" xml:space=\"preserve\">\n",
        escaped(screen.title),
        color::BACKGROUND,
        color::FOREGROUND,
    );
    for (row, line) in lines.iter().take(used).enumerate() {
        draw(&mut out, row, line);
    }
    if let Some((column, row)) = screen.cursor {
        block(&mut out, column, row, 1, color::FOREGROUND, " fill-opacity=\"0.7\"");
    }
    out.push_str("</g>\n</svg>\n");
    out
}

/// Draws a line: what is behind the text, then the text as one element.
fn draw(out: &mut String, row: usize, line: &[(char, Style)]) {
    let mut text = String::new();
    let mut column = 0;
    for run in line.chunk_by(|(_, one), (_, other)| one == other) {
        let style = &run[0].1;
        let (fore, back) = style.colors();
        if let Some(back) = &back {
            block(out, column, row, run.len(), back, "");
        }
        let said: String = run.iter().map(|(character, _)| character).collect();
        if !said.trim().is_empty() {
            let x = length(MARGIN.0 + column * CELL.0);
            let long = length(run.len() * CELL.0);
            let mut look = fore.map_or_else(String::new, |fore| format!(" fill=\"{fore}\""));
            for (wanted, attribute) in [
                (style.bold, " font-weight=\"bold\"".to_owned()),
                (style.italic, " font-style=\"italic\"".to_owned()),
                (style.underline, " text-decoration=\"underline\"".to_owned()),
                (style.faint, format!(" fill-opacity=\"{FAINT}\"")),
            ] {
                look.push_str(if wanted { &attribute } else { "" });
            }
            let said = escaped(&said);
            write!(text, "<tspan x=\"{x}\" textLength=\"{long}\"{look}>{said}</tspan>")
                .expect("a String takes everything");
        }
        column += run.len();
    }
    if !text.is_empty() {
        let y = length(MARGIN.1 + row * CELL.1 + BASELINE);
        writeln!(out, "<text y=\"{y}\">{text}</text>").expect("a String takes everything");
    }
}

/// Fills cells of a line.
fn block(out: &mut String, column: usize, row: usize, columns: usize, fill: &str, more: &str) {
    let (x, y) = (length(MARGIN.0 + column * CELL.0), length(MARGIN.1 + row * CELL.1));
    let (wide, high) = (length(columns * CELL.0), length(CELL.1));
    writeln!(
        out,
        "<rect x=\"{x}\" y=\"{y}\" width=\"{wide}\" height=\"{high}\" fill=\"{fill}\"{more}/>"
    )
    .expect("a String takes everything");
}

/// Tenths of a pixel as pixels.
fn length(tenths: usize) -> String {
    match tenths % 10 {
        0 => (tenths / 10).to_string(),
        rest => format!("{}.{rest}", tenths / 10),
    }
}

/// A text that XML takes as it is.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body(text: &str) -> String {
        let all = svg(&Screen { text, columns: 10, ..Screen::default() });
        let body = all.split_once("preserve\">\n").unwrap().1;
        body.strip_suffix("</g>\n</svg>\n").unwrap().to_owned()
    }

    #[test]
    fn plain_text_stands_in_its_line() {
        assert_eq!(
            body("a <b>\n\n\"c\" & d\n\n"),
            "<text y=\"28\"><tspan x=\"16\" textLength=\"42\">a &lt;b&gt;</tspan></text>\n\
             <text y=\"66\"><tspan x=\"16\" textLength=\"58.8\">&quot;c&quot; &amp; d</tspan></text>\n"
        );
    }

    #[test]
    fn a_run_stands_at_its_column() {
        assert_eq!(
            body("ab\x1b[1;32mcd\x1b[0m"),
            "<text y=\"28\"><tspan x=\"16\" textLength=\"16.8\">ab</tspan>\
             <tspan x=\"32.8\" textLength=\"16.8\" fill=\"#7fd18b\" font-weight=\"bold\">cd</tspan></text>\n"
        );
    }

    #[test]
    fn what_is_behind_comes_first() {
        let reverse = body("\x1b[7mx\x1b[27m");
        assert!(
            reverse.starts_with("<rect x=\"16\" y=\"14\" width=\"8.4\" height=\"19\""),
            "{reverse}"
        );
        assert!(reverse.contains(&format!("fill=\"{}\">x", color::BACKGROUND)), "{reverse}");
        let spaces = body("\x1b[44m  \x1b[m");
        assert!(spaces.contains("<rect") && !spaces.contains("<text"), "{spaces}");
    }

    #[test]
    fn the_size_is_that_of_the_grid() {
        let picture = svg(&Screen { text: "a\nb\n\n\n", columns: 80, ..Screen::default() });
        assert!(picture.contains("viewBox=\"0 0 704 66\""), "{picture}");
        let nothing = svg(&Screen::default());
        assert!(nothing.contains("viewBox=\"0 0 32 28\""), "{nothing}");
    }

    #[test]
    fn the_cursor_and_the_title() {
        let picture =
            svg(&Screen { columns: 2, cursor: Some((1, 2)), title: "a & b", ..Screen::default() });
        assert!(picture.contains("<title>a &amp; b</title>"), "{picture}");
        assert!(picture.contains("<rect x=\"24.4\" y=\"52\" width=\"8.4\""), "{picture}");
    }
}
