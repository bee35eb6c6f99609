//! Plain words: phrases that hide the actor or the object occur in nothing that a user reads.
#![expect(clippy::unwrap_used, reason = "a file that cannot be read is a failed test")]

use std::path::{Path, PathBuf};

/// Each of them stands where a sentence should name who does what to which thing.
const VAGUE: &[&str] = &[
    "whoever",
    "somebody",
    "nobody",
    "anew",
    "oneself",
    "is none",
    "of one's own",
    "as it is",
    "what is there",
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// The files below a folder whose names end so.
fn files(folder: &Path, endings: &[&str], found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() && name != "target" && name != "tests" {
            files(&path, endings, found);
        } else if endings.iter().any(|ending| name.ends_with(ending)) && name != "tests.rs" {
            found.push(path);
        }
    }
}

/// What of a line of Rust can reach a user: the texts in it.
fn texts(line: &str) -> String {
    let code = line.trim_start();
    if code.starts_with("//") {
        return String::new();
    }
    code.split('"').skip(1).step_by(2).collect::<Vec<_>>().join(" ")
}

fn check(path: &Path, read: impl Fn(&str) -> String, wrong: &mut Vec<String>) {
    let text = std::fs::read_to_string(path).unwrap();
    for (number, line) in text.lines().enumerate() {
        let seen = format!(" {} ", read(line).to_lowercase());
        let is_word = |at: usize, phrase: &str| {
            let letter = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
            !letter(seen[..at].chars().next_back())
                && !letter(seen[at + phrase.len()..].chars().next())
        };
        for phrase in VAGUE {
            if seen.match_indices(phrase).any(|(at, _)| is_word(at, phrase)) {
                wrong.push(format!("{}:{}: {phrase}", path.display(), number + 1));
            }
        }
    }
}

#[test]
fn users_read_plain_words() {
    let root = root();
    let mut wrong = Vec::new();
    let mut pages = vec![];
    files(&root.join("docs"), &[".md", ".svg"], &mut pages);
    files(&root.join("crates/osm/assets"), &[".js", ".md", ".json"], &mut pages);
    files(&root.join("crates/osm-script/js"), &[".js"], &mut pages);
    files(&root.join("crates/osm-script/types"), &[".ts"], &mut pages);
    files(&root.join("crates/osm/src/cli"), &[".rs"], &mut pages);
    let top = ["README.md", "ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md"];
    pages.extend(top.map(|name| root.join(name)));
    pages.push(root.join("crates/osm/src/cli.rs"));
    for page in &pages {
        check(page, str::to_owned, &mut wrong);
    }
    let mut sources = Vec::new();
    for name in ["osm", "osm-claims", "osm-context", "osm-identity", "osm-script", "osm-store"] {
        files(&root.join("crates").join(name).join("src"), &[".rs"], &mut sources);
    }
    assert!(pages.len() > 20 && sources.len() > 200, "the folders are where they were");
    for source in &sources {
        check(source, texts, &mut wrong);
    }
    assert!(wrong.is_empty(), "say who does what:\n{}", wrong.join("\n"));
}

#[test]
fn a_vague_phrase_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.rs");
    std::fs::write(&path, "// nobody sees this\nlet a = \"Nobody can\";\nlet b = \"renewal\";\n")
        .unwrap();
    let mut wrong = Vec::new();
    check(&path, texts, &mut wrong);
    assert_eq!(wrong.len(), 1, "{wrong:?}");
    assert!(wrong[0].ends_with("x.rs:2: nobody"), "{wrong:?}");
}
