//! Installing keeps every byte of the user's files, and removing gives them back.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};

use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use serde_json::Value;

use super::site::Site;

/// The files of settings that users write, too; whether comments are allowed in them.
const SHARED: [(&str, bool); 6] = [
    (".claude/settings.json", false),
    (".codex/hooks.json", false),
    (".gemini/settings.json", true),
    (".qwen/settings.json", true),
    (".config/crush/crush.json", true),
    (".cursor/hooks.json", false),
];

const ALL: &[&str] = &["agent", "install", "--all"];
const REMOVE: &[&str] = &["agent", "remove", "--all"];

#[test]
fn the_hooks_of_claude() {
    let site = Site::new();
    site.write(".claude/settings.json", "{\n  \"model\": \"opus\"\n}\n");
    site.ok(&["agent", "install", "claude"]);
    let text = fs::read_to_string(site.path(".claude/settings.json")).unwrap();
    let settings: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(settings["model"], "opus");
    let hook = &settings["hooks"]["PreToolUse"][0];
    assert!(hook["matcher"].as_str().unwrap().contains("Write|Edit"), "{hook}");
    assert_eq!(
        hook["hooks"][0]["command"],
        "command -v osm >/dev/null 2>&1 || exit 0; osm agent hook before-tool"
    );
    let skill = fs::read_to_string(site.path(".claude/skills/osm/SKILL.md")).unwrap();
    assert!(skill.starts_with("---\nname: osm\ndescription: "), "{skill}");
    assert!(site.ok(&["agent", "status"]).contains("claude    yes    installed"));
}

#[test]
fn installing_twice_changes_nothing() {
    let site = Site::new();
    for (file, _) in SHARED {
        site.write(file, "{}\n");
    }
    let missing = site.osm(&["agent", "install", "--all", "--check"]);
    assert_eq!(missing.code, Some(1), "{}", missing.stdout);
    site.ok(ALL);
    let once = site.snapshot();
    let again = site.ok(ALL);
    assert!(again.contains("already installed") && !again.contains("changed\n"), "{again}");
    assert_eq!(once, site.snapshot());
    site.ok(&["agent", "install", "--all", "--check"]);
    for row in serde_json::from_str::<Vec<Value>>(&site.ok(&["agent", "status", "--json"])).unwrap()
    {
        assert_eq!(row["user"], "installed", "{row}");
        assert_eq!(row["project"], "absent", "{row}");
    }
}

#[test]
fn a_dry_run_shows_the_difference_and_changes_nothing() {
    let site = Site::new();
    site.write(".claude/settings.json", "{\n  \"model\": \"opus\"\n}\n");
    let before = site.snapshot();
    let diff = site.ok(&["agent", "install", "claude", "--dry-run"]);
    assert!(
        diff.contains("-  \"model\": \"opus\"\n+  \"model\": \"opus\",\n+  \"hooks\": {\n"),
        "{diff}"
    );
    assert_eq!(before, site.snapshot());
    assert_eq!(site.ok(&["agent", "remove"]), "nothing is installed\n");
}

#[test]
fn every_file_is_as_before_after_remove() {
    let spaces = ["", " ", "\n", "\r\n\t", "\n\n    "];
    let comments = ["", " // mine, \"hooks\"\n", "/* { */"];
    let strategy = (0..7_usize, 0..spaces.len(), 0..comments.len(), any::<bool>(), any::<bool>());
    let mut runner = TestRunner::new(proptest::test_runner::Config {
        cases: 24,
        failure_persistence: None,
        ..Default::default()
    });
    let site = Site::new();
    runner
        .run(&strategy, |(kind, space, comment, has_end, is_link)| {
            let space = spaces[space];
            for (file, allowed) in SHARED {
                let comment = if allowed { comments[comment] } else { "" };
                let text = match kind {
                    0 => None,
                    1 => Some(String::new()),
                    2 => Some(format!("{{{space}}}")),
                    3 => Some(format!("{{{space}\"a\":{space}1{comment}{space}}}")),
                    4 => Some(format!("{{{space}{comment}\"hooks\": {{{space}}},{space}\"z\": []}}")),
                    5 => Some(format!(
                        "{{{space}\"hooks\": {{{space}\"PreToolUse\": [{space}{{\"matcher\": \"X\", \"hooks\": []}}{comment}{space}]}}}}"
                    )),
                    _ => Some(format!("\u{feff}{{\"version\": 1,{space}\"é\": \"\\u00e9\"{comment}}}")),
                };
                let path = site.path(file);
                site.delete(file);
                let Some(text) = text else { continue };
                let text = if has_end { text + "\n" } else { text };
                if is_link {
                    site.write("dotfiles/real", "");
                    let real = site.path(&format!("dotfiles/{}", file.replace('/', "-")));
                    fs::write(&real, text).unwrap();
                    fs::set_permissions(&real, Permissions::from_mode(0o640)).unwrap();
                    fs::create_dir_all(path.parent().unwrap()).unwrap();
                    symlink(&real, &path).unwrap();
                } else {
                    site.write(file, &text);
                }
            }
            let before = site.snapshot();
            site.ok(ALL);
            prop_assert_ne!(&before, &site.snapshot());
            site.ok(REMOVE);
            prop_assert_eq!(&before, &site.snapshot());
            Ok(())
        })
        .unwrap();
}

