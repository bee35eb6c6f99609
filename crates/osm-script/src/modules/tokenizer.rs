//! `osm:tokenizer`: how long a text is. Tokens are counted by the host.

use serde_json::json;

use super::{CONTEXT, Native};

pub(super) const FUNCTIONS: &[(&str, Native)] = &[
    ("count", |host, it| {
        it.text(0)?;
        host.call(CONTEXT.name, "count", &it.all()[..1])
    }),
    ("byteCount", |_, it| Ok(json!(it.text(0)?.len()))),
    ("lineCount", |_, it| Ok(json!(lines(it.text(0)?)))),
];

/// Lines, as an editor counts them: what follows the last newline is one, if only an empty one.
fn lines(text: &str) -> usize {
    if text.is_empty() { 0 } else { text.matches('\n').count() + 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_counts() {
        assert_eq!(["", "a", "a\n", "a\nb", "\n\n"].map(lines), [0, 1, 2, 2, 3]);
    }
}
