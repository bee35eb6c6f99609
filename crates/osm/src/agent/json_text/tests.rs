//! Every byte of a user's file stays, and comes back.

use proptest::prelude::*;
use serde_json::json;

use super::*;

const PATH: &[&str] = &["hooks", "Pre"];

fn element() -> Value {
    json!({ "hooks": [{ "type": "command", "command": "osm agent hook before-tool" }] })
}

fn is_ours(text: &str) -> bool {
    text.contains("osm agent hook")
}

fn appended(text: &str) -> Draft {
    let mut draft = Draft::new(text);
    draft.append(Comments::Allowed, PATH, &json!("x")).unwrap();
    draft
}

#[test]
fn where_an_element_is_inserted() {
    for (before, after) in [
        ("", "{\n  \"hooks\": {\n    \"Pre\": [\n      \"x\"\n    ]\n  }\n}\n"),
        ("{}", "{\"hooks\": {\"Pre\":[\"x\"]}}"),
        ("{}\n", "{\"hooks\": {\"Pre\":[\"x\"]}}\n"),
        ("{\"a\":1}", "{\"a\":1,\"hooks\": {\"Pre\":[\"x\"]}}"),
        (
            "{\n\t\"a\": 1\n}",
            "{\n\t\"a\": 1,\n\t\"hooks\": {\n\t\t\"Pre\": [\n\t\t\t\"x\"\n\t\t]\n\t}\n}",
        ),
        (
            "{\r\n  \"hooks\": {\r\n    \"Pre\": []\r\n  }\r\n}\r\n",
            "{\r\n  \"hooks\": {\r\n    \"Pre\": [\r\n      \"x\"\r\n    ]\r\n  }\r\n}\r\n",
        ),
        (
            "{\n  \"hooks\": {\n    \"Pre\": [\n      1\n    ]\n  }\n}",
            "{\n  \"hooks\": {\n    \"Pre\": [\n      1,\n      \"x\"\n    ]\n  }\n}",
        ),
        (
            "{\n  \"a\": 1 // one\n}",
            "{\n  \"a\": 1, // one\n  \"hooks\": {\n    \"Pre\": [\n      \"x\"\n    ]\n  }\n}",
        ),
        (
            "{\n  \"a\": 1, // one\n}",
            "{\n  \"a\": 1,\n  \"hooks\": {\n    \"Pre\": [\n      \"x\"\n    ]\n  } // one\n}",
        ),
        (
            "{\n  // nothing\n}",
            "{\n  \"hooks\": {\n    \"Pre\": [\n      \"x\"\n    ]\n  }\n  // nothing\n}",
        ),
    ] {
        let draft = appended(before);
        assert_eq!(draft.text, after, "{before:?}");
        check(&draft.text, Comments::Allowed).unwrap();
        assert_eq!(undone(&draft.text, &draft.edits).as_deref(), Some(before));
    }
}

#[test]
fn files_that_are_not_changed() {
    for (text, reason) in [
        ("{\"hooks\": 3}", "`hooks` must be an object"),
        ("{\"hooks\": {\"Pre\": {}}}", "`hooks.Pre` must be a list"),
        ("[]", "the file must be an object"),
        ("{", "line 1: a name or a text in quotes is missing"),
        ("{\n\"a\" 1}", "line 2: a colon is missing"),
        ("{\"a\": 1 \"b\": 2}", "line 1: a comma is missing"),
        ("{} x", "line 1: text after the end"),
        ("{\"a\": nul}", "line 1: a value is missing or invalid"),
        ("{\"a\": \"x}", "line 1: a text without an end"),
        ("{ /* }", "line 1: a comment without an end"),
    ] {
        let error = Draft::new(text).append(Comments::Allowed, PATH, &json!(1)).unwrap_err();
        assert_eq!(error.to_string(), reason, "{text:?}");
    }
    let strict = |text: &str| check(text, Comments::Refused).unwrap_err().to_string();
    assert_eq!(strict("{} // no"), "line 1: a comment, which this agent does not accept");
    assert_eq!(strict("{\"a\": 1,}"), "line 1: a comma after the last item");
    let deep = "[".repeat(100_000);
    assert_eq!(strict(&deep), "line 1: nested too deeply");
}

