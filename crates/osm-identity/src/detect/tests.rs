//! Situations that cannot be had on a test machine, drawn as trees, and properties over any tree.
//!
//! What can be had runs with real processes in the conformance matrix of the program.

use std::ffi::OsString;

use proptest::prelude::*;

use super::*;
use crate::process::{FixedTable, Host, Pid, Process, StartTime, State, Terminal};

/// A tree, one process a line, each the child of the one above: `PID NAME TTY ARGUMENTS…`, with
/// `_` for a space in a name, `-` for no terminal, and `TTY:SESSION` where the session matters. A
/// process whose line begins with `!` is the child of the first one. The last line is the process
/// that asks.
fn table(tree: &str, host: Host) -> (FixedTable, u32) {
    let mut parent = 0;
    let mut table = FixedTable::new(host);
    for line in tree.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let orphan = line.strip_prefix('!');
        let mut words = orphan.unwrap_or(line).split_whitespace();
        let pid: u32 = words.next().unwrap().parse().unwrap();
        let name = words.next().unwrap().replace('_', " ");
        let (terminal, session) = match words.next().unwrap() {
            place if place.contains(':') => place.split_once(':').unwrap(),
            terminal => (terminal, ""),
        };
        let terminal = terminal.parse().ok().map(Terminal);
        let arguments: Vec<&str> = words.collect();
        let process = Process {
            pid: Pid(pid),
            parent: Pid(if orphan.is_some() { 1 } else { parent }),
            start: StartTime(u64::from(pid) * 10),
            name,
            terminal,
            session: session.parse().ok().map(Pid),
            state: State::Active,
        };
        table = table.with(process, &arguments);
        parent = pid;
    }
    (table, parent)
}

fn host() -> Host {
    Host { boot: "boot".into(), namespace: "pid:[1]".into(), contained: false }
}

fn look(table: &FixedTable, pid: u32, variables: &[(&str, &str)]) -> Detection {
    let variables = variables.iter().map(|(name, value)| (name.into(), value.into()));
    let environment = Environment::new(pid, variables);
    let catalogue = Catalogue::new();
    explain(&Request {
        explicit: None,
        environment: &environment,
        source: table,
        catalogue: &catalogue,
    })
}

fn see(tree: &str, variables: &[(&str, &str)]) -> Detection {
    let (table, pid) = table(tree, host());
    look(&table, pid, variables)
}

fn id(tree: &str, variables: &[(&str, &str)]) -> String {
    see(tree, variables).id.to_string()
}

const PLAIN: &str = "1 systemd -\n 20 login 7\n 30 bash 7 -bash\n 40 osm 7";

#[test]
fn the_anchor_is_hashed_by_its_formula() {
    // printf boot:pid:[1]:7:30:300 | sha256sum
    assert_eq!(id(PLAIN, &[]), "anchor--30b5f007ca492ea0");
}

#[test]
fn terminals_that_name_their_tabs() {
    let tabs = [
        ("kitty", "KITTY_WINDOW_ID", "3"),
        ("iTermServer-3.5", "ITERM_SESSION_ID", "w0t0p0:5500CAC5"),
        ("Terminal", "TERM_SESSION_ID", "5500CAC5"),
        ("WindowsTerminal.exe", "WT_SESSION", "guid"),
        ("gnome-terminal-", "GNOME_TERMINAL_SCREEN", "/org/gnome/x"),
        ("konsole", "SHELL_SESSION_ID", "x"),
    ];
    for (program, variable, value) in tabs {
        let tree = format!("1 systemd -\n 20 {program} -\n 30 bash 7 bash\n 40 osm 7");
        let tab = id(&tree, &[(variable, value)]);
        assert!(tab.starts_with("terminal--"), "{program}: {tab}");
        assert_ne!(tab, id(&tree, &[(variable, "another")]), "{program}");
        assert!(id(&tree, &[]).starts_with("anchor--"), "{program} without its variable");
        assert!(id(PLAIN, &[(variable, value)]).starts_with("anchor--"), "without {program}");
    }
}

#[test]
fn a_tab_that_moved_is_the_same() {
    let tree = "1 launchd -\n 20 iTerm2 -\n 30 zsh 7 -zsh\n 40 osm 7";
    assert_eq!(
        id(tree, &[("ITERM_SESSION_ID", "w0t0p0:5500")]),
        id(tree, &[("ITERM_SESSION_ID", "w2t1p0:5500")])
    );
}

#[test]
fn tabs_that_are_only_counted_belong_to_their_process() {
    let tree = |pid: u32| format!("1 systemd -\n {pid} kitty -\n 50 bash 7 bash\n 60 osm 7");
    let variables = [("KITTY_WINDOW_ID", "1")];
    assert_ne!(id(&tree(20), &variables), id(&tree(21), &variables));
}

