//! `osm doctor` on a clean machine, and with each fault planted for real: files, processes, mounts, a tmux server.
#![expect(clippy::unwrap_used, reason = "in a test, the panic is the report")]

use std::path::Path;

use osm_testkit::lab::Lab;
use osm_testkit::seccomp::refuse;
use osm_testkit::tmux::Tmux;
use osm_testkit::{tools, trials};
use serde_json::Value;

const OSM: &str = env!("CARGO_BIN_EXE_osm");

/// A fault: how it is planted, how the doctor is called, and what it must find.
struct Plant {
    name: &'static str,
    /// A shell script in the worktree; `$S` is the folder of everything.
    script: &'static str,
    /// The command line of the doctor.
    call: &'static str,
    /// The checks that must find something, and nothing else may.
    checks: &'static [&'static str],
    /// What the first finding says.
    says: &'static str,
    /// Whether `--fix` fixes it.
    is_safe: bool,
}

const fn plant(
    name: &'static str,
    script: &'static str,
    checks: &'static [&'static str],
    says: &'static str,
) -> Plant {
    Plant { name, script, call: "osm doctor", checks, says, is_safe: false }
}

impl Plant {
    const fn calling(self, call: &'static str) -> Self {
        Self { call, ..self }
    }

    const fn safe(self) -> Self {
        Self { is_safe: true, ..self }
    }
}

const PLANTS: &[Plant] = &[
    plant("a named session in the tmux server", "", &["tmux"], "OSM_SESSION to every new pane")
        .calling("tmux set-environment -g OSM_SESSION x; osm doctor; C=$?; tmux set-environment -gu OSM_SESSION; (exit $C)"),
    plant("a conversation in the tmux server", "", &["tmux"], "CLAUDE_CODE_SESSION_ID")
        .calling("tmux set-environment -g CLAUDE_CODE_SESSION_ID x; osm doctor; C=$?; tmux set-environment -gu CLAUDE_CODE_SESSION_ID; (exit $C)"),
    plant("an unknown agent above", AGENT, &["agent"], "robo.py")
        .calling("python3 $S/robo.py 'osm doctor'"),
    plant("a session that agents share", "cp /bin/sh $S/claude", &["identity"], "OSM_SESSION is set")
        .calling("OSM_SESSION=x $S/claude -c 'osm doctor; exit $?'"),
    plant("no home", "", &["home"], "no folder for sessions").calling("env -u HOME -u OSM_HOME osm doctor"),
    plant("a home that is a file", "rm -r $OSM_HOME; echo > $OSM_HOME", &["home", "config"], "is not a folder"),
    plant("a home that others can read", "chmod 755 $OSM_HOME", &["home"], "mode 0755").safe(),
    plant("a home of another user", "chown 65534 $OSM_HOME", &["home", "sessions"], "another user"),
    plant("a full disk", "", &["file-system"], "is full")
        .calling("unshare --mount sh -c 'mount -t tmpfs -o size=1m,mode=700 none $OSM_HOME && osm doctor'"),
    plant("a disk that cannot be written", "", &["file-system"], "cannot create a file in")
        .calling("unshare --mount sh -c 'mount -t tmpfs -o ro,mode=700 none $OSM_HOME && osm doctor'"),
    plant("no locks", "", &["file-system"], "cannot lock a file in").calling("$S/refuse_flock 37 osm doctor"),
    plant("a clock that was set back", "osm code-review -c 'note x'; touch -d 2040-01-01 $OSM_HOME/sessions/*.json", &["clock"], "the clock is behind"),
    plant("an invalid configuration", "echo 'session.max_count = true' > $OSM_HOME/config.toml", &["config"], "max_count"),
    plant("a damaged session", "OSM_SESSION=a osm code-review -c 'note x'; echo x > $OSM_HOME/sessions/ex--a_ca.session.json", &["sessions"], "engaging-sheltie"),
    plant("files of crashed processes", "osm code-review -c 'note x'; cd $OSM_HOME/sessions; touch -d '1 hour ago' zombie.session.lock", &["locks"], "1 file is left").safe(),
    plant("a damaged ledger", "osm claim T; echo x > $OSM_HOME/claims.db", &["ledger"], "claims.db"),
    plant("sessions of the upstream tool", UPSTREAM, &["upstream"], "not imported (1)"),
    plant("osm is not in PATH", "", &["path"], "osm is not in PATH").calling("PATH=/usr/bin:/bin $OSM doctor"),
    plant("another osm in PATH", "mkdir $S/other; echo > $S/other/osm; chmod +x $S/other/osm", &["path"], "another osm").calling("PATH=$S/other:$PATH $OSM doctor"),
    plant("git is not in PATH", "", &["path"], "git is not in PATH").calling("PATH=$S/bin $OSM doctor"),
    plant("a guard without its osm", "cp $OSM $S/gone; PATH=/usr/bin:/bin $S/gone claim guard install; rm $S/gone", &["git-hooks"], "which does not exist"),
    plant("hooks that are not current", "mkdir $HOME/.claude; osm agent install claude; sed -i 's/agent hook before-tool/agent hook before/' $HOME/.claude/settings.json", &["agent-hooks"], "not current").safe(),
    plant("no hooks", "mkdir $HOME/.claude $HOME/.codex", &["agent-hooks"], "no hooks of osm in claude, codex"),
    plant("settings that cannot be read", "mkdir $HOME/.claude; echo '{' > $HOME/.claude/settings.json", &["agent-hooks"], "cannot be read"),
    plant("two agents in one worktree", "cp /bin/sleep $S/claude; cp /bin/sleep $S/codex", &["neighbours"], "2 agents work in")
        .calling("$S/claude 600 & A=$!; $S/codex 600 & B=$!; osm doctor; C=$?; kill $A $B; (exit $C)"),
];

