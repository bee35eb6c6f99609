use std::fmt::Write;

use proptest::prelude::*;

use super::*;

/// The names of a list with their places, or why it is refused.
fn shown(text: &[u8], field: Option<&str>) -> String {
    match parse(text, field) {
        Ok(entries) => entries.iter().fold(String::new(), |mut shown, Entry { place, name }| {
            let comma = if shown.is_empty() { "" } else { ", " };
            write!(shown, "{comma}{} ({place})", String::from_utf8_lossy(name)).unwrap();
            shown
        }),
        Err(Malformed { place, reason }) => format!("{place}: {reason}"),
    }
}

#[test]
fn lists_without_a_field() {
    for (text, expected) in [
        (&b""[..], ""),
        (b"a\n\nb c\r\n a\na", "a (line 1), b c (line 3),  a (line 4), a (line 5)"),
        (b"\xef\xbb\xbfa\nb\xff", "a (line 1), b\u{fffd} (line 2)"),
        (b"- a\n-[ ] b\n- [y] c\n- [ ]d", "- a (line 1), -[ ] b (line 2), - [y] c (line 3), - [ ]d (line 4)"),
        (
            b"# Plan\n\ntext\n- [ ] TASK-7 log in\n- [x] TASK-8 done\n  * [X] TASK-9\n  + [ ]  **TASK-10**: x\n1. [ ] `a:b`\n",
            "TASK-7 (line 4), TASK-10 (line 7), a:b (line 8)",
        ),
        (b"- [x] a\n- [x] a\n", ""),
        (b"- [ ] a\r\n- [x] a\r\n- [ ] path:src/\r\n", "a (line 1), path:src/ (line 3)"),
        (b"```\n- [ ] a\n```\n- [ ] b\n", "b (line 4)"),
        (b"- [ ] a\xff b\n", "a\u{fffd} (line 1)"),
        (b"- [ ] a\n- [ ]\n", "line 2: the task has no name"),
        (b"- [ ] a\n- [ ] ** x\n", "line 2: the task has no name"),
        (b"- [ ] Write docs\n\n- [ ] Write tests\n", "line 3: \"Write\" is also on line 1"),
        (b"{\"id\":\"a\"}\n{\"id\":\"b\"}\n", "line 1: the list is JSON, and no field is named"),
        (b"\n[\n {\"id\": 1}\n]\n", "line 1: the list is JSON, and no field is named"),
        (b"[a]\n{b\n", "[a] (line 1), {b (line 2)"),
    ] {
        assert_eq!(shown(text, None), expected, "{:?}", String::from_utf8_lossy(text));
    }
}

#[test]
fn lists_with_a_field() {
    let deep = [b"[".repeat(10_000), b"]".repeat(10_000)].concat();
    for (text, expected) in [
        (&b""[..], ""),
        (b" [ ]\n", ""),
        (b"[{\"id\": \"a\"}, {\"x\": 1, \"id\": 7}]", "a (item 1), 7 (item 2)"),
        (b"\xef\xbb\xbf{\"id\":\"a\"}\r\n\n  {\"id\":\"b c\"}", "a (line 1), b c (line 3)"),
        (
            b"{\"id\":\"a\"}\n{\"id\":\"b\"",
            "line 2: invalid JSON: EOF while parsing an object at column 9",
        ),
        (b"[{\"id\":\"a\"},\n oops]", "line 2: invalid JSON: expected value at column 2"),
        (b"{\"id\":\"\xff\"}", "line 1: invalid JSON: invalid unicode code point at column 8"),
        (b"\"a\"\n", "line 1: not a JSON object"),
        (b"[{\"id\":\"a\"}, 3]", "item 2: not a JSON object"),
        (b"[{\"ID\":\"a\"}]", "item 1: the object has no field \"id\""),
        (b"{\"id\":1.5}", "line 1: the field \"id\" is neither a text nor a whole number"),
        (b"{\"id\":null}", "line 1: the field \"id\" is neither a text nor a whole number"),
        (b"{\"id\":\"a\"}\n{\"id\":\"a\"}", "line 2: \"a\" is also on line 1"),
        (b"error: no database\n", "line 1: invalid JSON: expected value at column 1"),
        (&deep, "line 1: invalid JSON: recursion limit exceeded at column 128"),
    ] {
        assert_eq!(shown(text, Some("id")), expected, "{:?}", String::from_utf8_lossy(text));
    }
}

proptest! {
    /// The open tasks come back in their order, whichever way the list is written.
    #[test]
    fn every_form_has_the_same_names(tasks in prop::collection::btree_map("[a-zA-Z0-9][a-zA-Z0-9_./#:-]{0,12}[a-z0-9]", any::<bool>(), 1..20)) {
        let names: Vec<String> = tasks.keys().cloned().collect();
        let open: Vec<String> =
            tasks.iter().filter(|(_, done)| !**done).map(|(name, _)| name.clone()).collect();
        let found = |text: &str, field| -> Vec<String> {
            let entries = parse(text.as_bytes(), field).unwrap();
            entries.into_iter().map(|it| String::from_utf8(it.name).unwrap()).collect()
        };
        let objects: Vec<String> =
            names.iter().map(|it| format!("{{\"t\":[1],\"id\":\"{it}\"}}")).collect();
        let array = format!("[{}]", objects.join(",\n"));
        let mut markdown = String::from("# Tasks\n");
        for (name, done) in &tasks {
            let mark = if *done { 'x' } else { ' ' };
            writeln!(markdown, "- [{mark}] {name} and more").unwrap();
        }
        prop_assert_eq!(&found(&objects.join("\n"), Some("id")), &names);
        prop_assert_eq!(&found(&array, Some("id")), &names);
        prop_assert_eq!(&found(&names.join("\n"), None), &names);
        prop_assert_eq!(found(&markdown, None), open);
    }

    /// Whatever a list is made of, every name has bytes and a place in it.
    #[test]
    fn any_bytes_are_read(text in prop::collection::vec(prop_oneof![any::<u8>(), prop::sample::select(b"-*[] x\n{}\":,`1.".to_vec())], 0..200), has_field in any::<bool>()) {
        let most = text.split(|byte| *byte == b'\n').count();
        if let Ok(entries) = parse(&text, has_field.then_some("")) {
            for Entry { place, name } in entries {
                prop_assert!(has_field || !name.is_empty());
                if let Place::Line(number) = place {
                    prop_assert!((1..=most).contains(&number));
                }
            }
        }
    }
}