#[test]
fn multiplexers_that_are_not_installed_everywhere() {
    let panes: [(&str, &[(&str, &str)]); 4] = [
        ("zellij", &[("ZELLIJ_SESSION_NAME", "s"), ("ZELLIJ_PANE_ID", "1")]),
        ("wezterm-mux-ser", &[("WEZTERM_PANE", "0")]),
        ("shpool", &[("SHPOOL_SESSION_NAME", "main")]),
        ("abduco", &[("ABDUCO_SESSION", "x")]),
    ];
    for (server, variables) in panes {
        let tree = |pid: u32| format!("1 systemd -\n {pid} {server} -\n 50 bash 7 bash\n 60 osm 7");
        let pane = see(&tree(20), variables);
        assert_eq!(pane.source, Source::Multiplexer, "{server}: {:?}", pane.trail);
        assert!(id(PLAIN, variables).starts_with("anchor--"), "no {server} above");
        if server != "shpool" {
            assert_ne!(pane.id, see(&tree(21), variables).id, "{server} came back");
        }
    }
}

#[test]
fn a_shpool_session_is_its_first_process() {
    let tree = |shell: u32| format!("1 systemd -\n 20 shpool -\n {shell} bash 7 bash\n 60 osm 7");
    let variables = [("SHPOOL_SESSION_NAME", "main")];
    assert_ne!(id(&tree(50), &variables), id(&tree(51), &variables), "names are reused");
}

#[test]
fn a_screen_window_is_its_first_process() {
    let tree = |shell: u32| format!("1 systemd -\n 20 screen -\n {shell} bash 7 bash\n 60 osm 7");
    let number = |name| [("STY", "20.x"), ("WINDOW", name)];
    assert_ne!(id(&tree(50), &number("0")), id(&tree(51), &number("0")), "numbers are reused");
    assert_eq!(id(&tree(50), &number("0")), id(&tree(50), &number("1")), "and changed");
    assert_eq!(id(&tree(50), &number("0")), id(&tree(50), &[]), "and lost");
}

#[test]
fn jobs_of_a_server_are_one_session() {
    for (server, variables) in
        [("tmux:_server", [("TMUX", "/s,20,0")]), ("screen", [("STY", "20.x")])]
    {
        let job =
            |shell: u32| format!("1 systemd -\n 20 {server} -\n {shell} sh - sh -c x\n 60 osm -");
        let detection = see(&job(50), &variables);
        assert_eq!(detection.source, Source::Multiplexer, "{:?}", detection.trail);
        assert_eq!(detection.id, see(&job(51), &variables).id);
        assert_eq!(detection.anchor.map(|server| server.pid), Some(Pid(20)));
    }
    let named = [("TMUX", "/s,20,0"), ("TMUX_PANE", "%3")];
    let tree = "1 systemd -\n 20 tmux:_server -\n 50 sh - sh -c x\n 60 osm -";
    assert!(id(tree, &named).starts_with("tmux--3_20_"), "the pane that is named");
    let (table, pid) = table(tree, host());
    let inherited = look(&table.with_variable(Pid(20), "TMUX_PANE", "%3"), pid, &named);
    assert_eq!(inherited.id, see(tree, &named[..1]).id, "a pane of another server");
}

#[test]
#[cfg_attr(windows, ignore = "processes are on no terminal there")]
fn a_shell_on_a_pty_inside_is_another_terminal() {
    let hosts: [(&str, &[(&str, &str)]); 4] = [
        ("tmux:_server", &[("TMUX", "/s,20,0"), ("TMUX_PANE", "%3")]),
        ("screen", &[("STY", "20.x"), ("WINDOW", "0")]),
        ("konsole", &[("SHELL_SESSION_ID", "x")]),
        ("systemd", &[]),
    ];
    for (host, variables) in hosts {
        let outer = format!("1 systemd -\n 20 {host} -\n 30 bash 7 bash");
        let place = id(&format!("{outer}\n 60 osm 7"), variables);
        let inner = |tree: &str| id(&format!("{outer}\n {tree}\n 60 osm 8"), variables);
        for attended in [
            "40 vim 7\n 50 bash 8 bash",
            "40 script 7\n 50 bash 8 bash -norc",
            "40 script 7\n 50 sh 8 sh -c x\n 51 bash 8 bash",
            "40 dvtm 7\n 50 zsh 8 -zsh",
        ] {
            assert!(inner(attended).starts_with("anchor--"), "{host}: {attended}");
            assert_ne!(inner(attended), place, "{host}: {attended}");
        }
        for command in [
            "40 script 7\n 50 sh 8 sh -c x",
            "40 script 7\n 50 make 8 make",
            "40 sudo 7\n 50 sudo 8\n 51 bash 8 bash",
            "40 vim 7\n 50 sh 8 sh -c x",
        ] {
            assert_eq!(inner(command), place, "{host}: {command}");
        }
    }
}

