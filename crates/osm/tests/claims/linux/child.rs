//! Commands that run under a claim: the terminal, signals, and that all of a command ends.

use std::fs;
use std::time::{Duration, Instant};

use osm_testkit::lab::Typist as _;
use osm_testkit::terminal::Terminal;
use osm_testkit::tools::Stop;

use super::row::{Outcome, Test, test};
use super::site::{Owner, Site};

pub(crate) const TESTS: &[Test] = &[
    test!(a_command_reads_from_the_terminal_whatever_its_input_is),
    test!(the_keys_of_the_terminal_reach_the_command),
    test!(an_interrupt_from_elsewhere_reaches_the_command),
    test!(a_stopped_command_hears_what_is_sent_to_us),
    test!(what_is_ignored_stays_ignored),
    test!(a_command_survives_its_terminal_if_told_to),
    test!(an_exit_code_is_known_though_children_are_ignored),
    test!(a_lost_claim_stops_descendants_on_a_terminal),
    test!(a_lost_claim_stops_descendants_off_a_terminal),
    test!(a_lost_claim_stops_daemons),
    test!(a_lost_claim_stops_who_does_not_listen),
];

/// Signals as a person's shell leaves them, however the tests were started.
const FRESH: &str = "env --default-signal=HUP,INT,TERM,CHLD";

/// Off any terminal, wherever the tests were started.
pub(crate) const DETACHED: &str = "setsid --wait env --default-signal=HUP,INT,TERM,CHLD";

const ENDLESS: &str = "while :; do sleep 0.1; done";

/// A shell in the repository, on a terminal.
fn terminal(site: &Site) -> Result<Terminal, Stop> {
    let mut terminal = site.lab.terminal()?;
    site.lab.ask(&mut terminal, "cd LAB/repo")?.ok()?;
    Ok(terminal)
}

fn types(site: &Site, terminal: &mut Terminal, line: &str) -> Outcome {
    Ok(terminal.type_line(&site.lab.spell(line))?)
}

/// A script of the lab that does something, having told its number and that of `osm`.
fn script(site: &Site, rest: &str) -> Outcome {
    trapping(site, "", rest)
}

/// The same, but this it does before.
fn trapping(site: &Site, trap: &str, rest: &str) -> Outcome {
    let told = "echo $$ $PPID >LAB/pids.tmp; mv LAB/pids.tmp LAB/pids";
    site.lab.file("script.sh", &format!("{trap}\n{told}\n{rest}\n"))?;
    Ok(())
}

/// The numbers that the script told: its own, and that of `osm`.
pub(crate) fn pids(site: &Site) -> Result<(u32, u32), Stop> {
    site.lab.wait_for(&site.path("pids"))?;
    let text = fs::read_to_string(site.path("pids"))?;
    let mut pids = text.split_whitespace().filter_map(|it| it.parse().ok());
    let both = pids.next().zip(pids.next());
    both.ok_or_else(|| Stop::Failed(format!("these are no numbers: {text:?}")))
}

fn kill(owner: &mut Owner, signal: &str, pid: u32) -> Outcome {
    Ok(owner.sh(&format!("kill -{signal} {pid}"))?.ok()?)
}

/// The state of a process as `/proc` has it; that of one that is gone is a zombie's.
pub(crate) fn state(pid: u32) -> char {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").and_then(|(_, rest)| rest.chars().next()).unwrap_or('Z')
}

