use super::super::script::END;
use super::script::BEGIN;
use super::*;

/// A hook in a folder of its own, with this text and, on Unix, this mode.
fn hook(text: Option<&str>, mode: u32) -> (tempfile::TempDir, Hook) {
    let folder = tempfile::tempdir().unwrap();
    let hook = Hook { path: folder.path().join("pre-commit") };
    if let Some(text) = text {
        std::fs::write(&hook.path, text).unwrap();
        set_mode(&hook.path, mode);
    }
    (folder, hook)
}

fn check(require: bool) -> Call {
    Call { task: script::Task::Check { require, staged: false }, program: None }
}

fn install(hook: &Hook, require: bool) -> &'static str {
    let plan = hook.install(&check(require)).unwrap();
    hook.carry_out(&plan).unwrap();
    plan.state
}

fn remove(hook: &Hook) -> &'static str {
    let plan = hook.remove().unwrap();
    hook.carry_out(&plan).unwrap();
    plan.state
}

fn read(hook: &Hook) -> String {
    std::fs::read_to_string(&hook.path).unwrap()
}

/// What is in the folder: every name, with its mode and its text, or where it leads.
fn all(folder: &Path) -> Vec<(String, u32, String)> {
    let mut all: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| {
            let entry = entry.unwrap();
            let text = match std::fs::read_link(entry.path()) {
                Ok(target) => target.display().to_string(),
                Err(_) => std::fs::read_to_string(entry.path()).unwrap(),
            };
            (entry.file_name().into_string().unwrap(), mode(&entry.path()), text)
        })
        .collect();
    all.sort();
    all
}

#[cfg(unix)]
fn set_mode(path: &Path, mode: u32) {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

#[cfg(unix)]
fn mode(path: &Path) -> u32 {
    use std::os::unix::fs::PermissionsExt;
    path.symlink_metadata().unwrap().permissions().mode() & 0o7777
}

#[cfg(not(unix))]
fn set_mode(_path: &Path, _mode: u32) {}

#[cfg(not(unix))]
fn mode(_path: &Path) -> u32 {
    0
}

#[test]
fn the_guard_goes_in_and_out_without_a_trace() {
    for text in [
        "#!/bin/sh\necho mine\n",
        "#!/bin/sh\nno newline",
        "#!/bin/sh\n\n",
        "#!/bin/sh\n",
        "#!/bin/bash",
        "",
        "no interpreter",
        "#!/usr/bin/env bash\nset -e\n",
        "#!/usr/bin/env python3\nprint('mine')\n",
    ] {
        for mode in [0o755, 0o700, 0o644, 0o640] {
            let (folder, hook) = hook(Some(text), mode);
            let before = all(folder.path());
            for require in [false, true, false] {
                install(&hook, require);
                let guarded = read(&hook);
                assert_eq!(guarded.matches(BEGIN).count(), 1, "{guarded}");
                assert_eq!(guarded.contains("check --require"), require, "{guarded}");
            }
            assert_eq!(remove(&hook), "as it was", "{text:?}");
            assert_eq!(all(folder.path()), before, "{text:?} {mode:o}");
            assert_eq!(remove(&hook), "not guarded");
        }
    }
}

#[test]
fn a_hook_of_ours_alone_is_removed_whole() {
    let (folder, hook) = hook(None, 0);
    for _ in 0..2 {
        assert_eq!(install(&hook, true), ADDED);
    }
    assert!(read(&hook).contains("check --require"));
    assert_eq!(remove(&hook), "removed");
    assert_eq!(all(folder.path()), []);
}

#[test]
fn a_guard_without_its_end_is_refused_and_nothing_is_changed() {
    let (folder, hook) = hook(Some("#!/bin/sh\necho mine\n"), 0o755);
    install(&hook, false);
    std::fs::write(&hook.path, read(&hook).replace(END, "")).unwrap();
    let before = all(folder.path());
    for refused in [hook.install(&check(false)), hook.remove()] {
        let Err(error) = refused.map(|plan| plan.state) else { panic!("it was not refused") };
        let message = error.to_string();
        assert!(message.contains(END), "{message}");
        assert!(message.contains(&hook.path.display().to_string()), "{message}");
    }
    assert_eq!(all(folder.path()), before);
}

#[test]
fn no_hook_is_overwritten() {
    let python = "#!/usr/bin/env python3\n\n";
    for text in [None, Some(python)] {
        let (_folder, hook) = hook(text, 0o755);
        std::fs::write(hook.aside(), "old").unwrap();
        assert!(hook.install(&check(false)).is_err(), "{text:?}");
    }
    // Nor what was written into ours.
    let (_folder, hook) = hook(Some(python), 0o755);
    install(&hook, false);
    std::fs::write(&hook.path, read(&hook) + "echo more\n").unwrap();
    assert!(hook.remove().is_err());
    // One that stands there by chance is not ours to bring back.
    let (_folder, hook) = self::hook(Some("#!/bin/sh\necho mine\n"), 0o755);
    std::fs::write(hook.aside(), "old").unwrap();
    install(&hook, false);
    remove(&hook);
    assert_eq!(read(&hook), "#!/bin/sh\necho mine\n");
}

#[cfg(unix)]
#[test]
fn a_guard_that_was_disabled_is_enabled_without_what_else_was_in_it() {
    let (_folder, hook) = hook(Some("#!/bin/sh\necho mine\n"), 0o755);
    install(&hook, false);
    set_mode(&hook.path, 0o644);
    assert_eq!(install(&hook, false), DISABLED);
    assert_eq!((mode(&hook.path), mode(&hook.aside())), (0o755, 0o644));
    assert_eq!(remove(&hook), "as it was");
    assert_eq!((mode(&hook.path), read(&hook)), (0o644, "#!/bin/sh\necho mine\n".into()));
}

#[cfg(unix)]
#[test]
fn a_link_stays_a_link() {
    for (target, said) in [("script", CALLED), ("nowhere", DISABLED)] {
        let (folder, hook) = hook(None, 0);
        std::fs::write(folder.path().join("script"), "#!/bin/sh\necho mine\n").unwrap();
        set_mode(&folder.path().join("script"), 0o755);
        std::os::unix::fs::symlink(target, &hook.path).unwrap();
        let before = all(folder.path());
        for _ in 0..2 {
            assert_eq!(install(&hook, false), said);
        }
        assert_eq!(remove(&hook), "as it was");
        assert_eq!(all(folder.path()), before);
    }
}