#[test]
fn windows_of_an_unknown_program_are_apart() {
    let window = |shell: u32, name: &str, arguments: &str| {
        format!("1 systemd -\n 20 my-terminal -\n {shell} {name} 7 {arguments}\n 60 osm 7")
    };
    for (name, arguments) in [("bash", "bash x.sh"), ("sh", "sh -c x"), ("sudo", "sudo -i")] {
        assert_ne!(id(&window(30, name, arguments), &[]), id(&window(31, name, arguments), &[]));
    }
}

#[test]
fn an_orphan_is_where_the_leader_of_its_session_is() {
    let variables = [("TMUX", "/s,20,0"), ("TMUX_PANE", "%3")];
    let pane = "1 systemd -:1\n 20 tmux:_server -:20\n 30 bash 7:30 bash";
    let there = id(&format!("{pane}\n 60 osm 7:30"), &variables);
    let orphan = format!("{pane}\n !50 sh 7:30 sh -c x\n 60 osm 7:30");
    assert_eq!(id(&orphan, &variables), there);
    assert_eq!(id(&orphan.replace("7:30", "-:30"), &variables), there, "whatever the terminal");
    let own = orphan.replace("50 sh 7:30", "50 sh -:50").replace("60 osm 7:30", "60 osm -:50");
    assert_ne!(id(&own, &variables), there, "a session of its own is not left");
}

#[test]
fn an_orphan_of_an_agent_is_the_agents() {
    let tree = "1 systemd -:1\n 20 xterm -:20\n 30 bash 7:30 bash\n 40 claude 7:30 claude\n \
                !50 sh 7:30 sh -c x\n 60 osm 7:30";
    let of = |pid| [("CLAUDE_CODE_SESSION_ID", "c"), ("CLAUDE_PID", pid)];
    assert!(id(tree, &of("40")).starts_with("agent--claude-code_"));
    assert!(id(tree, &of("30")).starts_with("anchor--"), "that is not the agent");
    let elsewhere = tree.replace("40 claude 7:30", "40 claude 8:40");
    assert!(id(&elsewhere, &of("40")).starts_with("anchor--"), "an agent of another terminal");
}

#[test]
fn a_shell_that_reads_a_pipe_is_a_script() {
    let tree = "1 systemd -\n 20 daemon -\n 30 bash -:30 bash\n 60 osm -:30";
    let daemon = id("1 systemd -\n 20 daemon -\n 60 osm -", &[]);
    let with = |files: &[(u32, Option<Terminal>)]| {
        let (mut table, pid) = table(tree, host());
        for (number, terminal) in files {
            table = table.with_open(Pid(30), *number, *terminal);
        }
        look(&table, pid, &[]).id.to_string()
    };
    assert_eq!(with(&[(0, None)]), daemon);
    assert_eq!(with(&[(1, Some(Terminal(7)))]), daemon, "its standard input is closed");
    assert_ne!(with(&[(0, Some(Terminal(7)))]), daemon);
    assert_ne!(with(&[(0, None), (255, Some(Terminal(7)))]), daemon, "a redirection in it");
    assert_ne!(with(&[]), daemon, "files that may not be looked at prove nothing");
}

#[test]
fn a_shell_keeps_its_session_when_its_terminal_is_closed() {
    let tree =
        |terminal| format!("1 systemd -\n 30 bash {terminal}:30 bash -i\n 60 osm {terminal}:30");
    let open = id(&tree("7"), &[]);
    let (table, pid) = table(&tree("-"), host());
    let closed = look(&table.with_open(Pid(30), 0, Some(Terminal(7))), pid, &[]);
    assert_eq!(closed.id.to_string(), open, "{:?}", closed.trail);
}

