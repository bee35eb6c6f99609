//! Sessions of the upstream tool: offered once, and imported together.
#![expect(clippy::unwrap_used, reason = "in a test, the panic is the report")]

use std::fs;
use std::path::PathBuf;

use insta::assert_snapshot;
use osm_testkit::terminal::Terminal;

use crate::harness::Env;

const PROGRAM: &str = env!("CARGO_BIN_EXE_osm");

/// A user of the upstream tool, with these sessions.
fn user(sessions: &[(&str, &str)]) -> (Env, PathBuf) {
    let env = Env::new();
    let home = env.path().join("user");
    let folder = home.join(".config/osm/sessions");
    fs::create_dir_all(folder.join("archive")).unwrap();
    for (name, text) in sessions {
        fs::write(folder.join(name), text).unwrap();
    }
    (env.with("HOME", home.to_str().unwrap()).with("OSM_SESSION", "mine"), folder)
}

fn document(id: &str) -> String {
    format!(
        r#"{{"version":"0.2.0","id":"{id}","createTime":"2025-11-26T14:03:00Z","updateTime":"2025-11-26T14:04:00Z","history":null,"scriptState":{{"doc-generator":{{"goal:doc-generator/type":"api"}}}},"sharedState":{{}}}}"#
    )
}

/// The program at a terminal: what it shows there.
fn shown(env: &Env, arguments: &[&str]) -> String {
    String::from_utf8(start(env, arguments).finish().unwrap()).unwrap()
}

fn start(env: &Env, arguments: &[&str]) -> Terminal {
    let words: Vec<String> = [PROGRAM].iter().chain(arguments).map(|it| (*it).to_owned()).collect();
    let home = env.path().display().to_string();
    let user = env.path().join("user").display().to_string();
    let variables =
        [("OSM_HOME", home.as_str()), ("HOME", &user), ("OSM_SESSION", "mine"), ("TERM", "dumb")];
    let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
    Terminal::start(&words, &variables, env.path()).unwrap()
}

#[test]
fn the_import_is_offered_once_and_only_to_a_person() {
    let (env, folder) = user(&[
        ("ex--a_aa.session.json", &document("ex--a_aa")),
        ("ex--b_bb.session.json", &document("ex--b_bb")),
        ("ex--b_bb.session.lock", ""),
    ]);
    for arguments in [&["session", "list"][..], &["session", "id"], &["code-review", "-c", "list"]]
    {
        let run = env.run(arguments);
        assert!(!run.transcript().contains("upstream"), "{}", run.transcript());
    }
    for arguments in [
        &["session", "list", "--json"][..],
        &["session", "id"],
        &["whoami"],
        &["code-review", "-c", "list"],
        &["--store", "memory", "session", "list"],
    ] {
        assert!(!shown(&env, arguments).contains("upstream"), "{arguments:?}");
    }
    let offer = format!(
        "osm: note: found 2 sessions of the upstream tool in {}: import with `osm session import --upstream`",
        folder.display()
    );
    let first = shown(&env, &["session", "list"]);
    assert_eq!(first.matches(&offer).count(), 1, "{first}");
    for arguments in [&[][..], &["session", "list"], &["session"]] {
        assert!(!shown(&env, arguments).contains("upstream"), "{arguments:?}");
    }
}

#[test]
fn a_mode_and_bare_osm_offer_it_too() {
    let (env, _) = user(&[("x.session.json", &document("x"))]);
    let mut terminal = start(&env, &["code-review"]);
    terminal.wait_for("found 1 session of the upstream tool").unwrap();
    terminal.wait_for("(code-review) >").unwrap();
    terminal.press("exit\r").unwrap();
    terminal.wait().unwrap();
    let (env, _) = user(&[("x.session.json", &document("x"))]);
    assert!(shown(&env, &[]).contains("found 1 session of the upstream tool"));
}

#[test]
fn all_of_them_are_imported_together() {
    let (env, folder) = user(&[
        ("ex--a_aa.session.json", &document("ex--a_aa")),
        ("ex--b_bb.session.json", "{ damaged"),
        ("ex--c_cc.session.json", &document("ex--c_cc")),
    ]);
    let import = |more: &[&str]| {
        let run = env.run(&[&["session", "import", "--upstream"], more].concat());
        run.transcript().replace("$OSM_HOME/user/.config/osm/sessions", "SESSIONS")
    };
    assert_snapshot!(import(&["--dry-run"]), @"
    would import SESSIONS/ex--a_aa.session.json as gritty-zorilla (ex--a_aa_b0)
    would import SESSIONS/ex--c_cc.session.json as speedy-ash (ex--c_cc_7e)
    --- stderr
    osm: warning: SESSIONS/ex--b_bb.session.json is damaged: key must be a string at line 1 column 3
    osm: error: 1 session of the upstream tool could not be imported
    --- exit Some(6)
    ");
    assert_snapshot!(import(&[]), @"
    imported SESSIONS/ex--a_aa.session.json as gritty-zorilla (ex--a_aa_b0)
    imported SESSIONS/ex--c_cc.session.json as speedy-ash (ex--c_cc_7e)
    --- stderr
    osm: warning: SESSIONS/ex--b_bb.session.json is damaged: key must be a string at line 1 column 3
    osm: error: 1 session of the upstream tool could not be imported
    --- exit Some(6)
    ");
    let exported = env.run(&["session", "export", "ex--c_cc_7e"]).stdout;
    assert!(exported.contains(r#""type": "api""#), "{exported}");
    assert!(!shown(&env, &["session", "list"]).contains("upstream tool"), "they were imported");
    fs::remove_dir_all(&folder).unwrap();
    assert_snapshot!(import(&[]), @"
    --- stderr
    osm: error: no sessions of the upstream tool were found
    osm: hint: name the files: osm session import FILE...
    --- exit Some(4)
    ");
}