/// A program that behaves like an agent.
const AGENT: &str = "cat > $S/robo.py <<'END'
import os, subprocess, sys
names = {'AI_AGENT': 'robo', 'ROBO_SESSION_ID': 'c1', 'ROBO_PID': str(os.getpid())}
sys.exit(subprocess.run(['sh', '-c', sys.argv[1] + '; exit $?'], env=os.environ | names, start_new_session=True).returncode)
END";

/// A session of the upstream tool that is not imported, beside one that is.
const UPSTREAM: &str = r#"mkdir -p $HOME/.config/osm/sessions; cd $HOME/.config/osm/sessions
for id in ex--a_aa ex--b_bb; do
    echo '{"version":"0.2.0","id":"'$id'","createTime":"2025-11-26T14:03:00Z","updateTime":"2025-11-26T14:04:00Z","history":null,"scriptState":{},"sharedState":{}}' > $id.session.json
done
osm session import ex--a_aa.session.json"#;

/// The findings, and the exit code.
fn examine(
    lab: &Lab,
    tmux: &Tmux,
    folder: &Path,
    plant: &Plant,
    option: &str,
) -> (Vec<Value>, i32) {
    let call = plant.call.replace("doctor", &format!("doctor --json {option}"));
    let script = folder.join("call.sh");
    let environment = format!(
        "S={}; HOME=$S/user; OSM_HOME=$S/home; OSM={OSM}; PATH=$S/bin:/usr/bin:/bin\n\
         export S HOME OSM_HOME OSM PATH; cd $S/work\n",
        folder.display()
    );
    if option.is_empty() {
        let planted = format!(
            "{environment}mkdir -p user bin home work; ln -s $OSM bin/osm; chmod 700 home\n\
             cd work; git init -q -b main .\n(\n:\n{}\n) >/dev/null 2>$S/errors || exit 99\n",
            plant.script
        )
        .replacen("cd $S/work", "cd $S", 1);
        std::fs::write(&script, planted).unwrap();
        let status = lab.command("sh").arg(&script).status().unwrap();
        let errors = std::fs::read_to_string(folder.join("errors"));
        assert!(status.success(), "{}: {status}, {errors:?}", plant.name);
    }
    std::fs::write(&script, format!("{environment}{call}\necho $? > $S/code\n")).unwrap();
    let mut pane = tmux.split().unwrap();
    let answer = lab.ask(&mut pane, &format!("sh {}", script.display())).unwrap();
    let told = format!("{}: {} {}", plant.name, answer.output, answer.errors);
    let diagnosis: Value =
        serde_json::from_str(&answer.output).unwrap_or_else(|_| panic!("{told}"));
    let code = std::fs::read_to_string(folder.join("code")).unwrap().trim().parse().unwrap();
    (diagnosis["findings"].as_array().unwrap().clone(), code)
}

fn is_problem(finding: &Value) -> bool {
    finding["severity"] == "problem"
}

#[test]
fn every_planted_fault_is_found_and_nothing_on_a_clean_machine() {
    trials::need(tools::root());
    for program in ["tmux", "git", "python3", "unshare"] {
        trials::need(tools::program(program));
    }
    let lab = Lab::new(Path::new(OSM)).unwrap();
    let (tmux, _) = Tmux::start(&lab, &[]).unwrap();
    let clean = plant("a clean machine", "", &[], "");
    let mut wrong = Vec::new();
    for (number, plant) in [&clean].into_iter().chain(PLANTS).enumerate() {
        let folder = lab.path().join(number.to_string());
        std::fs::create_dir(&folder).unwrap();
        if plant.name == "no locks" {
            refuse(&folder, "flock").unwrap_or_else(|stop| panic!("{stop}"));
        }
        let (findings, code) = examine(&lab, &tmux, &folder, plant, "");
        let mut checks: Vec<&str> =
            findings.iter().map(|it| it["check"].as_str().unwrap()).collect();
        checks.dedup();
        let expected = if findings.iter().any(is_problem) { 8 } else { 0 };
        let what = findings.first().map_or("", |it| it["what"].as_str().unwrap());
        if checks != plant.checks || code != expected || !what.contains(plant.says) {
            wrong.push(format!("{}: exit code {code}, {findings:#?}", plant.name));
            continue;
        }
        let Some(first) = findings.first() else { continue };
        assert!(
            ["why", "fix"].iter().all(|it| first[it].as_str().is_some_and(|it| !it.is_empty()))
        );
        assert_eq!(first["is_safe"], plant.is_safe, "{}", plant.name);
        if plant.is_safe {
            let (fixed, code) = examine(&lab, &tmux, &folder, plant, "--fix");
            let is_fixed = fixed.first().is_some_and(|it| it["fixed"] == true);
            assert!(is_fixed && code == 0, "{}: {fixed:#?}", plant.name);
            let (findings, code) = examine(&lab, &tmux, &folder, plant, " ");
            assert_eq!((findings.len(), code), (0, 0), "{}: {findings:#?}", plant.name);
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
