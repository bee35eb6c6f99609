//! `osm code-review`.

use insta::assert_snapshot;

use crate::harness::Env;

#[test]
fn every_command() {
    let env = Env::new();
    env.file("a.rs", "fn a() {}\n");
    assert_snapshot!(env.types(&["code-review"], "add a.rs\nnote look twice\nnote --goals\nnote goal:security\nnote goal:taste\ndiff\nexec echo hi\nlist\nremove 3 4\nedit 1\nremove 9\nlist\n"), @"");
    let shown = env.types(&["review"], "show\n");
    assert!(shown.starts_with("You review the change below"), "{shown}");
    assert!(shown.contains("### File: a.rs\n\n```rust\nfn a() {}\n```\n"), "{shown}");
    assert!(shown.contains("look twice") && !shown.contains("This is part"), "{shown}");
    let copied = env.types(&["code-review"], "copy\n");
    assert!(copied.starts_with("Copied │ "), "{copied}");
    assert_eq!(env.clipboard().trim_end(), shown.trim_end());
}

/// A repository with a change of three files: small, long in many hunks, and one long hunk.
fn large_change() -> Env {
    let env = Env::new();
    let text = |mark: &str| {
        let line = |at: usize| {
            if at.is_multiple_of(20) {
                format!("line {at} {mark}\n")
            } else {
                format!("line {at}\n")
            }
        };
        (1..=400).map(line).collect::<String>()
    };
    env.git(&["init", "-q"]);
    env.file("small.txt", "old\n");
    env.file("many.txt", &text("old"));
    env.file("one.txt", "first\n");
    env.git(&["add", "-A"]);
    env.git(&["commit", "-qm", "before"]);
    env.file("small.txt", "new\n");
    env.file("many.txt", &text("new"));
    env.file("one.txt", &(0..150).map(|at| format!("added {at} ```\n")).collect::<String>());
    env
}

#[test]
fn a_large_change_is_reviewed_in_chunks() {
    let env = large_change();
    env.types(&["code-review"], "diff HEAD\nnote mind this\n");
    assert_snapshot!(env.types(&["code-review"], "review-chunks\nreview-chunks --lines 100\nreview-chunks --lines 100 2\nreview-chunks --lines 100 9\nreview-chunks --fast\n"), @"");
    let second = env.clipboard();
    assert!(second.contains("This is part 2 of 4"), "{second}");
    assert!(second.contains("mind this"), "notes go with each: {second}");

    // Nothing is dropped: every changed line is in exactly one chunk, under its file's header.
    let mut seen = Vec::new();
    for number in 1..=4 {
        let shown =
            env.types(&["code-review"], &format!("review-chunks --lines 100 --show {number}\n"));
        let (mut file, mut in_diff) = (String::new(), false);
        for line in shown.lines() {
            in_diff |= line.starts_with("diff --git ");
            if let Some(name) = line.strip_prefix("+++ b/") {
                name.clone_into(&mut file);
            } else if in_diff && line.starts_with(['+', '-']) && !line.starts_with("--- ") {
                seen.push(format!("{file} {line}"));
            }
        }
    }
    assert_eq!(seen.iter().filter(|line| line.starts_with("small.txt")).count(), 2);
    assert_eq!(seen.iter().filter(|line| line.starts_with("many.txt")).count(), 40);
    assert_eq!(seen.iter().filter(|line| line.starts_with("one.txt")).count(), 151);
    let all = seen.len();
    seen.sort();
    seen.dedup();
    assert_eq!(seen.len(), all, "none twice");
}

#[test]
fn what_fits_is_not_cut() {
    let env = Env::new();
    assert_snapshot!(env.types(&["code-review"], "review-chunks\nnote a\nreview-chunks\n"), @"");
}
