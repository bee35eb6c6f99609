//! Documents there and back, damaged, foreign, old and new.

use proptest::prelude::*;
use serde_json::json;

use super::*;

fn now() -> Timestamp {
    "2026-01-02T03:04:05Z".parse().unwrap()
}

fn writer() -> Writer {
    let holder = crate::backend::Holder {
        process: ProcessInstance::unread(osm_identity::Pid(7)),
        host: "here".into(),
        since: now(),
        command: "the test".into(),
    };
    Writer::new(&holder, None)
}

fn document() -> Document {
    let mut document = Document::new("ex--build_44".parse().unwrap(), now());
    let long = "text \"with\" everything\n".repeat(1000);
    let value = document.compact(&json!([{"id": 1, "payload": long}]));
    document.shared.insert("contextItems", &value);
    document.script.entry("goal".into()).or_default().insert("type", &json!("api"));
    document.remember("code-review", "add src", now(), &writer());
    document
}

fn decoded(bytes: &[u8]) -> Document {
    Document::decode(bytes.to_vec()).unwrap().0
}

#[test]
fn there_and_back() {
    let mut document = document();
    let bytes = document.encode().join();
    assert!(Document::laid_out(&bytes).is_some(), "the quick way must take what we write");
    let mut back = decoded(&bytes);
    assert_eq!(back.encode().join(), bytes);
    assert_eq!(back.state().unwrap(), document.state().unwrap());
    assert_eq!(back.history().unwrap(), document.history().unwrap());
    serde_json::from_slice::<Value>(&bytes).expect("the file is one JSON document");
}

#[test]
fn the_first_line_tells_the_size() {
    let bytes = document().encode().join();
    let line = bytes.split(|byte| *byte == b'\n').next().unwrap();
    let summary = Summary::parse(line).unwrap();
    assert!(summary.fits(bytes.len() as u64));
    assert!(!summary.fits(bytes.len() as u64 - 1) && !summary.fits(bytes.len() as u64 + 1));
    assert!(Summary::parse(b"{\"version\":\"1.0.0\",").unwrap().fits(7), "older ones do not tell");
}

#[test]
fn a_check_finds_damage_that_opening_does_not_meet() {
    let bytes = document().encode().join();
    assert_eq!(Document::check(bytes.clone()), Ok(()));
    let mut found = 0;
    for at in (0..bytes.len()).step_by(53) {
        let mut damaged = bytes.clone();
        damaged[at] = 0;
        let is_opened = Document::decode(damaged.clone()).is_ok();
        assert!(Document::check(damaged).is_err(), "no JSON has a NUL: byte {at}");
        found += usize::from(is_opened);
    }
    assert!(found > 0, "a value is not parsed when a document is opened");
}

#[test]
fn a_file_that_was_reformatted_is_read_all_the_same() {
    let bytes = document().encode().join();
    let value: Value = serde_json::from_slice(&bytes).unwrap();
    for text in [serde_json::to_vec_pretty(&value).unwrap(), serde_json::to_vec(&value).unwrap()] {
        assert_eq!(decoded(&text).encode().join(), bytes);
    }
}

#[test]
fn the_first_line_is_the_summary() {
    let mut document = document();
    document.origin = Some(Origin { source: "anchor".into(), ..Origin::default() });
    let bytes = document.encode().join();
    let summary = Summary::parse(bytes.split(|byte| *byte == b'\n').next().unwrap()).unwrap();
    assert_eq!(summary.created_at, Some(now()));
    assert_eq!(summary.origin.unwrap().source, "anchor");
}

#[test]
fn fields_of_others_survive() {
    let mut value: Value = serde_json::from_slice(&document().encode().join()).unwrap();
    value["plugin"] = json!({"x": [1, {"$value": 0}]});
    value["history"][0]["note"] = json!("kept");
    let back = decoded(&serde_json::to_vec(&value).unwrap()).encode().join();
    let back: Value = serde_json::from_slice(&back).unwrap();
    assert_eq!(back["plugin"], value["plugin"]);
    assert_eq!(back["history"][0]["note"], "kept");
}

#[test]
fn versions() {
    let with = |version: &str| {
        let bytes = document().encode().join();
        let text = String::from_utf8(bytes).unwrap();
        Document::decode(text.replace("\"1.0.0\"", version).into_bytes()).map(|(_, old)| old)
    };
    assert_eq!(with("\"1.0.0\""), Ok(false));
    for newer in ["\"1.0.1\"", "\"1.1.0\"", "\"2.0.0\"", "\"10.0.0\""] {
        assert_eq!(with(newer), Err(Unreadable::Newer(newer.trim_matches('"').into())));
    }
    for nonsense in ["\"\"", "\"x\"", "7", "null", "\"0.0.9\""] {
        assert!(matches!(with(nonsense), Err(Unreadable::Corrupt(_))), "{nonsense}");
    }
}

