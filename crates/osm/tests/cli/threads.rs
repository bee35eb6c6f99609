//! A limit on threads (`ulimit -u`) makes commands slower, not dead.

use crate::sources;

/// What panics if the thread cannot be started.
const PANICS: [&str; 3] = ["thread::spawn(", "scope.spawn(", "s.spawn("];

#[test]
fn no_thread_is_started_that_panics() {
    let found: Vec<String> = sources::shipped()
        .iter()
        .flat_map(|source| source.code().map(|line| format!("{}: {line}", source.name)))
        .filter(|line| PANICS.iter().any(|call| line.contains(call)))
        .collect();
    assert!(found.is_empty(), "use std::thread::Builder, and do without: {found:#?}");
}

/// As a user who may have one process and no thread beside it.
#[cfg(target_os = "linux")]
#[test]
fn commands_work_without_threads() {
    use std::os::unix::fs::{PermissionsExt, chown};
    use std::process::Command;

    use osm_testkit::{program, tools, trials};

    trials::need(tools::root());
    for tool in ["setpriv", "prlimit"] {
        trials::need(tools::program(tool));
    }
    let folder = tempfile::tempdir_in("/tmp").unwrap();
    let (osm, home, tree) =
        (folder.path().join("osm"), folder.path().join("home"), folder.path().join("tree"));
    program::copy(env!("CARGO_BIN_EXE_osm").as_ref(), &osm).unwrap();
    for path in [&home, &tree] {
        std::fs::create_dir(path).unwrap();
    }
    for number in 0..300 {
        std::fs::write(tree.join(format!("{number}.txt")), format!("text {number}\n")).unwrap();
    }
    chown(&home, Some(65534), Some(65534)).unwrap();
    std::fs::set_permissions(folder.path(), PermissionsExt::from_mode(0o755)).unwrap();
    let run = |arguments: &[&str]| {
        let mut command = Command::new("setpriv");
        command.args(["--reuid=65534", "--regid=65534", "--clear-groups", "prlimit", "--nproc=1"]);
        command.arg(&osm).args(arguments).current_dir(&tree).env_clear();
        command.env("PATH", "/usr/bin:/bin").env("OSM_HOME", &home).env("OSM_SESSION", "limited");
        let output = command.output().unwrap();
        let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        (output.status.code(), said)
    };
    for arguments in [
        &["session", "id"][..],
        &["session", "list"],
        &["code-review", "-c", "add .", "-c", "show"],
        &["claim", "work", "--scope", "test"],
        &["release", "work", "--scope", "test"],
        &["session", "clean", "-y"],
    ] {
        let (code, said) = run(arguments);
        let brief: String = said.chars().take(1000).collect();
        assert_eq!(code, Some(0), "{arguments:?}: {brief}");
        assert!(!said.contains("panicked"), "{arguments:?}: {brief}");
        if arguments[0] == "code-review" {
            assert!(said.contains("text 299\n"), "{brief}");
        }
    }
    // A command whose signals cannot be passed on is not started.
    let (code, said) = run(&["claim", "run", "work", "--scope", "test", "--", "true"]);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("cannot pass signals to") && !said.contains("panicked"), "{said}");
}
