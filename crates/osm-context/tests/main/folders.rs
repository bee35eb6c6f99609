//! Which files a folder gives, and in which order.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use osm_context::{Encoding, Error, Setting, Step, build};

use crate::harness::{Lab, labels, left_out};

#[test]
fn files_are_sorted_and_hidden_ones_skipped() {
    let lab = Lab::with(&[
        ("src/b.rs", "b"),
        ("src/a/z.rs", "z"),
        ("src/a.rs", "a"),
        ("src/.hidden", "h"),
        ("src/.github/x", "x"),
        ("src/.git/config", "c"),
    ]);
    let prompt = lab.prompt(&["src"]);
    assert_eq!(labels(&prompt), ["src/a.rs", "src/a/z.rs", "src/b.rs"]);
    assert!(left_out(&prompt).is_empty(), "what is hidden is not worth a word");
    assert_eq!(labels(&lab.prompt(&["src/.hidden"])), ["src/.hidden"]);
    assert_eq!(labels(&lab.prompt(&["src/.github"])), ["src/.github/x"]);
    assert_eq!(left_out(&lab.prompt(&["src/.git"])), ["src/.git: in a .git folder"]);
}

#[test]
fn ignore_rules_count_without_a_repository_too() {
    let files = [
        (".gitignore", "*.log\n/build/\n"),
        ("sub/.ignore", "secret*\n"),
        ("sub/.gitignore", "!keep.log\n"),
        ("a.log", ""),
        ("a.txt", ""),
        ("build/out.txt", ""),
        ("sub/build/in.txt", ""),
        ("sub/keep.log", ""),
        ("sub/secret.txt", ""),
    ];
    let lab = Lab::with(&files);
    let expected = ["a.txt", "sub/build/in.txt", "sub/keep.log"];
    assert_eq!(labels(&lab.prompt(&["."])), expected);
    // The rules of the folders above count for a folder below.
    lab.write("sub/other.log", "");
    assert_eq!(labels(&lab.prompt(&["sub"])), ["sub/build/in.txt", "sub/keep.log"]);
    if cfg!(unix) {
        lab.git(&["init"]);
        assert_eq!(labels(&lab.prompt(&["."])), expected);
    }
    // A file that is named itself is taken.
    let named = ["a.log", "sub/secret.txt"];
    assert_eq!(labels(&lab.prompt(&named)), named);
    assert_eq!(labels(&lab.prompt(&["build"])), ["build/out.txt"]);
}

#[test]
fn no_text_is_left_out_with_a_reason() {
    let lab = Lab::with(&[("d/crlf", "a\r\n"), ("d/bom", "\u{feff}b\n"), ("d/empty", "")]);
    lab.write("d/binary", b"\x7fELF\0\0");
    lab.write("d/latin", b"caf\xe9\n");
    lab.write("d/large", "x".repeat(2000));
    let setting = lab.limited(|limits| (limits.file, limits.named_file) = (1000, 3000));
    let prompt = lab.prompt_in(&["d"], &setting);
    assert_eq!(labels(&prompt), ["d/bom", "d/crlf", "d/empty"]);
    let bodies: Vec<&str> = prompt.blocks().map(osm_context::Block::body).collect();
    assert_eq!(bodies, ["\u{feff}b\n", "a\r\n", ""]);
    assert_eq!(
        left_out(&prompt),
        ["d/binary: binary", "d/large: too large: 1.9 KiB, limit 1000 bytes", "d/latin: not UTF-8"]
    );
    // A file may be larger if it was named, also if its folder came first.
    for names in [["d", "d/large"], ["d/large", "d"]] {
        let prompt = lab.prompt_in(&names, &setting);
        assert!(labels(&prompt).contains(&"d/large"), "{names:?}");
    }
}

#[test]
fn no_more_than_fits() {
    let lab = Lab::new();
    for name in 0..200 {
        lab.write(&format!("d/{name:03}"), "x".repeat(10));
    }
    let prompt = lab.prompt_in(&["d"], &lab.limited(|limits| limits.total = 1005));
    assert_eq!(labels(&prompt).len(), 100);
    assert_eq!(labels(&prompt).last(), Some(&"d/099"));
    let expected = "d: 100 of its files are beyond the limit of 1005 bytes";
    assert_eq!(left_out(&prompt), [expected]);
    let prompt = lab.prompt_in(&["d"], &lab.limited(|limits| limits.files = 199));
    let expected = "d: more than 199 files";
    assert_eq!(left_out(&prompt), [expected]);
}

