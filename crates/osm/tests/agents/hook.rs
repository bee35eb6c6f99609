//! What a hook answers. The agent is a copy of a shell with the agent's name, which runs the hook as agents do.
#![expect(clippy::unwrap_used, reason = "a file that cannot be read is a failed test")]

use std::fs;

use osm_testkit::{program, tools, trials};
use serde_json::{Value, json};

use super::site::{Ran, Site, with_input};

/// Runs a hook below an agent.
fn hook(site: &Site, agent: &str, event: &str, payload: &[u8]) -> Ran {
    let shell = site.path(agent);
    if !shell.exists() {
        program::copy(&trials::need(tools::program("bash")), &shell).unwrap();
    }
    let mut command = site.command(&shell);
    // A shell that runs one command replaces itself by it.
    command.args(["-c", &format!("osm agent hook {event}; exit $?")]);
    with_input(command, payload)
}

fn answer(site: &Site, agent: &str, event: &str, payload: &Value) -> Value {
    let ran = hook(site, agent, event, payload.to_string().as_bytes());
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    if ran.stdout.is_empty() { Value::Null } else { serde_json::from_str(&ran.stdout).unwrap() }
}

fn edit(session: &str, path: &str) -> Value {
    json!({ "session_id": session, "hook_event_name": "PreToolUse", "tool_name": "Write", "tool_input": { "file_path": path } })
}

fn after(session: &str, path: &str) -> Value {
    json!({ "session_id": session, "hook_event_name": "PostToolUse", "tool_name": "Write", "tool_input": { "file_path": path } })
}

#[test]
fn a_session_is_told_who_it_is() {
    let site = Site::new();
    let start =
        json!({ "session_id": "s1", "hook_event_name": "SessionStart", "source": "startup" });
    let answer = answer(&site, "claude", "session-start", &start);
    let context = answer["hookSpecificOutput"]["additionalContext"].as_str().unwrap();
    assert!(context.contains("You are session ") && context.contains("claude-code"), "{context}");
}

#[test]
fn a_hook_and_a_shell_command_are_one_session() {
    let site = Site::new();
    for (agent, variable) in [
        ("claude", Some("CLAUDE_CODE_SESSION_ID")),
        ("codex", Some("CODEX_THREAD_ID")),
        ("qwen", Some("QWEN_CODE_SESSION_ID")),
        ("copilot", Some("COPILOT_AGENT_SESSION_ID")),
        ("gemini", None),
    ] {
        let start = json!({ "session_id": "s1", "hook_event_name": "SessionStart" }).to_string();
        let shell = site.path(agent);
        program::copy(&trials::need(tools::program("bash")), &shell).unwrap();
        let mut command = site.command(&shell);
        let with = variable.map(|name| format!("{name}=s1 ")).unwrap_or_default();
        let line = format!(
            "{with}osm session id; {with}osm session id; osm agent hook session-start; exit"
        );
        // The variable of a hook alone counts for nothing.
        command.env("GEMINI_SESSION_ID", "s1").args(["-c", &line]);
        let ran = with_input(command, start.as_bytes());
        let id = ran.stdout.lines().next().unwrap().to_owned();
        assert!(id.starts_with("agent--"), "{agent}: {}", ran.stdout);
        assert_eq!(ran.stdout.matches(&id).count(), 3, "{agent}: {}", ran.stdout);
    }
}

#[test]
fn a_file_that_changed_must_be_read_again() {
    let site = Site::new();
    let file = site.path("work/a.txt");
    let path = file.display().to_string();
    fs::write(&file, "1").unwrap();
    let before = |path: &str| answer(&site, "claude", "before-tool", &edit("s1", path));
    assert_eq!(before(&path), Value::Null);
    assert_eq!(answer(&site, "claude", "after-tool", &after("s1", &path)), Value::Null);
    assert_eq!(before(&path), Value::Null);
    fs::write(&file, "a person's change").unwrap();
    let refused = before(&path);
    let why = refused["hookSpecificOutput"]["permissionDecisionReason"].as_str().unwrap();
    assert!(why.contains("changed on disk since you last read or wrote it"), "{why}");
    assert_eq!(before(&path), Value::Null, "it is refused once");
}

