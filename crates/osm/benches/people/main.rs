//! Measures what a look costs: bare `osm`, and `osm --short` as a shell prompt calls it after every command.
//!
//! All programs run in turns on one repository, beside `osm session id`, which reads no claims, `git status`,
//! and programs that `OSM_BENCH_PEERS` names, such as `starship=starship prompt`. The targets are milliseconds
//! beyond `osm session id`, because that is what a person waits.
//!
//! Without `--bench`, as under `cargo test --all-targets`, it does nothing.

#![expect(
    clippy::disallowed_methods,
    reason = "a benchmark is a program of its own: it reads the environment and owns its files"
)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use osm_testkit::bench::chart::{Bar, Chart};
use osm_testkit::bench::options::Options;
use osm_testkit::bench::outcome::{Outcome, Verdict, exit_code};
use osm_testkit::bench::statistics::Spread;
use osm_testkit::bench::table::{NOTHING, table};
use osm_testkit::bench::turns::Turns;
use osm_testkit::bench::{Result, machine, peers, say, timed, workspace};

const ROUNDS: u32 = 300;
const QUICK_ROUNDS: u32 = 30;
/// The files of the repository.
const FILES: usize = 1000;
/// The files in the prompt.
const COLLECTED: usize = 20;
/// The most milliseconds beyond `osm session id`.
const MOST_SHORT: f64 = 1.0;
const MOST_BARE: f64 = 12.0;

/// A program to be measured.
struct Look {
    name: String,
    command: Command,
    target: Option<f64>,
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let end = match *words {
        _ if words.contains(&"--bench") => {
            Options::parse(&words).and_then(|options| conduct(&options))
        }
        _ => Ok(true),
    };
    exit_code("people", end)
}

/// Measures and reports; returns whether all targets are met.
fn conduct(options: &Options) -> Result<bool> {
    let scratch = tempfile::tempdir()?;
    let mut looks = looks(scratch.path())?;
    let rounds = options.rounds.unwrap_or(if options.quick { QUICK_ROUNDS } else { ROUNDS });
    say("people", &format!("{} programs, {rounds} rounds", looks.len()))?;
    let mut turns = Turns::of(looks.len());
    let mut times: Vec<Vec<f64>> = looks.iter().map(|_| Vec::new()).collect();
    for _ in 0..rounds {
        for &at in turns.next_round() {
            let command = &mut looks[at].command;
            times[at].push(timed(|| run(command))?);
        }
    }
    let measured: Vec<(Look, Spread)> =
        looks.into_iter().zip(times).map(|(look, times)| (look, Spread::of(&times))).collect();
    outcome(&measured).publish(options)
}

fn run(command: &mut Command) -> Result<()> {
    let status =
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status()?;
    if status.success() { Ok(()) } else { Err(format!("{command:?}: {status}").into()) }
}

/// The program that users install, if it was built.
fn osm() -> PathBuf {
    let dist = workspace().join("dist/osm");
    if dist.exists() { dist } else { env!("CARGO_BIN_EXE_osm").into() }
}

