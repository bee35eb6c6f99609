//! `osm code-review`.

use insta::assert_snapshot;

use crate::harness::Env;

#[test]
fn every_command() {
    let env = Env::new();
    env.git(&["init", "-q"]);
    env.file("b.txt", "b\n");
    env.git(&["add", "-A"]);
    env.git(&["commit", "-qm", "first"]);
    env.file("a.rs", "fn a() {}\n");
    assert_snapshot!(env.types(&["code-review"], "add a.rs\nnote look twice\nnote --goals\nnote goal:security\nnote goal:taste\ndiff\nexec echo hi\nlist\nremove 3 4\nedit 1\nremove 9\nlist\n"), @r#"
    Focus areas:
      note goal:comments     comments that are wrong, outdated or missing
      note goal:docs         documentation that no longer holds or is missing
      note goal:tests        what can break without a test noticing
      note goal:performance  what gets slow or large as things grow
      note goal:security     what untrusted data can do
    [1] [file] a.rs (1 line, 10 B)
    [2] [note] look twice (1 line, 10 B)
    [3] [note] review-focus: Look at security. Mark where untrusted data enters and follo… (1 line, 199 B)
    [4] [lazy-diff] git diff (7 lines, 114 B)
    [5] [lazy-exec] echo hi (run when the prompt is built)
    Total: 5 items (10 lines, 333 B), and 1 run when the prompt is built
    [1] [file] a.rs (1 line, 10 B)
    [2] [note] look twice (1 line, 10 B)
    [5] [lazy-exec] echo hi (run when the prompt is built)
    Total: 3 items (2 lines, 20 B), and 1 run when the prompt is built
    --- stderr
    Added file: a.rs [1]
    Added note [2]
    Added review focus [3]: security
    osm: error: line 5: note: unknown focus area 'taste'; focus areas: comments, docs, tests, performance, security
    Added diff: git diff [4] (run when the prompt is built)
    Added exec: echo hi [5] (run when the prompt is built)
    Removed [3]
    Removed [4]
    osm: error: line 10: edit: [1] is a file; edit a.rs itself, osm reads it when it builds the prompt
    osm: error: line 11: remove: no item [9]; ids: [1], [2], [5]
    --- exit Some(1)
    "#);
    let shown = env.types(&["review"], "show\n");
    assert!(shown.starts_with("You review the change below"), "{shown}");
    assert!(shown.contains("### File: a.rs\n\n```rust\nfn a() {}\n```\n"), "{shown}");
    assert!(shown.contains("look twice") && !shown.contains("This is part"), "{shown}");
    let copied = env.types(&["code-review"], "copy\n");
    assert!(copied.contains("Copied │ "), "{copied}");
    assert!(shown.starts_with(env.clipboard().trim_end()), "{shown}");
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
        (1..=400).map(line).collect::<Vec<_>>().concat()
    };
    env.git(&["init", "-q"]);
    env.file("small.txt", "old\n");
    env.file("many.txt", &text("old"));
    env.file("one.txt", "first\n");
    env.git(&["add", "-A"]);
    env.git(&["commit", "-qm", "before"]);
    env.file("small.txt", "new\n");
    env.file("many.txt", &text("new"));
    env.file(
        "one.txt",
        &(0..150).map(|at| format!("added {at} ```\n")).collect::<Vec<_>>().concat(),
    );
    env
}

#[test]
fn a_large_change_is_reviewed_in_chunks() {
    let env = large_change();
    env.types(&["code-review"], "diff HEAD\nnote mind this\n");
    assert_snapshot!(env.types(&["code-review"], "review-chunks\nreview-chunks --lines 100\nreview-chunks --lines 100 2\nreview-chunks --lines 100 9\nreview-chunks --fast\n"), @r#"
      Chunk 1/4: many.txt (1/2) (94 lines)
      Chunk 2/4: many.txt (2/2) (91 lines)
      Chunk 3/4: one.txt (156 lines)
      Chunk 4/4: small.txt (7 lines)
    --- stderr
    Everything fits in one chunk (344 lines); use 'copy'.
    Next: 'review-chunks 1' copies the first.
    Chunk 2/4 copied: many.txt (2/2) (91 lines)
    Next: 'review-chunks 3'.
    osm: error: line 4: review-chunks: no chunk 9; chunks: 1 to 4
    osm: error: line 5: review-chunks: unexpected argument '--fast'; usage: review-chunks [--lines COUNT] [--show] [NUMBER]
    --- exit Some(1)
    "#);
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
    assert_snapshot!(env.types(&["code-review"], "review-chunks\nnote a\nreview-chunks\n"), @r#"
    --- stderr
    osm: error: line 1: review-chunks: nothing to review yet; add a change with 'diff main'
    Added note [1]
    Everything fits in one chunk (0 lines); use 'copy'.
    --- exit Some(1)
    "#);
}
