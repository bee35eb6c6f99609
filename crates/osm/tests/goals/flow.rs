//! `osm prompt-flow`.

use insta::assert_snapshot;

use crate::harness::Env;

#[test]
fn from_a_goal_to_the_final_prompt() {
    let env = Env::new();
    env.file("a.rs", "fn a() {}\n");
    assert_snapshot!(env.types(&["flow"], "list\ngoal Split {{ it }}\nadd a.rs\nlist\ngenerate\nlist\n"), @"");
    let meta = env.types(&["prompt-flow"], "show\n");
    assert!(meta.contains("### The goal\n\nSplit {{ it }}\n"), "{meta}");
    assert!(meta.contains("### File: a.rs"), "{meta}");
    assert_eq!(env.types(&["prompt-flow"], "show meta\n"), meta);
    assert_snapshot!(env.types(&["prompt-flow"], "use Do {{ this }}\nfooter The end\nlist\nshow prompt\nshow\n"), @"");
    let copied = env.types(&["prompt-flow"], "copy\n");
    assert!(copied.starts_with("Copied │ "), "{copied}");
    assert!(env.clipboard().starts_with("Do {{ this }}\n\n## Context\n"), "{}", env.clipboard());
    assert!(env.types(&["prompt-flow"], "copy meta\n").starts_with("Copied"));
    assert_eq!(env.clipboard().trim_end(), meta.trim_end());
    assert_snapshot!(env.types(&["prompt-flow"], "footer --clear\ngenerate\nlist\n"), @"");
}

#[test]
fn what_is_missing_is_said_with_the_next_step() {
    let env = Env::new();
    assert_snapshot!(env.types(&["prompt-flow"], "generate\nshow meta\nshow prompt\ncopy all\nedit meta\nedit\ngoal use:x\ntemplate now\ngenerate x\n"), @"");
    assert_snapshot!(env.types(&["prompt-flow"], "goal --prewritten\ngoal use:test-generator\ncopy\nlist\n"), @"");
    assert!(env.clipboard().contains("Write tests that fail when this code is wrong"));
}

#[cfg(unix)]
#[test]
fn texts_are_edited() {
    let env = Env::new();
    let run = |lines: &str, text: &str| env.edits(&["prompt-flow"], lines, text);
    assert_snapshot!(run("goal\ntemplate\ngenerate\nshow meta\n", "Mine {{ goal }} {{ context }}"), @"");
    assert_snapshot!(run("edit meta\nshow\nuse\nedit prompt\nedit goal\nlist\n", "Edited"), @"");
    assert_snapshot!(run("template edit\n", "{% if"), @"");
    assert_snapshot!(env.types(&["prompt-flow"], "template reset\nnote n\n"), @"");
    assert_snapshot!(run("edit 1\nlist\n", "other"), @"");
}
