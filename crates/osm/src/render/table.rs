//! Tables that fit the terminal.
//!
//! On a terminal a row is one line, however narrow the window is. Columns that may shrink do so
//! first, down to their least width; then the columns of the lowest rank are left out; then the last
//! cell is cut. In a pipe nothing is cut and nothing is left out.

use super::text::{Style, Text, ToText};

/// How one column behaves when the table is too wide.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Column {
    title: &'static str,
    /// Columns of a higher rank are left out first; 0 is never left out.
    rank: u8,
    /// The column may be cut down to this width.
    least: Option<usize>,
}

impl Column {
    /// A column that is never left out and never cut, but as a last resort.
    pub(crate) const fn new(title: &'static str) -> Self {
        Self { title, rank: 0, least: None }
    }

    /// The same column, left out before those of a lower rank.
    pub(crate) const fn rank(self, rank: u8) -> Self {
        Self { rank, ..self }
    }

    /// The same column, which may be cut down to `least` columns of the terminal.
    pub(crate) const fn shrinks(self, least: usize) -> Self {
        Self { least: Some(least), ..self }
    }
}

/// Rows below a heading.
pub(crate) struct Table<'a> {
    columns: &'a [Column],
    rows: Vec<Vec<Text<'a>>>,
}

impl<'a> Table<'a> {
    pub(crate) fn new(columns: &'a [Column]) -> Self {
        Self { columns, rows: Vec::new() }
    }

    /// Adds a row: one cell for each column.
    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = Text<'a>>) {
        let cells: Vec<_> = cells.into_iter().collect();
        debug_assert_eq!(cells.len(), self.columns.len(), "a cell for each column");
        self.rows.push(cells);
    }

    /// Writes the table for a terminal of `width` columns, or for a pipe.
    pub(super) fn write(&self, to: &mut String, color: bool, width: Option<usize>) {
        let heading: Vec<Text> =
            self.columns.iter().map(|column| Style::Faint.of(column.title)).collect();
        let mut widths: Vec<usize> = heading.iter().map(Text::width).collect();
        for row in &self.rows {
            for (widest, cell) in widths.iter_mut().zip(row) {
                *widest = cell.width().max(*widest);
            }
        }
        let shown = width.map_or_else(
            || (0..self.columns.len()).collect(),
            |width| fit(self.columns, &mut widths, width),
        );
        for row in std::iter::once(&heading).chain(&self.rows) {
            let cells = shown.iter().map(|&at| (&row[at], widths[at]));
            write_row(to, cells, color, width.is_some());
        }
    }
}

/// Which columns are shown; their widths are made to fit.
fn fit(columns: &[Column], widths: &mut [usize], width: usize) -> Vec<usize> {
    let mut shown: Vec<usize> = (0..columns.len()).collect();
    let natural = widths.to_vec();
    loop {
        widths.copy_from_slice(&natural);
        shrink(columns, &shown, widths, width);
        let total = total(&shown, widths);
        if total <= width {
            return shown;
        }
        let worst = shown.iter().copied().filter(|&at| columns[at].rank > 0);
        match worst.max_by_key(|&at| (columns[at].rank, at)) {
            Some(worst) => shown.retain(|&at| at != worst),
            None => break,
        }
    }
    // What is left is cut from the right; every column keeps at least one character.
    for &at in shown.iter().rev() {
        let excess = total(&shown, widths).saturating_sub(width);
        widths[at] = widths[at].saturating_sub(excess).max(1);
    }
    shown
}

/// Takes from the widest of the columns that may shrink, until the table fits or none may.
fn shrink(columns: &[Column], shown: &[usize], widths: &mut [usize], width: usize) {
    loop {
        let excess = total(shown, widths).saturating_sub(width);
        let may = |at: usize| columns[at].least.is_some_and(|least| widths[at] > least);
        let candidates: Vec<usize> = shown.iter().copied().filter(|&at| may(at)).collect();
        let Some(&widest) = candidates.iter().max_by_key(|&&at| widths[at]) else { return };
        if excess == 0 {
            return;
        }
        let others = candidates.iter().filter(|&&at| at != widest).map(|&at| widths[at]);
        let next = others.max().unwrap_or(0).max(columns[widest].least.unwrap_or(0));
        let step = (widths[widest].saturating_sub(next)).clamp(1, excess);
        widths[widest] -= step;
    }
}

