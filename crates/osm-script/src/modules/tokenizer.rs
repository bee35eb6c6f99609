//! `osm:tokenizer`: tokens, bytes and lines of a text. The host counts the tokens.

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

/// Lines as an editor counts them: the text after the last newline is a line, even if it is empty.
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
