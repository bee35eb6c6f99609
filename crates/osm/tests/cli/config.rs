//! The configuration file: it extends identity, and can never break it.

use insta::assert_snapshot;

use crate::harness::Env;

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
    assert_snapshot!(env.run(&["session", "id", "--session", "x"]).transcript(), @"
    ex--x_2d
    --- stderr
    osm: warning: $OSM_HOME/config.toml: line 2: `identity.wraps` is not known
    osm: warning: $OSM_HOME/config.toml: line 3: `identity.shells` must be a list of program names
    osm: warning: $OSM_HOME/config.toml: line 5: an agent needs a `name` of 1 to 20 lower-case letters, digits and `-`
    ");
}

#[cfg(unix)]
#[test]
fn a_file_that_is_none() {
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
    std::fs::copy("/bin/bash", &agent).unwrap();
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
    std::fs::copy("/bin/bash", &shell).unwrap();
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
    assert_ne!(run(""), run(""), "a process that nobody knows is itself");
    for setting in ["[identity]\nwrappers = ['mysh']\n", "[identity]\nshells = 'mysh'\n"] {
        assert_eq!(run(setting), run(setting), "{setting}");
    }
}
