//! The configuration file: it extends identity, and can never break it.

use insta::assert_snapshot;

use crate::harness::Env;

impl Env {
    /// The text of the configuration file.
    fn file(&self) -> String {
        std::fs::read_to_string(self.path().join("config.toml")).expect("it was written")
    }
}

#[test]
fn a_broken_file_is_a_warning_and_identity_works() {
    let env = Env::new();
    let without = env.run(&["session", "id"]).stdout;
    env.config("[identity]\nwrappers = [\"a\"\nshells = 3\n");
    let run = env.run(&["session", "id"]);
    assert_eq!((run.code, &run.stdout), (Some(0), &without));
    assert_snapshot!(run.stderr, @"osm: warning: $OSM_HOME/config.toml: line 3: missing comma between array elements, expected `,`; the file is ignored");
}

#[test]
fn every_complaint_has_its_place() {
    let env = Env::new();
    env.config(
        "[identity]\nwraps = []\nshells = [1]\n\n[[identity.agents]]\nname = \"My Agent\"\n",
    );
    assert_snapshot!(env.run(&["session", "id", "--session", "x"]).transcript(), @r#"
    ex--x_2d
    --- stderr
    osm: warning: $OSM_HOME/config.toml: line 2: unknown setting "identity.wraps"
    osm: warning: $OSM_HOME/config.toml: line 3: `identity.shells` must be a list of program names
    osm: warning: $OSM_HOME/config.toml: line 5: an agent needs a `name` of 1 to 20 lower-case letters, digits and `-`
    "#);
}

#[cfg(unix)]
#[test]
fn a_folder_in_its_place() {
    let env = Env::new();
    std::fs::create_dir(env.path().join("config.toml")).unwrap();
    assert_snapshot!(env.run(&["session", "id", "--session", "x"]).transcript(), @"
    ex--x_2d
    --- stderr
    osm: warning: $OSM_HOME/config.toml: not a file; it is ignored
    ");
}

#[cfg(target_os = "linux")]
#[test]
fn a_users_agent_is_found() {
    let env = Env::new();
    env.config("[[identity.agents]]\nname = \"my-agent\"\nprograms = [\"myagent\"]\nsession = [\"MY_SESSION\"]\n");
    let agent = env.path().join("myagent");
    osm_testkit::program::copy("/bin/bash".as_ref(), &agent).unwrap();
    let run = |variables: &[(&str, &str)]| {
        let command = format!("{} session id; true", env!("CARGO_BIN_EXE_osm"));
        let output = std::process::Command::new(&agent)
            .args(["-c", &command])
            .env_clear()
            .env("OSM_HOME", env.path())
            .envs(variables.iter().copied())
            .output()
            .unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    assert!(run(&[]).starts_with("agent--my-agent_"), "{}", run(&[]));
    assert_ne!(run(&[]), run(&[]), "two processes");
    assert_eq!(run(&[("MY_SESSION", "c1")]), run(&[("MY_SESSION", "c1")]), "one conversation");
}

#[cfg(target_os = "linux")]
#[test]
fn a_users_wrapper_and_shell_are_seen_through() {
    let env = Env::new();
    let shell = env.path().join("mysh");
    osm_testkit::program::copy("/bin/bash".as_ref(), &shell).unwrap();
    let run = |setting: &str| {
        env.config(setting);
        let command = format!("{} session id; true", env!("CARGO_BIN_EXE_osm"));
        // Off the terminal, where everything would belong together anyway.
        let output = std::process::Command::new("setsid")
            .args(["-w", shell.to_str().unwrap(), "-c", &command])
            .env_clear()
            .env("OSM_HOME", env.path())
            .output()
            .unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    assert_ne!(run(""), run(""), "an unknown process is a session");
    for setting in ["[identity]\nwrappers = ['mysh']\n", "[identity]\nshells = 'mysh'\n"] {
        assert_eq!(run(setting), run(setting), "{setting}");
    }
}

#[test]
fn every_setting_is_listed_with_its_source() {
    let env = Env::new().with("OSM_STORE", "memory").with("OSM_EXTRA_SHELLS", "oursh");
    env.config("[session]\nmax_count = 7 # few\n\n[identity]\nshells = ['mysh']\nwrappers = 'w'\n");
    assert_snapshot!(env.run(&["config", "list"]).transcript(), @"
    KEY                             VALUE        SOURCE
    session.max_age_days            90           default
    session.max_count               7            config ($OSM_HOME/config.toml:2)
    session.max_size_mb             500          default
    session.max_idle_days           0            default
    session.defunct_age_days        14           default
    session.archive_max_age_days    30           default
    session.archive_max_count       50           default
    session.archive_max_size_mb     200          default
    session.quarantine_days         30           default
    session.recovered_days          90           default
    session.trash_days              7            default
    session.auto_cleanup_enabled    true         default
    session.cleanup_interval_hours  24           default
    session.reset.keep_archives     true         default
    session.history_length          200          default
    store.backend                   memory       env OSM_STORE
    store.url                       none         default
    agent.edits                     refuse       default
    claims.lease_seconds            120          default
    claims.next.from                none         default
    claims.next.from_command        none         default
    claims.next.field               none         default
    prompt.tokens                   true         default
    prompt.budget                   0            default
    prompt.max_file_kb              1000         default
    goal.paths                      none         default
    script.module_paths             none         default
    script.time_limit_seconds       30           default
    script.memory_limit_mb          512          default
    log.file                        none         default
    log.level                       info         default
    log.max_size_mb                 10           default
    log.max_files                   5            default
    identity.wrappers               w            config ($OSM_HOME/config.toml:6)
    identity.shells                 mysh, oursh  config ($OSM_HOME/config.toml:5), env OSM_EXTRA_SHELLS
    identity.agents                 0 agents     default
    ");
    let rows: serde_json::Value =
        serde_json::from_str(&env.run(&["config", "list", "--json"]).stdout).unwrap();
    let row = |name: &str| rows.as_array().unwrap().iter().find(|row| row["key"] == name).unwrap();
    assert_snapshot!(row("session.max_count"), @r#"{"key":"session.max_count","value":7,"default":100,"source":"config","file":"$OSM_HOME/config.toml","line":2,"variable":null,"problem":null,"doc":"Keep at most this many sessions, the newest (0: no limit)."}"#);
    assert_snapshot!(row("store.backend"), @r#"{"key":"store.backend","value":"memory","default":"fs","source":"env","file":null,"line":null,"variable":"OSM_STORE","problem":null,"doc":"Store sessions and claims in files (fs), in memory (memory) or on a server (postgres)."}"#);
}

#[test]
fn one_value_alone() {
    let env = Env::new();
    let get = |key| env.run(&["config", "get", key]).transcript();
    assert_eq!(get("session.max_count"), "100\n");
    assert_eq!(get("identity.wrappers"), "");
    env.config(
        "[session]\nmax_count = 7\nmax_age_days = 'x'\n[identity]\nwrappers = ['a', 'b c']\n",
    );
    assert_eq!(get("session.max_count"), "7\n");
    assert_eq!(get("identity.wrappers"), "a\nb c\n");
    assert_snapshot!(get("session.max_age_days"), @"
    --- stderr
    osm: error: `session.max_age_days` must be a whole number (found: string) (set by config ($OSM_HOME/config.toml:3))
    --- exit Some(1)
    ");
    assert_snapshot!(get("session.max_cuont"), @r#"
    --- stderr
    osm: error: unknown setting "session.max_cuont"
    osm: hint: did you mean session.max_count?
    --- exit Some(4)
    "#);
    assert_snapshot!(get("colour"), @r#"
    --- stderr
    osm: error: unknown setting "colour"
    osm: hint: see `osm config list`
    --- exit Some(4)
    "#);
}

#[test]
fn a_change_keeps_the_rest_of_the_file() {
    let env = Env::new();
    env.config("# mine\n\n[session]   # limits\n  max_count=5 # five\n\n# who\n[identity]\nshells = [\n  'a', # one\n]\n# end");
    let run = |arguments: &[&str]| env.run(&[&["config"], arguments].concat()).transcript();
    assert_snapshot!(run(&["set", "session.max_count", "50"]), @"session.max_count = 50 (was 5)");
    assert_snapshot!(run(&["set", "session.max_age_days", "0"]), @"session.max_age_days = 0 (was 90, the default)");
    assert_snapshot!(run(&["set", "session.reset.keep_archives", "false"]), @"session.reset.keep_archives = false (was true, the default)");
    assert_snapshot!(run(&["set", "identity.shells", "a", "b"]), @"identity.shells = a, b (was a)");
    assert_snapshot!(env.file(), @r#"
    # mine

    [session]   # limits
      max_count=50 # five
      max_age_days = 0

    # who
    [identity]
    shells = [
      'a', # one
      "b",
    ]
    # end

    [session.reset]
    keep_archives = false
    "#);
    assert_snapshot!(run(&["unset", "session.max_count"]), @"session.max_count = 100, the default");
    assert_snapshot!(run(&["unset", "session.max_count"]), @"session.max_count is not set in $OSM_HOME/config.toml; the default is 100");
    assert_snapshot!(run(&["unset", "identity.shells"]), @"identity.shells = none, the default");
    assert_snapshot!(env.file(), @"
    # mine

    [session]   # limits
      # five
      max_age_days = 0

    # who
    [identity]
    # one
    # end

    [session.reset]
    keep_archives = false
    ");
    assert_snapshot!(run(&["validate"]), @"$OSM_HOME/config.toml: no problems");
}

#[test]
fn invalid_values_are_refused() {
    let env = Env::new().with("OSM_STORE", "fs");
    let set = |arguments: &[&str]| env.run(&[&["config", "set"], arguments].concat()).transcript();
    assert_snapshot!(set(&["session.max_count", "-1"]), @r#"
    --- stderr
    osm: error: `session.max_count` must be a whole number from 0 to 4294967295, not "-1"
    --- exit Some(2)
    "#);
    assert_snapshot!(set(&["session.auto_cleanup_enabled", "yes"]), @r#"
    --- stderr
    osm: error: `session.auto_cleanup_enabled` must be true or false, not "yes"
    --- exit Some(2)
    "#);
    assert_snapshot!(set(&["session.max_count", "1", "2"]), @"
    --- stderr
    osm: error: `session.max_count` takes one value, not 2
    --- exit Some(2)
    ");
    assert_snapshot!(set(&["identity.agents", "x"]), @"
    --- stderr
    osm: error: `identity.agents` is a list of tables
    osm: hint: edit $OSM_HOME/config.toml
    --- exit Some(2)
    ");
    assert_snapshot!(set(&["max_count", "1"]), @r#"
    --- stderr
    osm: error: unknown setting "max_count"
    osm: hint: did you mean session.max_count?
    --- exit Some(4)
    "#);
    assert!(std::fs::read_dir(env.path()).unwrap().next().is_none(), "nothing was made");
    assert_snapshot!(set(&["store.backend", "memory"]), @"
    store.backend = memory
    --- stderr
    osm: warning: OSM_STORE is set and overrides the file
    ");
}

#[test]
fn a_file_that_is_not_toml_is_left_alone() {
    let env = Env::new();
    let broken = "# precious\n[session]\nmax_count = \n";
    env.config(broken);
    let run = |arguments: &[&str]| env.run(&[&["config"], arguments].concat()).transcript();
    let set = run(&["set", "session.max_count", "7"]);
    assert_snapshot!(set, @"
    --- stderr
    osm: error: $OSM_HOME/config.toml:3: string values must be quoted, expected literal string
    osm: hint: the file was not changed
    --- exit Some(1)
    ");
    assert_eq!(run(&["unset", "session.max_count"]), set);
    assert_eq!(env.file(), broken);
    let list = run(&["list"]);
    assert_snapshot!(list, @"
    --- stderr
    osm: error: $OSM_HOME/config.toml:3: string values must be quoted, expected literal string
    osm: hint: osm removes no sessions until this is fixed
    --- exit Some(1)
    ");
    assert_eq!(run(&["get", "session.max_count"]), list);
    std::fs::write(env.path().join("config.toml"), b"a = '\xff'").unwrap();
    assert_snapshot!(env.run(&["config", "set", "session.max_count", "7"]).transcript(), @"
    --- stderr
    osm: error: $OSM_HOME/config.toml: not UTF-8
    osm: hint: the file was not changed
    --- exit Some(1)
    ");
}

#[test]
fn every_problem_is_shown() {
    let env = Env::new();
    let validate = || env.run(&["config", "validate"]).transcript();
    assert_snapshot!(validate(), @"$OSM_HOME/config.toml: no file; osm uses the defaults");
    env.config("colour = 1\n[session]\nmax_cuont = 5\nmax_age_days = -1\nreset = 3\n[store]\nbackend = 'disk'\n[identity]\nshell = 1\nwrappers = 2\n");
    assert_snapshot!(validate(), @r#"
    $OSM_HOME/config.toml:1: unknown setting "colour"
    $OSM_HOME/config.toml:3: unknown setting "session.max_cuont" (did you mean "session.max_count"?)
    $OSM_HOME/config.toml:4: `session.max_age_days` must be a whole number from 0 to 4294967295, not "-1"
    $OSM_HOME/config.toml:5: `session.reset` must be a table
    $OSM_HOME/config.toml:7: `store.backend` must be fs or memory or postgres, not "disk"
    $OSM_HOME/config.toml:9: unknown setting "identity.shell"
    $OSM_HOME/config.toml:10: `identity.wrappers` must be a list of program names
    --- stderr
    osm: error: 7 problems in the configuration
    osm: hint: osm removes no sessions until this is fixed
    --- exit Some(1)
    "#);
    let list = env.run(&["config", "list"]);
    let shown = "session.max_age_days            invalid   config ($OSM_HOME/config.toml:4)\n";
    assert!(list.stdout.contains(shown), "{}", list.stdout);
    assert_snapshot!(list.stderr, @"
    osm: warning: 7 problems in the configuration
    osm: hint: see `osm config validate`
    ");
    // An unknown setting can be removed, too.
    assert_snapshot!(env.run(&["config", "unset", "session.max_cuont"]).transcript(), @"removed session.max_cuont");
    env.config("[store]\nbackend = 3\n");
    assert_snapshot!(validate(), @"
    $OSM_HOME/config.toml:2: `store.backend` must be a word in quotes (found: integer)
    --- stderr
    osm: error: 1 problem in the configuration
    --- exit Some(1)
    ");
    env.config("[session\n");
    assert_snapshot!(validate(), @"
    $OSM_HOME/config.toml:1: unclosed table, expected `]`
    --- stderr
    osm: error: 1 problem in the configuration
    osm: hint: osm removes no sessions until this is fixed
    --- exit Some(1)
    ");
    let wrong = Env::new().with("OSM_STORE", "disk");
    assert_snapshot!(wrong.run(&["config", "validate"]).transcript(), @r#"
    OSM_STORE: `store.backend` must be fs or memory or postgres, not "disk"
    --- stderr
    osm: error: 1 problem in the configuration
    --- exit Some(1)
    "#);
}

#[test]
fn where_the_file_is() {
    assert_snapshot!(Env::new().run(&["config", "path"]).transcript(), @"$OSM_HOME/config.toml");
    assert_snapshot!(Env::new().with("OSM_HOME", "").run(&["config", "path"]).transcript(), @"
    --- stderr
    osm: error: no folder for the configuration: neither HOME nor OSM_HOME is set
    osm: hint: set HOME, or OSM_HOME to a folder
    --- exit Some(1)
    ");
}

#[cfg(unix)]
#[test]
fn only_its_owner_can_read_it() {
    use std::os::unix::fs::PermissionsExt;
    let env = Env::new();
    let home = env.path().join("new/home");
    let command =
        format!("umask 000; exec '{}' config set session.max_count 7", env!("CARGO_BIN_EXE_osm"));
    let status = std::process::Command::new("sh")
        .args(["-c", &command])
        .env_clear()
        .env("OSM_HOME", &home)
        .stdout(std::process::Stdio::null())
        .status()
        .unwrap();
    assert!(status.success());
    let mode = |path: &std::path::Path| path.metadata().unwrap().permissions().mode() & 0o7777;
    assert_eq!(mode(&home), 0o700);
    assert_eq!(mode(home.parent().unwrap()), 0o700);
    let mut names = Vec::new();
    for entry in std::fs::read_dir(&home).unwrap() {
        let entry = entry.unwrap();
        assert_eq!(mode(&entry.path()), 0o600, "{}", entry.path().display());
        names.push(entry.file_name().into_string().unwrap());
    }
    names.sort();
    assert_eq!(names, ["audit.jsonl", "config.lock", "config.toml"]);
}

#[cfg(unix)]
#[test]
fn a_link_to_a_folder_of_dotfiles_stays() {
    let env = Env::new();
    let dotfiles = tempfile::tempdir().unwrap();
    let target = dotfiles.path().join("osm.toml");
    std::fs::write(&target, "# mine\n").unwrap();
    std::os::unix::fs::symlink(&target, env.path().join("config.toml")).unwrap();
    assert_eq!(env.run(&["config", "set", "session.max_count", "7"]).code, Some(0));
    assert!(env.path().join("config.toml").is_symlink());
    assert_eq!(std::fs::read_to_string(&target).unwrap(), "# mine\n\n[session]\nmax_count = 7\n");
    dotfiles.close().unwrap();
    assert_snapshot!(env.run(&["config", "set", "session.max_count", "7"]).transcript(), @"
    --- stderr
    osm: error: cannot follow the link $OSM_HOME/config.toml: No such file or directory (os error 2)
    --- exit Some(1)
    ");
}

#[test]
fn changes_at_the_same_time_are_all_kept() {
    let env = Env::new();
    let keys = ["max_age_days", "max_count", "max_size_mb", "max_idle_days", "trash_days"];
    for round in 1..=4_u32 {
        let children: Vec<_> = keys
            .iter()
            .map(|key| {
                let key = format!("session.{key}");
                let mut command = env.command(&["config", "set", &key, &round.to_string()]);
                command.stdout(std::process::Stdio::null()).spawn().unwrap()
            })
            .collect();
        for mut child in children {
            assert!(child.wait().unwrap().success());
        }
        for key in keys {
            assert!(env.file().contains(&format!("{key} = {round}\n")), "{}", env.file());
        }
    }
}

#[test]
fn settings_of_the_upstream_tool() {
    let env = Env::new();
    let home = tempfile::tempdir().unwrap();
    let env = env
        .with("HOME", home.path().to_str().unwrap())
        .with("USERPROFILE", home.path().to_str().unwrap());
    let import = |arguments: &[&str]| {
        let run = env.run(&[&["config", "import-upstream"], arguments].concat());
        run.transcript().replace(home.path().to_str().unwrap(), "$HOME").replace('\\', "/")
    };
    assert_snapshot!(import(&[]), @"
    --- stderr
    osm: error: file not found: $HOME/.osm/config or $HOME/.one-shot-man/config
    osm: hint: name the file: osm config import-upstream FILE
    --- exit Some(4)
    ");
    let legacy = home.path().join(".one-shot-man/config");
    std::fs::create_dir(legacy.parent().unwrap()).unwrap();
    let theirs = "verbose true\n[sessions]\nmaxCount 1000\nmaxAgeDays 90\nautoCleanupEnabled no\n";
    std::fs::write(&legacy, theirs).unwrap();
    env.config("# mine\n[session]\nmax_count = 7 # few\n");
    assert_snapshot!(import(&[]), @"
    session.max_count = 1000 (was 7)
    session.max_age_days = 90 (was 90, the default)
    session.auto_cleanup_enabled = false (was true, the default)
    imported 3 settings from $HOME/.one-shot-man/config into $OSM_HOME/config.toml
    ");
    assert_eq!(std::fs::read_to_string(&legacy).unwrap(), theirs);
    assert_snapshot!(env.file(), @"
    # mine
    [session]
    max_count = 1000 # few
    max_age_days = 90
    auto_cleanup_enabled = false
    ");
    let named = home.path().join("other");
    std::fs::write(&named, "[sessions]\nmaxCount 3\nmaxAgeDays many\n").unwrap();
    assert_snapshot!(import(&[named.to_str().unwrap()]), @r#"
    --- stderr
    osm: error: $HOME/other:3: maxAgeDays: `session.max_age_days` must be a whole number from 0 to 4294967295, not "many"
    osm: hint: nothing was changed
    --- exit Some(1)
    "#);
    std::fs::write(&named, "[help]\npager less\n").unwrap();
    assert_snapshot!(import(&[named.to_str().unwrap()]), @"no setting of $HOME/other was imported: nothing was changed");
    assert!(env.file().contains("max_count = 1000"), "{}", env.file());
}

#[cfg(unix)]
#[test]
fn paths_of_the_upstream_tool() {
    let env = Env::new();
    let home = env.path().join("user");
    let env = env.with("HOME", home.to_str().unwrap());
    std::fs::create_dir_all(home.join(".osm")).unwrap();
    let theirs =
        "goal.paths /team/goals:~/goals,mine\nscript.module-paths ~/js\nlog.file osm.log\n";
    std::fs::write(home.join(".osm/config"), theirs).unwrap();
    assert_snapshot!(env.run(&["config", "import-upstream"]).transcript(), @r#"
    goal.paths = /team/goals, $OSM_HOME/user/goals (was none, the default)
    script.module_paths = $OSM_HOME/user/js (was none, the default)
    imported 2 settings from $OSM_HOME/user/.osm/config into $OSM_HOME/config.toml
    --- stderr
    osm: warning: $OSM_HOME/user/.osm/config:1: goal.paths: "mine" was left out: it is a relative path
    osm: warning: $OSM_HOME/user/.osm/config:3: log.file: "osm.log" was left out: it is a relative path
    osm: hint: set it with `osm config set goal.paths PATH`
    "#);
    let file = env.file().replace(env.path().to_str().unwrap(), "$OSM_HOME");
    assert_snapshot!(file, @r#"
    [goal]
    paths = ["/team/goals", "$OSM_HOME/user/goals"]

    [script]
    module_paths = ["$OSM_HOME/user/js"]
    "#);
    let run = env.run(&["config", "import-upstream", "--json"]);
    let left_out: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(
        left_out["left_out"],
        serde_json::json!([
            { "line": 1, "key": "goal.paths", "path": "mine" },
            { "line": 3, "key": "log.file", "path": "osm.log" },
        ])
    );
    assert_eq!(run.stderr, "");
}

#[test]
fn invalid_limits_remove_nothing() {
    let env = Env::new().with("OSM_SESSION", "current");
    env.config("[session]\nmax_count = 1O\n");
    let clean = || env.run(&["session", "clean", "-y"]).transcript();
    assert_snapshot!(clean(), @"
    --- stderr
    osm: warning: $OSM_HOME/config.toml: line 2: string values must be quoted, expected literal string; the file is ignored
    osm: error: cannot clean up: the limits in the configuration are invalid: $OSM_HOME/config.toml:2: string values must be quoted, expected literal string
    osm: hint: see `osm config validate`
    --- exit Some(1)
    ");
    env.config("[sessions]\nmax_count = 10\n");
    assert_snapshot!(clean(), @r#"
    --- stderr
    osm: warning: $OSM_HOME/config.toml: line 1: unknown setting "sessions" (did you mean "session"?); osm removes no sessions
    osm: error: cannot clean up: the limits in the configuration are invalid: $OSM_HOME/config.toml:1: unknown setting "sessions" (did you mean "session"?)
    osm: hint: see `osm config validate`
    --- exit Some(1)
    "#);
    env.config("[session]\nmax_count = 10\n[identity]\nshells = 3\n");
    assert_snapshot!(clean(), @"
    Nothing to remove
    --- stderr
    osm: warning: $OSM_HOME/config.toml: line 4: `identity.shells` must be a list of program names
    ");
}

#[test]
fn get_prints_the_exact_value() {
    let env = Env::new();
    let path = r#"C:\a b\"x".log"#;
    assert_eq!(env.run(&["config", "get", "log.file"]).stdout, "");
    assert_eq!(env.run(&["config", "set", "log.file", path]).code, Some(0));
    assert_eq!(env.run(&["config", "get", "log.file"]).stdout, format!("{path}\n"));
}

#[test]
fn values_without_an_effect_are_refused() {
    let env = Env::new();
    for (key, value) in [("goal.paths", "relative"), ("identity.shells", "a/b")] {
        assert_eq!(env.run(&["config", "set", key, value]).code, Some(2), "{key}");
    }
    env.config("[goal]\npaths = ['relative']\n[identity]\nshells = ['']\n");
    let run = env.run(&["config", "validate"]);
    assert!(
        run.stdout.contains(":2: `goal.paths` must be absolute or start with ~/"),
        "{}",
        run.stdout
    );
    assert!(run.stdout.contains(":4: `identity.shells` must be"), "{}", run.stdout);
}
