//! Sessions: documents that another tool wrote, and what is stored beside them.
#![expect(clippy::unwrap_used, reason = "in a test, the panic is the report")]

use serde_json::{Value, json};

use super::Surface;
use crate::site::Site;

pub(super) const SURFACES: &[Surface] = &[
    ("imported documents", imported),
    ("documents in the store", stored),
    ("documents that are none", invalid),
    ("sessions of a hostile place", places),
    ("sessions of the upstream tool", upstream),
];

/// A document with hostile text in every string.
fn document(site: &Site) -> Value {
    let text = |word: &str| site.hostile.short(word);
    let time = "2026-11-14T09:00:00Z";
    let items = json!([
        { "id": 1, "type": "note", "label": text("label"), "payload": site.hostile.long("payload") },
        { "id": 2, "type": "file", "label": text("file"), "payload": text("path") },
        { "id": 3, "type": text("type"), "label": text("third") },
        { "id": 4, "type": "lazy-diff", "payload": [text("ref")] },
    ]);
    json!({
        "version": "1.0.0", "session_id": "ex--test", "created_at": time, "updated_at": time,
        "origin": { "source": text("source"), "agent": text("agent"), "host": text("host") },
        "last_used": { "at": time, "folder": text("folder"), "repository": text("repository"),
            "branch": text("branch"), "worktree": text("worktree") },
        "shared_state": { "contextItems": items, text("key"): text("shared") },
        "script_state": { text("mode"): { text("inner"): text("script") }, "code-review": {} },
        "history": [{ "entry_id": text("entry"), "mode_id": text("moded"), "command": text("typed"),
            "timestamp": time, "finalState": { "shared": { text("then"): 1 }, "script": {} } }],
        text("unknown"): text("field"),
    })
}

/// As a store holds it: what a list of sessions shows is on the first line.
fn stored_form(document: Value) -> String {
    let Value::Object(mut all) = document else { panic!("no document: {document}") };
    let first = ["created_at", "updated_at", "origin", "last_used"];
    let first = first.map(|name| format!("{name:?}: {}", all.remove(name).unwrap()));
    let rest = Value::Object(all).to_string();
    format!("{{{},\n{}", first.join(", "), &rest[1..])
}

fn look(site: &mut Site) {
    site.shows(&["session", "list"], &[]);
    site.shows(&["session", "list", "--json"], &[]);
    let words = ["source", "agent", "host", "key", "shared", "typed", "moded"];
    site.shows(&["session", "info", "test"], &words);
    site.shows(&["session", "history", "test"], &["typed", "moded"]);
    site.shows(&["session", "history", "--json", "test"], &["typed", "moded"]);
    site.shows(&["session", "diff", "test@1", "test"], &["key", "shared"]);
    site.shows(&["session", "diff", "--json", "test@1", "test"], &["key", "shared"]);
    site.shows(&["session", "export", "test"], &words);
    site.shows(&["session", "info", "--json", "test"], &words);
    let commands = ["list", "show", "edit 1", "remove 3", "history", "undo", "list", "reset"];
    let mut arguments = vec!["code-review"];
    for command in commands {
        arguments.extend(["-c", command]);
    }
    site.shows(&arguments, &["label", "payload", "file"]);
    site.shows(&["session", "reset", "-y", "test"], &[]);
    site.shows(&["session", "archives"], &[]);
}

fn imported(site: &mut Site) {
    let file = site.write("theirs.json", document(site).to_string());
    site.shows(&["session", "import", "-y", "--as", "test", file.to_str().unwrap()], &[]);
    look(site);
}

/// As if a program of the user had put it there.
fn stored(site: &mut Site) {
    let exact = site.exact(&["session", "path", "test"]);
    let path = String::from_utf8(exact).unwrap();
    site.write(path.trim_end(), stored_form(document(site)));
    site.shows(&["session", "list"], &["source", "agent", "branch"]);
    site.shows(&["session", "list", "--json"], &["source", "agent", "branch"]);
    site.shows(&["session", "info", "test"], &["worktree", "branch"]);
    look(site);
}

fn invalid(site: &mut Site) {
    let mut document = document(site);
    for field in ["version", "session_id", "created_at"] {
        let before = document[field].clone();
        document[field] = json!(site.hostile.text("value"));
        let file = site.write("theirs.json", document.to_string());
        site.shows(&["session", "import", "-y", file.to_str().unwrap()], &[]);
        document[field] = before;
    }
    for bytes in [
        site.hostile.bytes("{\"word").into_encoded_bytes(),
        site.hostile.long("{\"version\": \"").into_bytes(),
        site.hostile.text("{\"version\": \"1.0.0\", \"word").into_bytes(),
    ] {
        let file = site.write("theirs.json", &bytes);
        site.shows(&["session", "import", "-y", file.to_str().unwrap()], &[]);
        let path = String::from_utf8(site.exact(&["session", "path", "test"])).unwrap();
        site.write(path.trim_end(), &bytes);
        site.shows(&["session", "info", "test"], &[]);
        site.shows(&["session", "list"], &[]);
        site.shows(&["session", "archives"], &[]);
    }
}

/// Sessions that were used in a folder and on a branch with hostile names.
fn places(site: &mut Site) {
    let name = site.hostile.name("folder");
    std::fs::create_dir(site.tree().join(&name)).unwrap();
    site.git(&["init", "-q", &name]);
    // A name that Git would refuse.
    let head = site.hostile.text("ref: refs/heads/branch");
    site.write(site.tree().join(&name).join(".git/HEAD"), head);
    site.script_shows(
        "cd \"$1\" && $OSM code-review -c 'note x' -c list; $OSM session list; $OSM session info; $OSM whoami",
        &[name.into()],
        &["folder"],
    );
}

/// Damaged sessions of another tool, in a folder with a hostile name.
fn upstream(site: &mut Site) {
    let folder = site.tree().join(site.hostile.name("settings"));
    site.write(folder.join("osm/sessions/x.session.json"), site.hostile.text("{\"word"));
    site.set("XDG_CONFIG_HOME", folder);
    site.shows(&["session", "list"], &["settings"]);
    site.shows(&["session", "import", "--upstream"], &["settings"]);
}
