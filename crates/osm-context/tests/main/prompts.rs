//! Whole prompts, as people and models see them.

use std::time::Duration;

use osm_context::{Encoding, Item, Setting, build, txtar};

use crate::harness::{Lab, built, labels, left_out};

#[test]
fn every_kind_of_item() {
    let lab = Lab::with(&[("src/a.rs", "fn a() {}\n"), ("README.md", "# Title\n```\ncode\n```")]);
    lab.write("logo.png", b"\x89PNG\0");
    let folder = lab.folder.to_str().unwrap();
    let items = [
        Item::file(1, "src", &lab.text_path("src")),
        Item::note(2, "note", "Look at this."),
        Item::file(3, "README.md", &lab.text_path("README.md")),
        Item::diff(4, "old diff", "-a\n+b\n"),
        Item::lazy_run(5, "make test", &["sh", "-c", "echo good; echo bad >&2; exit 2"], folder),
        Item::lazy_run(6, "nothing", &["no-such-program"], folder),
        Item::lazy_diff(7, "git diff --output=x", &["--output=x"], folder),
        Item::file(8, "logo.png", &lab.text_path("logo.png")),
        serde_json::from_str(r#"{"id":9,"type":"image","label":"cat"}"#).unwrap(),
    ];
    let prompt = built(&items, &lab.setting());
    insta::assert_snapshot!(prompt.to_string(), @r"
    ### File: src/a.rs

    ```rust
    fn a() {}
    ```

    ### Note: note

    ```text no-eol
    Look at this.
    ```

    ### File: README.md

    ````markdown no-eol
    # Title
    ```
    code
    ```
    ````

    ### Diff: old diff

    ```diff
    -a
    +b
    ```

    ### Output (exit code 2): make test

    ```text
    good
    bad
    ```

    ### Output (failed): nothing

    ```text
    cannot start no-such-program: No such file or directory (os error 2)
    ```

    ### Diff (failed): git diff --output=x

    ```text
    argument --output=x is not allowed: it writes a file
    ```

    ### Left out

    - logo.png: binary
    - cat: unsupported item type: image
    ");
    let stats = prompt
        .stats(&Setting { encoding: Some(Encoding::O200k), ..lab.setting() }, Some(10))
        .unwrap();
    assert_eq!(stats.files, 2);
    assert!(stats.over_budget().is_some());
    let archive = txtar::read(&txtar::of(&prompt));
    assert_eq!(archive.len(), 2);
    assert_eq!(
        (archive[1].name.as_str(), archive[1].content.as_str()),
        ("README.md", "# Title\n```\ncode\n```")
    );
}

#[test]
fn nothing_is_an_empty_prompt() {
    let lab = Lab::new();
    let prompt = built(&[], &lab.setting());
    assert_eq!(prompt.to_string(), "");
    assert_eq!(prompt.within("Hello.", "").to_string(), "Hello.");
}

/// The tool that sessions come from kept no absolute paths.
#[test]
fn a_file_without_a_path_is_looked_for_in_the_folder() {
    let lab = Lab::with(&[("a/b.rs", "b"), ("c.rs", "c")]);
    let item: Item = serde_json::from_str(r#"{"id":1,"type":"file","label":"./a/b.rs"}"#).unwrap();
    let elsewhere = lab.path("a");
    assert_eq!(labels(&built(std::slice::from_ref(&item), &lab.setting())), ["./a/b.rs"]);
    let prompt = built(&[item], &Setting::new(&elsewhere));
    assert_eq!(left_out(&prompt), ["./a/b.rs: not found"]);
    // One with a path is found from everywhere.
    let prompt = built(&lab.items(&["c.rs"]), &Setting::new(&elsewhere));
    assert_eq!(labels(&prompt), ["c.rs"]);
    // One that names nothing is not the folder that we are in.
    for nothing in [r#"{"id":1,"type":"file"}"#, r#"{"id":1,"type":"file","label":"","path":""}"#] {
        let nothing: Item = serde_json::from_str(nothing).unwrap();
        let prompt = built(&[nothing], &lab.setting());
        assert_eq!(left_out(&prompt), ["item 1: neither a path nor a label"]);
    }
    // The home folder is unknown, and the other files are there.
    let home: Item = serde_json::from_str(r#"{"id":1,"type":"file","label":"~/x"}"#).unwrap();
    let prompt = built(&[home, lab.items(&["c.rs"]).remove(0)], &lab.setting());
    assert_eq!((labels(&prompt), left_out(&prompt).len()), (vec!["c.rs"], 1));
}

#[test]
fn output_beyond_the_limit_is_counted() {
    let lab = Lab::new();
    let folder = lab.folder.to_str().unwrap();
    let setting = lab.limited(|limits| limits.output = 10);
    let items = [
        Item::lazy_run(1, "long", &["printf", "%02000d", "1"], folder),
        Item::lazy_run(3, "latin", &["printf", r"caf\351"], folder),
        Item::lazy_run(4, "gone", &["true"], "/no/such/folder"),
        Item::lazy_run(5, "shot", &["sh", "-c", "kill -9 $$"], folder),
    ];
    let prompt = built(&items, &setting);
    insta::assert_snapshot!(prompt.to_string(), @r"
    ### Output: long

    ```text no-eol
    0000000000
    ```

    ### Output: latin

    ```text no-eol
    caf�
    ```

    ### Output (failed): gone

    ```text
    /no/such/folder: not found
    ```

    ### Output (failed): shot

    ```text
    ```

    ### Left out

    - long: the last 1.9 KiB, beyond the limit
    - latin: invalid UTF-8, replaced by �
    - shot: output incomplete: killed by a signal
    ");
}

#[test]
fn a_command_whose_time_is_up_is_told() {
    let lab = Lab::with(&[("a", "a")]);
    let setting = lab.limited(|limits| limits.time = Duration::from_millis(50));
    let items = [Item::lazy_run(1, "slow", &["sleep", "1000"], ""), lab.items(&["a"]).remove(0)];
    let prompt = built(&items, &setting);
    assert_eq!(labels(&prompt), ["slow", "a"]);
    assert_eq!(left_out(&prompt), ["slow: output incomplete: timed out after 50 ms"]);
}

/// What it printed before is no reason.
#[test]
fn why_a_command_failed() {
    let lab = Lab::new();
    let setting = lab.limited(|limits| limits.time = Duration::from_millis(500));
    let items = [
        Item::lazy_run(1, "slow", &["sh", "-c", "echo said; sleep 1000"], ""),
        Item::lazy_run(2, "none", &["no-such-program"], ""),
        Item::lazy_run(3, "bad", &["sh", "-c", "echo said; exit 3"], ""),
        Item::lazy_diff(4, "slow", &[], ""),
    ];
    let prompt = built(&items, &setting);
    let reasons: Vec<Option<&str>> = prompt.blocks().map(|it| prompt.failure_of(it)).collect();
    let [Some(slow), Some(none), None, Some(diff)] = reasons[..] else { panic!("{reasons:?}") };
    assert_eq!(slow, "timed out after 500 ms");
    assert!(none.starts_with("cannot start no-such-program: "), "{none}");
    assert!(diff.starts_with("not a Git repository: "), "{diff}");
}

/// What a folder leaves out by its rules was not asked for; what the user named was.
#[test]
fn what_is_missed() {
    let lab = Lab::with(&[("d/a", "a\n"), ("d/z", "\0"), ("named", "\0")]);
    let folder = lab.folder.to_str().unwrap();
    let missed = |items: &[Item]| -> Vec<String> {
        let prompt = build(items, &lab.setting()).unwrap();
        prompt.missed().into_iter().map(|it| format!("{}: {}", it.path, it.reason)).collect()
    };
    assert_eq!(missed(&lab.items(&["d", "d/a"])), [""; 0]);
    assert_eq!(missed(&lab.items(&["named", "gone"])), ["named: binary", "gone: not found"]);
    let lazy = [
        Item::lazy_run(1, "none", &["/no/such/program"], folder),
        Item::lazy_run(2, "false", &["false"], folder),
        Item::lazy_diff(3, "git diff", &[], folder),
        serde_json::from_str(r#"{"id":4,"type":"image","label":"cat"}"#).unwrap(),
    ];
    let said = missed(&lazy);
    assert_eq!(said.len(), 3, "a command that says no was run: {said:?}");
    assert!(
        said[0].starts_with("none: cannot start ") && said[1].starts_with("git diff: not a Git")
    );
    assert_eq!(said[2], "cat: unsupported item type: image");
}

#[test]
fn ten_thousand_files_are_in_order() {
    let lab = Lab::new();
    for folder in 0..100 {
        for file in 0..100 {
            lab.write(&format!("t/{folder:02}/{file:02}.txt"), format!("{folder} {file}\n"));
        }
    }
    let prompt = build(&lab.items(&["t"]), &lab.setting()).unwrap();
    let stats = prompt.stats(&lab.setting(), None).unwrap();
    assert_eq!(stats.files, 10_000);
    assert!(prompt.blocks().map(|block| &block.label).is_sorted());
    let mut written = Vec::new();
    prompt.write_to(&mut written).unwrap();
    assert_eq!(written.len() as u64, stats.bytes);
    assert_eq!(
        osm_context::parse(std::str::from_utf8(&written).unwrap()).unwrap(),
        prompt.sections()
    );
}
