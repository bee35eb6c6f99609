//! The difference between two texts, as `diff -u` shows it.

use std::fmt::Write;
use std::path::Path;

/// How many equal lines are shown around a change.
const AROUND: usize = 3;
/// The most pairs of lines that are compared; beyond, everything between the first and the last change is one.
const MOST_PAIRS: usize = 4_000_000;

/// One line, and what became of it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Line<'a> {
    Same(&'a str),
    Old(&'a str),
    New(&'a str),
}

/// The difference; empty if the texts are equal.
pub(super) fn unified(path: &Path, old: &str, new: &str) -> String {
    if old == new {
        return String::new();
    }
    let path = path.display();
    let mut text = format!("--- {path}\n+++ {path}\n");
    let lines = compare(&split(old), &split(new));
    let is_near = |at: usize| {
        let around = lines.get(at.saturating_sub(AROUND)..(at + AROUND + 1).min(lines.len()));
        around.is_some_and(|it| it.iter().any(|line| !matches!(line, Line::Same(_))))
    };
    let (mut from, mut to, mut at) = (1, 1, 0);
    while let Some(line) = lines.get(at) {
        if !is_near(at) {
            debug_assert!(matches!(line, Line::Same(_)), "a change is near itself");
            (from, to, at) = (from + 1, to + 1, at + 1);
            continue;
        }
        let end = (at..lines.len()).find(|it| !is_near(*it)).unwrap_or(lines.len());
        let hunk = lines.get(at..end).unwrap_or_default();
        let olds = hunk.iter().filter(|it| !matches!(it, Line::New(_))).count();
        let news = hunk.iter().filter(|it| !matches!(it, Line::Old(_))).count();
        writeln!(text, "@@ -{from},{olds} +{to},{news} @@").expect("a text grows");
        for line in hunk {
            let (sign, line) = match line {
                Line::Same(line) => (' ', line),
                Line::Old(line) => ('-', line),
                Line::New(line) => ('+', line),
            };
            let end = if line.ends_with('\n') { "" } else { "\n\\ No newline at end of file\n" };
            write!(text, "{sign}{line}{end}").expect("a text grows");
        }
        (from, to, at) = (from + olds, to + news, end);
    }
    text
}

fn split(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

/// All lines in order, with as many equal ones as there are.
fn compare<'a>(old: &[&'a str], new: &[&'a str]) -> Vec<Line<'a>> {
    let head = old.iter().zip(new).take_while(|(one, other)| one == other).count();
    let (old_rest, new_rest) =
        (old.get(head..).unwrap_or_default(), new.get(head..).unwrap_or_default());
    let tail = old_rest
        .iter()
        .rev()
        .zip(new_rest.iter().rev())
        .take_while(|(one, other)| one == other)
        .count();
    let (old_middle, old_tail) = old_rest.split_at(old_rest.len() - tail);
    let (new_middle, _) = new_rest.split_at(new_rest.len() - tail);
    let mut lines: Vec<Line> = old.iter().take(head).map(|line| Line::Same(line)).collect();
    lines.extend(middle(old_middle, new_middle));
    lines.extend(old_tail.iter().map(|line| Line::Same(line)));
    lines
}

fn middle<'a>(old: &[&'a str], new: &[&'a str]) -> Vec<Line<'a>> {
    if old.len().saturating_mul(new.len()) > MOST_PAIRS {
        let olds = old.iter().map(|line| Line::Old(line));
        return olds.chain(new.iter().map(|line| Line::New(line))).collect();
    }
    // lengths[i][j]: how many lines the rests from i and from j have in common.
    let width = new.len() + 1;
    let mut lengths = vec![0_usize; (old.len() + 1) * width];
    for (i, one) in old.iter().enumerate().rev() {
        for (j, other) in new.iter().enumerate().rev() {
            let (below, right) = (lengths[(i + 1) * width + j], lengths[i * width + j + 1]);
            let both = lengths[(i + 1) * width + j + 1] + 1;
            lengths[i * width + j] = if one == other { both } else { below.max(right) };
        }
    }
    let (mut i, mut j, mut lines) = (0, 0, Vec::new());
    loop {
        match (old.get(i), new.get(j)) {
            (Some(one), Some(other)) if one == other => {
                lines.push(Line::Same(one));
                (i, j) = (i + 1, j + 1);
            }
            (Some(one), other)
                if other.is_none()
                    || lengths[(i + 1) * width + j] >= lengths[i * width + j + 1] =>
            {
                lines.push(Line::Old(one));
                i += 1;
            }
            (_, Some(other)) => {
                lines.push(Line::New(other));
                j += 1;
            }
            (Some(one), None) => {
                lines.push(Line::Old(one));
                i += 1;
            }
            (None, None) => return lines,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn diff(old: &str, new: &str) -> String {
        unified(Path::new("f"), old, new)
    }

    #[test]
    fn as_diff_shows_it() {
        assert_eq!(diff("a\n", "a\n"), "");
        assert_eq!(diff("", "a\n"), "--- f\n+++ f\n@@ -1,0 +1,1 @@\n+a\n");
        assert_eq!(
            diff("1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\nx\n6\n7\n8\n9\n"),
            "--- f\n+++ f\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+x\n 6\n 7\n 8\n"
        );
        assert_eq!(
            diff("a\nb\nc", "a\nc\n"),
            "--- f\n+++ f\n@@ -1,3 +1,2 @@\n a\n-b\n-c\n\\ No newline at end of file\n+c\n"
        );
    }

    #[test]
    fn two_changes_far_apart_are_two_hunks() {
        let lines: Vec<String> = (0..30).map(|it| format!("{it}\n")).collect();
        let old = lines.concat();
        let new = old.replace("\n2\n", "\nx\n").replace("\n25\n", "\ny\n");
        assert_eq!(diff(&old, &new).matches("@@ -").count(), 2);
    }
}
