//! What osm creates has the promised permissions under every umask, and can be used again.
#![expect(clippy::unwrap_used, reason = "a helper that fails is a failed test")]

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use osm_testkit::{tools, trials};

use crate::harness::Env;

/// Usual umasks, and those that take permissions from the user.
const UMASKS: [&str; 6] = ["000", "022", "077", "0277", "0477", "0777"];

/// Commands that create files, for a shell in a repository. Each must work a second time.
const COMMANDS: &[&str] = &[
    "osm config set log.file osm.log",
    "osm config set log.level debug",
    "rm -f $OSM_HOME/goals/mine.prompt.md && osm goal new mine",
    "rm -f .osm/goals/ours.prompt.md && osm goal new ours --here",
    "rm -f .osm/goals/code.json && osm goal new code --here --json-file",
    // osm trusts no file that every user can write to.
    "chmod -R go-w .osm && osm trust .osm/goals/code.json",
    // Without a clipboard it saves the prompt to a file, and says so with an error.
    "osm code-review -c 'note hello' -c copy || test $(ls $OSM_HOME/prompts | wc -l) -ge 1",
    "osm --session other prompt-flow -c 'note hello'",
    "osm script -i -c 'js log.info(1)' script.js",
    "rm -f ../export.json && osm session export -o ../export.json",
    "osm session import -y ../export.json",
    "osm session reset -y",
    "osm session delete -y other",
    "osm session clean -y",
    "osm claim one",
    "osm claim run two -- true",
    "osm release one",
    "osm claim guard install",
];

fn mode(path: &Path) -> u32 {
    path.symlink_metadata().unwrap().permissions().mode() & 0o7777
}

/// Everything in a folder, with the folder.
fn all(folder: &Path) -> Vec<PathBuf> {
    let mut found = vec![folder.to_owned()];
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { found.extend(all(&path)) } else { found.push(path) }
    }
    found
}

fn run(env: &Env, umask: &str, command: &str) {
    let program = Path::new(env!("CARGO_BIN_EXE_osm")).parent().unwrap();
    let output = Command::new("sh")
        .args(["-c", &format!("umask {umask}; {command}")])
        .current_dir(env.path().join("tree"))
        .env_clear()
        .env("PATH", format!("{}:/usr/local/bin:/usr/bin:/bin", program.display()))
        .env("HOME", env.path())
        .env("OSM_HOME", env.path().join("new/home"))
        .env("OSM_SESSION", "umask")
        .output()
        .unwrap();
    assert!(output.status.success(), "umask {umask}: {command}: {output:?}");
}

#[test]
fn permissions_hold_under_every_umask() {
    trials::need(tools::program("git"));
    for umask in UMASKS {
        let env = Env::new();
        let tree = env.path().join("tree");
        std::fs::create_dir(&tree).unwrap();
        let made = Command::new("git").args(["init", "-q"]).current_dir(&tree).status().unwrap();
        assert!(made.success());
        std::fs::write(tree.join("script.js"), "").unwrap();
        for _ in 0..2 {
            for command in COMMANDS {
                run(&env, umask, command);
            }
        }
        let home = env.path().join("new");
        let made = all(&home);
        for path in &made {
            let expected = if path.is_dir() { 0o700 } else { 0o600 };
            assert_eq!(mode(path), expected, "umask {umask}: {}", path.display());
        }
        for name in ["config.toml", "osm.log", "claims.db", "goals/mine.prompt.md", "prompts"] {
            assert!(made.contains(&home.join("home").join(name)), "{name} of {made:?}");
        }
        assert_eq!(mode(&env.path().join("export.json")), 0o600);
        assert_eq!(mode(&tree.join(".git/hooks/pre-commit")), 0o755);
        for path in all(&tree.join(".osm")) {
            let own = if path.is_dir() { 0o700 } else { 0o600 };
            assert_eq!(mode(&path) & own, own, "umask {umask}: {}", path.display());
        }
    }
}