#[test]
fn a_pane_whose_name_is_lost_is_known_by_its_first_process() {
    let pane = |server: &str, pid: u32, terminal: u32| {
        format!("1 systemd -\n 20 {server} -\n {pid} bash {terminal} bash\n 60 osm {terminal}")
    };
    for (server, named, start) in [
        ("tmux:_server", ("TMUX_PANE", "%3"), "tmux--tty7_20_"),
        ("zellij", ("ZELLIJ_PANE_ID", "3"), "zellij--"),
        ("wezterm-mux-ser", ("WEZTERM_PANE", "3"), "wezterm--"),
    ] {
        let lost = id(&pane(server, 30, 7), &[]);
        assert!(lost.starts_with(start), "{lost}");
        assert_ne!(lost, id(&pane(server, 31, 7), &[]), "{server}: the pty was given to another");
        assert_ne!(lost, id(&pane(server, 31, 8), &[]), "{server}: another pane");
        let stale = [("TMUX", "/s,9,0"), ("ZELLIJ_SESSION_NAME", "x"), named];
        if server == "tmux:_server" {
            assert_eq!(lost, id(&pane(server, 30, 7), &stale), "the name of another server's");
        } else {
            assert_ne!(lost, id(&pane(server, 30, 7), &stale), "{server}: the name is enough");
        }
    }
    let alone = "1 systemd -\n 20 tmux:_server -\n 60 osm 7";
    assert_eq!(see(alone, &[]).source, Source::Random, "never from this process alone");
}

#[test]
fn a_service_is_no_command_of_its_supervisor() {
    let service = |tty: &str, pid: u32| {
        format!(
            "1 systemd -\n 20 bash {tty} bash\n 30 supervisord {tty}\n \
                 {pid} sh {tty} sh x.sh\n 60 osm {tty}"
        )
    };
    let ssh = [("SSH_CONNECTION", "1 2 3 4")];
    assert_ne!(id(&service("-", 40), &ssh), id(&service("-", 41), &ssh));
    assert_eq!(id(&service("7", 40), &[]), id(&service("7", 41), &[]), "on a terminal it is one");
}

#[test]
fn a_script_of_a_daemon_is_a_service_of_its_own() {
    let run = |pid: u32, line: &str| {
        format!("1 systemd -\n 20 python3 - python3 sup.py\n {pid} {line}\n 60 osm -")
    };
    let daemon = id("1 systemd -\n 20 python3 - python3 sup.py\n 60 osm -", &[]);
    let one = id(&run(30, "sh - sh one.sh"), &[]);
    assert_ne!(one, daemon);
    assert_ne!(one, id(&run(31, "sh - sh other.sh"), &[]));
    assert_ne!(one, id(&run(31, "run - /bin/sh ./run"), &[]), "with a #! line");
    assert_ne!(one, id(&run(31, "timeout - timeout 9 x\n 32 sh - sh other.sh"), &[]));
    let inside = run(30, "sh - sh one.sh\n 40 sh - sh -c x\n 41 bash - bash y.sh");
    assert_eq!(one, id(&inside, &[]), "what a service runs");
    for command in ["sh - sh -c x", "env - env\n 31 sh - sh -c x", "sh - sh -c x\n 40 sh - sh y"] {
        assert_eq!(id(&run(30, command), &[]), daemon, "a command of an unknown agent: {command}");
    }
    let person = |pid: u32| {
        format!(
            "1 systemd -\n 10 bash 7 bash\n 20 python3 - python3 x.py\n {pid} sh - sh y\n 60 osm -"
        )
    };
    assert_eq!(id(&person(30), &[]), id(&person(31), &[]), "a program of a terminal");
}

#[test]
fn a_login_needs_no_variable_on_a_terminal() {
    let tree = "1 systemd -\n 20 sshd -\n 30 bash 7 -bash\n 60 osm 7";
    let login = see(tree, &[]);
    assert_eq!((login.source, login.confidence), (Source::Ssh, Confidence::Confirmed));
    assert_eq!(login.id, see(tree, &[("SSH_CONNECTION", "1 2 3 4")]).id);
    let alone = "1 systemd -\n 20 sshd -\n 30 bash - bash -c x\n 60 osm -";
    assert_eq!(see(alone, &[]).source, Source::Anchor);
}

#[test]
fn one_command_of_a_sandbox_says_so() {
    let contained = || Host { contained: true, ..host() };
    let confidence = |tree: &str| {
        let (table, pid) = table(tree, contained());
        look(&table, pid, &[]).confidence
    };
    for one in [
        "1 sh - sh -c x\n 60 osm -",
        "1 bwrap -\n 30 sh - sh -c x\n 60 osm -",
        "1 bwrap 7\n 60 osm 7",
        "1 firejail -\n 60 osm -",
        "1 bash 7 bash x.sh\n 60 osm 7",
        "1 tini -\n 30 sh - sh -c x\n 60 osm -",
    ] {
        assert_eq!(confidence(one), Confidence::OneCommand, "{one}");
    }
    for lasting in ["1 bash 7 bash -i\n 60 osm 7", "1 app -\n 30 sh - sh -c x\n 60 osm -"] {
        assert_eq!(confidence(lasting), Confidence::Confirmed, "{lasting}");
    }
}