#[test]
fn what_the_user_added_since_stays() {
    let mut draft = Draft::new("{\n  \"a\": 1\n}\n");
    draft.append(Comments::Refused, PATH, &element()).unwrap();
    let edited = draft.text.replace("\"a\": 1", "\"a\": 2,\n  \"b\": 3");
    assert_eq!(
        withdrawn(&edited, &draft.edits).as_deref(),
        Some("{\n  \"a\": 2,\n  \"b\": 3\n}\n")
    );
    // The user's own hook stands beside ours, in our group, too.
    let theirs = edited.replace(
        "\"osm agent hook before-tool\"\n          }",
        "\"osm agent hook before-tool\"\n          }, {\"command\": \"theirs\"}",
    );
    assert_ne!(theirs, edited);
    assert_eq!(withdrawn(&theirs, &draft.edits), None);
    let mut draft = Draft::new(theirs);
    draft.remove_hooks(Comments::Refused, is_ours).unwrap();
    let left: Value = serde_json::from_str(&draft.text).unwrap();
    assert_eq!(left["hooks"]["Pre"][0]["hooks"], json!([{ "command": "theirs" }]));
}

/// Text between values, as people write it.
fn space() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => Just(String::new()),
        1 => Just(" ".to_owned()),
        1 => Just("\n  ".to_owned()),
        1 => Just("\r\n\t".to_owned()),
        1 => Just(" // a \"comment\" {\n".to_owned()),
        1 => Just("/* ] */".to_owned()),
    ]
}

fn value() -> impl Strategy<Value = String> {
    let scalar = prop_oneof![
        Just("1".to_owned()),
        Just("-0.5e3".to_owned()),
        Just("null".to_owned()),
        Just("\"}\\\"//\\u00e9\"".to_owned()),
        Just("{}".to_owned()),
        Just("[ ]".to_owned()),
    ];
    scalar.prop_recursive(3, 20, 4, |inner| {
        (
            prop::collection::vec((inner, space(), space()), 0..4),
            any::<bool>(),
            any::<bool>(),
            space(),
        )
            .prop_map(|(items, is_list, has_comma, last)| {
                let keys = ["a", "hooks", "Pre", "b"];
                let items: Vec<String> = items
                    .iter()
                    .zip(keys)
                    .map(|((item, before, after), key)| {
                        if is_list {
                            format!("{before}{item}{after}")
                        } else {
                            format!("{before}\"{key}\"{after}:{before}{item}{after}")
                        }
                    })
                    .collect();
                let comma = if has_comma && !items.is_empty() { "," } else { "" };
                let (open, close) = if is_list { ('[', ']') } else { ('{', '}') };
                format!("{open}{}{comma}{last}{close}", items.join(","))
            })
    })
}

proptest! {
    /// An insertion leaves a valid file, and taking it out gives the same bytes.
    #[test]
    fn insertions_are_taken_back(before in space(), value in value(), after in space(), events in prop::collection::vec("[A-C]", 1..5)) {
        let text = format!("{before}{value}{after}");
        let mut draft = Draft::new(text.clone());
        let mut failed = false;
        for event in &events {
            failed |= draft.append(Comments::Allowed, &["hooks", event], &element()).is_err();
        }
        check(&draft.text, Comments::Allowed).unwrap();
        prop_assert_eq!(undone(&draft.text, &draft.edits), Some(text.clone()));
        if !failed {
            prop_assert_eq!(draft.text.matches("osm agent hook").count(), events.len());
            draft.remove_hooks(Comments::Allowed, is_ours).unwrap();
            prop_assert!(!is_ours(&draft.text), "{}", draft.text);
            check(&draft.text, Comments::Allowed).unwrap();
        }
    }

    #[test]
    fn no_text_panics(text in "[\\{\\}\\[\\]\",:/* \n\\\\a0é-]{0,40}") {
        let mut draft = Draft::new(text.clone());
        if draft.append(Comments::Allowed, PATH, &element()).is_err() {
            prop_assert_eq!(&draft.text, &text);
        }
        prop_assert_eq!(undone(&draft.text, &draft.edits), Some(text));
    }
}
