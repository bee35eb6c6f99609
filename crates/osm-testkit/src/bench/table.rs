//! Tables that are Markdown and line up as plain text, too.

/// Formats a table. All but the first column are figures.
#[must_use]
pub fn table(head: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> String {
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

/// What stands where nothing was measured.
pub const NOTHING: &str = "–";

/// Formats a count with a space between thousands.
#[must_use]
pub fn grouped(count: u64) -> String {
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