/// Waits until a process is in this state.
pub(crate) fn await_state(pid: u32, wanted: char) -> Outcome {
    let until = Instant::now() + Duration::from_mins(1);
    while state(pid) != wanted {
        if Instant::now() > until {
            return Err(Stop::Failed(format!("{pid} is {} and not {wanted}", state(pid))));
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    Ok(())
}

fn a_command_reads_from_the_terminal_whatever_its_input_is(site: &Site) -> Outcome {
    let mut terminal = terminal(site)?;
    script(site, "read a </dev/tty; echo \"got-$a\"")?;
    types(site, &mut terminal, "OSM claim run work -- sh LAB/script.sh </dev/null")?;
    pids(site)?;
    types(site, &mut terminal, "words")?;
    Ok(terminal.wait_for("got-words")?)
}

fn the_keys_of_the_terminal_reach_the_command(site: &Site) -> Outcome {
    let (mut terminal, mut rival) = (terminal(site)?, site.agent()?);
    script(
        site,
        "while test -z \"$a\"; do read a </dev/tty; done; echo \"got-$a\"; read b </dev/tty",
    )?;
    types(site, &mut terminal, "OSM claim run work -- sh LAB/script.sh </dev/null")?;
    let (command, osm) = pids(site)?;
    types(site, &mut terminal, "\x1a")?;
    for pid in [command, osm] {
        await_state(pid, 'T')?;
    }
    types(site, &mut terminal, "fg")?;
    for pid in [command, osm] {
        await_state(pid, 'S')?;
    }
    types(site, &mut terminal, "words")?;
    terminal.wait_for("got-words")?;
    types(site, &mut terminal, "\x03")?;
    types(site, &mut terminal, "echo \"code-$?\"")?;
    terminal.wait_for("code-130")?;
    rival.claim("work")?;
    Ok(())
}

fn an_interrupt_from_elsewhere_reaches_the_command(site: &Site) -> Outcome {
    let (mut terminal, mut other) = (terminal(site)?, site.agent()?);
    trapping(site, "trap 'exit 3' INT", ENDLESS)?;
    types(site, &mut terminal, "OSM claim run work -- sh LAB/script.sh; echo \"code-$?\"")?;
    let (command, osm) = pids(site)?;
    kill(&mut other, "INT", osm)?;
    terminal.wait_for("code-3")?;
    assert_eq!(state(command), 'Z');
    Ok(())
}

fn a_stopped_command_hears_what_is_sent_to_us(site: &Site) -> Outcome {
    let (mut owner, mut other) = (site.agent()?, site.agent()?);
    for before in [FRESH, DETACHED] {
        for signal in ["TERM", "HUP", "INT"] {
            trapping(site, &format!("trap 'exit 3' {signal}"), ENDLESS)?;
            let run = owner.begin(&format!("{before} OSM claim run work -- sh LAB/script.sh"))?;
            let (command, osm) = pids(site)?;
            kill(&mut other, "STOP", command)?;
            await_state(command, 'T')?;
            kill(&mut other, signal, osm)?;
            let ended = owner.finish(&run)?;
            assert_eq!(ended.code, 3, "{before} {signal}: {ended:#?}");
            other.sh("rm LAB/pids")?.ok()?;
        }
    }
    Ok(())
}

fn what_is_ignored_stays_ignored(site: &Site) -> Outcome {
    let (mut owner, mut other) = (site.agent()?, site.agent()?);
    other.sh("mkfifo LAB/hold")?.ok()?;
    script(site, "grep SigIgn /proc/self/status; read x <LAB/hold; exit 4")?;
    for ignored in ["nohup", "env --ignore-signal=HUP,INT,TERM"] {
        let run =
            owner.begin(&format!("{FRESH} {ignored} OSM claim run work -- sh LAB/script.sh"))?;
        let (_, osm) = pids(site)?;
        kill(&mut other, "HUP", osm)?;
        if ignored != "nohup" {
            kill(&mut other, "INT", osm)?;
            kill(&mut other, "TERM", osm)?;
        }
        other.sh("rm LAB/pids; echo >LAB/hold")?.ok()?;
        let ended = owner.finish(&run)?;
        assert_eq!(ended.code, 4, "{ignored}: {ended:#?}");
        let mask = ended.output.rsplit(':').next().unwrap_or_default().trim();
        let mask = u64::from_str_radix(mask, 16).unwrap_or_default();
        let wanted = if ignored == "nohup" { 1 } else { 0x4003 };
        assert_eq!(mask & 0x4003, wanted, "{ignored}: {ended:#?}");
    }
    Ok(())
}

fn a_command_survives_its_terminal_if_told_to(site: &Site) -> Outcome {
    let (mut terminal, mut other) = (terminal(site)?, site.agent()?);
    other.sh("mkfifo LAB/hold")?.ok()?;
    script(site, "read x <LAB/hold; echo >LAB/over")?;
    types(site, &mut terminal, "nohup OSM claim run work -- sh LAB/script.sh")?;
    let (command, osm) = pids(site)?;
    drop(terminal);
    other.sh("echo >LAB/hold")?.ok()?;
    site.lab.wait_for(&site.path("over"))?;
    for pid in [command, osm] {
        await_state(pid, 'Z')?;
    }
    other.claim("work")?;
    Ok(())
}

fn an_exit_code_is_known_though_children_are_ignored(site: &Site) -> Outcome {
    let mut owner = site.agent()?;
    let ran = owner.sh(
        "sh -c 'trap \"\" CHLD; exec OSM claim run work -- sh -c \"grep SigIgn /proc/self/status; exit 5\"'",
    )?;
    assert_eq!(ran.code, 5, "{ran:#?}");
    let mask = ran.output.rsplit(':').next().unwrap_or_default().trim();
    let mask = u64::from_str_radix(mask, 16).unwrap_or(u64::MAX);
    assert_eq!(mask & 0x1_0000, 0, "the command can wait for its own: {ran:#?}");
    Ok(())
}

/// A script whose child does something, and tells its number in `LAB/inner`.
fn family(site: &Site, start: &str, inner: &str) -> Outcome {
    let told = "echo $$ >LAB/inner.tmp; mv LAB/inner.tmp LAB/inner";
    site.lab.file("inner.sh", &format!("{told}\n{inner}\n"))?;
    script(site, &format!("{start} sh LAB/inner.sh; echo more >LAB/more"))
}

pub(crate) fn inner(site: &Site) -> Result<u32, Stop> {
    site.lab.wait_for(&site.path("inner"))?;
    let text = fs::read_to_string(site.path("inner"))?;
    text.trim().parse().map_err(|_| Stop::Failed(format!("this is no number: {text:?}")))
}

fn take(site: &Site) -> Outcome {
    site.agent()?.ok("claim take work --reason mine --even-if-alive")?;
    Ok(())
}

fn a_lost_claim_stops_descendants_on_a_terminal(site: &Site) -> Outcome {
    for start in ["", "setsid --wait"] {
        let mut terminal = terminal(site)?;
        family(site, start, "exec sleep 1000")?;
        // Who is only in the same process group is let alone.
        let line = "OSM claim run work -- sh LAB/script.sh | sh -c 'trap \"echo >LAB/hit\" TERM; cat'; echo \"code-${PIPESTATUS[0]}\"";
        types(site, &mut terminal, line)?;
        let inner = inner(site)?;
        take(site)?;
        terminal.wait_for("code-7")?;
        assert_eq!(state(inner), 'Z', "{start}");
        assert!(!site.path("more").exists() && !site.path("hit").exists(), "{start}");
        site.agent()?.sh("rm LAB/inner")?.ok()?;
    }
    Ok(())
}

fn a_lost_claim_stops_descendants_off_a_terminal(site: &Site) -> Outcome {
    let mut owner = site.agent()?;
    // One that left the process group.
    family(site, "setsid --wait", "exec sleep 1000")?;
    let run = owner.begin(&format!("{DETACHED} OSM claim run work -- sh LAB/script.sh"))?;
    let inner = inner(site)?;
    take(site)?;
    let ended = owner.finish(&run)?;
    assert_eq!(ended.code, 7, "{ended:#?}");
    assert_eq!(state(inner), 'Z');
    assert!(!site.path("more").exists());
    Ok(())
}

/// A daemon has a session of its own, and its parent has ended.
fn a_lost_claim_stops_daemons(site: &Site) -> Outcome {
    let mut owner = site.agent()?;
    site.lab.file(
        "inner.sh",
        "echo $$ >LAB/inner.tmp; mv LAB/inner.tmp LAB/inner\nexec sleep 1000\n",
    )?;
    script(site, "(setsid sh LAB/inner.sh &)\nexec sleep 1000")?;
    let run = owner.begin(&format!("{DETACHED} OSM claim run work -- sh LAB/script.sh"))?;
    let inner = inner(site)?;
    take(site)?;
    let ended = owner.finish(&run)?;
    assert_eq!(ended.code, 7, "{ended:#?}");
    await_state(inner, 'Z')
}

fn a_lost_claim_stops_who_does_not_listen(site: &Site) -> Outcome {
    // Its parent ends at once, and leaves it behind, stopped or not.
    let mut terminal = terminal(site)?;
    family(site, "", "trap '' TERM HUP; kill -STOP $$; while :; do sleep 0.1; done")?;
    types(site, &mut terminal, "OSM claim run work -- sh LAB/script.sh; echo \"code-$?\"")?;
    let inner = inner(site)?;
    await_state(inner, 'T')?;
    take(site)?;
    terminal.wait_for("code-7")?;
    await_state(inner, 'Z')?;
    assert!(!site.path("more").exists());
    Ok(())
}
