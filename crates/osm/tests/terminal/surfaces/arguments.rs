//! Arguments, settings, environment variables, and paths.
#![expect(clippy::unwrap_used, reason = "in a test, the panic is the report")]

use std::ffi::OsString;

use super::Surface;
use crate::site::Site;

pub(super) const SURFACES: &[Surface] = &[
    ("unknown commands and options", unknown),
    ("values of options", values),
    ("names of sessions", names),
    ("names of files", files),
    ("settings", settings),
    ("unknown settings", unknown_settings),
    ("variables that identify a session", variables),
    ("agents", agents),
    ("the home folder", home),
];

fn unknown(site: &mut Site) {
    let word = site.hostile.bytes("word");
    site.is_refused(&[&word]);
    let words: [OsString; 3] = ["session".into(), "list".into(), site.hostile.bytes("--word")];
    site.is_refused(&words);
    site.is_refused(&["help", &site.hostile.argument("word")]);
}

fn values(site: &mut Site) {
    for arguments in [
        &["claim", "R", "--wait"][..],
        &["claim", "R", "--ttl"],
        &["session", "list", "--color"],
        &["session", "list", "--store"],
        &["completion"],
    ] {
        let value = site.hostile.argument("value");
        site.is_refused(&[arguments, &[&value]].concat());
    }
}

fn names(site: &mut Site) {
    let name = site.hostile.argument("name");
    for arguments in [
        &["session", "info"][..],
        &["session", "delete", "-y"],
        &["session", "diff"],
        &["session", "restore"],
        &["goal"],
        &["goal", "show"],
        &["goal", "new"],
        &["config", "get"],
    ] {
        site.shows(&[arguments, &[&name]].concat(), &["name"]);
    }
    site.shows(&["session", "info", "--json", &name], &["name"]);
}

fn files(site: &mut Site) {
    let name = site.hostile.raw_name("file");
    for arguments in [&["session", "import"][..], &["script"], &["trust"]] {
        let arguments: Vec<OsString> = arguments.iter().map(OsString::from).collect();
        site.shows(&[&arguments[..], std::slice::from_ref(&name)].concat(), &["file"]);
    }
}

fn settings(site: &mut Site) {
    let quote = |word: &str| serde_json::to_string(&site.hostile.text(word)).unwrap();
    // JSON and TOML agree about strings, except for DEL.
    let text = format!("goal.paths = [{}]\n", quote("/path")).replace('\x7f', "\\u007f");
    site.write("home/config.toml", text);
    site.shows(&["config", "list"], &["path"]);
    site.shows(&["config", "get", "goal.paths"], &["path"]);
    site.shows(&["config", "list", "--json"], &["path"]);
    site.shows(&["goal", "paths"], &["path"]);
    let text = format!("store.backend = {}\n", quote("backend")).replace('\x7f', "\\u007f");
    site.write("home/config.toml", text);
    site.shows(&["config", "validate"], &["backend"]);
    site.shows(&["session", "list"], &["backend"]);
    // Not even TOML.
    site.write("home/config.toml", site.hostile.long("x = \"line"));
    site.shows(&["config", "validate"], &[]);
    site.shows(&["whoami"], &[]);
    site.write("home/config.toml", site.hostile.bytes("line").into_encoded_bytes());
    site.shows(&["config", "list"], &[]);
}

fn unknown_settings(site: &mut Site) {
    let key = serde_json::to_string(&site.hostile.text("key")).unwrap();
    site.write("home/config.toml", format!("{key} = 1\n").replace('\x7f', "\\u007f"));
    site.shows(&["config", "validate"], &["key"]);
    site.shows(&["config", "list"], &[]);
    let key = site.hostile.argument("key");
    site.shows(&["config", "set", &key, "1"], &["key"]);
    site.shows(&["config", "unset", &key], &["key"]);
    site.shows(&["config", "set", "session.max_count", &key], &["key"]);
}

fn variables(site: &mut Site) {
    site.set("OSM_SESSION", site.hostile.bytes("session"));
    for arguments in [&["whoami"][..], &["session", "id"], &["session", "id", "--json"]] {
        site.shows(arguments, &[]);
    }
    site.shows(&["session", "id", "--explain"], &[]);
    site.unset("OSM_SESSION");
    for name in
        ["TERM_PROGRAM", "TERM", "COLUMNS", "SSH_CONNECTION", "SSH_TTY", "TMUX", "TMUX_PANE"]
    {
        site.set(name, site.hostile.bytes("variable"));
    }
    for name in ["STY", "WINDOW", "TERM_SESSION_ID", "WT_SESSION", "GITHUB_RUN_ID", "CI", "LANG"] {
        site.set(name, site.hostile.bytes("variable"));
    }
    site.shows(&["whoami"], &[]);
    site.shows(&["session", "id", "--explain"], &["variable"]);
    site.shows(&["session", "id", "--json"], &[]);
}

fn agents(site: &mut Site) {
    site.unset("OSM_SESSION");
    for name in ["CLAUDECODE", "CLAUDE_CODE_SESSION_ID", "CODEX_THREAD_ID", "AGENT", "OPENCODE"] {
        site.set(name, site.hostile.bytes("agent"));
    }
    site.shows(&["whoami"], &[]);
    site.shows(&["session", "id", "--explain"], &[]);
    let name = serde_json::to_string(&site.hostile.text("agent")).unwrap();
    let name = name.replace('\x7f', "\\u007f");
    let text = format!("[[identity.agents]]\nname = {name}\nprograms = [{name}]\n");
    site.write("home/config.toml", text);
    site.shows(&["whoami"], &[]);
    site.shows(&["config", "validate"], &[]);
}

fn home(site: &mut Site) {
    let home = site.home().join(site.hostile.raw_name("place"));
    site.set("OSM_HOME", &home);
    for arguments in [
        &["config", "path"][..],
        &["session", "path"],
        &["goal", "paths"],
        &["goal", "new", "mine"],
    ] {
        site.shows(arguments, &["place"]);
    }
    site.write(home.join("config.toml"), "x = ");
    site.shows(&["config", "validate"], &["place"]);
}