#[test]
fn an_ides_agent_is_confirmed_by_the_ide() {
    let tree = "1 systemd -\n 20 cursor -\n 30 bash 7 bash\n 40 osm 7";
    let agent = see(tree, &[("CURSOR_CONVERSATION_ID", "c1")]);
    assert!(agent.id.as_str().starts_with("agent--cursor_"), "{:?}", agent.trail);
    assert!(id(tree, &[("CURSOR_TRACE_ID", "x")]).starts_with("anchor--"), "that is a window's");
}

#[test]
fn agents_whose_name_says_nothing() {
    let agents = [
        ("2.1.325 7 claude", "claude-code"),
        ("MainThread 7 node /usr/local/bin/gemini", "gemini-cli"),
        ("node 7 node --max-old-space-size=99 /x/@qwen-code/qwen-code/cli.js", "qwen-code"),
        ("node 7 node /x/node_modules/@openai/codex/bin/codex.js", "codex"),
        ("agent 7 /x/cursor-agent/versions/1.0/agent", "cursor"),
        ("python3.11 7 /usr/bin/python3 -m aider", "aider"),
        ("claude.exe 7 claude", "claude-code"),
        ("hermes 7 hermes", "hermes"),
        ("Kimi_Code 7 Kimi_Code", "kimi"),
        ("kimi-code 7 kimi-code", "kimi"),
        ("vibe-rs 7 /x/vibe/_bin/vibe-rs", "mistral-vibe"),
        ("vibe-app-server 7 vibe-app-server", "mistral-vibe"),
        ("mini 7 /usr/bin/python3 /x/bin/mini", "mini-swe-agent"),
        ("python3 7 python3 /x/bin/mini-swe-agent", "mini-swe-agent"),
        ("python3.12 7 /x/bin/python3 /x/bin/deepagents", "deepagents"),
        ("gptme 7 /x/bin/python3 /x/bin/gptme", "gptme"),
        ("node 7 node /x/node_modules/@qoder-ai/qodercli/bundle/qodercli.js", "qoder"),
    ];
    for (process, name) in agents {
        let tree =
            format!("1 systemd -\n 20 bash 7 bash\n 30 {process}\n 40 sh - sh -c x\n 50 osm -");
        let detection = see(&tree, &[]);
        let agent = detection.agent.as_ref().map(|agent| agent.name);
        assert_eq!(agent, Some(name), "{process}: {:?}", detection.trail);
        assert!(detection.id.as_str().starts_with(&format!("agent--{name}_30_")));
    }
}

#[test]
fn a_program_that_behaves_like_an_agent_is_shown() {
    let unlisted = |tree: &str, ours: &[(&str, &str)], set: &[(u32, &str, &str)]| {
        let (mut table, pid) = table(tree, host());
        for (pid, name, value) in set {
            table = table.with_variable(Pid(*pid), name, value);
        }
        look(&table, pid, ours).unlisted
    };
    let daemon = "1 systemd -\n 20 node - node /x/bin/robo.js\n 30 sh -:30 sh -c x\n 40 osm -:30";
    let ours = [("ROBO_SESSION_ID", "a"), ("ROBO_PID", "20"), ("XDG_SESSION_ID", "3")];
    let set = [
        (30, "ROBO_SESSION_ID", "a"),
        (30, "ROBO_PID", "20"),
        (30, "AI_AGENT", "robo"),
        (20, "XDG_SESSION_ID", "3"),
        (30, "XDG_SESSION_ID", "3"),
    ];
    let found = unlisted(daemon, &ours, &set).unwrap();
    assert_eq!((found.pid, found.program.as_str()), (Pid(20), "robo.js"));
    assert_eq!(
        (found.session, found.owner),
        (vec!["ROBO_SESSION_ID".into()], Some("ROBO_PID".into()))
    );
    assert_eq!(found.behaviour.len(), 4, "{:?}", found.behaviour);

    let native = "1 systemd -\n 20 bash 7 bash\n 25 robo 7 robo\n 30 sh -:30 sh -c x\n 40 osm -:30";
    assert_eq!(unlisted(native, &[], &[]).unwrap().program, "robo");
    for plain in [
        PLAIN,
        "1 systemd -\n 20 bash 7 bash\n 25 make 7 make\n 30 sh 7:20 sh -c x\n 40 osm 7:20",
        "1 systemd -\n 20 robo - robo\n 30 sh - sh x.sh\n 40 osm -",
        "1 systemd -\n 20 claude - claude\n 30 sh - sh -c x\n 40 osm -",
        "1 systemd -\n 20 python3 - python3 -c x\n 30 sh - sh -c x\n 40 osm -",
    ] {
        assert_eq!(unlisted(plain, &[], &[]), None, "{plain}");
    }
}