#[test]
fn a_file_comes_once() {
    let lab = Lab::with(&[("d/a", "a"), ("d/b", "b"), ("d/e/c", "c")]);
    let prompt = lab.prompt(&["d/b", "d", "d/e", "d/a", "d/b"]);
    assert_eq!(labels(&prompt), ["d/b", "d/a", "d/e/c"]);
    assert_eq!(
        left_out(&prompt),
        [
            "d: 1 of its files is already in the prompt",
            "d/e: 1 of its files is already in the prompt",
            "d/a: already in the prompt",
            "d/b: already in the prompt",
        ]
    );
    // What is left out itself is not said to be there.
    lab.write("d/a", b"\0");
    let prompt = lab.prompt(&["d/a", "d/a"]);
    assert_eq!(left_out(&prompt), ["d/a: binary"]);
}

#[test]
fn what_is_gone_is_told() {
    let lab = Lab::with(&[("a", "a")]);
    let prompt = lab.prompt(&["gone", "a", "a/b"]);
    assert_eq!(labels(&prompt), ["a"]);
    assert_eq!(left_out(&prompt), ["gone: not found", "a/b: not found"]);
}

#[cfg(unix)]
#[test]
fn a_file_that_vanishes_after_the_walk_is_told() {
    let lab = Lab::with(&[("d/a", "a"), ("d/b", "b"), ("note", "")]);
    let gone = lab.path("d/b");
    let asked = AtomicUsize::new(0);
    // The commands of items are run after the walks of those before, and before any file is read.
    let script = "rm d/b";
    let mut items = lab.items(&["d"]);
    items.push(osm_context::Item::lazy_run(2, script, &["sh", "-c", script], ""));
    let interrupted = || {
        asked.fetch_add(1, Ordering::Relaxed);
        false
    };
    let setting = Setting { interrupted: &interrupted, ..lab.setting() };
    let prompt = build(&items, &setting).unwrap();
    assert!(!gone.exists());
    assert_eq!(labels(&prompt), ["d/a", script]);
    assert_eq!(left_out(&prompt), ["d/b: not found"]);
    assert!(asked.load(Ordering::Relaxed) > 3, "an interruption is asked for on the way");
}

#[test]
fn an_interruption_ends_it_wherever_it_comes() {
    let lab = Lab::new();
    for name in 0..50 {
        lab.write(&format!("d/{name}"), "x");
    }
    let mut ended = false;
    for patience in 0..10_000 {
        let asked = AtomicUsize::new(0);
        let interrupted = || asked.fetch_add(1, Ordering::Relaxed) >= patience;
        let setting = Setting { interrupted: &interrupted, ..lab.setting() };
        match build(&lab.items(&["d"]), &setting) {
            Err(Error::Interrupted) => {}
            Err(error) => panic!("{error}"),
            Ok(prompt) => {
                assert_eq!(labels(&prompt).len(), 50);
                ended = true;
                break;
            }
        }
    }
    assert!(ended, "it is asked without end");
}

#[cfg(unix)]
#[test]
fn long_work_tells_how_far_it_is() {
    let lab = Lab::new();
    for name in 0..200 {
        lab.write(&format!("d/{name}"), "x");
    }
    let heard = Mutex::new(Vec::new());
    let progress = |step: Step| heard.lock().unwrap().push(format!("{step:?}"));
    let mut items = lab.items(&["d"]);
    items.push(osm_context::Item::lazy_run(2, "t", &["true", "x"], ""));
    let setting = Setting { progress: &progress, encoding: Some(Encoding::O200k), ..lab.setting() };
    build(&items, &setting).unwrap().stats(&setting, None).unwrap();
    let heard = heard.into_inner().unwrap();
    for step in [
        "Items { done: 0, total: 2 }",
        "Finding(0)",
        "Finding(128)",
        "Running(\"true x\")",
        "Reading { done: 0, total: 200 }",
        "Reading { done: 192, total: 200 }",
        "Counting { done: 0, ",
    ] {
        assert!(heard.iter().any(|it| it.starts_with(step)), "{step} is missing: {heard:?}");
    }
    assert!(heard.len() < 30, "a report for each file would cost too much: {heard:?}");
}
