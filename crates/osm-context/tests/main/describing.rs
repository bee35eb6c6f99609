//! Lists of items.

use osm_context::{Encoding, Item, Setting, describe, files};

use crate::harness::Lab;

#[test]
fn every_item_is_described_and_no_command_is_run() {
    let lab = Lab::with(&[("d/a", "one two\nthree"), ("d/b/c", "x\n"), ("e", "e\n")]);
    lab.write("d/z", b"\0");
    let folder = lab.folder.to_str().unwrap();
    let mut items = lab.items(&["d", "e", "gone"]);
    items.extend([
        Item::note(4, "note", "hello world"),
        Item::lazy_run(5, "touch x", &["touch", "x"], folder),
        Item::lazy_diff(6, "git diff", &[], folder),
        serde_json::from_str(r#"{"id":7,"type":"image","label":"cat"}"#).unwrap(),
        serde_json::from_str(r#"{"id":8,"type":"file","label":"~/x"}"#).unwrap(),
    ]);
    let setting = Setting { encoding: Some(Encoding::O200k), ..lab.setting() };
    let described = describe(&items, &setting).unwrap();
    let lines: Vec<String> =
        described.iter().map(|it| serde_json::to_string(it).unwrap()).collect();
    insta::assert_snapshot!(lines.join("\n").replace(folder, "LAB"), @r#"
    {"id":1,"type":"file","label":"d","missing":false,"folder":true,"files":2,"bytes":15,"lines":3,"tokens":6,"skipped":[{"path":"d/z","reason":"binary"}],"beginning":null,"failed":null}
    {"id":2,"type":"file","label":"e","missing":false,"folder":false,"files":1,"bytes":2,"lines":1,"tokens":2,"skipped":[],"beginning":null,"failed":null}
    {"id":3,"type":"file","label":"gone","missing":true,"folder":false,"files":0,"bytes":0,"lines":0,"tokens":null,"skipped":[{"path":"gone","reason":"not found"}],"beginning":null,"failed":null}
    {"id":4,"type":"note","label":"note","missing":false,"folder":false,"files":0,"bytes":11,"lines":1,"tokens":2,"skipped":[],"beginning":"hello world","failed":null}
    {"id":5,"type":"lazy-exec","label":"touch x","missing":false,"folder":false,"files":0,"bytes":0,"lines":0,"tokens":null,"skipped":[],"beginning":null,"failed":null}
    {"id":6,"type":"lazy-diff","label":"git diff","missing":false,"folder":false,"files":0,"bytes":0,"lines":0,"tokens":null,"skipped":[],"beginning":null,"failed":"not a Git repository: LAB"}
    {"id":7,"type":"image","label":"cat","missing":false,"folder":false,"files":0,"bytes":0,"lines":0,"tokens":null,"skipped":[{"path":"cat","reason":"unsupported item type: image"}],"beginning":null,"failed":null}
    {"id":8,"type":"file","label":"~/x","missing":true,"folder":false,"files":0,"bytes":0,"lines":0,"tokens":null,"skipped":[{"path":"~/x","reason":"cannot expand ~: the home folder is unknown"}],"beginning":null,"failed":null}
    "#);
    assert!(!lab.path("x").exists());
    let without = describe(&items[..1], &lab.setting()).unwrap();
    assert_eq!(without[0].tokens, None);
}

#[test]
fn a_file_that_comes_up_twice_counts_once() {
    let lab = Lab::with(&[("d/a", "one\n"), ("d/b", "two\n"), ("e", "three\n")]);
    let described = describe(&lab.items(&["d/a", "d", "e", "e", "d"]), &lab.setting()).unwrap();
    let counted: Vec<_> = described.iter().map(|it| (it.files, it.bytes)).collect();
    assert_eq!(counted, [(1, 4), (1, 4), (1, 6), (0, 0), (0, 0)]);
    let said = |at: usize| &described[at].skipped[0].reason;
    assert_eq!(said(1), "1 of its files is already in the prompt");
    assert_eq!(said(3), "already in the prompt");
    assert_eq!(said(4), "2 of its files are already in the prompt");
}

#[test]
fn a_file_that_is_too_large_for_its_folder_counts_where_it_is_named() {
    let lab = Lab::with(&[("d/a", "one\n"), ("d/b", "a longer one\n")]);
    let mut setting = lab.setting();
    setting.limits.file = 5;
    let described = describe(&lab.items(&["d", "d/b"]), &setting).unwrap();
    assert_eq!((described[0].files, described[1].files), (1, 1));
}

#[test]
fn files_of_items() {
    let lab = Lab::with(&[("d/a", "12345"), ("d/b/c", "1"), ("e", "")]);
    let mut items = lab.items(&["d", "gone", "e"]);
    items.push(Item::note(4, "note", "x"));
    let found = files(&items, &lab.setting()).unwrap();
    let found: Vec<(&str, u64)> = found.iter().map(|it| (it.label.as_str(), it.size)).collect();
    assert_eq!(found, [("d/a", 5), ("d/b/c", 1), ("e", 0)]);
}
