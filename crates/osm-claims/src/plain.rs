//! What others wrote, for people: on one line, and nothing that a terminal would obey.

/// The text with its control characters spelled out.
#[must_use]
pub fn plain(text: &str) -> String {
    let escaped = |c: char| if c.is_control() { c.escape_default().to_string() } else { c.into() };
    text.chars().map(escaped).collect()
}
