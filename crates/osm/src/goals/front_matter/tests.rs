use proptest::prelude::*;

use super::*;

fn fields(text: &str) -> Vec<(String, Value)> {
    let text = format!("---\n{text}\n---\nbody\n");
    let parted = part(&text).unwrap();
    assert_eq!(parted.body, "body\n");
    parted.fields.into_iter().map(|field| (field.key, field.value)).collect()
}

fn one(text: &str) -> Value {
    let mut fields = fields(text);
    assert_eq!(fields.len(), 1, "{fields:?}");
    fields.remove(0).1
}

fn text(text: &str) -> Value {
    Value::Text(text.into())
}

fn list(items: &[&str]) -> Value {
    Value::List(items.iter().map(ToString::to_string).collect())
}

#[test]
fn values() {
    for (said, expected) in [
        ("k: plain words", text("plain words")),
        ("k: plain # a comment", text("plain")),
        ("k: C# is no comment", text("C# is no comment")),
        ("k: it's fine", text("it's fine")),
        ("k: http://a/b", text("http://a/b")),
        ("k: \"a: \\\"b\\\" # c\\n\\u00e4\" # d", text("a: \"b\" # c\nä")),
        ("k: 'it''s' # d", text("it's")),
        ("k: \"\"", text("")),
        ("k: [a, b c, \"d, ]\", 'e'] # f", list(&["a", "b c", "d, ]", "e"])),
        ("k: []", list(&[])),
        ("k: [a,]", list(&["a"])),
        ("k:\n  - a # b\n  - \"c\"\n", list(&["a", "c"])),
        ("k:\n- a\n\n# nothing\n- b", list(&["a", "b"])),
        ("k: |\n  a\n    b # kept\n\n  c\n\n", text("a\n  b # kept\n\nc\n")),
        ("k: |", text("")),
    ] {
        assert_eq!(one(said), expected, "{said}");
    }
}

#[test]
fn maps_have_one_level() {
    let Value::Map(inner) = one("k:\n  a: [x, y]\n  # between\n  b: z\n  c: |\n    l\n") else {
        panic!()
    };
    let inner: Vec<_> = inner.into_iter().map(|it| (it.line, it.key, it.value)).collect();
    let expected = [(3, "a", list(&["x", "y"])), (5, "b", text("z")), (6, "c", text("l\n"))];
    assert_eq!(inner, expected.map(|(line, key, value)| (line, key.to_owned(), value)));
    assert_eq!(fields("a:\n  b: c\nd: e").len(), 2);
}

#[test]
fn mistakes_have_a_line_and_an_expectation() {
    for (said, expected) in [
        ("k", "line 2: expected `key: value`"),
        ("a: b\n: c", "line 3: expected `key: value`"),
        ("k:v", "line 2: expected a space after `k:`"),
        ("k:", "line 2: `k` has no value: expected a text, a list or a map"),
        ("a: b\na: c", "line 3: duplicate key `a`, also on line 2"),
        ("k: [a, b", "line 2: expected `,` or `]` in the list"),
        ("k: [a] b", "line 2: unexpected text: b"),
        ("k: \"a", "line 2: expected `\"` at the end of the quoted text"),
        ("k: 'a", "line 2: expected `'` at the end of the quoted text"),
        ("k: \"\\x\"", "line 2: expected one of \" \\ / n t r u after `\\`"),
        ("k: a: b", "line 2: this text needs quotes: \"a: b\""),
        ("k: *a", "line 2: this text needs quotes: \"*a\""),
        ("k: {a: b}", "line 2: this text needs quotes: \"{a: b}\""),
        ("k: > folded", "line 2: this text needs quotes: \"> folded\""),
        ("k:\n\t- a", "line 3: indent with spaces, not with tabs"),
        ("k:\n  a:\n    b: c", "line 4: nested maps are not supported"),
        ("k:\n  - a\n    - b", "line 4: expected `- ` with the indentation of the line above"),
        ("  k: v", "line 2: expected 0 spaces of indentation, found 2"),
        ("k:\n  -", "line 3: expected a value after `- `"),
    ] {
        let text = format!("---\n{said}\n---\n");
        assert_eq!(part(&text).unwrap_err().to_string(), expected, "{said}");
    }
    assert!(part("---\na: b\n").unwrap_err().reason.contains("no closing"));
}

#[test]
fn a_file_without_is_all_body() {
    for text in ["", "# Title\n---\na: b\n---\n", "--- a\n"] {
        assert_eq!(part(text).unwrap().body, text);
    }
    let windows = part("\u{feff}---\r\na: b\r\n---\r\nbody\r\n").unwrap();
    assert_eq!((windows.body, windows.body_line), ("body\r\n", 4));
    assert_eq!(windows.fields[0].value, text("b"));
    assert_eq!(part("---\na: b\n---").unwrap().body, "");
}

proptest! {
    #[test]
    fn never_panics(text in any::<String>()) {
        drop(part(&text));
        drop(part(&format!("---\n{text}\n---\n")));
    }

    #[test]
    fn never_panics_on_what_looks_alike(text in "[-a: \\[\\],\"'#|\\\\\n\tu0é]{0,60}") {
        drop(part(&format!("---\n{text}\n---\n")));
    }

    #[test]
    fn quoted_text_comes_back(said in any::<String>()) {
        prop_assert_eq!(one(&format!("k: {} # c", quote(&said))), text(&said));
        let both = format!("k: [{}, {}]", quote(&said), quote(&said));
        prop_assert_eq!(one(&both), list(&[&said, &said]));
        let below = format!("k:\n  - {}\n", quote(&said));
        prop_assert_eq!(one(&below), list(&[&said]));
    }
}