/// Everything to be measured, the yardstick first, in a repository with claims and a prompt.
fn looks(scratch: &Path) -> Result<Vec<Look>> {
    let (work, home) = (scratch.join("work"), scratch.join("home"));
    fs::create_dir(&work)?;
    for number in 0..FILES {
        fs::write(work.join(format!("{number}.txt")), format!("text {number}\n"))?;
    }
    let command = |program: &Path, words: &[&str], home: &str| {
        let mut command = Command::new(program);
        command.args(words).current_dir(&work).env_clear();
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.env("HOME", scratch).env("OSM_HOME", scratch.join(home)).env("OSM_SESSION", "me");
        command
    };
    let git = |words: &[&str]| command(Path::new("git"), words, "home");
    run(&mut git(&["init", "-q", "-b", "main"]))?;
    run(&mut git(&["add", "."]))?;
    let who = ["-c", "user.name=n", "-c", "user.email=e@example.org"];
    run(&mut git(&[&who[..], &["commit", "-q", "-m", "first"]].concat()))?;
    let osm = osm();
    let add: Vec<String> = (0..COLLECTED).map(|number| format!("add {number}.txt")).collect();
    let add: Vec<&str> = add.iter().flat_map(|line| ["-c", line]).collect();
    run(&mut command(&osm, &[&["code-review"][..], &add].concat(), "home"))?;
    run(&mut command(&osm, &["claim", "TASK-1", "TASK-2"], "home"))?;
    for number in 3..6 {
        let mut claim = command(&osm, &["claim", &format!("TASK-{number}")], "home");
        run(claim.env("OSM_SESSION", format!("other-{number}")))?;
    }
    // The same, with an owner that is dead: a shell under the name of an agent.
    copy(&home, &scratch.join("dead"))?;
    let agent = scratch.join("claude");
    fs::copy("/bin/sh", &agent)?;
    let script = format!("{} claim TASK-9; true", osm.display());
    run(command(&agent, &["-c", &script], "dead").env_remove("OSM_SESSION"))?;
    let look = |name: &str, command, target| Look { name: name.to_owned(), command, target };
    let short = Some(MOST_SHORT);
    let bare = Some(MOST_BARE);
    let mut looks = vec![
        look("`osm session id`", command(&osm, &["session", "id"], "home"), None),
        look("`osm --short`, no claim yet", command(&osm, &["--short"], "new"), short),
        look("`osm --short`, 5 claims", command(&osm, &["--short"], "home"), short),
        look("`osm`, 5 claims", command(&osm, &[], "home"), bare),
        look("`osm`, and a dead owner", command(&osm, &[], "dead"), bare),
        look("`git status`", git(&["status"]), None),
    ];
    for peer in peers::named()? {
        let command = command(Path::new("sh"), &["-c", &format!("exec {}", peer.command)], "home");
        looks.push(look(&format!("`{}`", peer.name), command, None));
    }
    Ok(looks)
}

/// Copies a folder and all below it.
fn copy(from: &Path, to: &Path) -> Result<()> {
    run(Command::new("cp").arg("-r").arg(from).arg(to))
}

fn outcome(measured: &[(Look, Spread)]) -> Outcome {
    let yardstick = measured.first().map_or(f64::NAN, |(_, time)| time.p50);
    let beyond = |time: &Spread| (time.p50 - yardstick) / 1e3;
    let row = |(look, time): &(Look, Spread)| {
        let target = look.target.map_or(NOTHING.into(), |target| format!("{target:.0}"));
        let [p50, p95] = [time.p50, time.p95].map(|it| format!("{:.2}", it / 1e3));
        vec![look.name.clone(), p50, p95, format!("{:.2}", beyond(time)), target]
    };
    let head = ["a look", "p50 ms", "p95 ms", "beyond `osm session id` ms", "target ms"];
    let tables = table(&head, measured.iter().map(row));
    let verdict = |(look, time): &(Look, Spread)| {
        let (beyond, target) = (beyond(time), look.target?);
        let what = format!("{}: {beyond:.2} ms more, target {target}", look.name);
        Some(Verdict::new(beyond <= target, &what))
    };
    let bar = |(look, time): &(Look, Spread)| Bar {
        name: look.name.replace('`', ""),
        ratio: time.p50 / yardstick,
        target: None,
    };
    let bars: Vec<Bar> = measured.iter().skip(1).map(bar).collect();
    let heading = "A look, in osm session id";
    let picture = Chart::default().bars(heading, "time of one run", "osm session id", &bars);
    Outcome {
        name: "people",
        page: page(&tables),
        tables,
        picture: picture.finish(),
        verdicts: measured.iter().filter_map(verdict).collect(),
    }
}

fn page(tables: &str) -> String {
    format!(
        "# What does a look cost?\n\
         \n\
         ![A look, in `osm session id`](people.svg)\n\
         \n\
         Bare `osm` is what a person types, `osm --short` is what a shell prompt runs after every command. Programs \
         are timed from start to end, in turns, in a repository of {FILES} files, with {COLLECTED} files in the \
         prompt. Milliseconds are of this machine ({}).\n\
         \n\
         {tables}\n\
         A dead owner costs more, because Git is asked what it did not commit.\n\
         \n\
         Reproduce with `scripts/bench people`; `--check` fails where a target is missed. \
         `OSM_BENCH_PEERS='starship=starship prompt'` adds other programs.\n",
        machine()
    )
}