#[test]
fn a_subagents_commands_are_told_apart() {
    let site = Site::new();
    let shell = |subagent: Option<&str>| {
        let mut payload = json!({ "session_id": "s1", "hook_event_name": "PreToolUse", "tool_name": "Bash",
            "tool_input": { "command": "make", "timeout": 5 } });
        if let Some(subagent) = subagent {
            payload["agent_id"] = subagent.into();
        }
        answer(&site, "claude", "before-tool", &payload)
    };
    assert_eq!(shell(None), Value::Null);
    let changed = &shell(Some("a1"))["hookSpecificOutput"];
    assert_eq!(
        changed["updatedInput"],
        json!({ "command": "export CLAUDE_CODE_SESSION_ID=s1 OSM_CONTEXT_ID=a1; make", "timeout": 5 })
    );
    assert_eq!(
        changed["permissionDecision"],
        Value::Null,
        "osm permits nothing that the user did not"
    );
}

#[test]
fn nothing_makes_a_hook_exit_with_an_error() {
    let site = Site::new();
    let huge = format!("{{\"a\":\"{}\"}}", "x".repeat(4 << 20));
    let deep = "[".repeat(200_000);
    let payloads: [&[u8]; 8] = [
        b"",
        b"{",
        b"[]",
        b"null",
        b"\xff\xfe\x00",
        b"{\"tool_name\":3}",
        huge.as_bytes(),
        deep.as_bytes(),
    ];
    for agent in ["claude", "gemini", "copilot"] {
        for event in ["before-tool", "session-start", "session-end", "nonsense", "'$(x)'"] {
            for payload in payloads {
                let ran = hook(&site, agent, event, payload);
                assert_eq!(ran.code, Some(0), "{agent} {event}: {}", ran.stderr);
                let is_json = serde_json::from_str::<Value>(&ran.stdout).is_ok();
                assert!(ran.stdout.is_empty() || is_json, "{agent} {event}: {}", ran.stdout);
            }
        }
    }
    // More arguments, and options, too.
    assert_eq!(hook(&site, "claude", "before-tool --nonsense x", b"{}").code, Some(0));
}

#[test]
fn a_home_that_cannot_be_used_stops_no_tool() {
    let site = Site::new();
    site.write(".config/one-shot-man", "a file in the place of the folder");
    for event in ["before-tool", "after-tool", "session-start", "session-end"] {
        let ran = hook(&site, "claude", event, edit("s1", "/tmp/x").to_string().as_bytes());
        assert_eq!(ran.code, Some(0), "{event}: {}", ran.stderr);
        assert!(!ran.stdout.contains("deny"), "{event}: {}", ran.stdout);
    }
}

#[test]
fn the_check_plays_a_race_and_a_death() {
    let site = Site::new();
    let text = site.ok(&["agent", "check"]);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 8, "{text}");
    assert_eq!(lines[1], "    one session has it");
    assert!(lines[3].contains("path:file.txt: already claimed by a running session"), "{text}");
    assert!(lines[5].starts_with("    the other session has the file after "), "{text}");
    let checked: Value = serde_json::from_str(&site.ok(&["agent", "check", "--json"])).unwrap();
    assert_eq!(checked["ok"], true, "{checked}");
}

/// A session that holds `a.txt`, by a lease.
fn held(site: &Site) -> String {
    site.ok(&["claim", "path", "a.txt", "--note", "their\nnote", "--session", "holder"]);
    site.path("work/a.txt").display().to_string()
}

/// What the holder is told at its next hook.
fn told_to_holder(site: &Site) -> String {
    let mut command = site.command(&super::site::program());
    command.env("OSM_SESSION", "holder").args(["agent", "hook", "after-tool"]);
    with_input(command, after("s9", "/nowhere").to_string().as_bytes()).stdout
}

