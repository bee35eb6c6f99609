//! `osm session id` and `osm whoami`.

use insta::assert_snapshot;

use crate::harness::Env;

fn id(env: &Env, arguments: &[&str]) -> String {
    let run = env.run(arguments);
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""), "{}", run.stdout);
    run.stdout.trim_end().to_owned()
}

#[test]
fn the_flag_wins_over_both_variables() {
    let env = Env::new().with("OSM_SESSION", "variable").with("OSM_SESSION_ID", "other");
    assert_eq!(id(&env, &["session", "id", "--session", "flag"]), "ex--flag_80");
    assert_eq!(id(&env, &["session", "id", "-session-id=flag"]), "ex--flag_80");
    assert_eq!(id(&env, &["--session", "flag", "session", "id"]), "ex--flag_80");
    assert_eq!(id(&env, &["session", "id"]), "ex--variable_3b");
    assert_eq!(id(&env, &["session", "id", "--session", " "]), "ex--variable_3b");
    assert_eq!(id(&Env::new().with("OSM_SESSION_ID", "other"), &["session", "id"]), "ex--other_d9");
}

#[test]
fn a_printed_id_is_taken_back() {
    let env = Env::new();
    for value in ["plain", "user/name", "日本語", &"x".repeat(500)] {
        let printed = id(&env, &["session", "id", "--session", value]);
        assert_eq!(id(&env, &["session", "id", "--session", &printed]), printed);
    }
    let detected = id(&env, &["session", "id"]);
    assert_eq!(id(&env, &["session", "id", "--session", &detected]), detected);
}

#[test]
fn both_ways_to_the_id_agree() {
    let env = Env::new();
    let hot = id(&env, &["session", "id"]);
    let report: serde_json::Value =
        serde_json::from_str(&id(&env, &["session", "id", "--json"])).unwrap();
    assert_eq!(report["id"], hot.as_str());
    assert!(id(&env, &["session", "id", "--explain"]).starts_with(&hot));
    assert!(id(&env, &["whoami"]).contains(&hot));
}

#[test]
fn what_programs_rely_on() {
    let env = Env::new().with("OSM_SESSION", "build");
    let report: serde_json::Value =
        serde_json::from_str(&id(&env, &["session", "id", "--json"])).unwrap();
    assert_eq!(report["id"], "ex--build_44");
    assert_eq!(report["source"], "explicit-env");
    assert_eq!(report["confidence"], "explicit");
    for key in ["agent", "terminal", "parent", "anchor"] {
        assert!(report[key].is_null(), "{key}");
    }
    assert_eq!(report["trail"][0]["detector"], "flag");
    assert_eq!(report["trail"][1]["outcome"], "won");
    assert_eq!(report["ancestry"][0]["role"], "this process");
    let detected: serde_json::Value =
        serde_json::from_str(&id(&Env::new(), &["whoami", "--json"])).unwrap();
    for key in ["pid", "start", "boot", "namespace", "inode", "name"] {
        assert!(!detected["anchor"][key].is_null(), "{key}: {detected}");
    }
}

#[test]
fn whoami_for_people() {
    let env = Env::new().with("OSM_SESSION", "build");
    assert_snapshot!(env.run(&["whoami"]).transcript(), @"
    session   legible-foal
    id        ex--build_44
    because   OSM_SESSION=build
    found by  explicit-env, explicit
    state     $OSM_HOME/sessions/ex--build_44.session.json
    ");
}

#[cfg(unix)]
#[test]
fn values_that_are_no_text() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let env = Env::new();
    let hostile = OsStr::from_bytes(b"a\xff\nb\x1b[31m");
    let output = env.command(&["session", "id", "--session"]).arg(hostile).output().unwrap();
    assert_eq!(output.stdout, b"ex--a__b__31m_df739861338308ea\n");
    let output = env.command(&["session", "id"]).env("OSM_SESSION", hostile).output().unwrap();
    assert_eq!(output.stdout, b"ex--a__b__31m_df739861338308ea\n");
}