#[test]
fn ptys_of_a_program_that_calls_itself_an_agent_are_its_commands() {
    let command = |pid: u32, line: &str, before: &str| {
        let tree = format!("1 systemd -\n 20 robo - robo\n {pid} {line}\n 60 osm {pid}");
        let (table, asks) = table(&tree, host());
        let table =
            table.with_variable(Pid(20), "AGENT", before).with_variable(Pid(pid), "AGENT", "robo");
        look(&table, asks, &[]).id.to_string()
    };
    assert_eq!(command(30, "sh 30 sh -c x", ""), command(31, "sh 31 sh -c y", ""));
    assert_ne!(
        command(30, "sh 30 sh -c x", "robo"),
        command(31, "sh 31 sh -c y", "robo"),
        "inherited"
    );
    assert_ne!(command(30, "bash 30 bash -i", ""), command(31, "bash 31 bash -i", ""), "a person");
}

#[test]
fn what_looks_like_an_agent_and_is_none() {
    for process in [
        "claude_daemon 7 claude",
        "node 7 node /home/claude/server.js",
        "python3 7 python3 -c code claude",
        "pi 7 pi",
        "vim 7 vim claude",
        "claudette 7 claudette",
        "mini 7 mini",
    ] {
        let tree = format!("1 systemd -\n 20 bash 7 bash\n 30 {process}\n 40 osm 7");
        assert!(id(&tree, &[]).starts_with("anchor--"), "{process}");
    }
    let pi = "1 systemd -\n 20 bash 7 bash\n 30 pi 7 pi\n 40 osm 7";
    assert!(id(pi, &[("PI_CODING_AGENT", "true")]).starts_with("agent--pi_30_"));
}

#[test]
fn an_agent_that_starts_itself_again_is_one() {
    let tree = "1 systemd -\n 20 bash 7 bash\n 30 node 7 node /x/bin/gemini\n \
                31 node 7 node --opt /x/bin/gemini\n 40 bash 8 bash -c x\n 50 osm 8";
    let detection = see(tree, &[]);
    assert!(detection.id.as_str().starts_with("agent--gemini-cli_30_"), "{}", detection.id);
    assert_eq!(detection.parent.unwrap(), see("1 systemd -\n 20 bash 7 bash\n 30 osm 7", &[]).id);
}

