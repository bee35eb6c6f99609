//! Jobs that lost their parents, and shells that lose their window.

use std::fs;

use osm_testkit::lab::{Lab, Typist};
use osm_testkit::screen::Screen;
use osm_testkit::tmux::Tmux;
use osm_testkit::tools::program;

use super::fake_agents;
use super::same::{Login, ids_of};
use super::situation::{Ids, Situation, ask, id};

pub(crate) const SITUATIONS: &[Situation] = &[
    Situation::same("a job whose parents ended, in a terminal", &["anchor"], |lab| {
        orphaned(lab, &mut lab.terminal()?)
    }),
    Situation::same("a job whose parents ended, in a tmux pane", &["multiplexer tmux"], |lab| {
        program("tmux")?;
        let (tmux, first) = Tmux::start(lab, &[])?;
        orphaned(lab, &mut tmux.pane(first))
    }),
    Situation::same(
        "a job whose parents ended, in a screen window",
        &["multiplexer screen"],
        |lab| {
            program("screen")?;
            let screen = Screen::start(lab, "orphans", &[])?;
            orphaned(lab, &mut screen.window(0))
        },
    ),
    Situation::same("a job whose parents ended, over SSH", &["ssh"], |lab| {
        let mut login = Login::new(lab)?;
        orphaned(lab, &mut login.terminal)
    }),
    Situation::same(
        "a job of an agent whose parents ended, on the agent's terminal",
        &["agent-conversation"],
        |lab| {
            let agent = fake_agents::native(lab, "claude")?;
            lab.file(
                "job.sh",
                "sleep 0.3\nOSM session id >LAB/late.tmp; mv LAB/late.tmp LAB/late\n",
            )?;
            let mut terminal = lab.terminal()?;
            // The agent must be older than its job by a tick of the kernel's clock.
            ask(
                lab,
                &mut terminal,
                &format!(
                    "rm -f LAB/late; {agent} -c 'export CLAUDE_CODE_SESSION_ID=8d2f CLAUDE_PID=$$; \
                     OSM session id; sleep 0.05; sh -c \"sh LAB/job.sh >/dev/null 2>&1 &\"; \
                     until test -s LAB/late; do sleep 0.05; done; cat LAB/late; true'"
                ),
            )
        },
    ),
    Situation::same("the exit trap of a shell whose window was closed", &["anchor"], |lab| {
        program("script")?;
        let mut terminal = lab.terminal()?;
        terminal.type_line("script -q /dev/null -c 'exec bash --norc -i'")?;
        let ids = id(lab, &mut terminal)?;
        terminal.type_line(&lab.spell(GOODBYE))?;
        terminal.type_line("kill -9 $PPID")?;
        with_goodbye(lab, ids)
    }),
    Situation::same("the exit trap of a shell whose SSH connection was lost", &["ssh"], |lab| {
        let mut login = Login::new(lab)?;
        let ids = id(lab, &mut login.terminal)?;
        login.terminal.type_line(&lab.spell(GOODBYE))?;
        login.terminal.type_line("kill -9 $PPID")?;
        with_goodbye(lab, ids)
    }),
    Situation::same("the exit trap of a shell whose SSH client was killed", &["ssh"], |lab| {
        let mut login = Login::new(lab)?;
        let ids = id(lab, &mut login.terminal)?;
        login.terminal.type_line(&lab.spell(GOODBYE))?;
        ask(lab, &mut login.terminal, "OSM session id")?;
        drop(std::mem::replace(&mut login.terminal, lab.terminal()?));
        with_goodbye(lab, ids)
    }),
    Situation::same(
        "the exit trap of a shell whose tmux pane was killed",
        &["multiplexer tmux"],
        |lab| {
            program("tmux")?;
            let (tmux, first) = Tmux::start(lab, &[])?;
            tmux.split()?;
            let mut pane = tmux.pane(first);
            let ids = id(lab, &mut pane)?;
            pane.type_line(&lab.spell(GOODBYE))?;
            ask(lab, &mut pane, "OSM session id")?;
            tmux.run(&["kill-pane", "-t", &pane.name])?;
            with_goodbye(lab, ids)
        },
    ),
];

/// The session of a shell, and of what it started and what was left alone since.
fn orphaned(lab: &Lab, shell: &mut dyn Typist) -> Ids {
    lab.file(
        "late.py",
        "import os, subprocess, sys, time\nif os.fork() or os.fork(): sys.exit()\ntime.sleep(0.3)\n\
         subprocess.run(['sh', '-c', 'OSM session id >LAB/twice.tmp; mv LAB/twice.tmp LAB/twice'])\n",
    )?;
    ask(
        lab,
        shell,
        "OSM session id; rm -f LAB/once LAB/twice; \
         sh -c '(sleep 0.3; OSM session id >LAB/once.tmp; mv LAB/once.tmp LAB/once) </dev/null &'; \
         until test -s LAB/once; do sleep 0.05; done; cat LAB/once; \
         python3 LAB/late.py </dev/null; until test -s LAB/twice; do sleep 0.05; done; cat LAB/twice",
    )
}

/// What a shell does when it ends.
const GOODBYE: &str =
    "trap 'sleep 0.2; OSM session id >LAB/bye.tmp 2>/dev/null; mv LAB/bye.tmp LAB/bye' EXIT";

fn with_goodbye(lab: &Lab, mut ids: Vec<super::situation::Identity>) -> Ids {
    lab.wait_for(&lab.path().join("bye"))?;
    ids.extend(ids_of(&fs::read_to_string(lab.path().join("bye"))?)?);
    Ok(ids)
}
