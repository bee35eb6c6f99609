//! Situations that are different sessions.

use osm_testkit::lab::{Lab, Typist};
use osm_testkit::screen::Screen;
use osm_testkit::ssh::SshServer;
use osm_testkit::tmux::Tmux;
use osm_testkit::tools::{program, root};

use super::fake_agents;
use super::same::{Login, ids_of};
use super::situation::{CONTAINER, Group, Ids, Situation, Stop, ask, id, in_one_terminal};

const fn row(
    name: &'static str,
    found_by: &'static [&'static str],
    run: fn(&Lab) -> Ids,
) -> Situation {
    Situation { group: Group::Differ, name, found_by, run }
}

pub(crate) const SITUATIONS: &[Situation] = &[
    row("two terminals (smoke)", &["anchor"], |lab| {
        let (mut one, mut other) = (lab.terminal()?, lab.terminal()?);
        let mut ids = id(lab, &mut one)?;
        ids.extend(id(lab, &mut other)?);
        Ok(ids)
    }),
    row("a terminal, and the next one with the same name", &["anchor"], |lab| {
        let mut ids = in_one_terminal(lab, &["OSM session id"])?;
        ids.extend(in_one_terminal(lab, &["OSM session id"])?);
        Ok(ids)
    }),
    row("two containers", &["anchor"], |lab| {
        root()?;
        let (mut one, mut other) =
            (lab.terminal_running(CONTAINER)?, lab.terminal_running(CONTAINER)?);
        let mut ids = id(lab, &mut one)?;
        ids.extend(id(lab, &mut other)?);
        Ok(ids)
    }),
    row("two shells in one container", &["anchor"], |lab| {
        root()?;
        let mut terminal = lab.terminal_running(CONTAINER)?;
        let mut ids = id(lab, &mut terminal)?;
        let outer = terminal.pid().ok_or_else(|| Stop::Failed("no container".into()))?;
        let enter = format!("nsenter -t $(pgrep -P {outer}) -p -m bash --norc -i");
        let mut second = lab.terminal_running(&["sh", "-c", &format!("exec {enter}")])?;
        ids.extend(id(lab, &mut second)?);
        Ok(ids)
    }),
    row(
        "two tmux panes, and the terminal that shows them",
        &["multiplexer tmux", "anchor"],
        |lab| {
            program("tmux")?;
            let (tmux, first) = Tmux::start(lab, &[])?;
            let mut one = tmux.pane(first);
            let mut other = tmux.split()?;
            let mut ids = id(lab, &mut one)?;
            ids.extend(id(lab, &mut other)?);
            ids.extend(in_one_terminal(lab, &["OSM session id"])?);
            Ok(ids)
        },
    ),
    row("a tmux server that came back with the same pid and pane", &["multiplexer tmux"], |lab| {
        root()?;
        program("tmux")?;
        lab.file(
            "again.sh",
            "round() {
  echo 700 >/proc/sys/kernel/ns_last_pid
  tmux -S LAB/s -f /dev/null new-session -d \"sh -c 'OSM session id >LAB/id; echo \\$TMUX \\$TMUX_PANE >LAB/$1.tmp; mv LAB/$1.tmp LAB/$1; sleep 99'\"
  until test -s LAB/$1; do sleep 0.02; done
  cat LAB/id
  tmux -S LAB/s kill-server
  until ! kill -0 $(cut -d, -f2 LAB/$1) 2>/dev/null; do sleep 0.02; done
}
round one; round two
cmp LAB/one LAB/two\n",
        )?;
        let mut terminal = lab.terminal()?;
        ask(lab, &mut terminal, "unshare --pid --fork --mount-proc --kill-child bash LAB/again.sh")
    }),
    row(
        "screen inside a tmux pane, against that pane",
        &["multiplexer tmux", "multiplexer screen"],
        |lab| {
            program("tmux")?;
            program("screen")?;
            let (tmux, first) = Tmux::start(lab, &[])?;
            let mut pane = tmux.pane(first);
            let mut ids = id(lab, &mut pane)?;
            lab.ask(&mut pane, "mkdir -m 700 -p LAB/screens")?.ok()?;
            pane.type_line(&lab.spell("SCREENDIR=LAB/screens screen bash --norc --noprofile -i"))?;
            ids.extend(id(lab, &mut pane)?);
            pane.type_line("exit")?;
            Ok(ids)
        },
    ),
    row("two windows of one screen", &["multiplexer screen"], |lab| {
        program("screen")?;
        let screen = Screen::start(lab, "two", &[])?;
        let mut one = screen.window(0);
        let mut other = screen.open(1)?;
        let mut ids = id(lab, &mut one)?;
        ids.extend(id(lab, &mut other)?);
        Ok(ids)
    }),
    row("two SSH connections, and the terminal that they came from", &["ssh", "anchor"], |lab| {
        let mut one = Login::new(lab)?;
        let second = Lab::new(&super::situation::program())?;
        let mut other = Login::new(&second)?;
        let mut ids = id(lab, &mut one.terminal)?;
        ids.extend(id(lab, &mut other.terminal)?);
        ids.extend(in_one_terminal(lab, &["OSM session id"])?);
        Ok(ids)
    }),
    row("two tabs over one SSH master connection", &["ssh"], |lab| {
        root()?;
        program("sshd")?;
        let server = SshServer::start(lab)?;
        let master = lab.spell(&format!(
            "{} -tt -o ControlMaster=auto -o ControlPersist=5 -S LAB/m 127.0.0.1",
            server.client
        ));
        let (mut one, mut other) = (lab.terminal()?, lab.terminal()?);
        one.type_line(&master)?;
        let mut ids = id(lab, &mut one)?;
        other.type_line(&master)?;
        ids.extend(id(lab, &mut other)?);
        let shared = ["echo $SSH_CONNECTION"].map(|command| {
            [lab.ask(&mut one, command), lab.ask(&mut other, command)]
                .map(|answer| answer.map(|answer| answer.output))
        });
        match shared {
            [[Ok(one), Ok(other)]] if one == other => Ok(ids),
            other => Err(Stop::Failed(format!("the connection was not shared: {other:?}"))),
        }
    }),
    row("tmux over SSH, against the login", &["ssh", "multiplexer tmux"], |lab| {
        program("tmux")?;
        let mut login = Login::new(lab)?;
        let mut ids = id(lab, &mut login.terminal)?;
        login.terminal.type_line(&lab.spell("tmux -S LAB/t -f /dev/null new bash --norc"))?;
        // tmux drops what is typed before it has drawn its status line.
        login.terminal.wait_for("0:bash")?;
        ids.extend(id(lab, &mut login.terminal)?);
        // From outside: in the pane, its shell could end before it answers.
        lab.command("tmux").args(["-S", &lab.spell("LAB/t"), "kill-server"]).status()?;
        Ok(ids)
    }),
    row("a recorded session of script, against its terminal", &["anchor"], |lab| {
        program("script")?;
        let mut terminal = lab.terminal()?;
        let mut ids = id(lab, &mut terminal)?;
        terminal.type_line("script -q /dev/null -c 'bash --norc -i'")?;
        ids.extend(id(lab, &mut terminal)?);
        Ok(ids)
    }),
    row("a recorded session that sh -c started, against its terminal", &["anchor"], |lab| {
        program("script")?;
        let mut terminal = lab.terminal()?;
        let mut ids = id(lab, &mut terminal)?;
        terminal.type_line("script -q /dev/null -c 'sh -c \"bash --norc -i; true\"'")?;
        ids.extend(id(lab, &mut terminal)?);
        Ok(ids)
    }),
    row("an editor's terminal, against the terminal it runs in", &["anchor"], |lab| {
        program("vim")?;
        let mut terminal = lab.terminal()?;
        let mut ids = id(lab, &mut terminal)?;
        terminal.type_line("vim -u NONE -c 'terminal bash --norc -i'")?;
        ids.extend(id(lab, &mut terminal)?);
        Ok(ids)
    }),
    row("two jobs of a daemon", &["anchor"], |lab| {
        let mut terminal = lab.terminal()?;
        lab.file("daemon.py", "import os, subprocess\nfor job in 1, 2:\n    if os.fork() == 0:\n        subprocess.run(['sh', '-c', 'OSM session id; true'])\n        os._exit(0)\n    os.wait()\n")?;
        ask(lab, &mut terminal, "setsid -w python3 LAB/daemon.py </dev/null")
    }),
    row("two jobs of one CI runner", &["ci"], |lab| {
        let runner = fake_agents::native(lab, "gitlab-runner")?;
        let mut terminal = lab.terminal()?;
        ask(
            lab,
            &mut terminal,
            &format!(
                "setsid -w {runner} -c 'CI_JOB_ID=1 bash -c \"OSM session id; true\"; CI_JOB_ID=2 bash -c \"OSM session id; true\"; true'"
            ),
        )
    }),
    row("two agents of one kind", &["agent-process"], |lab| {
        let agent = fake_agents::native(lab, "claude")?;
        let run = format!("{agent} -c 'OSM session id; true'");
        in_one_terminal(lab, &[&run, &run])
    }),
    row("an agent, against the terminal that it runs in", &["anchor", "agent-process"], |lab| {
        let (native, node, python) = (
            fake_agents::native(lab, "claude")?,
            fake_agents::node(lab, "gemini")?,
            fake_agents::python(lab, "aider")?,
        );
        in_one_terminal(
            lab,
            &[
                "OSM session id",
                &format!("{native} -c 'OSM session id; true'"),
                &format!("{node} 'OSM session id'"),
                &format!("{python} 'OSM session id'"),
            ],
        )
    }),
    row(
        "an agent in a tmux pane, against that pane",
        &["multiplexer tmux", "agent-process"],
        |lab| {
            program("tmux")?;
            let agent = fake_agents::native(lab, "claude")?;
            let (tmux, first) = Tmux::start(lab, &[])?;
            let mut pane = tmux.pane(first);
            ask(lab, &mut pane, &format!("OSM session id; {agent} -c 'OSM session id; true'"))
        },
    ),
    row("an agent inside an agent, of another kind and of the same", &["agent-process"], |lab| {
        let (claude, codex) =
            (fake_agents::native(lab, "claude")?, fake_agents::native(lab, "codex")?);
        let inner = |agent: &str| format!("{agent} -c \"OSM session id; true\"");
        in_one_terminal(
            lab,
            &[&format!(
                "{claude} -c 'OSM session id; sh -c \"{codex} -c \\\"OSM session id; true\\\"; true\"; \
                 sh -c \"{claude} -c \\\"OSM session id; true\\\"; true\"; {}; true'",
                inner(&codex),
            )],
        )
    }),
    row(
        "an agent inside one of its kind, which left its conversation in a variable",
        &["agent-conversation", "agent-process"],
        |lab| {
            let claude = fake_agents::native(lab, "claude")?;
            in_one_terminal(
                lab,
                &[&format!(
                    "{claude} -c 'export CLAUDE_CODE_SESSION_ID=outer; OSM session id; \
                 sh -c \"{claude} -c \\\"OSM session id; true\\\"; true\"; true'"
                )],
            )
        },
    ),
    row("an agent that was restarted, without a conversation", &["agent-process"], |lab| {
        let agent = fake_agents::python(lab, "aider")?;
        let run = format!("{agent} 'OSM session id'");
        in_one_terminal(lab, &[&run, &run])
    }),
    row("an agent that was restarted with the same pid", &["agent-process"], |lab| {
        root()?;
        let agent = fake_agents::native(lab, "claude")?;
        lab.file(
            "again.sh",
            &format!(
                "for i in 1 2; do echo 700 >/proc/sys/kernel/ns_last_pid; {agent} -c 'echo $$ >>LAB/pids; OSM session id; true'; done\n\
                 test \"$(sort -u LAB/pids | wc -l)\" = 1\n"
            ),
        )?;
        let mut terminal = lab.terminal()?;
        ask(lab, &mut terminal, "unshare --pid --fork --mount-proc --kill-child bash LAB/again.sh")
    }),
    row("two conversations of one process", &["agent-conversation"], |lab| {
        let agent = fake_agents::native(lab, "claude")?;
        in_one_terminal(
            lab,
            &[&format!(
                "{agent} -c 'CLAUDE_CODE_SESSION_ID=one OSM session id; CLAUDE_CODE_SESSION_ID=two OSM session id; true'"
            )],
        )
    }),
    row("sub-agents that name themselves", &["agent-conversation", "anchor"], |lab| {
        let (codex, qwen) = (fake_agents::native(lab, "codex")?, fake_agents::native(lab, "qwen")?);
        in_one_terminal(
            lab,
            &[
                &format!(
                    "{codex} -c 'export CODEX_SESSION_ID=root; CODEX_THREAD_ID=root OSM session id; CODEX_THREAD_ID=sub OSM session id; true'"
                ),
                &format!(
                    "{qwen} -c 'export QWEN_CODE_SESSION_ID=q; QWEN_CODE_AGENT_ID= OSM session id; QWEN_CODE_AGENT_ID=a OSM session id; true'"
                ),
                "OSM session id; OSM_CONTEXT_ID=a OSM session id; OSM_CONTEXT_ID=b OSM session id",
            ],
        )
    }),
    row(
        "two explicit sessions in one terminal",
        &["anchor", "explicit-env", "explicit-flag"],
        |lab| {
            in_one_terminal(
                lab,
                &[
                    "OSM session id",
                    "OSM_SESSION=a OSM session id",
                    "OSM_SESSION=b OSM session id",
                    "OSM session id --session c",
                ],
            )
        },
    ),
    row("an orphaned script, against the terminal it was started in", &["anchor"], |lab| {
        lab.file("orphan.sh", "#!/bin/sh\nsleep 0.3\nOSM session id >LAB/a\nmv LAB/a LAB/done\n")?;
        let mut terminal = lab.terminal()?;
        let mut ids = id(lab, &mut terminal)?;
        lab.ask(&mut terminal, "(setsid LAB/orphan.sh </dev/null >/dev/null 2>&1 &)")?.ok()?;
        lab.wait_for(&lab.path().join("done"))?;
        ids.extend(ids_of(&std::fs::read_to_string(lab.path().join("done"))?)?);
        Ok(ids)
    }),
];
