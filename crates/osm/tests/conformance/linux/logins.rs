//! Logins that are no OpenSSH, and containers with an init of their own.

use osm_testkit::lab::{Lab, Typist};
use osm_testkit::terminal::Terminal;
use osm_testkit::tools::{program, root};

use super::situation::{Situation, Stop, ask, id};

pub(crate) const SITUATIONS: &[Situation] = &[
    Situation::same("one mosh login", &["ssh"], |lab| {
        let mut login = mosh(lab)?;
        let mut ids = ask(
            lab,
            &mut login,
            "OSM session id; sh -c 'OSM session id; true'; setsid -w OSM session id; \
             env -i OSM session id",
        )?;
        login.type_line("exec env -i PATH=$PATH TERM=dumb bash --norc --noprofile -i")?;
        ids.extend(id(lab, &mut login)?);
        login.type_line("exit")?;
        Ok(ids)
    }),
    Situation::differ("two mosh logins, and a terminal", &["ssh", "anchor"], |lab| {
        let mut ids = Vec::new();
        for _ in 0..2 {
            let mut login = mosh(lab)?;
            ids.extend(id(lab, &mut login)?);
            login.type_line("exit")?;
        }
        ids.extend(id(lab, &mut lab.terminal()?)?);
        Ok(ids)
    }),
    Situation::same("the shell of a systemd-nspawn container", &["anchor"], |lab| {
        let mut shell = container(lab, "one")?;
        let ids = ask(
            lab,
            &mut shell,
            "OSM session id; sh -c 'OSM session id; true'; setsid -w OSM session id; \
             env -i OSM session id",
        )?;
        shell.type_line("exit")?;
        Ok(ids)
    }),
    Situation::differ("two systemd-nspawn containers, and a terminal", &["anchor"], |lab| {
        let (mut one, mut other) = (container(lab, "one")?, container(lab, "other")?);
        let mut ids = id(lab, &mut one)?;
        ids.extend(id(lab, &mut other)?);
        ids.extend(id(lab, &mut lab.terminal()?)?);
        one.type_line("exit")?;
        other.type_line("exit")?;
        Ok(ids)
    }),
];

/// A login through a server of mosh on this machine.
fn mosh(lab: &Lab) -> Result<Terminal, Stop> {
    program("mosh-server")?;
    let mut terminal = lab.terminal()?;
    // The server outlives a client that is killed, but not for long.
    terminal.type_line(
        "MOSH=$(LC_ALL=C.UTF-8 MOSH_SERVER_NETWORK_TMOUT=60 mosh-server new -i 127.0.0.1 \
         -- bash --norc --noprofile -i 2>/dev/null | sed -n 's/^MOSH CONNECT //p'); \
         LC_ALL=C.UTF-8 MOSH_KEY=${MOSH#* } exec mosh-client 127.0.0.1 ${MOSH% *}",
    )?;
    Ok(terminal)
}

/// A shell on the console of a container that sees the programs and the lab of this machine.
fn container(lab: &Lab, name: &str) -> Result<Terminal, Stop> {
    root()?;
    program("systemd-nspawn")?;
    let prepare = format!(
        "mkdir -p LAB/{name}/usr LAB/{name}/etc; touch LAB/{name}/etc/os-release; \
         for it in bin lib lib64 sbin; do ln -s usr/$it LAB/{name}/$it; done"
    );
    let mut terminal = lab.terminal()?;
    lab.ask(&mut terminal, &prepare)?.ok()?;
    let program = super::situation::program();
    let program = program.parent().unwrap_or(&program).display();
    terminal.type_line(&lab.spell(&format!(
        "exec systemd-nspawn -q --register=no --keep-unit --as-pid2 -M $(basename LAB)-{name} \
         -D LAB/{name} --bind-ro=/usr --bind-ro={program} --bind=LAB bash --norc --noprofile -i"
    )))?;
    Ok(terminal)
}
