//! Files that a prompt links to: `[text](path)` becomes the file's content.
//!
//! A prompt by another author must not copy files from elsewhere into the prompt. So osm inserts a file
//! only if it is a regular file below the prompt's own folder, after all symbolic links are resolved.
//! Every other link stays unchanged.

use std::fmt::Write as _;
use std::ops::Range;
use std::path::{Component, Path};

/// The number of files in a prompt.
const MAX_FILES: usize = 50;
/// The size of the largest file.
const MAX_BYTES: u64 = 256 * 1024;

/// A text with the files that it links to: each link is replaced by the result of `place`, which gets
/// the number and the content of the file.
pub(super) fn inline(
    text: &str,
    folder: &Path,
    mut place: impl FnMut(usize, String) -> String,
) -> String {
    let Ok(root) = std::fs::canonicalize(folder) else { return text.to_owned() };
    let (mut out, mut end, mut count) = (String::new(), 0, 0);
    for link in find(text) {
        if count == MAX_FILES {
            break;
        }
        let Some(content) = read(&root, link.target) else { continue };
        out.push_str(&text[end..link.span.start]);
        out.push_str(&place(count, shown(link.text, link.target, &content)));
        end = link.span.end;
        count += 1;
    }
    out.push_str(&text[end..]);
    out
}

struct Link<'a> {
    span: Range<usize>,
    text: &'a str,
    target: &'a str,
}

/// The links to files in a text, except those in fenced code.
fn find(text: &str) -> Vec<Link<'_>> {
    let (mut links, mut fence, mut offset) = (Vec::new(), None::<&str>, 0);
    for line in text.split_inclusive('\n') {
        let start = line.trim_start();
        let marks = start.len() - start.trim_start_matches(['`', '~']).len();
        let mark = &start[..marks];
        match fence {
            Some(open) if mark.starts_with(open) => fence = None,
            None if marks >= 3 => fence = Some(mark),
            None => in_line(line, offset, &mut links),
            Some(_) => {}
        }
        offset += line.len();
    }
    links
}

fn in_line<'a>(line: &'a str, offset: usize, links: &mut Vec<Link<'a>>) {
    let mut from = 0;
    while let Some(middle) = line[from..].find("](").map(|at| from + at) {
        let Some(close) = line[middle..].find(')').map(|at| middle + at) else { break };
        let open = line[from..middle].rfind('[').map(|at| from + at);
        if let Some(open) = open.filter(|open| !line[..*open].ends_with('!')) {
            let target = line[middle + 2..close].trim();
            links.push(Link {
                span: offset + open..offset + close + 1,
                text: &line[open + 1..middle],
                target: target.split(['#', ' ']).next().unwrap_or_default(),
            });
        }
        from = close + 1;
    }
}

/// The content of the file that a link leads to, if osm may insert it.
fn read(root: &Path, target: &str) -> Option<String> {
    let is_plain = |part: Component| matches!(part, Component::Normal(_) | Component::CurDir);
    if target.is_empty()
        || target.contains([':', '\\'])
        || !Path::new(target).components().all(is_plain)
    {
        return None;
    }
    let file = std::fs::canonicalize(root.join(target)).ok()?;
    // Links are resolved: one that takes the place of a part of the path since is not followed.
    file.starts_with(root).then(|| osm_context::read_text(&file, MAX_BYTES).ok())?
}

/// A file's content in a fence that is longer than any in the content.
fn shown(text: &str, target: &str, content: &str) -> String {
    let runs = content.split(|it| it != '`').map(str::len);
    let fence = "`".repeat(runs.max().unwrap_or(0).max(2) + 1);
    let end = if content.ends_with('\n') || content.is_empty() { "" } else { "\n" };
    let mut out = String::new();
    write!(out, "**{text}** (`{target}`):\n\n{fence}\n{content}{end}{fence}\n")
        .expect("writing to a string succeeds");
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inlined(text: &str, folder: &Path) -> String {
        inline(text, folder, |number, content| format!("<{number}:{content}>"))
    }

    #[test]
    fn files_below_the_folder_are_inserted() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("sub")).unwrap();
        std::fs::write(folder.path().join("sub/a.md"), "``` {{ x }}").unwrap();
        let text = "See [the rules](sub/a.md#part) and [b](b.md).\n";
        assert_eq!(
            inlined(text, folder.path()),
            "See <0:**the rules** (`sub/a.md`):\n\n````\n``` {{ x }}\n````\n> and [b](b.md).\n"
        );
        for left in [
            "![image](sub/a.md)",
            "```\n[a](sub/a.md)\n```\n",
            "[a](http://sub/a.md)",
            "[a](/sub/a.md)",
            "[a](sub)",
            "[a]()",
            "[a](",
            "](sub/a.md)",
        ] {
            assert_eq!(inlined(left, folder.path()), left);
        }
    }

    #[cfg(unix)]
    #[test]
    fn files_outside_are_not() {
        let outside = tempfile::tempdir().unwrap();
        let folder = outside.path().join("prompts");
        std::fs::create_dir(&folder).unwrap();
        std::fs::write(outside.path().join("secret"), "secret").unwrap();
        let link = |to: &str, name: &str| {
            std::os::unix::fs::symlink(to, folder.join(name)).unwrap();
        };
        link("../secret", "link");
        link("..", "up");
        link("/etc/passwd", "passwd");
        std::fs::write(folder.join("inside"), "in").unwrap();
        link("inside", "fine");
        let absolute = format!("[a]({})", outside.path().join("secret").display());
        for text in [
            "[a](../secret)",
            "[a](link)",
            "[a](up/secret)",
            "[a](passwd)",
            "[a](./../secret)",
            &absolute,
        ] {
            assert_eq!(inlined(text, &folder), text);
        }
        assert!(inlined("[a](fine)", &folder).contains("in"));
    }

    #[test]
    fn there_are_limits() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("a"), "x").unwrap();
        std::fs::write(folder.path().join("large"), vec![b'x'; 256 * 1024 + 1]).unwrap();
        assert_eq!(inlined("[a](large)", folder.path()), "[a](large)");
        let many = inlined(&"[a](a) ".repeat(60), folder.path());
        assert_eq!(many.matches('<').count(), 50);
        assert_eq!(many.matches("[a](a)").count(), 10);
    }

    proptest::proptest! {
        #[test]
        fn never_panics(text in "[\\[\\]()!a/.#`~ é\n]{0,60}") {
            let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
            drop(inline(&text, folder, |_, content| content));
        }
    }
}