#[test]
fn the_tool_that_came_before() {
    let long = "x".repeat(1000);
    let upstream = json!({
        "version": "0.2.0", "id": "ex--proj.v1_9d",
        "createTime": "2025-11-26T14:03:00.123456789+01:00", "updateTime": "2025-11-26T14:04:00Z",
        "history": [{
            "entryId": "1764162240000000000", "modeId": "code-review", "command": "add a.rs",
            "readTime": "2025-11-26T14:04:00Z",
            "finalState": {"script": {}, "shared": {"contextItems": [{"id": 1, "$value": 3}]}},
        }],
        "scriptState": {"prompt-flow": {"phase": "INITIAL", "template": long}},
        "sharedState": {"contextItems": [{"id": 1, "type": "file", "label": "a.rs", "payload": "/a.rs"}], "odd": {"$value": 0}},
    });
    let (mut document, upgraded) =
        Document::decode(serde_json::to_vec_pretty(&upstream).unwrap()).unwrap();
    assert!(upgraded);
    assert_eq!(document.id.as_str(), "ex--proj.v1_9d");
    let state = document.state().unwrap();
    assert_eq!(state["shared"], upstream["sharedState"]);
    assert_eq!(state["script"], upstream["scriptState"]);
    assert_eq!(
        document.history().unwrap()[0].final_state.value().unwrap(),
        upstream["history"][0]["finalState"]
    );
    let mut again = decoded(&document.encode().join());
    assert_eq!(again.state().unwrap(), state);
    let empty = json!({"version": "0.2.0", "id": "Old Id", "createTime": "2025-11-26T14:04:00Z",
        "updateTime": "2025-11-26T14:04:00Z", "history": null, "scriptState": null, "sharedState": {}});
    assert!(Document::decode(serde_json::to_vec(&empty).unwrap()).is_ok());
}

#[test]
fn damage_is_told_and_never_believed() {
    let bytes = document().encode().join();
    for cut in [0, 1, 100, bytes.len() / 2, bytes.len() - 3] {
        assert!(
            matches!(Document::decode(bytes[..cut].to_vec()), Err(Unreadable::Corrupt(_))),
            "{cut}"
        );
    }
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    for foreign in ["", "null", "[]", "{}", "\"x\"", "{\"version\":\"1.0.0\"}", "\0\0\0", &deep] {
        let result = Document::decode(foreign.as_bytes().to_vec());
        assert!(matches!(result, Err(Unreadable::Corrupt(_))), "{foreign:.20}");
    }
    let wrong = String::from_utf8(bytes).unwrap().replace("\"ex--build_44\"", "\"../../etc\"");
    assert!(matches!(Document::decode(wrong.into_bytes()), Err(Unreadable::Corrupt(_))));
}

#[test]
fn history_is_a_ring_and_costs_what_changed() {
    let mut document = Document::new("ex--build_44".parse().unwrap(), now());
    let text = "y".repeat(1_000_000);
    let value = document.compact(&json!(text));
    document.shared.insert("long", &value);
    for number in 0..250 {
        document.shared.insert("count", &json!(number));
        document.remember("m", &format!("set {number}"), now(), &writer());
    }
    let history = document.history().unwrap();
    assert_eq!(history.len(), MOST_HISTORY);
    assert_eq!(history[0].command, "set 50");
    assert_eq!((history[0].number, history[199].number), (51, 250), "numbers stay");
    assert_eq!(history[0].by, Some(writer().author));
    assert_eq!(history[199].final_state.value().unwrap()["shared"]["count"], 249);
    assert_eq!(history[0].final_state.value().unwrap()["shared"]["long"], text.as_str());
    assert!(
        history
            .windows(2)
            .all(|pair| pair[0].entry_id.parse::<i128>().unwrap()
                < pair[1].entry_id.parse().unwrap())
    );
    assert!(document.encode().size() < 1_100_000, "{}", document.encode().size());
}

#[test]
fn values_without_references_are_dropped() {
    let mut document = Document::new("ex--build_44".parse().unwrap(), now());
    for number in 0..10 {
        let value = document.compact(&json!(format!("{number}").repeat(10_000)));
        document.shared.insert("long", &value);
    }
    assert!(document.encode().size() < 12_000);
}

proptest! {
    #[test]
    fn no_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        drop(Document::decode(bytes));
    }

    #[test]
    fn no_flipped_byte_panics(at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let mut bytes = document().encode().join();
        let at = at.index(bytes.len());
        bytes[at] = byte;
        if let Ok((mut document, _)) = Document::decode(bytes) {
            drop(document.state());
            drop(document.history());
            drop(document.encode().join());
        }
    }
}

#[test]
fn anchors_of_earlier_versions_are_read() {
    let line = br#"{"session_id":"anchor--0123456789abcdef","origin":{"source":"anchor","agent":null,"anchor":{"pid":7,"start":50,"boot":"b","namespace":"pid:[1]","inode":900,"name":"bash"},"host":"laptop"},"#;
    let anchor = Summary::parse(line).and_then(|it| it.origin).and_then(|it| it.anchor).unwrap();
    assert_eq!((anchor.key(), anchor.to_string()), ("b:900".into(), "bash (pid 7)".into()));
    assert_eq!((anchor.machine, anchor.clock), (None, None));
}

#[test]
fn a_damaged_entry_is_met_when_the_history_is_read() {
    let mut document = Document::new("ex--build_44".parse().unwrap(), now());
    for command in ["one", "two", "three"] {
        document.remember("m", command, now(), &writer());
    }
    let text = String::from_utf8(document.encode().join()).unwrap();
    let damaged = text.replace("\"two\"", "\"two ");
    let (mut back, upgraded) = Document::decode(damaged.into_bytes()).unwrap();
    assert!(!upgraded);
    assert!(matches!(back.history(), Err(Damage::History(_))));
    assert!(matches!(Document::check(back.encode().join()), Err(Unreadable::Corrupt(_))));
    back.remember("m", "four", now(), &writer());
    assert!(
        String::from_utf8_lossy(&back.encode().join()).contains("\"number\":4"),
        "the state can be saved"
    );
}
