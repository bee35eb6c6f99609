//! `osm:format`: readable numbers and sizes.

use serde_json::json;

use super::Native;

pub(super) const FUNCTIONS: &[(&str, Native)] = &[
    ("formatNum", |_, arguments| Ok(json!(number(arguments.number(0)?)))),
    ("formatBytes", |_, arguments| Ok(json!(bytes(arguments.number(0)?)))),
];

/// Below ten thousand with a comma, above in thousands with one decimal.
fn number(value: f64) -> String {
    let value = value.max(0.0).trunc();
    if value < 1_000.0 {
        return format!("{value:.0}");
    }
    if value < 10_000.0 {
        return format!("{:.0},{:03.0}", (value / 1_000.0).trunc(), value % 1_000.0);
    }
    scaled(value, 1_000.0, &["k", "M", "G"])
}

/// In units of a thousand, as `osm session list` has them.
fn bytes(value: f64) -> String {
    let value = value.max(0.0).trunc();
    if value < 1_000.0 {
        return format!("{value:.0} B");
    }
    scaled(value, 1_000.0, &[" kB", " MB", " GB", " TB"])
}

/// A number in the largest unit that is not larger than it.
fn scaled(mut value: f64, step: f64, units: &[&str]) -> String {
    let mut unit = "";
    for next in units {
        if !unit.is_empty() && value < step {
            break;
        }
        value /= step;
        unit = next;
    }
    format!("{value:.1}{unit}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers() {
        let shown = [-1.0, 0.0, 999.0, 1_000.0, 9_999.0, 10_000.0, 1_234_567.0].map(number);
        assert_eq!(shown, ["0", "0", "999", "1,000", "9,999", "10.0k", "1.2M"]);
        let shown = [0.0, 999.0, 1_000.0, 1_536.0, 5_000_000.0].map(bytes);
        assert_eq!(shown, ["0 B", "999 B", "1.0 kB", "1.5 kB", "5.0 MB"]);
    }
}