#[test]
fn what_the_user_changed_since_stays() {
    let site = Site::new();
    site.write(".gemini/settings.json", "{\n  // mine\n  \"a\": 1\n}\n");
    site.ok(&["agent", "install", "gemini"]);
    let path = site.path(".gemini/settings.json");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replace("\"a\": 1", "\"a\": 2,\n  \"b\": 3")).unwrap();
    site.ok(&["agent", "remove", "gemini"]);
    assert_eq!(fs::read_to_string(&path).unwrap(), "{\n  // mine\n  \"a\": 2,\n  \"b\": 3\n}\n");
}

#[test]
fn files_that_osm_must_not_change() {
    let site = Site::new();
    let refused = |agent: &str, reason: &str| {
        let before = site.snapshot();
        let ran = site.osm(&["agent", "install", agent, "--json"]);
        assert_eq!(ran.code, Some(1), "{}", ran.stdout);
        let error: Value = serde_json::from_str(&ran.stdout).unwrap();
        assert_eq!(error["reason"], reason, "{error}");
        assert_eq!(before, site.snapshot(), "nothing is changed");
    };
    site.write(".claude/settings.json", "{} // a comment switches the file off");
    refused("claude", "invalid_file");
    site.write(".codex/hooks.json", "{\"hooks\": []}");
    refused("codex", "invalid_file");
    site.write(".qwen/settings.json", "{}");
    fs::set_permissions(site.path(".qwen/settings.json"), Permissions::from_mode(0o444)).unwrap();
    refused("qwen", "invalid_file");
    fs::create_dir_all(site.path(".gemini")).unwrap();
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("settings.json"), "{}").unwrap();
    symlink(outside.path().join("settings.json"), site.path(".gemini/settings.json")).unwrap();
    refused("gemini", "link_leads_out");
    site.write(".copilot/hooks/osm.json", "{\"mine\": true}");
    refused("copilot", "file_exists");
    let unknown = site.osm(&["agent", "install", "claud"]);
    assert_eq!(unknown.code, Some(2));
    assert!(unknown.stderr.contains("did you mean claude?"), "{}", unknown.stderr);
}

#[test]
fn hooks_of_a_project_are_for_all_its_users() {
    let site = Site::new();
    let before = site.snapshot();
    site.ok(&["agent", "install", "claude", "copilot", "--project"]);
    assert!(site.path("work/.claude/settings.json").is_file());
    let mode = fs::metadata(site.path("work/.github/hooks/osm.json")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o644);
    // The user's own hooks are another matter.
    assert_eq!(site.ok(&["agent", "remove"]), "nothing is installed\n");
    site.ok(&["agent", "remove", "--project"]);
    assert_eq!(before, site.snapshot());
}

#[test]
fn the_record_is_private() {
    let site = Site::new();
    site.ok(&["agent", "install", "cline"]);
    let record = site.path(".config/one-shot-man/agents.json");
    assert_eq!(fs::metadata(record).unwrap().permissions().mode() & 0o777, 0o600);
    let program = fs::metadata(site.path(".cline/hooks/PreToolUse")).unwrap();
    assert_eq!(program.permissions().mode() & 0o777, 0o755);
}
