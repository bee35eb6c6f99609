//! Pictures with the names and numbers that were once cut off, or lay over each other.

use super::layout::{apart, width};
use super::*;

/// The left, upper, right and lower ends of some words.
type Extent = (f64, f64, f64, f64);

/// The horizontal words of a picture, and where they are.
fn words(picture: &str) -> Vec<(String, Extent)> {
    let lines = picture.lines().filter(|line| line.starts_with("<text x="));
    lines
        .map(|line| {
            let value = |name: &str| {
                let at = line.find(&format!(" {name}=\"")).map(|at| at + name.len() + 3)?;
                line[at..].split('"').next()
            };
            let number = |name: &str| value(name).and_then(|it| it.parse::<f64>().ok()).unwrap();
            let text = line.split(['<', '>']).nth(2).unwrap().to_owned();
            let (x, y, wide) = (number("x"), number("y"), width(&text));
            let left = match value("text-anchor") {
                Some("end") => x - wide,
                Some("middle") => x - wide / 2.0,
                _ => x,
            };
            (text, (left, y - 10.0, left + wide, y + 3.0))
        })
        .collect()
}

#[track_caller]
fn is_readable(picture: &str) {
    let words = words(picture);
    for (at, (text, (left, upper, right, lower))) in words.iter().enumerate() {
        assert!(*left >= 0.0 && *right <= WIDTH, "{text:?} is cut off: {left} to {right}");
        for (other, (left_of, upper_of, right_of, lower_of)) in &words[..at] {
            let touches =
                left < right_of && left_of < right && upper < lower_of && upper_of < lower;
            assert!(!touches, "{text:?} lies over {other:?}");
        }
    }
}

fn bar(name: &str, ratio: f64, target: Option<f64>) -> Bar {
    Bar { name: name.to_owned(), ratio, target }
}

fn series(name: &str, points: &[(f64, f64)]) -> Series {
    Series { name: name.to_owned(), points: points.to_vec() }
}

#[test]
fn no_words_are_cut_off_or_lie_over_others() {
    let bars = [
        bar("dist/osm", 1.67, Some(1.3)),
        bar("cargo build --release, tokens counted", 4.35, None),
        bar("dist/osm, tokens counted", 4.63, Some(8.0)),
        bar("a", 0.01, None),
    ];
    let near = [
        series("cat", &[(100.0, 26.1), (1000.0, 15.0), (10_000.0, 14.2)]),
        series("osm", &[(100.0, 94.7), (1000.0, 17.5), (10_000.0, 11.5)]),
        series("osm, tokens counted", &[(100.0, 121.7), (1000.0, 28.8), (10_000.0, 18.0)]),
    ];
    let negative = [series("", &[(1.0, -500.0), (5.0, -480.0), (20.0, -400.0), (90.0, -60.0)])];
    let same = [series("one", &[(10.0, 0.0), (100_000.0, 0.0)]), series("two", &[(10.0, 0.0)])];
    let axes = Axes { across: "files in the tree", up: "microseconds per file" };
    let picture = Chart::default()
        .bars("Multiples of cat", "median time, in multiples of cat", "cat", &bars)
        .lines("One", axes, &near)
        .lines("Two", axes, &negative)
        .lines("Three", axes, &same)
        .finish();
    is_readable(&picture);
    for title in ["median time, in multiples of cat", ">files in the tree (logarithmic)<"] {
        assert!(picture.contains(title), "{title}");
    }
    assert_eq!(picture.matches(">microseconds per file<").count(), 3);
    assert!(picture.contains(">files in the tree<"), "few places need no logarithm");
}

#[test]
fn words_move_no_more_than_they_must() {
    assert_eq!(apart(&[10.0, 90.0], 100.0), [10.0, 90.0]);
    assert_eq!(apart(&[90.0, 10.0, 11.0], 100.0), [90.0, 10.0, 26.0]);
    assert_eq!(apart(&[98.0, 99.0, 100.0], 100.0), [68.0, 84.0, 100.0]);
    assert!(apart(&[], 100.0).is_empty());
}
