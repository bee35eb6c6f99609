//! What of a long text, or of a drawn screen, goes into an error message.

/// The last 2000 bytes or so: errors come last.
pub(super) fn end_of(text: &str) -> &str {
    &text[text.ceil_char_boundary(text.len().saturating_sub(2000))..]
}

/// The text without the sequences that move a cursor or set a colour.
pub(super) fn plain(drawn: &str) -> String {
    let mut plain = String::new();
    let mut rest = drawn;
    while let Some((before, sequence)) = rest.split_once('\x1b') {
        plain.push_str(before);
        // Commands end with a letter. Titles and the like end with a bell, or with a sequence of
        // their own, which is left for the next round.
        let end = match sequence.as_bytes().first() {
            Some(b'[') => sequence[1..].find(|c| matches!(c, '@'..='~')).map(|at| at + 2),
            Some(b']' | b'P' | b'_') => sequence
                .find(['\x07', '\x1b'])
                .map(|at| at + usize::from(sequence.as_bytes()[at] == 7)),
            _ => sequence.chars().next().map(char::len_utf8),
        };
        rest = &sequence[end.unwrap_or(sequence.len())..];
    }
    plain.push_str(rest);
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_screen_becomes_plain_text() {
        let moves = "\x1b[?25l\x1b[20;6H\x1b[38;5;75mBuild\x1b[0m";
        assert_eq!(plain(moves), "Build");
        let titles = "\x1b]0;title\x07one\x1b]11;?\x1b\\ two\x1bPq\x1b\\";
        assert_eq!(plain(titles), "one two");
        assert_eq!(plain("cut\x1b[38;5"), "cut");
        assert_eq!(plain("cut\x1b"), "cut");
    }

    #[test]
    fn the_end_of_a_text_begins_with_a_whole_character() {
        let text = "ä".repeat(1500);
        assert_eq!(end_of(&text), "ä".repeat(1000));
        assert_eq!(end_of("short"), "short");
    }
}
