//! Many processes that want the same thing at the same time.
//!
//! A racer is this very program in a process of its own, which is the owner of what it claims. It
//! does what it is told on its standard input, a line at a time, so that all are let go at once in
//! every round without a restart.

use std::io::{self, BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitCode, Stdio};

use osm_claims::{
    Caller, ClaimOptions, Claims, Error, Requester, Resource, Scope, SqliteLedger, SystemProbe,
};
use osm_identity::{ProcessInstance, System};
use osm_testkit::tools::Stop;

use super::row::Outcome;
use super::site::Site;

/// The first argument of a racer; the ledger's folder and its session follow.
pub(crate) const RACER: &str = "--racer";

/// The claims in a folder, seen as the program sees them.
pub(crate) fn claims_in(folder: &str) -> Claims {
    let ledger = SqliteLedger::open(Path::new(folder), &System).expect("a ledger");
    Claims::new(Box::new(ledger), Box::new(SystemProbe(System)))
}

/// Somebody who asks, with or without a process.
pub(crate) fn requester(session: &str, process: Option<ProcessInstance>) -> Requester {
    let caller = Caller {
        session: session.to_owned(),
        process,
        agent: None,
        host: "here".into(),
        is_random: false,
        is_sole: false,
        is_process: false,
    };
    Requester { scope: Scope::named("race"), caller }
}

/// Does what it is told until its input ends.
pub(crate) fn run(folder: &str, session: &str) -> ExitCode {
    let claims = claims_in(folder);
    let process = ProcessInstance::with_pid(std::process::id(), &System).expect("we are here");
    let requester = requester(session, Some(process));
    for line in io::stdin().lines() {
        let line = line.expect("lines are text");
        let (verb, rest) = line.split_once(' ').expect("a verb and what it is about");
        let name = |it| Resource::new(it).expect("names are short");
        let names: Vec<Resource> = rest.split(' ').map(name).collect();
        let result = match verb {
            "claim" => claims.claim(&requester, &names[0], &ClaimOptions::default()),
            "next" => claims.next(&requester, &names, &ClaimOptions::default()),
            "take" => claims.take(&requester, &names[0], true, &ClaimOptions::default()),
            _ => claims.release(&requester, &names[0], None, verb == "complete"),
        };
        let answer = match result {
            Ok(outcome) => format!("won {} {}", outcome.claim.epoch, outcome.claim.resource),
            Err(Error::Refused(refused)) => {
                let holder = refused.claim.as_ref();
                let session = holder.map_or("-", |it| &it.owner.session);
                let epoch = holder.map_or(0, |it| it.epoch.0);
                format!("{} {epoch} {session}", refused.reason.code())
            }
            Err(error) => format!("error 0 {error}"),
        };
        writeln!(io::stdout(), "{answer}").expect("the parent reads it");
    }
    ExitCode::SUCCESS
}

/// What became of one racer in one round.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Finish {
    /// `won`, or the code of the reason.
    pub(crate) word: String,
    /// The epoch that it got, or that is in the way.
    pub(crate) epoch: u64,
    /// What it got, or the session that is in the way.
    pub(crate) about: String,
}

impl Finish {
    pub(crate) fn won(&self) -> bool {
        self.word == "won"
    }
}