#[test]
fn a_held_file_is_refused_in_every_form_of_its_name() {
    let site = Site::new();
    let path = held(&site);
    fs::create_dir(site.path("work/sub")).unwrap();
    std::os::unix::fs::symlink("a.txt", site.path("work/link")).unwrap();
    fs::write(&path, "x").unwrap();
    let work = site.work().display().to_string();
    for name in [
        path.clone(),
        format!("{work}/sub/../a.txt"),
        format!("{work}//./a.txt"),
        format!("{work}/link"),
    ] {
        let refused = answer(&site, "claude", "before-tool", &edit("s1", &name));
        let why = refused["hookSpecificOutput"]["permissionDecisionReason"].as_str();
        let why = why.unwrap_or_else(|| panic!("{name} is not refused: {refused}"));
        for part in [
            "path:a.txt: already claimed",
            "Their note: \"their",
            "osm claim --wait 10m path:a.txt",
        ] {
            assert!(why.contains(part), "{why}");
        }
        assert_eq!(why.lines().count(), 1, "{why}");
    }
    let relative = json!({ "session_id": "s1", "cwd": work, "tool_name": "apply_patch", "tool_input":
        { "command": "*** Begin Patch\n*** Add File: b.txt\n+x\n*** Update File: a.txt\n*** End Patch" } });
    let refused = answer(&site, "codex", "before-tool", &relative);
    assert_eq!(refused["hookSpecificOutput"]["permissionDecision"], "deny", "{refused}");
    let claims = site.ok(&["claims", "--session", "observer"]);
    assert!(!claims.contains("b.txt"), "all files of a patch, or none: {claims}");
    assert_eq!(
        answer(&site, "claude", "before-tool", &edit("s1", "/elsewhere/a.txt")),
        Value::Null
    );
}

#[test]
fn a_subagent_is_another_owner() {
    let site = Site::new();
    let shell = site.path("claude");
    program::copy(&trials::need(tools::program("bash")), &shell).unwrap();
    let payload = |subagent: &str| {
        let mut payload = edit("s1", &site.path("work/b.txt").display().to_string());
        payload["agent_id"] = subagent.into();
        payload.to_string()
    };
    site.write("one", &payload("a1"));
    site.write("two", &payload("a2"));
    let mut command = site.command(&shell);
    let line = "for it in one one two; do osm agent hook before-tool <~/$it; echo; done; exit";
    command.args(["-c", line]);
    let ran = with_input(command, b"");
    let lines: Vec<&str> = ran.stdout.lines().collect();
    assert_eq!(lines[..2], ["", ""], "{}", ran.stdout);
    assert!(lines[2].contains("\"deny\""), "{}", ran.stdout);
}

#[test]
fn warn_lets_the_edit_through_and_tells_both() {
    let site = Site::new();
    let path = held(&site);
    site.ok(&["config", "set", "agent.edits", "warn"]);
    let warned = answer(&site, "claude", "before-tool", &edit("s1", &path));
    assert_eq!(warned["hookSpecificOutput"]["permissionDecision"], Value::Null);
    let context = warned["hookSpecificOutput"]["additionalContext"].as_str().unwrap();
    assert!(
        context.contains("lets this edit through") && context.contains("already claimed"),
        "{context}"
    );
    let told = told_to_holder(&site);
    assert!(told.contains("changed path:a.txt, which you hold"), "{told}");
    assert_eq!(told_to_holder(&site), "", "it is told once");
    site.ok(&["config", "set", "agent.edits", "off"]);
    let edited = || answer(&site, "claude", "before-tool", &edit("s1", &path));
    assert_eq!(edited(), Value::Null);
    // The repository can be stricter than the user, and not the other way round.
    site.write("work/.osm/config.toml", "agent.edits = 'refuse'\n");
    assert_eq!(edited()["hookSpecificOutput"]["permissionDecision"], "deny");
    site.ok(&["config", "unset", "agent.edits"]);
    site.write("work/.osm/config.toml", "agent.edits = 'off'\n");
    assert_eq!(edited()["hookSpecificOutput"]["permissionDecision"], "deny");
}

