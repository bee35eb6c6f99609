//! Situations that are one session.

use std::fs;

use osm_testkit::lab::{Lab, Typist};
use osm_testkit::screen::Screen;
use osm_testkit::ssh::SshServer;
use osm_testkit::tmux::Tmux;
use osm_testkit::tools::{program, root};

use super::fake_agents;
use super::situation::{CONTAINER, Group, Ids, Situation, Stop, ask, id, in_one_terminal, parse};

const fn row(
    name: &'static str,
    found_by: &'static [&'static str],
    run: fn(&Lab) -> Ids,
) -> Situation {
    Situation { group: Group::Same, name, found_by, run }
}

pub(crate) const SITUATIONS: &[Situation] = &[
    row("two calls in one terminal (smoke)", &["anchor"], |lab| {
        in_one_terminal(lab, &["OSM session id", "OSM session id"])
    }),
    row("streams on the terminal, and all three redirected", &["anchor"], redirected),
    row("command substitution and pipes", &["anchor"], |lab| {
        in_one_terminal(
            lab,
            &["OSM session id", "echo $(OSM session id)", "true | OSM session id | cat | cat"],
        )
    }),
    row("sh -c, and a subshell", &["anchor"], |lab| {
        in_one_terminal(
            lab,
            &[
                "OSM session id",
                "sh -c 'OSM session id; true'",
                "sh -c 'sh -c \"OSM session id; true\"; true'",
                "(OSM session id)",
            ],
        )
    }),
    row("a script file, with and without #!", &["anchor"], |lab| {
        lab.file("plain", "OSM session id\n")?;
        lab.file("build.sh", "#!/bin/sh\nOSM session id\n")?;
        lab.file("tool", "#!/usr/bin/env bash\nOSM session id\n")?;
        in_one_terminal(lab, &["OSM session id", "bash LAB/plain", "LAB/build.sh", "LAB/tool"])
    }),
    row("a make recipe", &["anchor"], |lab| {
        program("make")?;
        lab.file(
            "Makefile",
            "all:\n\t@OSM session id\n\t@$(MAKE) -s -f LAB/Makefile two\ntwo:\n\t@OSM session id\n",
        )?;
        in_one_terminal(lab, &["OSM session id", "make -s -f LAB/Makefile"])
    }),
    row("a subprocess of python, perl, node", &["anchor"], |lab| {
        for name in ["python3", "perl", "node"] {
            program(name)?;
        }
        in_one_terminal(
            lab,
            &[
                "OSM session id",
                "python3 -c 'import subprocess as s; s.run([\"sh\", \"-c\", \"OSM session id; true\"])'",
                "perl -e 'system(\"OSM session id; true\")'",
                "node -e 'require(\"child_process\").spawnSync(\"sh\", [\"-c\", \"OSM session id; true\"], { stdio: \"inherit\" })'",
            ],
        )
    }),
    row("env, timeout, nice, stdbuf, nohup, setsid, xargs, find, strace", &["anchor"], |lab| {
        program("strace")?;
        in_one_terminal(
            lab,
            &[
                "OSM session id",
                "env A=b OSM session id",
                "timeout 60 OSM session id",
                "nice OSM session id",
                "stdbuf -o0 OSM session id",
                "nohup OSM session id",
                "setsid -w OSM session id",
                "nohup setsid -w env timeout 60 nice sh -c 'OSM session id; true'",
                "echo session id | xargs OSM ",
                "find LAB -maxdepth 0 -exec OSM session id ';'",
                "strace -o /dev/null -f OSM session id",
            ],
        )
    }),
    row("a job in the background", &["anchor"], |lab| {
        in_one_terminal(
            lab,
            &[
                "OSM session id",
                "OSM session id & wait",
                "nohup sh -c 'sleep 0.1; OSM session id; true' & wait",
            ],
        )
    }),
    row("exec zsh, and nested shells", &["anchor"], |lab| {
        program("zsh")?;
        let mut terminal = lab.terminal()?;
        let mut ids = id(lab, &mut terminal)?;
        terminal.type_line("exec zsh -f")?;
        ids.extend(id(lab, &mut terminal)?);
        terminal.type_line("bash --norc")?;
        ids.extend(id(lab, &mut terminal)?);
        Ok(ids)
    }),
    row("a renamed binary, and a link to it", &["anchor"], |lab| {
        lab.copy(&super::situation::program(), "osm-v2")?;
        lab.copy(&super::situation::program(), "bash")?;
        in_one_terminal(
            lab,
            &[
                "OSM session id",
                "LAB/osm-v2 session id",
                "LAB/bash session id",
                "ln -s LAB/osm-v2 LAB/o; LAB/o session id",
            ],
        )
    }),
    row("terminals of zsh, fish and dash", &["anchor"], |lab| {
        let shells: [&[&str]; 3] = [&["zsh", "-f"], &["fish", "--private", "-N"], &["dash", "-i"]];
        let mut first = Vec::new();
        for shell in shells {
            program(shell[0])?;
            let mut terminal = lab.terminal_running(shell)?;
            let mut ids = id(lab, &mut terminal)?;
            ids.extend(ask(lab, &mut terminal, "sh -c 'OSM session id; true'")?);
            if ids[0] != ids[1] {
                return Ok(ids);
            }
            first = ids;
        }
        Ok(first)
    }),
    row("sudo with a pty of its own", &["anchor"], |lab| under_sudo(lab, "Defaults use_pty")),
    row("sudo on the same terminal", &["anchor"], |lab| under_sudo(lab, "Defaults !use_pty")),
    row("inside sudo -i, with a pty of its own", &["anchor"], |lab| {
        inside_sudo(lab, "Defaults use_pty")
    }),
    row("inside sudo -i, on the same terminal", &["anchor"], |lab| {
        inside_sudo(lab, "Defaults !use_pty")
    }),
    row("su and su -, to another user", &["anchor"], |lab| {
        root()?;
        let mut terminal = lab.terminal()?;
        let mut ids = id(lab, &mut terminal)?;
        ids.extend(ask(lab, &mut terminal, "su -s /bin/sh nobody -c 'OSM session id; true'")?);
        terminal.type_line("su - -s /bin/bash nobody")?;
        ids.extend(id(lab, &mut terminal)?);
        Ok(ids)
    }),
    row("doas", &["anchor"], |lab| {
        root()?;
        program("doas")?;
        lab.file("doas.conf", "permit nopass root as root\n")?;
        let mut terminal = lab.terminal_running(&[
            "unshare",
            "--mount",
            "sh",
            "-c",
            "touch /etc/doas.conf; chown root LAB/doas.conf; chmod 600 LAB/doas.conf; \
             mount --bind LAB/doas.conf /etc/doas.conf; exec bash --norc --noprofile -i",
        ])?;
        let mut ids = id(lab, &mut terminal)?;
        ids.extend(ask(lab, &mut terminal, "doas OSM session id")?);
        Ok(ids)
    }),
    row("script -c, and watch", &["anchor"], |lab| {
        program("script")?;
        program("watch")?;
        let mut terminal = lab.terminal()?;
        let mut ids = id(lab, &mut terminal)?;
        ids.extend(ask(lab, &mut terminal, "script -qec 'OSM session id' /dev/null")?);
        ids.extend(ask(lab, &mut terminal, "TERM=xterm timeout 1 watch -n 9 'OSM session id >LAB/watched' >/dev/null; cat LAB/watched")?);
        Ok(ids)
    }),
    row("a git hook and an alias", &["anchor"], |lab| {
        program("git")?;
        let mut terminal = lab.terminal()?;
        lab.file("hook", "#!/bin/sh\nOSM session id >LAB/hooked\n")?;
        ask(
            lab,
            &mut terminal,
            "git init -q LAB/r; cp LAB/hook LAB/r/.git/hooks/post-commit; \
             git -C LAB/r -c user.name=x -c user.email=x@x commit -q --allow-empty -m x; \
             git -C LAB/r -c alias.me='!OSM session id' me; cat LAB/hooked; OSM session id",
        )
    }),
    row("npm run", &["anchor"], |lab| {
        program("npm")?;
        lab.file("package.json", r#"{"name":"x","scripts":{"me":"OSM session id"}}"#)?;
        in_one_terminal(lab, &["OSM session id", "npm run -s me --prefix LAB"])
    }),
    row("an editor's filter command", &["anchor"], |lab| {
        program("vim")?;
        in_one_terminal(
            lab,
            &[
                "OSM session id",
                "vim -u NONE -es -c 'silent! !OSM session id >LAB/edited' -c 'qa!' </dev/null; cat LAB/edited",
            ],
        )
    }),
    row("a shell that is PID 1 of a container", &["anchor"], |lab| {
        root()?;
        let mut terminal = lab.terminal_running(CONTAINER)?;
        let mut ids = id(lab, &mut terminal)?;
        ids.extend(id(lab, &mut terminal)?);
        ids.extend(ask(lab, &mut terminal, "setsid -w sh -c 'OSM session id; true'")?);
        Ok(ids)
    }),
    row("commands brought into a container from outside", &["anchor"], |lab| {
        root()?;
        let mut terminal = lab.terminal()?;
        ask(
            lab,
            &mut terminal,
            "unshare --pid --fork --mount-proc --kill-child sleep 100 & P=$!; \
             until C=$(pgrep -P $P sleep); do sleep 0.05; done; \
             for i in 1 2; do setsid -w nsenter -t $C -p -m OSM session id </dev/null; done; \
             setsid -w nsenter -t $C -p -m sh -c 'OSM session id; true' </dev/null; kill $P",
        )
    }),
    row("an orphaned script", &["anchor"], |lab| {
        lab.file("orphan.sh", "#!/bin/sh\nsleep 0.3\nOSM session id >LAB/a\nOSM session id >LAB/b\ncat LAB/a LAB/b >LAB/c\nmv LAB/c LAB/done\n")?;
        let mut terminal = lab.terminal()?;
        lab.ask(&mut terminal, "(setsid LAB/orphan.sh </dev/null >/dev/null 2>&1 &)")?.ok()?;
        lab.wait_for(&lab.path().join("done"))?;
        ids_of(&fs::read_to_string(lab.path().join("done"))?)
    }),
    row("one job of a daemon without a terminal", &["anchor"], |lab| {
        let mut terminal = lab.terminal()?;
        lab.file(
            "job",
            "OSM session id; sh -c 'OSM session id; true'; setsid -w OSM session id\n",
        )?;
        ask(
            lab,
            &mut terminal,
            "setsid -w python3 -c 'import subprocess as s; s.run([\"sh\", \"LAB/job\"]); s.run([\"bash\", \"-c\", \". LAB/job\"])' </dev/null",
        )
    }),
    row("a tmux pane, detached, attached, its shell respawned", &["multiplexer tmux"], |lab| {
        program("tmux")?;
        let (tmux, pane) = Tmux::start(lab, &[])?;
        let mut pane = tmux.pane(pane);
        let mut ids = id(lab, &mut pane)?;
        {
            let mut viewer = lab.terminal()?;
            viewer.type_line(&format!("tmux -S {} attach", tmux.socket()))?;
            ids.extend(id(lab, &mut viewer)?);
        }
        ids.extend(id(lab, &mut pane)?);
        tmux.run(&["respawn-pane", "-k", "-t", &pane.name])?;
        ids.extend(id(lab, &mut pane)?);
        ids.extend(ask(lab, &mut pane, "sh -c 'OSM session id; true'; setsid -w OSM session id")?);
        Ok(ids)
    }),
    row("sudo and env -i in a tmux pane", &["multiplexer tmux"], |lab| {
        root()?;
        program("tmux")?;
        program("sudo")?;
        let (tmux, pane) = Tmux::start(lab, &[])?;
        let mut pane = tmux.pane(pane);
        ask(lab, &mut pane, "OSM session id; sudo OSM session id; env -i OSM session id")
    }),
    row("a screen window, detached and attached", &["multiplexer screen"], |lab| {
        program("screen")?;
        let screen = Screen::start(lab, "one", &[])?;
        let mut window = screen.window(0);
        let mut ids = id(lab, &mut window)?;
        {
            let mut viewer = lab.terminal()?;
            viewer.type_line(&lab.spell("SCREENDIR=LAB/screens screen -r one"))?;
            ids.extend(id(lab, &mut viewer)?);
        }
        ids.extend(ask(lab, &mut window, "sh -c 'OSM session id; true'; env -i OSM session id")?);
        Ok(ids)
    }),
    row("a dtach session, detached and attached", &["multiplexer dtach"], |lab| {
        program("dtach")?;
        let mut viewer = lab.terminal()?;
        viewer.type_line(&lab.spell("dtach -A LAB/socket bash --norc --noprofile -i"))?;
        let mut ids = id(lab, &mut viewer)?;
        drop(viewer);
        let mut viewer = lab.terminal()?;
        viewer.type_line(&lab.spell("dtach -a LAB/socket"))?;
        ids.extend(id(lab, &mut viewer)?);
        viewer.type_line("exit")?;
        Ok(ids)
    }),
    row("one SSH login", &["ssh"], |lab| {
        let mut login = Login::new(lab)?;
        let mut ids = id(lab, &mut login.terminal)?;
        ids.extend(ask(lab, &mut login.terminal, "OSM session id </dev/null 2>/dev/null | cat; sh -c 'OSM session id; true'; setsid -w OSM session id; env -i OSM session id")?);
        Ok(ids)
    }),
    row("sudo over SSH", &["ssh"], |lab| {
        program("sudo")?;
        let mut login = Login::new(lab)?;
        ask(lab, &mut login.terminal, "OSM session id; sudo OSM session id")
    }),
    row("commands over one SSH connection, without a terminal", &["ssh"], |lab| {
        root()?;
        program("sshd")?;
        let server = SshServer::start(lab)?;
        let mut terminal = lab.terminal()?;
        let master = format!(
            "{} -o ControlMaster=auto -o ControlPersist=20 -S LAB/m 127.0.0.1",
            server.client
        );
        ask(
            lab,
            &mut terminal,
            &format!(
                "{master} 'OSM session id'; {master} 'sh -c \"OSM session id; true\"'; {master} -O exit 2>/dev/null"
            ),
        )
    }),
    row("commands of a native agent, plain and detached", &["agent-process"], |lab| {
        let agent = fake_agents::native(lab, "claude")?;
        commands_of(lab, &format!("{agent} -c"), true)
    }),
    row("commands of an agent that is a script of node", &["agent-process"], |lab| {
        let agent = fake_agents::node(lab, "gemini")?;
        commands_of(lab, &agent, false)
    }),
    row("commands of an agent that is a script of python", &["agent-process"], |lab| {
        let agent = fake_agents::python(lab, "aider")?;
        commands_of(lab, &agent, false)
    }),
    row("commands of an agent that gives each a pty", &["agent-process"], |lab| {
        program("script")?;
        let agent = fake_agents::node(lab, "qwen")?;
        in_one_terminal(
            lab,
            &[&format!(
                "{agent} 'script -qec \"OSM session id\" /dev/null' 'OSM session id' 'setsid -w OSM session id'"
            )],
        )
    }),
    row("commands of an unknown agent that gives each a pty", &["anchor"], |lab| {
        lab.file(
            "robo.py",
            "import os, pty\nos.environ['AI_AGENT'] = 'robo'\n\
             for n in ('one', 'other'):\n  pty.spawn(['sh', '-c', f'OSM session id >LAB/{n}.tmp; mv LAB/{n}.tmp LAB/{n}'])\n",
        )?;
        let mut terminal = lab.terminal()?;
        ask(
            lab,
            &mut terminal,
            "setsid -w python3 LAB/robo.py </dev/null >/dev/null 2>&1; cat LAB/one LAB/other",
        )
    }),
    row("sudo under an agent with a conversation", &["agent-conversation"], |lab| {
        root()?;
        program("sudo")?;
        let agent = fake_agents::native(lab, "claude")?;
        in_one_terminal(
            lab,
            &[&format!(
                "CLAUDE_CODE_SESSION_ID=c1 {agent} -c 'sh -c \"OSM session id; sudo OSM session id; env -i OSM session id\"; true'"
            )],
        )
    }),
    row("one conversation, after the agent was restarted", &["agent-conversation"], |lab| {
        let agent = fake_agents::native(lab, "claude")?;
        let run = format!("{agent} -c 'CLAUDE_CODE_SESSION_ID=8d2f OSM session id; true'");
        in_one_terminal(lab, &[&run, &run])
    }),
    row("one conversation, resumed in another terminal", &["agent-conversation"], |lab| {
        let agent = fake_agents::native(lab, "codex")?;
        let run = format!("{agent} -c 'CODEX_THREAD_ID=019d OSM session id; true'");
        let mut ids = in_one_terminal(lab, &[&run])?;
        ids.extend(in_one_terminal(lab, &[&run])?);
        Ok(ids)
    }),
    row("an orphaned job of a live agent", &["agent-conversation"], |lab| {
        let agent = fake_agents::native(lab, "claude")?;
        lab.file("job.sh", "sleep 0.3\nOSM session id >LAB/late.tmp; mv LAB/late.tmp LAB/late\n")?;
        in_one_terminal(
            lab,
            &[&format!(
                // The agent must be older than its job by a tick of the kernel's clock.
                "{agent} -c 'export CLAUDE_CODE_SESSION_ID=8d2f CLAUDE_PID=$$; OSM session id; sleep 0.05; \
                 sh -c \"setsid sh LAB/job.sh </dev/null >/dev/null 2>&1 &\"; \
                 until test -s LAB/late; do sleep 0.05; done; cat LAB/late; true'"
            )],
        )
    }),
    row("sandboxed commands of one agent", &["agent-conversation"], |lab| {
        root()?;
        program("bwrap")?;
        let agent = fake_agents::native(lab, "claude")?;
        let sandbox = "bwrap --dev-bind / / --unshare-pid --proc /proc";
        in_one_terminal(
            lab,
            &[&format!(
                "{agent} -c 'export CLAUDE_CODE_SESSION_ID=8d2f; OSM session id; \
                 {sandbox} OSM session id; {sandbox} sh -c \"OSM session id; true\"; true'"
            )],
        )
    }),
    row("two steps of one CI job", &["ci"], |lab| {
        let runner = fake_agents::native(lab, "Runner.Worker")?;
        in_one_terminal(
            lab,
            &[&format!(
                "GITHUB_RUN_ID=7 GITHUB_RUN_ATTEMPT=1 GITHUB_JOB=test setsid -w {runner} -c \
                 'bash -e -c \"OSM session id; true\"; bash -e -c \"OSM session id; true\"; true'"
            )],
        )
    }),
    row("an ordinary user who sees only his own processes", &["anchor"], |lab| {
        root()?;
        let mut terminal = lab.terminal_running(&[
            "unshare",
            "--pid",
            "--fork",
            "--mount",
            "--kill-child",
            "sh",
            "-c",
            "mount -t proc -o hidepid=2 proc /proc; setpriv --reuid 65534 --regid 65534 \
             --clear-groups bash --norc --noprofile -i",
        ])?;
        ask(
            lab,
            &mut terminal,
            "OSM session id; sh -c 'OSM session id; true'; setsid -w OSM session id",
        )
    }),
];

fn redirected(lab: &Lab) -> Ids {
    let mut terminal = lab.terminal()?;
    let mut ids = ask(lab, &mut terminal, "OSM session id </dev/null 2>/dev/null | cat")?;
    // On the terminal itself: nothing is redirected, and the id stands on the screen.
    terminal.type_line(&lab.spell("OSM session id; echo SE''EN"))?;
    terminal.wait_for("SEEN")?;
    let screen = terminal.screen();
    let printed = screen.rsplit_once("\u{1b}[?2004l").map_or("", |(_, printed)| printed);
    let printed = printed.split("SEEN").next().unwrap_or_default();
    ids.extend(parse(printed.trim()).unwrap_or_default());
    ids.extend(ask(
        lab,
        &mut terminal,
        "OSM session id </dev/null >LAB/out 2>LAB/err; cat LAB/out",
    )?);
    if ids.len() != 3 {
        return Err(Stop::Failed(format!("the screen shows no id: {screen}")));
    }
    Ok(ids)
}

/// A terminal in which sudo has one setting of our own.
fn sudo_terminal(lab: &Lab, setting: &str) -> Result<osm_testkit::terminal::Terminal, Stop> {
    root()?;
    program("sudo")?;
    lab.file("sudoers", &format!("{setting}\nroot ALL=(ALL:ALL) NOPASSWD: ALL\n"))?;
    Ok(lab.terminal_running(&[
        "unshare", "--mount", "sh", "-c",
        "chown root:root LAB/sudoers; chmod 440 LAB/sudoers; mount --bind LAB/sudoers /etc/sudoers; \
         exec bash --norc --noprofile -i",
    ])?)
}

fn under_sudo(lab: &Lab, setting: &str) -> Ids {
    let mut terminal = sudo_terminal(lab, setting)?;
    let mut ids = id(lab, &mut terminal)?;
    for command in [
        "sudo OSM session id",
        "sudo sh -c 'OSM session id; true'",
        "sudo -u nobody OSM session id",
        "sudo sudo OSM session id",
    ] {
        ids.extend(ask(lab, &mut terminal, command)?);
    }
    // Not redirected, so that sudo really takes a pty where it may.
    terminal.type_line(
        &lab.spell("sudo sh -c 'tty >LAB/tty; OSM session id >LAB/on; mv LAB/on LAB/pty'"),
    )?;
    lab.wait_for(&lab.path().join("pty"))?;
    ids.extend(ids_of(&fs::read_to_string(lab.path().join("pty"))?)?);
    Ok(ids)
}

fn inside_sudo(lab: &Lab, setting: &str) -> Ids {
    let mut terminal = sudo_terminal(lab, setting)?;
    terminal.type_line("sudo -i")?;
    let mut ids = id(lab, &mut terminal)?;
    ids.extend(ask(
        lab,
        &mut terminal,
        "sh -c 'OSM session id; true'; OSM session id </dev/null 2>&1 | cat",
    )?);
    Ok(ids)
}

fn commands_of(lab: &Lab, agent: &str, one_argument: bool) -> Ids {
    let commands =
        ["OSM session id", "setsid -w OSM session id", "bash -lc \"OSM session id; true\""];
    let line = if one_argument {
        format!("{agent} '{}; true'", commands.join("; "))
    } else {
        let quoted: Vec<String> = commands.iter().map(|command| format!("'{command}'")).collect();
        format!("{agent} {}", quoted.join(" "))
    };
    in_one_terminal(lab, &[&line])
}

pub(crate) fn ids_of(text: &str) -> Ids {
    parse(text.trim()).ok_or_else(|| Stop::Failed(format!("no ids: {text:?}")))
}

/// A terminal logged in over SSH.
pub(crate) struct Login {
    pub(crate) terminal: osm_testkit::terminal::Terminal,
    _server: SshServer,
}

impl Login {
    pub(crate) fn new(lab: &Lab) -> Result<Self, Stop> {
        root()?;
        program("sshd")?;
        let server = SshServer::start(lab)?;
        let mut terminal = lab.terminal()?;
        terminal.type_line(&format!("{} -tt 127.0.0.1", server.client))?;
        Ok(Self { terminal, _server: server })
    }
}
