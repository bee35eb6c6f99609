//! Runs hooks as an agent does, and times them from start to end.

use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use osm_testkit::bench::Result;
use osm_testkit::bench::peers::named;
use osm_testkit::bench::statistics::Spread;
use osm_testkit::bench::turns::Turns;
use osm_testkit::program;

use crate::agents::{AGENTS, Agent, Question};
use crate::request::{Request, builds};
use crate::{crowd, peers};

/// Rounds that do not count: caches fill.
const WARM_UP: u32 = 5;
/// The claims of others in the second ledger.
pub(crate) const OTHERS: u32 = 10_000;
/// The file that the agent has claimed.
const OURS: &str = "src/ours.rs";

/// What was measured.
#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) agent: &'static str,
    pub(crate) what: What,
    pub(crate) spread: Spread,
}

/// What takes a turn.
#[derive(Clone, Debug)]
pub(crate) enum What {
    /// `/bin/true`.
    Yardstick,
    /// A hook: the name of the build, and how many claims others have.
    Hook { question: Question, build: String, others: u32, is_shipped: bool },
    /// Another program.
    Peer(String),
}

/// A turn, and what it takes to run it.
struct Turn {
    what: What,
    /// The build and the home.
    place: (usize, usize),
}

/// All turns of an agent, in the order of the table.
fn turns_of(agent: &Agent, request: &Request) -> Result<Vec<Turn>> {
    let last = request.builds.len() - 1;
    let mut turns = vec![Turn { what: What::Yardstick, place: (0, 0) }];
    for question in agent.questions() {
        for (home, (others, _)) in request.homes.iter().enumerate() {
            for (at, (build, _)) in request.builds.iter().enumerate() {
                let (build, is_shipped) = (build.clone(), at == last);
                let what = What::Hook { question, build, others: *others, is_shipped };
                turns.push(Turn { what, place: (at, home) });
            }
        }
    }
    if agent.program == AGENTS[0].program {
        for peer in named()? {
            turns.push(Turn { what: What::Peer(peer.name), place: (0, 0) });
        }
    }
    Ok(turns)
}

/// Measures the hooks of an agent below a process that has its name.
pub(crate) fn below(agent: &'static Agent, rounds: u32, scratch: &Path) -> Result<Vec<Row>> {
    let folder = scratch.join("work");
    fs::create_dir_all(folder.join("src"))?;
    done(Command::new("git").args(["init", "-q"]).current_dir(&folder))?;
    for file in [OURS, crowd::HELD] {
        fs::write(folder.join(file), "x\n")?;
    }
    let mut homes = Vec::new();
    for others in [0, OTHERS] {
        let home = scratch.join(format!("home-{others}"));
        fs::create_dir_all(&home)?;
        crowd::fill(&home, &folder, others)?;
        homes.push((others, home));
    }
    let (times, path) = (scratch.join("times"), scratch.join("request"));
    let program = agent.program.to_owned();
    let request = Request { program, builds: builds(), homes, folder, rounds, times };
    request.save(&path)?;
    let binary = scratch.join(agent.program);
    program::copy(&std::env::current_exe()?, &binary)?;
    done(Command::new(&binary).arg("--measure").arg(&path).current_dir(&request.folder))?;

    // A hook that only fails is fast, too.
    let claimed = 1 + (WARM_UP + rounds) as usize * request.builds.len();
    for (others, home) in &request.homes {
        let (found, expected) =
            (crowd::count(home, &request.folder)?, claimed + 1 + *others as usize);
        if found != expected {
            return Err(format!(
                "{}: {found} claims are open, and {expected} should be: the hooks did not claim",
                agent.name
            )
            .into());
        }
    }
    let times: Vec<Vec<f64>> = serde_json::from_slice(&fs::read(&request.times)?)?;
    let turns = turns_of(agent, &request)?;
    let row = |(turn, times): (Turn, Vec<f64>)| Row {
        agent: agent.name,
        what: turn.what,
        spread: Spread::of(&times),
    };
    Ok(turns.into_iter().zip(times).map(row).collect())
}

/// Measures the hooks of the agent that this process is called after.
pub(crate) fn measure(request: &Path) -> Result<()> {
    let request = Request::load(request)?;
    let agent = Agent::named(&request.program).ok_or("no such agent")?;
    let turns = turns_of(agent, &request)?;
    for home in 0..request.homes.len() {
        let turn = Turn {
            what: What::Hook {
                question: Question::Ours,
                build: String::new(),
                others: 0,
                is_shipped: false,
            },
            place: (0, home),
        };
        time(agent, &request, &turn, "first")?;
    }
    let mut times = vec![Vec::new(); turns.len()];
    let mut order = Turns::of(turns.len());
    for round in 0..WARM_UP + request.rounds {
        for &at in order.next_round() {
            let microseconds = time(agent, &request, &turns[at], &format!("{at}-{round}"))?;
            if round >= WARM_UP {
                times[at].push(microseconds);
            }
        }
    }
    Ok(fs::write(&request.times, serde_json::to_vec(&times)?)?)
}

/// Times one start; `name` is a new one each time.
fn time(agent: &Agent, request: &Request, turn: &Turn, name: &str) -> Result<f64> {
    let (build, home) = turn.place;
    let home = &request.homes[home].1;
    let new = format!("src/new-{name}.rs");
    let mut command = match &turn.what {
        What::Yardstick => Command::new("/bin/true"),
        What::Hook { question, .. } => {
            let mut command = Command::new(&request.builds[build].1);
            command.args(["agent", "hook", question.event()]);
            command
        }
        What::Peer(name) => {
            let peers = named()?;
            let peer = peers.iter().find(|it| it.name == *name).ok_or("a peer is gone")?;
            peers::command(peer, &request.folder)
        }
    };
    command.env_clear().env("HOME", home).env("PATH", "/usr/local/bin:/usr/bin:/bin");
    let question = match turn.what {
        What::Hook { question, .. } => Some(question),
        _ => None,
    };
    let file = match question {
        Some(Question::Held) => crowd::HELD,
        Some(Question::New) => &new,
        _ => OURS,
    };
    let payload = agent.payload(question.unwrap_or(Question::Ours), &request.folder, file);
    let (input, output) = (home.join("payload"), home.join("answer"));
    fs::write(&input, payload)?;
    command.stdin(File::open(&input)?).stdout(File::create(&output)?).stderr(Stdio::inherit());

    let start = Instant::now();
    let status = command.spawn()?.wait()?;
    let microseconds = start.elapsed().as_secs_f64() * 1e6;
    let is_answered = fs::metadata(&output)?.len() > 0;
    let is_refused = question == Some(Question::Held);
    if !status.success() || (question.is_some() && is_answered != is_refused) {
        let answer = fs::read_to_string(&output)?;
        return Err(format!("{}: {name}: {status}, {answer}", agent.name).into());
    }
    Ok(microseconds)
}

/// Runs a program that must succeed.
fn done(command: &mut Command) -> Result<()> {
    let status = command.status()?;
    if status.success() { Ok(()) } else { Err(format!("{command:?}: {status}").into()) }
}
