//! Many processes that claim overlapping sets of paths, while some are killed.
//!
//! Each is this very program in a process of its own. The oracle shares nothing with the rules: who is
//! granted paths locks a file for each of them, as the system does, for itself or shared, and must get
//! every lock at once. The system takes the locks of a killed process back when it ends.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use osm_claims::{Case, ClaimOptions, ClaimedPath, Error, Mode, PathKind, Resource};
use osm_identity::{ProcessInstance, System};

use super::race::{claims_in, requester};
use super::row::{Outcome, Test, test};
use super::site::Site;

/// The first argument of one in the crowd; the ledger's folder, its session and a seed follow.
pub(crate) const MEMBER: &str = "--crowd";

pub(crate) const TESTS: &[Test] = &[test!(no_two_of_64_processes_have_one_path)];

/// How long the test takes, in seconds, unless `OSM_TEST_CROWD_SECONDS` says otherwise.
const SECONDS: u64 = 2;
const PROCESSES: usize = 64;
const FOLDERS: u64 = 3;
const FILES: u64 = 3;

/// Numbers that look random, from a seed.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }
}

/// Some paths, and the numbers of the files that they are.
fn paths(dice: &mut Dice) -> (Resource, Vec<u64>) {
    let (folder, file) = (dice.below(FOLDERS), dice.below(FILES));
    let all = |wanted: &dyn Fn(u64, u64) -> bool| {
        let files = (0..FOLDERS).flat_map(|folder| (0..FILES).map(move |file| (folder, file)));
        files.filter(|it| wanted(it.0, it.1)).map(|it| it.0 * FILES + it.1).collect()
    };
    let (kind, text, files): (_, _, Vec<u64>) = match dice.below(8) {
        0..4 => (PathKind::File, format!("d{folder}/f{file}"), vec![folder * FILES + file]),
        4 => (PathKind::Folder, format!("d{folder}"), all(&|it, _| it == folder)),
        5 => (PathKind::Glob, format!("d{folder}/*"), all(&|it, _| it == folder)),
        6 => (PathKind::Glob, format!("**/f{file}"), all(&|_, it| it == file)),
        _ => (PathKind::Glob, format!("d?/f[!{file}]"), all(&|_, it| it != file)),
    };
    let path = ClaimedPath::new("", kind, &text, Case::Distinct).expect("it is a pattern");
    (Resource::of_path(path, None), files)
}

/// Claims, locks, unlocks and releases until its input ends; says how often, or what was wrong.
pub(crate) fn run(folder: &str, session: &str, seed: &str) -> ExitCode {
    let claims = claims_in(folder);
    let process = ProcessInstance::with_pid(std::process::id(), &System).expect("we are here");
    let requester = requester(session, Some(process.clone()));
    let mut dice = Dice(seed.parse::<u64>().expect("a number") | 1);
    let goes_on = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(true));
    let stop = std::sync::Arc::clone(&goes_on);
    std::thread::spawn(move || {
        drop(io::stdin().read_line(&mut String::new()));
        stop.store(false, std::sync::atomic::Ordering::Relaxed);
    });
    let mut grants = 0_u32;
    while goes_on.load(std::sync::atomic::Ordering::Relaxed) {
        let shared = dice.below(2) == 0;
        let wanted: Vec<(Resource, Vec<u64>)> =
            (0..=dice.below(3)).map(|_| paths(&mut dice)).collect();
        let resources: Vec<Resource> = wanted.iter().map(|it| it.0.clone()).collect();
        let mut files: Vec<u64> = wanted.into_iter().flat_map(|it| it.1).collect();
        files.sort_unstable();
        files.dedup();
        let mode = Mode { shared, ..Mode::default() };
        let waits = dice.below(2) == 0;
        let waiting = waits.then(|| process.clone());
        let options = ClaimOptions { mode, waiting, ..ClaimOptions::default() };
        let attempt = || claims.claim_all(&requester, &resources, &options);
        let time = Duration::from_millis(if waits { 100 } else { 0 });
        match claims.wait(time, attempt) {
            Ok(_) => {}
            Err(Error::Refused(_)) => {
                claims.stop_waiting(&process).expect("a ledger");
                continue;
            }
            Err(error) => return wrong(&error.to_string()),
        }
        grants += 1;
        let mut locks = Vec::new();
        for file in &files {
            let file = File::open(Path::new(folder).join(format!("lock-{file}"))).expect("made");
            let locked = if shared { file.try_lock_shared() } else { file.try_lock() };
            if let Err(error) = locked {
                return wrong(&format!("{session} got {resources:?} ({mode:?}): {error}"));
            }
            locks.push(file);
        }
        std::thread::sleep(Duration::from_micros(dice.below(2000)));
        for resource in &resources {
            if let Err(error) = claims.check(&requester, resource, None) {
                return wrong(&format!("{session} lost {resource}: {error}"));
            }
        }
        drop(locks);
        for resource in &resources {
            // The same path may be in the set twice.
            match claims.release(&requester, resource, None, false) {
                Ok(_) | Err(Error::Refused(_)) => {}
                Err(error) => return wrong(&error.to_string()),
            }
        }
    }
    writeln!(io::stdout(), "{grants}").expect("the parent reads it");
    ExitCode::SUCCESS
}

