//! Many files as one text, in the format of Go's `txtar`, and back.
//!
//! ```text
//! -- src/a.txt --
//! content
//! -- src/b.txt --
//! content
//! ```
//!
//! The format itself has no way to hold a line that looks like a marker, nor a file without a line end
//! at its end. Two rules of ours, which leave every other file as it is:
//!
//! - A line of a file that looks like a marker gets a backslash before it, and so does one that has
//!   backslashes before it already. Reading takes one away.
//! - A file that does not end with a line end gets one, and then the line
//!   `\ No newline at end of file`; a line of a file that looks like that gets a backslash, too.
//!
//! A name is on one line: control characters and backslashes in it are escaped.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use crate::label;
use crate::render::Prompt;
use crate::section::Subject;

/// What comes after the backslash at the end of a file without a line end.
const NO_NEWLINE: &str = " No newline at end of file";

/// A file of an archive.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// How it is called.
    pub name: String,
    /// What is in it.
    pub content: String,
}

/// An archive of some files, in order; a name that was there already gets a number.
#[must_use]
pub fn write<'a>(files: impl IntoIterator<Item = (&'a str, &'a str)>) -> String {
    let mut text = String::new();
    let mut names = HashSet::new();
    for (name, content) in files {
        let name = unique(&mut names, if name.is_empty() { "unnamed" } else { name });
        text.extend(["-- ", &label::escape(&name), " --\n"]);
        for line in content.split_inclusive('\n') {
            if is_special(line) {
                text.push('\\');
            }
            text.push_str(line);
        }
        if !content.is_empty() && !content.ends_with('\n') {
            text.extend(["\n\\", NO_NEWLINE, "\n"]);
        }
    }
    text
}

/// The files of a prompt as an archive.
#[must_use]
pub fn of(prompt: &Prompt) -> String {
    let files = prompt.blocks().filter(|block| block.subject == Subject::File);
    write(files.map(|block| (block.label.as_str(), block.body())))
}

/// The files of an archive; what stands before the first one is a comment, and dropped.
#[must_use]
pub fn read(text: &str) -> Vec<Entry> {
    let mut files: Vec<Entry> = Vec::new();
    let mut lines = text.split_inclusive('\n').peekable();
    while let Some(line) = lines.next() {
        if let Some(name) = marker(line) {
            let name = label::unescape(name).unwrap_or_else(|| name.to_owned());
            files.push(Entry { name, content: String::new() });
            continue;
        }
        let Some(Entry { content, .. }) = files.last_mut() else { continue };
        let is_last = lines.peek().is_none_or(|next| marker(next).is_some());
        if is_last && line.trim_end_matches('\n').strip_prefix('\\') == Some(NO_NEWLINE) {
            if content.ends_with('\n') {
                content.pop();
            }
        } else if is_special(line) && line.starts_with('\\') {
            content.push_str(&line[1..]);
        } else {
            content.push_str(line);
        }
    }
    files
}

/// Whether a line of a file could be taken for one of the format.
fn is_special(line: &str) -> bool {
    let line = line.strip_suffix('\n').unwrap_or(line);
    let bare = line.trim_start_matches('\\');
    has_marks(bare) || (bare.len() < line.len() && bare == NO_NEWLINE)
}

/// Whether a line begins and ends like a marker. One with a carriage return is a marker to some.
fn has_marks(line: &str) -> bool {
    let line = line.trim_end_matches(['\r', '\n']);
    line.starts_with("-- ") && line.ends_with(" --")
}

/// The name in a marker.
fn marker(line: &str) -> Option<&str> {
    let line = line.trim_end_matches(['\r', '\n']);
    let name = line.strip_prefix("-- ")?.strip_suffix(" --")?.trim_matches([' ', '\t']);
    (!name.is_empty()).then_some(name)
}

fn unique(names: &mut HashSet<String>, name: &str) -> String {
    let numbered = (2..).map(|number: u64| format!("{name} ({number})"));
    let name = std::iter::once(name.to_owned()).chain(numbered).find(|name| !names.contains(name));
    let name = name.expect("there is always another number");
    names.insert(name.clone());
    name
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn written(files: &[Entry]) -> String {
        write(files.iter().map(|file| (file.name.as_str(), file.content.as_str())))
    }

    #[test]
    fn what_needs_no_escape_is_as_go_writes_it() {
        let text = "-- a.txt --\none\n-- b/c --\n-- empty --\n";
        let files = read(&format!("a comment\n{text}"));
        assert_eq!(files.len(), 3);
        assert_eq!((files[0].name.as_str(), files[0].content.as_str()), ("a.txt", "one\n"));
        assert_eq!(written(&files), text);
        assert_eq!(read("-- a --\n-- --\n--  --\n\\ no\n")[0].content, "-- --\n--  --\n\\ no\n");
        assert_eq!(
            read("-- a --\r\nx\r\n")[0],
            Entry { name: "a".into(), content: "x\r\n".into() }
        );
    }

    #[test]
    fn escapes() {
        insta::assert_snapshot!(write([
            ("a", "-- b --\n\\-- b --\n\\ No newline at end of file\nend"),
            ("a", ""),
            ("a (2)", ""),
            ("line\nend", ""),
        ]), @r"
        -- a --
        \-- b --
        \\-- b --
        \\ No newline at end of file
        end
        \ No newline at end of file
        -- a (2) --
        -- a (2) (2) --
        -- line\nend --
        ");
    }

    fn hostile() -> impl Strategy<Value = String> {
        let piece = prop_oneof![
            4 => prop::sample::select(vec![
                "-- a --", "-- ", " --", "--", "-- --", "\\", "\\-- b --", "-- é --\r", NO_NEWLINE,
                "\\ No newline at end of file", "\n", "\r\n", "\n\n", "\r", " ", "a", "日",
            ]).prop_map(str::to_owned),
            1 => any::<String>(),
        ];
        prop::collection::vec(piece, 0..10).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(800))]

        #[test]
        fn every_archive_comes_back(files in prop::collection::vec((hostile(), hostile()), 0..5)) {
            let mut names = HashSet::new();
            let files: Vec<Entry> = files
                .into_iter()
                .filter(|(name, _)| !name.is_empty() && names.insert(name.clone()))
                .map(|(name, content)| Entry { name, content })
                .collect();
            let text = written(&files);
            prop_assert_eq!(read(&text), files, "{}", text);
        }

        #[test]
        fn nothing_panics(text in hostile()) {
            drop(read(&text));
        }
    }
}