#[test]
fn a_command_that_changes_a_held_file_is_reported_to_both() {
    let site = Site::new();
    let path = held(&site);
    fs::write(&path, "1").unwrap();
    let shell = |event: &str| {
        let payload = json!({ "session_id": "s1", "cwd": site.work(), "hook_event_name": event, "tool_name": "Bash",
            "tool_input": { "command": "sed -i s/1/2/ a.txt" } });
        let word = if event == "PreToolUse" { "before-tool" } else { "after-tool" };
        answer(&site, "claude", word, &payload)
    };
    assert_eq!(shell("PreToolUse"), Value::Null);
    assert_eq!(shell("PostToolUse"), Value::Null, "nothing changed");
    assert_eq!(shell("PreToolUse"), Value::Null);
    fs::write(&path, "22").unwrap();
    let told = shell("PostToolUse");
    let told = told["hookSpecificOutput"]["additionalContext"].as_str().unwrap();
    assert!(told.contains("your command changed a.txt, which "), "{told}");
    assert_eq!(shell("PostToolUse"), Value::Null, "it is told once");
    assert!(told_to_holder(&site).contains("changed a.txt, which you hold"));
}

#[test]
fn an_error_of_the_ledger_lets_the_edit_through_and_is_told_once() {
    let site = Site::new();
    let path = held(&site);
    site.write(".config/one-shot-man/claims.db", "not a ledger");
    for name in ["claims.db-wal", "claims.db-shm"] {
        site.delete(&format!(".config/one-shot-man/{name}"));
    }
    let payload = edit("s1", &path).to_string();
    let first = hook(&site, "claude", "before-tool", payload.as_bytes());
    assert_eq!(first.code, Some(0));
    assert!(
        first.stdout.contains("systemMessage") && first.stdout.contains("let an edit through"),
        "{}",
        first.stdout
    );
    assert!(!first.stdout.contains("deny") && first.stderr.contains("let an edit through"));
    let second = hook(&site, "claude", "before-tool", payload.as_bytes());
    assert_eq!((second.stdout.as_str(), second.stderr.as_str()), ("", ""));
}

#[test]
fn a_message_is_repeated_until_it_is_acknowledged() {
    let site = Site::new();
    held(&site);
    let sent = site.ok(&["ask", "a.txt", "may I\nhave it?", "--session", "asker"]);
    assert!(sent.contains(", who holds path:a.txt"), "{sent}");
    let told = told_to_holder(&site);
    assert!(told.contains("asks about path:a.txt: \\\"may I\\\\nhave it?\\\""), "{told}");
    assert!(told.contains("acknowledge: osm inbox"), "{told}");
    assert_eq!(told_to_holder(&site), "", "a hook does not repeat it at once");
    let primed = site.ok(&["prime", "--session", "holder"]);
    assert!(primed.contains("asks about path:a.txt"), "{primed}");
    // The asker holds nothing; its message is what it is known by.
    let asker = told.split(" asks about").next().unwrap().rsplit(' ').next().unwrap().to_owned();
    site.ok(&["ask", &asker, "soon", "--session", "holder"]);
    assert!(site.ok(&["inbox", "--session", "asker"]).contains("\"soon\""));
    let claims = site.osm(&["claims", "--session", "holder"]);
    assert!(claims.stderr.contains("asks about path:a.txt"), "{}", claims.stderr);
    // Only its recipient acknowledges it.
    assert_eq!(site.ok(&["inbox", "--session", "asker"]), "no messages\n");
    for arguments in [["inbox", "--keep"], ["inbox", "--json"]] {
        let inbox = site.ok(&[arguments.as_slice(), &["--session", "holder"]].concat());
        assert!(inbox.contains("have it?"), "{inbox}");
    }
    assert_eq!(site.ok(&["inbox", "--session", "holder"]), "no messages\n");
    assert_eq!(site.osm(&["claims", "--session", "holder"]).stderr, "");
    let log = site.ok(&["claim", "log", "path:a.txt", "--session", "holder"]);
    assert!(log.contains("asked") && log.contains("may I"), "{log}");

    let nothing = site.osm(&["ask", "b.txt", "hello", "--session", "asker"]);
    assert_eq!(nothing.code, Some(1), "{}", nothing.stderr);
    assert!(nothing.stderr.contains("no other running session holds b.txt"), "{}", nothing.stderr);
    assert_eq!(site.osm(&["ask", "holder", "", "--session", "asker"]).code, Some(2));
    let long = "x".repeat(4097);
    assert_eq!(site.osm(&["tell", "--all", &long, "--session", "asker"]).code, Some(2));
    site.ok(&["tell", "--all", "lunch", "--session", "asker"]);
    site.ok(&["ask", "holder", "hello", "--session", "asker"]);
    let inbox = site.ok(&["inbox", "--session", "holder"]);
    assert_eq!(inbox.lines().count(), 2, "{inbox}");
    assert_eq!(site.ok(&["inbox", "--session", "asker"]), "no messages\n");
}

