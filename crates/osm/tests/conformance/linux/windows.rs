//! Windows of multiplexers whose names are given again, jobs that servers run, wiped environments,
//! and services.

use osm_testkit::lab::{Lab, Typist};
use osm_testkit::screen::Screen;
use osm_testkit::tmux::Tmux;
use osm_testkit::tools::program;

use super::same::Login;
use super::situation::{Ids, Situation, ask, id};

/// Replaces a shell by one without variables.
const WIPE: &str = "exec env -i PATH=$PATH TERM=dumb bash --norc --noprofile -i";

pub(crate) const SITUATIONS: &[Situation] = &[
    Situation::differ(
        "screen windows that have or had the same number",
        &["multiplexer screen"],
        |lab| {
            program("screen")?;
            let screen = Screen::start(lab, "numbers", &[])?;
            let mut ids = id(lab, &mut screen.window(0))?;
            screen.run(&["-p", "0", "-X", "number", "5"])?;
            ids.extend(id(lab, &mut screen.open(0)?)?);
            let mut ended = screen.open(1)?;
            ids.extend(id(lab, &mut ended)?);
            lab.ask(&mut ended, "echo $$ >LAB/pid")?.ok()?;
            ended.type_line("exit")?;
            lab.ask(
                &mut screen.window(0),
                "while kill -0 $(cat LAB/pid) 2>/dev/null; do sleep 0.05; done; true",
            )?
            .ok()?;
            ids.extend(id(lab, &mut screen.open(1)?)?);
            Ok(ids)
        },
    ),
    Situation::same("a screen window that was renumbered", &["multiplexer screen"], |lab| {
        program("screen")?;
        let screen = Screen::start(lab, "renumbered", &[])?;
        let mut ids = id(lab, &mut screen.window(0))?;
        screen.run(&["-p", "0", "-X", "number", "5"])?;
        screen.run(&["-X", "sessionname", "renumbered"])?;
        ids.extend(id(lab, &mut screen.window(5))?);
        Ok(ids)
    }),
    Situation::same("jobs of a tmux server", &["multiplexer tmux"], |lab| {
        program("tmux")?;
        let (tmux, first) = Tmux::start(lab, &[])?;
        for name in ["one", "two"] {
            let command = format!("OSM session id >LAB/{name}.tmp; mv LAB/{name}.tmp LAB/{name}");
            tmux.run(&["run-shell", &lab.spell(&command)])?;
        }
        tmux.run(&["run-shell", &lab.spell("OSM session id >LAB/three")])?;
        tmux.run(&["run-shell", &lab.spell("setsid -w OSM session id >LAB/four")])?;
        ask(lab, &mut tmux.pane(first), "cat LAB/one LAB/two LAB/three LAB/four")
    }),
    Situation::differ("a job of a tmux server, against its panes", &["multiplexer tmux"], |lab| {
        program("tmux")?;
        // The name of a pane of another server, which this one was started in.
        let (tmux, first) = Tmux::start(lab, &[("TMUX_PANE", "%0")])?;
        tmux.run(&["run-shell", &lab.spell("OSM session id >LAB/job")])?;
        let mut ids = ask(lab, &mut tmux.pane(first), "cat LAB/job; OSM session id")?;
        ids.extend(id(lab, &mut tmux.split()?)?);
        Ok(ids)
    }),
    Situation::same("a tmux pane whose shell lost its variables", &["multiplexer tmux"], |lab| {
        program("tmux")?;
        let (tmux, first) = Tmux::start(lab, &[])?;
        let mut pane = tmux.pane(first);
        pane.type_line(WIPE)?;
        let mut ids = id(lab, &mut pane)?;
        // Once more: still the same process on the same pty.
        pane.type_line(WIPE)?;
        ids.extend(ask(
            lab,
            &mut pane,
            "OSM session id; sh -c 'OSM session id; true'; setsid -w OSM session id; \
             TMUX=/stale,1,0 TMUX_PANE=%0 OSM session id; (sleep 0.1; OSM session id) & wait",
        )?);
        Ok(ids)
    }),
    Situation::differ(
        "tmux panes whose shells lost their variables",
        &["multiplexer tmux"],
        |lab| {
            program("tmux")?;
            let (tmux, first) = Tmux::start(lab, &[])?;
            let mut ids = Vec::new();
            for mut pane in [tmux.pane(first), tmux.split()?] {
                pane.type_line(WIPE)?;
                ids.extend(id(lab, &mut pane)?);
            }
            ids.extend(id(lab, &mut tmux.split()?)?);
            let (another, first) = Tmux::start(lab, &[])?;
            let mut pane = another.pane(first);
            pane.type_line(WIPE)?;
            ids.extend(id(lab, &mut pane)?);
            Ok(ids)
        },
    ),
    Situation::same("su - to another user in a tmux pane", &["multiplexer tmux"], |lab| {
        program("tmux")?;
        osm_testkit::tools::root()?;
        let (tmux, first) = Tmux::start(lab, &[])?;
        let mut pane = tmux.pane(first);
        pane.type_line("su - -s /bin/bash nobody")?;
        let mut ids = ask(lab, &mut pane, "OSM session id; sh -c 'OSM session id; true'")?;
        // Another login in the same pane.
        pane.type_line("exit")?;
        pane.type_line("su - -s /bin/bash nobody")?;
        ids.extend(ask(lab, &mut pane, "OSM session id; env -i OSM session id")?);
        Ok(ids)
    }),
    Situation::same("sudo -i in a tmux pane", &["multiplexer tmux"], |lab| {
        program("tmux")?;
        program("sudo")?;
        osm_testkit::tools::root()?;
        let (tmux, first) = Tmux::start(lab, &[])?;
        let mut pane = tmux.pane(first);
        let mut ids = id(lab, &mut pane)?;
        pane.type_line("sudo -i bash --norc --noprofile")?;
        ids.extend(ask(lab, &mut pane, "OSM session id; env -i OSM session id")?);
        Ok(ids)
    }),
    Situation::same(
        "a screen window whose shell lost its variables",
        &["multiplexer screen"],
        |lab| {
            program("screen")?;
            let screen = Screen::start(lab, "wiped", &[])?;
            wiped(lab, &mut screen.window(0))
        },
    ),
    Situation::same(
        "a dtach session whose shell lost its variables",
        &["multiplexer dtach"],
        |lab| {
            program("dtach")?;
            let mut viewer = lab.terminal()?;
            viewer.type_line(&lab.spell("dtach -A LAB/socket bash --norc --noprofile -i"))?;
            let ids = wiped(lab, &mut viewer)?;
            viewer.type_line("exit")?;
            Ok(ids)
        },
    ),
    Situation::same("an SSH login whose shell lost its variables", &["ssh"], |lab| {
        wiped(lab, &mut Login::new(lab)?.terminal)
    }),
    Situation::same("su - to another user over SSH", &["ssh"], |lab| {
        let mut login = Login::new(lab)?;
        let mut ids = id(lab, &mut login.terminal)?;
        login.terminal.type_line("su - -s /bin/bash nobody")?;
        ids.extend(id(lab, &mut login.terminal)?);
        Ok(ids)
    }),
    Situation::same("su - to another user in a screen window", &["multiplexer screen"], |lab| {
        program("screen")?;
        osm_testkit::tools::root()?;
        let screen = Screen::start(lab, "su", &[])?;
        let mut window = screen.window(0);
        let mut ids = id(lab, &mut window)?;
        window.type_line("su - -s /bin/bash nobody")?;
        ids.extend(id(lab, &mut window)?);
        Ok(ids)
    }),
    Situation::differ("two services of one supervisor", &["anchor"], |lab| {
        program("supervisord")?;
        service(lab)?;
        lab.file(
            "supervisord.conf",
            "[supervisord]\nnodaemon=true\nlogfile=/dev/null\nlogfile_maxbytes=0\npidfile=LAB/pid\n\
             user=root\n[program:one]\ncommand=bash LAB/service.sh one\n[program:other]\n\
             command=bash LAB/service.sh other\n",
        )?;
        ask(
            lab,
            &mut lab.terminal()?,
            "setsid supervisord -c LAB/supervisord.conf </dev/null >/dev/null 2>&1 & \
             until test -s LAB/one && test -s LAB/other; do sleep 0.05; done; \
             cat LAB/one LAB/other; kill $(cat LAB/pid)",
        )
    }),
    Situation::differ("two services of runsv, of s6 and of daemontools", &["anchor"], |lab| {
        let mut ids = Vec::new();
        for supervisor in ["runsv", "s6-supervise", "supervise"] {
            program(supervisor)?;
            service(lab)?;
            for name in ["one", "other"] {
                let folder = lab.path().join(format!("{supervisor}-{name}"));
                std::fs::create_dir(&folder)?;
                let run = format!("{supervisor}-{name}/run");
                lab.file(&run, &format!("#!/bin/sh\nsh LAB/service.sh {name}\nsleep 100\n"))?;
            }
            ids.extend(ask(
                lab,
                &mut lab.terminal()?,
                &format!(
                    "for name in one other; do \
                       setsid {supervisor} LAB/{supervisor}-$name </dev/null >/dev/null 2>&1 & \
                     done; \
                     until test -s LAB/one && test -s LAB/other; do sleep 0.05; done; \
                     cat LAB/one LAB/other; rm LAB/one LAB/other; \
                     for P in $(pgrep -f '^{supervisor} LAB'); do pkill -P $P; kill -9 $P; done; true"
                ),
            )?);
        }
        Ok(ids)
    }),
    Situation::differ("two services of a supervisor that is a script", &["anchor"], |lab| {
        let mut ids =
            handwritten(lab, "[['bash', 'LAB/service.sh', n] for n in ('one', 'other')]")?;
        // The same, each in a session of its own.
        ids.extend(handwritten(
            lab,
            "[['setsid', '-w', 'sh', 'LAB/service.sh', n] for n in ('one', 'other')]",
        )?);
        Ok(ids)
    }),
    Situation::same("commands of a daemon that is a script", &["anchor"], |lab| {
        handwritten(
            lab,
            "[['bash', '-c', f'bash LAB/service.sh {n}; true'] for n in ('one', 'other')]",
        )
    }),
    Situation::same("one service of a supervisor", &["anchor"], |lab| {
        program("runsv")?;
        service(lab)?;
        lab.file(
            "run",
            "#!/bin/sh\nbash LAB/service.sh one\nbash LAB/service.sh other\nsleep 100\n",
        )?;
        ask(
            lab,
            &mut lab.terminal()?,
            "mkdir LAB/runit; mv LAB/run LAB/runit; setsid runsv LAB/runit </dev/null >/dev/null 2>&1 & \
             until test -s LAB/one && test -s LAB/other; do sleep 0.05; done; \
             cat LAB/one LAB/other; sv -w 1 exit LAB/runit >/dev/null || kill %1",
        )
    }),
];