fn wrong(what: &str) -> ExitCode {
    writeln!(io::stdout(), "wrong: {what}").expect("the parent reads it");
    ExitCode::FAILURE
}

/// One in the crowd, seen from outside.
struct Member(Child);

impl Member {
    /// The last line that it says before it ends.
    fn last_line(&mut self) -> io::Result<String> {
        let output = BufReader::new(self.0.stdout.take().expect("it was asked for"));
        Ok(output.lines().collect::<Result<Vec<_>, _>>()?.pop().unwrap_or_default())
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        // Already gone is as good.
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

fn start(folder: &Path, number: usize) -> io::Result<Member> {
    let seed = (number as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let child = Command::new(std::env::current_exe()?)
        .arg(MEMBER)
        .arg(folder)
        .arg(format!("member-{number}"))
        .arg(seed.to_string())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    Ok(Member(child))
}

#[expect(clippy::disallowed_methods, reason = "tests are set up through variables")]
fn seconds() -> u64 {
    let set = std::env::var("OSM_TEST_CROWD_SECONDS").ok();
    set.map_or(SECONDS, |it| it.parse().expect("a number of seconds"))
}

fn no_two_of_64_processes_have_one_path(site: &Site) -> Outcome {
    let folder = site.path("race");
    fs::create_dir(&folder)?;
    for file in 0..FOLDERS * FILES {
        File::create(folder.join(format!("lock-{file}")))?;
    }
    let mut crowd: Vec<Member> =
        (0..PROCESSES).map(|it| start(&folder, it)).collect::<Result<_, _>>()?;
    let mut dice = Dice(7);
    let until = Instant::now() + Duration::from_secs(seconds());
    let mut started = PROCESSES;
    while Instant::now() < until {
        std::thread::sleep(Duration::from_millis(20));
        let victim = usize::try_from(dice.below(PROCESSES as u64)).expect("it is small");
        let mut gone = std::mem::replace(&mut crowd[victim], start(&folder, started)?);
        started += 1;
        gone.0.kill()?;
        // Not every one is collected at once: a zombie holds nothing either.
        if dice.below(2) == 0 {
            std::thread::sleep(Duration::from_millis(5));
        }
        let said = gone.last_line()?;
        assert!(!said.starts_with("wrong"), "{said}");
    }
    let mut grants = 0;
    for mut member in crowd {
        drop(member.0.stdin.take());
        let said = member.last_line()?;
        grants += said.parse::<u64>().unwrap_or_else(|_| panic!("{said:?}"));
    }
    assert!(grants > 0 && started > PROCESSES, "{grants} grants, {started} processes");
    Ok(())
}
