//! Which parts of a line are highlighted, and as what.

use std::ops::Range;

use osm_script::words::Line;

use super::syntax::Syntax;

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

/// The highlighted parts of a line, in order; the rest is plain, and so is a text.
pub(crate) fn parts(line: &str, commands: &[String], syntax: &Syntax) -> Vec<(Range<usize>, Part)> {
    let most = if syntax.takes_text(line) { 1 } else { usize::MAX };
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
    Line::parse(line).words.into_iter().take(most).enumerate().filter_map(part).collect()
}

#[cfg(test)]
mod tests {
    use super::super::complete::CommandSpec;
    use super::*;

    #[test]
    fn kinds_of_words() {
        let commands = ["add".to_owned(), "note".into()];
        let note = CommandSpec { name: "note".into(), takes_text: true, ..CommandSpec::default() };
        let syntax = Syntax::of(&[note]);
        let parts = |line: &str| -> Vec<(String, Part)> {
            let parts = parts(line, &commands, &syntax);
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
        assert_eq!(parts("note --a 'b c'"), [("note".into(), Part::Command)]);
    }
}