#[test]
fn a_holder_is_told_who_waits_and_what_it_lost() {
    let site = Site::new();
    held(&site);
    let mut waiter = site.command(&super::site::program());
    waiter.args(["claim", "path", "a.txt", "--wait", "10m", "--session", "waiter"]);
    let mut waiter = waiter.stderr(std::process::Stdio::null()).spawn().unwrap();
    // The hook is the thing that is awaited; each run of it is a look.
    let told = loop {
        let told = told_to_holder(&site);
        if !told.is_empty() {
            break told;
        }
    };
    assert!(told.contains(" waits for path:a.txt"), "{told}");
    site.ok(&["release", "path:a.txt", "--session", "holder"]);
    assert!(waiter.wait().unwrap().success());
    let take = ["claim", "take", "path:a.txt", "--reason", "mine", "--even-if-alive"];
    site.ok(&[take.as_slice(), &["--session", "holder"]].concat());
    let mut command = site.command(&super::site::program());
    command.env("OSM_SESSION", "waiter").args(["agent", "hook", "after-tool"]);
    let told = with_input(command, after("s9", "/nowhere").to_string().as_bytes()).stdout;
    assert!(told.contains("path:a.txt is no longer yours"), "{told}");
}

/// Real git in a worktree that two sessions share.
#[test]
fn git_does_not_sweep_away_what_others_hold() {
    let site = Site::new();
    let path = held(&site);
    fs::write(&path, "the holder's work").unwrap();
    let git = |line: &str| {
        let mut command = site.command(&trials::need(tools::program("git")));
        command.args(["-c", "user.name=n", "-c", "user.email=e"]).args(line.split(' '));
        super::site::finish(command.output().unwrap())
    };
    assert_eq!(git("commit -q --allow-empty -m first").code, Some(0));
    let shell = |command: &str| {
        let payload = json!({ "session_id": "s1", "cwd": site.work(), "hook_event_name": "PreToolUse",
            "tool_name": "Bash", "tool_input": { "command": command } });
        answer(&site, "claude", "before-tool", &payload)
    };
    for command in ["git stash -u", "cd . && git -c a.b=c clean -fd", "(git reset --hard)"] {
        let refused = &shell(command)["hookSpecificOutput"];
        assert_eq!(refused["permissionDecision"], "deny", "{command}: {refused}");
        let why = refused["permissionDecisionReason"].as_str().unwrap();
        assert!(why.contains("path:a.txt (") && why.contains("was not run"), "{why}");
    }
    let said = &shell("sh -c 'git stash -u'")["hookSpecificOutput"];
    assert_eq!(said["permissionDecision"], Value::Null, "{said}");
    assert!(said["additionalContext"].as_str().unwrap().contains("path:a.txt"), "{said}");
    for command in ["git status", "git stash list", "git checkout -- other.txt"] {
        assert_eq!(shell(command), Value::Null, "{command}");
    }
    // A sweep by `git add -A` is refused where it would become a commit.
    let guarded = |session: &str, line: &str| {
        let mut command = site.command(&trials::need(tools::program("git")));
        command.env("OSM_SESSION", session).args(["-c", "user.name=n", "-c", "user.email=e"]);
        super::site::finish(command.args(line.split(' ')).output().unwrap())
    };
    site.ok(&["claim", "guard", "install"]);
    fs::write(site.path("work/mine.txt"), "mine").unwrap();
    assert_eq!(guarded("other", "add -A").code, Some(0));
    let refused = guarded("other", "commit -q -m sweep");
    assert_ne!(refused.code, Some(0));
    assert!(refused.stderr.contains("path:a.txt: already claimed"), "{}", refused.stderr);
    assert_eq!(guarded("holder", "commit -q -m mine").code, Some(0));
    assert_eq!(shell("git stash -u")["hookSpecificOutput"]["permissionDecision"], "deny");
    site.ok(&["release", "path:a.txt", "--session", "holder"]);
    assert_eq!(shell("git stash -u"), Value::Null, "no session holds a file");
}

