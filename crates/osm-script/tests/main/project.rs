//! A program that gives scripts files: three of them, and one that has vanished.

use std::collections::BTreeMap;

use osm_script::{CONTEXT, Options};
use serde_json::{Value, json};

use crate::harness::{Answer, Stage};

const FILES: &[(&str, &str)] =
    &[("src/a.rs", "fn a() {}\n"), ("src/b.rs", "fn b() {}\n// ```\n"), ("notes.md", "# Notes\n")];

/// A stage on which scripts have files.
pub(crate) fn stage() -> Stage {
    let stage = Stage::with(Options { extensions: vec![CONTEXT], ..Options::default() });
    stage.seen.borrow_mut().answers = answers();
    stage
}

/// How the program answers.
pub(crate) fn answers() -> BTreeMap<&'static str, Answer> {
    BTreeMap::from(ANSWERS)
}

const ANSWERS: [(&str, Answer); 14] = [
    ("resolve", |it| {
        let (mut found, mut failed) = (Vec::new(), Vec::new());
        for path in it[0].as_array().unwrap() {
            let label = path.as_str().unwrap().trim_start_matches("./").trim_start_matches("/p/");
            if label == "src" || FILES.iter().any(|(name, _)| *name == label) {
                found.push(entry(label));
            } else {
                failed.push(json!({ "path": path, "message": "there is no such file" }));
            }
        }
        Ok(json!({ "found": found, "failed": failed }))
    }),
    ("changed", |it| {
        Ok(if it[0] == json!(["nowhere"]) {
            json!({ "found": [], "error": "unknown revision nowhere" })
        } else if it[0] == json!([]) {
            json!({ "found": [], "error": null })
        } else {
            let skipped = json!([{ "path": "link.rs", "reason": "broken symbolic link" }]);
            let found = ["src/a.rs", "notes.md"].map(entry);
            json!({ "found": found, "skipped": skipped, "error": null })
        })
    }),
    ("checkDiff", |it| {
        let is_known = it[0]["arguments"] != json!(["nowhere"]);
        if is_known { Ok(json!(null)) } else { Err("unknown revision nowhere".into()) }
    }),
    ("missing", |it| {
        let items = it[0].as_array().unwrap().iter();
        let gone = items.filter(|item| describe(item)["missing"] == true);
        Ok(gone.map(|item| item["id"].clone()).collect())
    }),
    ("describe", |it| Ok(it[0].as_array().unwrap().iter().map(describe).collect())),
    ("build", |it| {
        let items = it[0].as_array().unwrap();
        let section = |item: &Value| {
            format!(
                "### {}: {}\n\n```\n…\n```\n",
                item["type"].as_str().unwrap(),
                item["label"].as_str().unwrap()
            )
        };
        let text = items.iter().map(section).collect::<Vec<_>>().join("\n");
        Ok(json!({ "text": text, "stats": stats(), "skipped": [] }))
    }),
    ("show", |_| Ok(stats())),
    ("copy", |_| Ok(stats())),
    ("prompt", |it| Ok(json!({ "text": it[0].to_string(), "stats": stats() }))),
    ("count", |it| Ok(json!(it[0].as_str().unwrap().split_whitespace().count()))),
    ("folder", |_| Ok(json!("/p"))),
    ("files", |it| {
        Ok(files(&it[0]).map(|(name, text)| json!({ "path": format!("/p/{name}"), "label": name, "size": text.len() })).collect())
    }),
    ("txtar", |it| {
        Ok(json!(
            files(&it[0]).flat_map(|(name, text)| ["-- ", name, " --\n", text]).collect::<String>()
        ))
    }),
    ("fromTxtar", |it| Ok(json!([{ "name": "a", "content": it[0] }]))),
];

fn stats() -> Value {
    json!({ "bytes": 4198, "lines": 88, "tokens": 1204, "budget": 1000, "files": 2 })
}

/// The files that a list of paths means.
/// A file or folder of the project that was found.
fn entry(label: &str) -> Value {
    let path = format!("/p/{label}");
    json!({ "path": path, "real": path, "label": label, "folder": label == "src" })
}

fn files(paths: &Value) -> impl Iterator<Item = &'static (&'static str, &'static str)> {
    let paths: Vec<String> = serde_json::from_value(paths.clone()).unwrap();
    FILES.iter().filter(move |(name, _)| {
        let path = format!("/p/{name}");
        paths.iter().any(|it| path == *it || path.starts_with(&format!("{it}/")))
    })
}

fn describe(item: &Value) -> Value {
    let path = item["path"].as_str().unwrap_or_default();
    let is_file = item["type"] == "file";
    let folder = path == "/p/src";
    let missing = is_file && files(&json!([path])).count() == 0;
    let bytes: usize = match item["payload"].as_str() {
        Some(text) => text.len(),
        None if item["type"] == "lazy-diff" => 40,
        None if is_file => files(&json!([path])).map(|(_, text)| text.len()).sum(),
        None => 0,
    };
    let skipped =
        if folder { json!([{ "path": "src/logo.png", "reason": "binary" }]) } else { json!([]) };
    let tokens = if is_file { json!(bytes * 100) } else { json!(null) };
    json!({
        "id": item["id"], "type": item["type"], "label": item["label"], "missing": missing,
        "folder": folder, "files": if folder { 2 } else { 1 }, "bytes": bytes, "lines": bytes.min(1),
        "tokens": tokens, "skipped": skipped,
        "beginning": if item["type"] == "note" { item["payload"].clone() } else { json!(null) },
        "failed": null, "repository": if item["label"] == "notes.md" { json!("/q") } else { json!(null) },
    })
}
