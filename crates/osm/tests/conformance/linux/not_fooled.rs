//! Situations in which variables or names lie: the first id is the truth, the others are the same.

use osm_testkit::lab::Lab;
use osm_testkit::screen::Screen;
use osm_testkit::tmux::Tmux;
use osm_testkit::tools::{program, root};

use super::fake_agents;
use super::situation::{Group, Ids, Situation, ask, id, in_one_terminal};

const fn row(
    name: &'static str,
    found_by: &'static [&'static str],
    run: fn(&Lab) -> Ids,
) -> Situation {
    Situation { group: Group::NotFooled, name, found_by, run }
}

pub(crate) const SITUATIONS: &[Situation] = &[
    row("TMUX and STY of servers that have ended, or malformed (smoke)", &["anchor"], |lab| {
        in_one_terminal(
            lab,
            &[
                "OSM session id",
                "TMUX=/tmp/x,999999,0 TMUX_PANE=%0 OSM session id",
                "TMUX=x TMUX_PANE=%0 OSM session id",
                "TMUX=,,, TMUX_PANE= OSM session id",
                "TMUX=/tmp/x,99999999999999999999,0 TMUX_PANE=%99999999999999999999 OSM session id",
                "TMUX=\" \" TMUX_PANE=\" \" STY=\" \" OSM session id",
                "STY=999999.x WINDOW=0 OSM session id",
                "STY=... WINDOW=0 OSM session id",
                "STY=$(printf 'a\\nb\\377') WINDOW=0 OSM session id",
            ],
        )
    }),
    row("TMUX of a running server that is not an ancestor", &["anchor"], |lab| {
        program("tmux")?;
        let (tmux, _) = Tmux::start(lab, &[])?;
        let server = tmux.run(&["display-message", "-p", "#{pid}"])?;
        in_one_terminal(
            lab,
            &["OSM session id", &format!("TMUX=LAB/tmux,{server},0 TMUX_PANE=%0 OSM session id")],
        )
    }),
    row("TMUX of this server with the pane of another server", &["multiplexer tmux"], |lab| {
        program("tmux")?;
        let (tmux, first) = Tmux::start(lab, &[])?;
        let mut pane = tmux.pane(first);
        ask(
            lab,
            &mut pane,
            "OSM session id; TMUX_PANE=junk OSM session id; TMUX=/x,1,0 OSM session id",
        )
    }),
    row("STY of a running screen that is not an ancestor", &["anchor"], |lab| {
        program("screen")?;
        let screen = Screen::start(lab, "other", &[])?;
        let mut window = screen.window(0);
        let sty = lab.ask(&mut window, "echo $STY")?.output;
        in_one_terminal(lab, &["OSM session id", &format!("STY={sty} WINDOW=0 OSM session id")])
    }),
    row("an agent's variables, inherited by a tmux server", &["multiplexer tmux"], |lab| {
        program("tmux")?;
        let stale = [
            ("CLAUDE_CODE_SESSION_ID", "8d2f"),
            ("CLAUDE_PID", "1"),
            ("CLAUDECODE", "1"),
            ("AI_AGENT", "claude-code_2-1-325_agent"),
            ("CODEX_THREAD_ID", "019d"),
            ("TERM_SESSION_ID", "w0t0p0"),
            ("KITTY_WINDOW_ID", "1"),
        ];
        let (tmux, first) = Tmux::start(lab, &stale)?;
        let mut pane = tmux.pane(first);
        ask(
            lab,
            &mut pane,
            "OSM session id; env -u CLAUDE_CODE_SESSION_ID -u CLAUDE_PID -u CODEX_THREAD_ID OSM session id",
        )
    }),
    row("an agent's variables, inherited by a screen", &["multiplexer screen"], |lab| {
        program("screen")?;
        let screen = Screen::start(lab, "stale", &[("CLAUDE_CODE_SESSION_ID", "8d2f")])?;
        let mut window = screen.window(0);
        ask(lab, &mut window, "OSM session id; env -u CLAUDE_CODE_SESSION_ID OSM session id")
    }),
    row("an agent's variables in a plain terminal", &["anchor"], |lab| {
        in_one_terminal(
            lab,
            &[
                "OSM session id",
                "CLAUDE_CODE_SESSION_ID=8d2f OSM session id",
                "CLAUDE_CODE_SESSION_ID=8d2f CLAUDE_PID=1 OSM session id",
                "CLAUDE_CODE_SESSION_ID=8d2f CLAUDE_PID=$$ OSM session id",
                "CODEX_THREAD_ID=019d CODEX_SESSION_ID=019d OSM session id",
                "CURSOR_CONVERSATION_ID=x CURSOR_TRACE_ID=y CURSOR_AGENT=1 OSM session id",
                "GEMINI_CLI=1 AI_AGENT=x AGENT=goose AGENT_SESSION_ID=20260207_3 OSM session id",
                "CLAUDE_CODE_SSE_PORT=5175 CLAUDE_SESSION_ID=z OSM session id",
            ],
        )
    }),
    row("the pid of a running agent that is not an ancestor", &["anchor"], |lab| {
        let agent = fake_agents::native(lab, "claude")?;
        in_one_terminal(
            lab,
            &[
                "OSM session id",
                &format!(
                    "{agent} -c 'sleep 60; true' & sleep 0.2; \
                     CLAUDE_CODE_SESSION_ID=8d2f CLAUDE_PID=$! OSM session id; kill $!"
                ),
            ],
        )
    }),
    row("variables of terminal emulators that are not ancestors", &["anchor"], |lab| {
        in_one_terminal(
            lab,
            &[
                "OSM session id",
                "TERM_SESSION_ID=w0t0p0:X ITERM_SESSION_ID=w0t0p0:X TERM_PROGRAM=iTerm.app OSM session id",
                "WT_SESSION=guid OSM session id",
                "KITTY_WINDOW_ID=1 KITTY_PID=$$ OSM session id",
                "WEZTERM_PANE=0 ZELLIJ_SESSION_NAME=x ZELLIJ_PANE_ID=0 OSM session id",
                "VSCODE_PID=1 TERM_PROGRAM=vscode GNOME_TERMINAL_SCREEN=/x OSM session id",
                "TRACEPARENT=00-1-2-3 XDG_SESSION_ID=4 WINDOWID=5 SHLVL=9 OSM session id",
            ],
        )
    }),
    row("folders, files and arguments called claude and cursor", &["anchor"], |lab| {
        in_one_terminal(
            lab,
            &[
                "OSM session id",
                "mkdir -p LAB/claude/cursor; echo 'OSM session id' >LAB/claude/cursor/run.sh; bash LAB/claude/cursor/run.sh",
                "cd LAB/claude; bash cursor/run.sh; cd LAB",
                "sh -c 'OSM session id; true' claude codex",
                "python3 -c 'import subprocess as s; s.run([\"sh\", \"-c\", \"OSM session id; true\"])' claude",
                "cp LAB/claude/cursor/run.sh LAB/claude.txt; bash LAB/claude.txt",
                "perl -e 'system(\"OSM session id; true\")' LAB/claude",
            ],
        )
    }),
    row("a user called claude, whose home is there too", &["anchor"], |lab| {
        root()?;
        let mut terminal = lab.terminal_running(&[
            "unshare",
            "--mount",
            "sh",
            "-c",
            "mkdir -p LAB/home/claude; \
             (cat /etc/passwd; echo claude:x:4242:4242::LAB/home/claude:/bin/bash) >LAB/passwd; \
             (cat /etc/shadow; echo 'claude:*:20000::::::') >LAB/shadow; \
             mount --bind LAB/passwd /etc/passwd; mount --bind LAB/shadow /etc/shadow; \
             exec bash --norc --noprofile -i",
        ])?;
        let mut ids = id(lab, &mut terminal)?;
        ids.extend(ask(
            lab,
            &mut terminal,
            "su claude -c 'OSM session id; true'; su - claude -c 'OSM session id; true'",
        )?);
        Ok(ids)
    }),
    row(
        "SSH_CONNECTION in a tmux pane, and of a local terminal's window",
        &["multiplexer tmux"],
        |lab| {
            program("tmux")?;
            let (tmux, first) = Tmux::start(lab, &[("SSH_CONNECTION", "1.1.1.1 1 2.2.2.2 22")])?;
            let mut pane = tmux.pane(first);
            ask(
                lab,
                &mut pane,
                "OSM session id; SSH_CONNECTION='9.9.9.9 9 2.2.2.2 22' OSM session id; env -u SSH_CONNECTION OSM session id",
            )
        },
    ),
    row("processes with hostile names", &["anchor"], |lab| {
        let mut names = Vec::new();
        for name in ["a) S 1 (b", "x y", "()", "claude daemon"] {
            lab.copy(&program("bash")?, name)?;
            names.push(format!("'LAB/{name}' -c 'OSM session id; true'"));
        }
        let mut commands = vec!["OSM session id"];
        commands.extend(names.iter().map(String::as_str));
        in_one_terminal(lab, &commands)
    }),
    row("blank and huge variables", &["anchor"], |lab| {
        in_one_terminal(
            lab,
            &[
                "OSM session id",
                "OSM_SESSION= OSM_SESSION_ID=' ' OSM session id",
                "TMUX=$(head -c 100000 /dev/zero | tr '\\0' x) OSM session id",
                "CLAUDE_CODE_SESSION_ID=$(head -c 100000 /dev/zero | tr '\\0' x) OSM session id",
            ],
        )
    }),
];