/// A racer, seen from outside.
struct Racer {
    child: Child,
    orders: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Racer {
    fn order(&mut self, line: &str) -> io::Result<()> {
        writeln!(self.orders, "{line}")
    }

    fn answer(&mut self) -> io::Result<Finish> {
        let mut line = String::new();
        self.answers.read_line(&mut line)?;
        let mut words = line.trim_end().splitn(3, ' ');
        let mut word = || words.next().unwrap_or_default().to_owned();
        let (first, second, third) = (word(), word(), word());
        Ok(Finish { word: first, epoch: second.parse().unwrap_or_default(), about: third })
    }
}

impl Drop for Racer {
    fn drop(&mut self) {
        // Already gone is as good.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// All racers of a race; number `n` is the session `racer-n`.
pub(crate) struct Field(Vec<Racer>);

impl Field {
    /// Starts so many, with a ledger of the site's.
    pub(crate) fn start(site: &Site, count: usize) -> Result<Self, Stop> {
        let folder = site.path("race");
        let racer = |number: usize| -> io::Result<Racer> {
            let mut child = Command::new(std::env::current_exe()?)
                .arg(RACER)
                .arg(&folder)
                .arg(format!("racer-{number}"))
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .spawn()?;
            let orders = child.stdin.take().expect("it was asked for");
            let answers = BufReader::new(child.stdout.take().expect("it was asked for"));
            Ok(Racer { child, orders, answers })
        };
        Ok(Self((0..count).map(racer).collect::<io::Result<_>>()?))
    }

    /// Has all do something at once.
    pub(crate) fn all(&mut self, line: &str) -> Result<Vec<Finish>, Stop> {
        for racer in &mut self.0 {
            racer.order(line)?;
        }
        self.0.iter_mut().map(|racer| Ok(racer.answer()?)).collect()
    }

    /// Has one do something.
    pub(crate) fn one(&mut self, number: usize, line: &str) -> Result<Finish, Stop> {
        let racer = &mut self.0[number];
        racer.order(line)?;
        Ok(racer.answer()?)
    }
}

/// 64 processes, one resource, 1 000 rounds.
pub(crate) fn one_of_64_processes_wins_each_of_1000_rounds(site: &Site) -> Outcome {
    let mut field = Field::start(site, 64)?;
    let mut last = 0;
    for round in 0..1_000 {
        let finishes = field.all("claim prize")?;
        let winners: Vec<usize> = (0..64).filter(|it| finishes[*it].won()).collect();
        let [winner] = winners[..] else { panic!("round {round}: {winners:?} won") };
        let epoch = finishes[winner].epoch;
        assert_eq!(epoch, last + 1, "round {round}: epochs have no gap and no repetition");
        let told = Finish { word: "held".into(), epoch, about: format!("racer-{winner}") };
        for (number, finish) in finishes.iter().enumerate().filter(|(it, _)| *it != winner) {
            assert_eq!(*finish, told, "round {round}: what racer-{number} was told");
        }
        assert!(field.one(winner, "release prize")?.won(), "round {round}");
        last = epoch;
    }
    Ok(())
}

/// 20 workers take the next of 10 items.
pub(crate) fn ten_items_go_to_ten_of_twenty_workers(site: &Site) -> Outcome {
    let mut field = Field::start(site, 20)?;
    let items: Vec<String> = (0..10).map(|it| format!("item-{it}")).collect();
    let order = format!("next {}", items.join(" "));
    let mut last = 0;
    for round in 0..50 {
        let finishes = field.all(&order)?;
        let mut got: Vec<(u64, &str)> =
            finishes.iter().filter(|it| it.won()).map(|it| (it.epoch, it.about.as_str())).collect();
        got.sort_unstable();
        let epochs: Vec<u64> = got.iter().map(|it| it.0).collect();
        assert_eq!(epochs, (last + 1..=last + 10).collect::<Vec<_>>(), "round {round}");
        let given: Vec<&str> = got.iter().map(|it| it.1).collect();
        assert_eq!(given, items, "round {round}: each item once, in the order of the list");
        let none = finishes.iter().filter(|it| it.word == "nothing_free").count();
        assert_eq!(none, 10, "round {round}: {finishes:?}");
        for (number, finish) in finishes.iter().enumerate().filter(|(_, it)| it.won()) {
            assert!(field.one(number, &format!("release {}", finish.about))?.won());
        }
        last += 10;
    }
    Ok(())
}

/// Several take a role from its holder at once: each in turn has it, one in the end.
pub(crate) fn of_many_take_overs_one_stands_in_the_end(site: &Site) -> Outcome {
    let mut field = Field::start(site, 8)?;
    assert!(field.one(0, "claim leader")?.won());
    for round in 0..20 {
        let mut finishes = field.all("take leader")?;
        assert!(finishes.iter().all(Finish::won), "round {round}: {finishes:?}");
        finishes.sort_by_key(|it| it.epoch);
        let last = finishes.last().map(|it| it.epoch);
        let stands = field.all("claim leader")?;
        let holders: Vec<&Finish> = stands.iter().filter(|it| it.won()).collect();
        assert_eq!(holders.len(), 1, "round {round}: {stands:?}");
        assert_eq!(Some(holders[0].epoch), last, "round {round}: the last one has it");
    }
    Ok(())
}