/// The columns of the terminal that a row takes: two spaces before each cell.
fn total(shown: &[usize], widths: &[usize]) -> usize {
    shown.iter().map(|&at| widths[at] + 2).sum()
}

fn write_row<'t, 'a: 't>(
    to: &mut String,
    cells: impl Iterator<Item = (&'t Text<'a>, usize)>,
    color: bool,
    cut: bool,
) {
    let mut spaces = 2;
    for (cell, width) in cells {
        to.extend(std::iter::repeat_n(' ', spaces));
        cell.write(to, color, if cut { width } else { usize::MAX });
        spaces = width.saturating_sub(cell.width()) + 2;
    }
    while to.ends_with(' ') {
        to.pop();
    }
    to.push('\n');
}

/// Rows without a heading, such as names and values. The last cell is cut where a terminal ends.
pub(crate) fn aligned<Row: AsRef<[Cell]>, Cell: ToText>(
    rows: &[Row],
    color: bool,
    width: Option<usize>,
) -> String {
    let mut widths: Vec<usize> = Vec::new();
    for row in rows {
        let row = row.as_ref();
        widths.resize(widths.len().max(row.len()), 0);
        // The last cell of a row pushes no other aside.
        for (widest, cell) in widths.iter_mut().zip(&row[..row.len().saturating_sub(1)]) {
            *widest = cell.to_text().width().max(*widest);
        }
    }
    let mut text = String::new();
    for row in rows {
        let row = row.as_ref();
        let mut left = width.unwrap_or(usize::MAX);
        let mut cells: Vec<(Text, usize)> = Vec::with_capacity(row.len());
        for (at, cell) in row.iter().enumerate() {
            let Some(rest) = left.checked_sub(2).filter(|rest| *rest > 0) else { break };
            let own = if at + 1 < row.len() { widths[at].min(rest) } else { rest };
            cells.push((cell.to_text(), own));
            left = rest - own;
        }
        write_row(&mut text, cells.iter().map(|(cell, own)| (cell, *own)), color, width.is_some());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const COLUMNS: &[Column] = &[
        Column::new("ID"),
        Column::new("AGENT").rank(2),
        Column::new("NOTE").shrinks(6).rank(1),
        Column::new("STATE").rank(3),
    ];

    fn table(width: Option<usize>) -> String {
        let mut table = Table::new(COLUMNS);
        table.row(["a-1", "claude", "the login form, and more", "alive"].map(Text::from));
        table.row(["b-22", "日本", "x\ny", "dead"].map(Text::from));
        let mut text = String::new();
        table.write(&mut text, false, width);
        text
    }

    #[test]
    fn a_pipe_gets_everything() {
        insta::assert_snapshot!(table(None), @r"
          ID    AGENT   NOTE                      STATE
          a-1   claude  the login form, and more  alive
          b-22  日本    x\ny                      dead
        ");
    }

    #[test]
    fn a_terminal_gets_what_fits() {
        insta::assert_snapshot!(table(Some(40)), @r"
          ID    AGENT   NOTE               STATE
          a-1   claude  the login form, …  alive
          b-22  日本    x\ny               dead
        ");
        insta::assert_snapshot!(table(Some(24)), @r"
          ID    AGENT   NOTE
          a-1   claude  the log…
          b-22  日本    x\ny
        ");
        insta::assert_snapshot!(table(Some(14)), @r"
          ID    NOTE
          a-1   the l…
          b-22  x\ny
        ");
        insta::assert_snapshot!(table(Some(4)), @r"
          ID
          a…
          b…
        ");
    }

    #[test]
    fn names_and_values_fit_too() {
        let rows = [["session", "anchor--0123456789"], ["terminal", "pts/0"]];
        insta::assert_snapshot!(aligned(&rows, false, Some(20)), @r"
          session   anchor-…
          terminal  pts/0
        ");
    }

    proptest! {
        #[test]
        fn no_line_is_wider_than_the_terminal(
            cells in prop::collection::vec(prop::collection::vec(r"(\PC|\x1b|日){0,30}", 4..=4), 0..5),
            width in 6usize..100,
        ) {
            let mut table = Table::new(COLUMNS);
            for row in &cells {
                table.row(row.iter().map(|cell| Text::from(cell.as_str())));
            }
            let mut text = String::new();
            table.write(&mut text, false, Some(width));
            text.push_str(&aligned(&cells, false, Some(width)));
            for line in text.lines() {
                prop_assert!(super::super::text::columns(line) <= width, "{line:?}");
            }
        }
    }
}