// Paths of Windows are others, and records are read on Linux alone.
#[cfg(unix)]
#[test]
fn a_record_tells_the_conversation_where_no_variable_does() {
    const FILE: &str = "/home/u/.claude/sessions/30.json";
    let tree = "1 systemd -\n 20 bash 7 bash\n 30 claude 7 claude\n 50 osm -";
    let with = |path: &str, content: &str, variables: &[(&str, &str)]| {
        let (table, pid) = table(tree, host());
        let table = table.with_variable(Pid(30), "HOME", "/home/u").with_record(path, content);
        look(&table, pid, variables)
    };
    let right = r#"{"pid":30,"procStart":"300","sessionId":"c1"}"#;
    let named = see(tree, &[("CLAUDE_CODE_SESSION_ID", "c1")]);
    assert_eq!(with(FILE, right, &[]).id, named.id);
    assert_eq!(with(FILE, right, &[("CLAUDE_PID", "9")]).id, named.id);
    let other = with(FILE, right, &[("CLAUDE_CODE_SESSION_ID", "c2")]);
    assert_ne!(other.id, named.id, "the variable is that of this command");
    let process = see(tree, &[]);
    for (path, content, why) in [
        (FILE, r#"{"pid":31,"procStart":"300","sessionId":"c1"}"#, "another process"),
        (FILE, r#"{"pid":30,"procStart":"299","sessionId":"c1"}"#, "started at 300"),
        (FILE, r#"{"pid":30,"sessionId":"c1"}"#, "started at 300"),
        (FILE, r#"{"pid":30,"procStart":"300","sessionId":""}"#, "no sessionId"),
        (FILE, r#"{"pid":30,"procStart":"300","sessionId":7}"#, "no sessionId"),
        (FILE, r#"{"pid":30,"procStart":"#, "not JSON"),
        ("/home/u/.claude/sessions/31.json", right, "not visible"),
    ] {
        let detection = with(path, content, &[]);
        assert_eq!(detection.id, process.id, "{content}");
        let reason = &detection.trail.iter().find(|it| it.detector == "agent").unwrap().reason;
        assert!(reason.contains(why), "{why}: {reason}");
    }
    let (moved, pid) = table(tree, host());
    let moved = moved
        .with_variable(Pid(30), "HOME", "/home/u")
        .with_variable(Pid(30), "CLAUDE_CONFIG_DIR", "/c")
        .with_record("/c/sessions/30.json", right);
    assert_eq!(look(&moved, pid, &[]).id, named.id);
}

#[test]
fn a_sub_agent_runs_in_its_agent() {
    let tree = "1 systemd -\n 20 bash 7 bash\n 30 qwen 7 qwen\n 50 osm 7";
    let main = [("QWEN_CODE_SESSION_ID", "q")];
    let sub = [("QWEN_CODE_SESSION_ID", "q"), ("QWEN_CODE_AGENT_ID", "a")];
    let sub = see(tree, &sub);
    assert_eq!(sub.parent, Some(see(tree, &main).id));
    assert_ne!(Some(sub.id), sub.parent);
}

#[test]
fn blind_means_variables_alone_and_unconfirmed() {
    let empty = FixedTable::new(host());
    let strict_order: [(&[(&str, &str)], &str); 5] = [
        (&[("CODEX_THREAD_ID", "c"), ("TMUX", "/t,7,0"), ("TMUX_PANE", "%1")], "agent--codex_"),
        (&[("TMUX", "/t,7,0"), ("TMUX_PANE", "%1"), ("STY", "8.x"), ("WINDOW", "0")], "tmux--1_7_"),
        (&[("STY", "8.x"), ("WINDOW", "0"), ("SSH_CONNECTION", "1 2 3 4")], "screen--"),
        (&[("SSH_CONNECTION", "1 2 3 4"), ("TERM_SESSION_ID", "x")], "ssh--"),
        (&[("TERM_SESSION_ID", "x")], "terminal--"),
    ];
    for (variables, start) in strict_order {
        let detection = look(&empty, 40, variables);
        assert!(detection.id.as_str().starts_with(start), "{}", detection.id);
        assert_eq!(detection.confidence, Confidence::Unconfirmed);
        assert_eq!(detection.id, look(&empty, 40, variables).id);
    }
    assert_eq!(look(&empty, 40, &[]).source, Source::Random);
}

#[test]
fn no_session_from_this_process_alone() {
    let detection = see("1 systemd -\n 40 osm -", &[]);
    assert_eq!(detection.source, Source::Random, "a service that is started by the system");
    let (app, pid) = table("1 app - app\n 40 osm -", Host { contained: true, ..host() });
    assert!(look(&app, pid, &[]).id.as_str().starts_with("anchor--"));
    let (alone, pid) = table("1 osm -", Host { contained: true, ..host() });
    assert_eq!(look(&alone, pid, &[]).source, Source::Random);
}

#[test]
fn an_id_never_depends_on_what_lies_beyond_a_recycled_pid() {
    let (table, _) = table("1 systemd -\n 20 bash 7 bash\n 30 make 7 make", host());
    let orphan = Process {
        pid: Pid(40),
        parent: Pid(30),
        start: StartTime(100), // Older than 30: that pid belongs to another process now.
        name: "osm".into(),
        terminal: Some(Terminal(7)),
        session: None,
        state: State::Active,
    };
    assert_eq!(look(&table.with(orphan, &[]), 40, &[]).source, Source::Random);
}

#[test]
fn a_trail_never_holds_a_control_character() {
    let detection = see(PLAIN, &[("TMUX", "a\x1b[31m\nb"), ("CODEX_THREAD_ID", "\x07")]);
    for finding in detection.trail {
        assert!(!finding.reason.contains(char::is_control), "{finding:?}");
    }
}

const NAMES: [&str; 12] = [
    "bash",
    "sh",
    "claude",
    "tmux: server",
    "sshd",
    "kitty",
    "node",
    "sudo",
    "systemd",
    "make",
    "bwrap",
    "screen",
];
const VARIABLES: [&str; 10] = [
    "TMUX",
    "TMUX_PANE",
    "STY",
    "WINDOW",
    "SSH_CONNECTION",
    "CLAUDE_CODE_SESSION_ID",
    "CLAUDE_PID",
    "TERM_SESSION_ID",
    "OSM_CONTEXT_ID",
    "KITTY_WINDOW_ID",
];

prop_compose! {
    fn any_process()(
        pid in 0u32..12, parent in 0u32..12, start in 0u64..5, name in 0usize..NAMES.len(),
        terminal in proptest::option::of(1u64..3), session in proptest::option::of(0u32..12),
    ) -> Process {
        Process {
            pid: Pid(pid), parent: Pid(parent), start: StartTime(start), name: NAMES[name].into(),
            terminal: terminal.map(Terminal), session: session.map(Pid), state: State::Active,
        }
    }
}

proptest! {
    #[test]
    fn any_scene_gives_one_lasting_id(
        processes in proptest::collection::vec(any_process(), 0..12),
        contained in any::<bool>(),
        values in proptest::collection::vec(
            (0usize..VARIABLES.len(), "[%,.0-9]{0,8}|[ -~é]{0,40}"), 0..6),
    ) {
        let table = processes.into_iter().fold(
            FixedTable::new(Host { contained, ..host() }),
            |table, process| table.with(process, &["sh", "-c"]),
        );
        let variables: Vec<(OsString, OsString)> =
            values.iter().map(|(at, value)| (VARIABLES[*at].into(), value.into())).collect();
        let environment = Environment::new(5, variables);
        let catalogue = Catalogue::new();
        let request = Request {
            explicit: None, environment: &environment, source: &table, catalogue: &catalogue,
        };
        let (one, other) = (detect(&request), explain(&request));
        let (quick, confidence) = identify(&request);
        prop_assert_eq!(confidence, one.confidence);
        prop_assert!(quick == one.id || one.source == Source::Random);
        prop_assert!(one.id.as_str().parse::<SessionId>().is_ok(), "{}", one.id);
        prop_assert_eq!(one.source, other.source);
        if one.source != Source::Random {
            prop_assert_eq!(&one.id, &other.id);
            prop_assert_eq!(SessionId::explicit(one.id.as_str().as_ref()), one.id);
        }
        prop_assert!(one.anchor.is_none_or(|anchor| anchor.pid != Pid(5)));
    }
}

/// A table that counts what is read of it.
struct Counted {
    table: FixedTable,
    reads: std::cell::RefCell<std::collections::BTreeMap<String, usize>>,
}

impl Counted {
    fn note(&self, what: String) {
        *self.reads.borrow_mut().entry(what).or_default() += 1;
    }
}

impl ProcessSource for Counted {
    fn host(&self) -> Result<Host, crate::ReadError> {
        self.note("host".into());
        self.table.host()
    }

    fn process(&self, pid: Pid) -> Result<Process, crate::ReadError> {
        self.note(format!("process {pid}"));
        self.table.process(pid)
    }

    fn arguments(&self, pid: Pid) -> Result<Vec<OsString>, crate::ReadError> {
        self.note(format!("arguments of {pid}"));
        self.table.arguments(pid)
    }

    fn executable(&self, pid: Pid) -> Result<std::path::PathBuf, crate::ReadError> {
        self.note(format!("executable of {pid}"));
        self.table.executable(pid)
    }

    fn open_terminal(&self, pid: Pid, file: u32) -> Result<Option<Terminal>, crate::ReadError> {
        self.note(format!("file {file} of {pid}"));
        self.table.open_terminal(pid, file)
    }

    fn variable(&self, pid: Pid, name: &str) -> Result<Option<OsString>, crate::ReadError> {
        self.note(format!("{name} of {pid}"));
        self.table.variable(pid, name)
    }

    fn inode(&self, pid: Pid) -> Option<u64> {
        self.note(format!("inode of {pid}"));
        None
    }

    fn exists(&self, pid: Pid) -> Option<bool> {
        self.table.exists(pid)
    }
}

#[test]
fn nothing_is_read_twice() {
    let chain: Vec<String> = (40..60).map(|pid| format!("{pid} make 7:30 make")).collect();
    let chain = chain.join("\n");
    for (tree, reads) in [
        (format!("1 systemd -\n 20 xterm -\n 30 bash 7:30 bash\n {chain}\n 60 osm 7:30"), 24),
        ("1 systemd -\n 20 bash -:20 bash\n 30 sh -:20 sh -c x\n 60 osm -:20".into(), 8),
        ("1 systemd -\n 20 tmux:_server -\n 30 bash 7:30 bash\n 60 osm 7:30".into(), 10),
        ("1 systemd -\n 20 bash 7 bash\n 30 claude 7 claude\n 60 osm -:60".into(), 7),
    ] {
        let (table, pid) = table(&tree, host());
        let source = Counted { table, reads: std::cell::RefCell::default() };
        let environment = Environment::new(pid, []);
        let catalogue = Catalogue::new();
        let request = Request {
            explicit: None,
            environment: &environment,
            source: &source,
            catalogue: &catalogue,
        };
        drop(identify(&request));
        let seen = source.reads.borrow();
        let twice: Vec<_> = seen.iter().filter(|(_, count)| **count > 1).collect();
        assert!(twice.is_empty(), "{tree}: {twice:?}");
        // Windows has no sessions of terminals: there, more has to be read of each process.
        assert!(cfg!(windows) || seen.len() <= reads, "{tree}: {} reads: {seen:?}", seen.len());
    }
}