/// A service that tells its session once.
fn service(lab: &Lab) -> std::io::Result<()> {
    lab.file("service.sh", "OSM session id >LAB/$1.tmp; mv LAB/$1.tmp LAB/$1; sleep 0.5\n")
        .map(drop)
}

/// The sessions of the programs that a daemon of python starts, and keeps running.
fn handwritten(lab: &Lab, services: &str) -> Ids {
    let python = program("python3")?;
    service(lab)?;
    lab.file(
        "keeper.py",
        &format!(
            "import os, subprocess\n\
             open('LAB/pid', 'w').write(str(os.getpid()))\n\
             for it in [subprocess.Popen(it) for it in {services}]: it.wait()\n"
        ),
    )?;
    ask(
        lab,
        &mut lab.terminal()?,
        &format!(
            "setsid {} LAB/keeper.py </dev/null >/dev/null 2>&1 & \
             until test -s LAB/one && test -s LAB/other; do sleep 0.05; done; \
             cat LAB/one LAB/other; rm LAB/one LAB/other; kill $(cat LAB/pid) 2>/dev/null; true",
            python.display()
        ),
    )
}

/// The session of a shell, before and after it has lost its variables.
fn wiped(lab: &Lab, shell: &mut dyn Typist) -> Ids {
    let mut ids = id(lab, shell)?;
    shell.type_line(WIPE)?;
    ids.extend(ask(lab, shell, "OSM session id; sh -c 'OSM session id; true'")?);
    Ok(ids)
}
