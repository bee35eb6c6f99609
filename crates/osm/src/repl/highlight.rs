//! Which parts of a line are highlighted, and as what.

use std::ops::Range;

use osm_script::words::Line;

/// What a part of a line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// A known command.
    Command,
    /// A first word that is not a command, or not yet.
    Unknown,
    /// A quoted word.
    Text,
    /// An option.
    Flag,
}

/// The highlighted parts of a line, in order; the rest is plain.
pub(crate) fn parts(line: &str, commands: &[String]) -> Vec<(Range<usize>, Part)> {
    let part = |(at, word): (usize, osm_script::words::Word)| {
        let part = if at == 0 {
            if commands.contains(&word.text) { Part::Command } else { Part::Unknown }
        } else if word.quoted {
            Part::Text
        } else if word.text.starts_with('-') {
            Part::Flag
        } else {
            return None;
        };
        Some((word.range, part))
    };
    Line::parse(line).words.into_iter().enumerate().filter_map(part).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_of_words() {
        let commands = ["add".to_owned()];
        let parts = |line: &str| -> Vec<(String, Part)> {
            let parts = parts(line, &commands);
            parts.into_iter().map(|(range, part)| (line[range].to_owned(), part)).collect()
        };
        assert_eq!(
            parts(" add --from-diff 'a b' c"),
            [
                ("add".into(), Part::Command),
                ("--from-diff".into(), Part::Flag),
                ("'a b'".into(), Part::Text)
            ]
        );
        assert_eq!(parts("ad"), [("ad".into(), Part::Unknown)]);
        assert_eq!(parts("  "), []);
    }
}