/// In one process of the agent, which edits two files: what a script of its shell then releases, and what stays
/// claimed.
fn released_and_open(script: &str) -> (String, String) {
    let site = Site::new();
    let shell = site.path("claude");
    program::copy(&trials::need(tools::program("bash")), &shell).unwrap();
    for (file, name) in [("one", "a.txt"), ("two", "b.txt")] {
        site.write(
            file,
            &edit("s1", &site.path("work").join(name).display().to_string()).to_string(),
        );
    }
    let after = json!({ "session_id": "s1", "cwd": site.work(), "hook_event_name": "PostToolUse",
        "tool_name": "Bash", "tool_input": { "command": "git commit -am x" } });
    site.write("after", &after.to_string());
    let mut command = site.command(&shell);
    let script = format!(
        "git='git -c user.name=n -c user.email=e'
        for it in one two; do osm agent hook before-tool <~/$it; done
        echo 1 >a.txt; echo 1 >b.txt; $git add a.txt b.txt
        {script}
        osm claim log --kind released
        osm claims
        exit"
    );
    command.env("CLAUDE_CODE_SESSION_ID", "s1").args(["-c", &script]);
    let ran = with_input(command, b"");
    let mut tables = ran.stdout.split("RESOURCE ").skip(1).map(str::to_owned);
    let [released, open] = [tables.next(), tables.next()].map(Option::unwrap_or_default);
    assert!(tables.next().is_none(), "{} {}", ran.stdout, ran.stderr);
    (released, open)
}

#[test]
fn an_automatic_claim_ends_with_its_commit() {
    let (released, open) = released_and_open(
        "$git commit -qm both; echo 2 >b.txt; osm agent hook after-tool <~/after",
    );
    assert!(released.contains("path:a.txt") && !released.contains("path:b.txt"), "{released}");
    assert!(open.contains("path:b.txt") && !open.contains("path:a.txt"), "{open}");
}

/// The hook of the guard knows of no shell command: any commit of the session counts.
#[test]
fn the_guard_releases_the_automatic_claims_of_a_commit() {
    let (released, open) =
        released_and_open("osm claim guard install; $git commit -qm part a.txt; echo 3 >a.txt");
    assert!(released.contains("path:a.txt") && !released.contains("path:b.txt"), "{released}");
    assert!(open.contains("path:b.txt") && !open.contains("path:a.txt"), "{open}");
    // The commit does not contain what was written after it was begun.
    let (released, open) = released_and_open(
        "osm claim guard install; printf '#!/bin/sh\necho 2 >b.txt\n' >.git/hooks/prepare-commit-msg
        chmod +x .git/hooks/prepare-commit-msg; $git commit -qm both",
    );
    assert!(released.contains("path:a.txt") && !released.contains("path:b.txt"), "{released}");
    assert!(open.contains("path:b.txt") && !open.contains("path:a.txt"), "{open}");
}
