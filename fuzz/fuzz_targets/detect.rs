//! Detection over any process table and any variables.
//!
//! The bytes choose among names that the catalogue knows, so that agents, multiplexers and logins
//! really meet; free text is mixed in. Whatever the table looks like, detection ends, agrees with
//! its explanation, and gives an id that can be given back.

#![no_main]

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;
use std::sync::LazyLock;

use libfuzzer_sys::arbitrary::{Result, Unstructured};
use libfuzzer_sys::fuzz_target;
use osm_identity::ancestry::MOST_STEPS;
use osm_identity::catalogue::{
    AGENTS, Agent, INTERPRETERS, MULTIPLEXERS, REMOTES, ROOTS, RUNNERS, SANDBOXES, SHELLS,
    SUPERVISORS, TERMINALS, WRAPPERS,
};
use osm_identity::{
    Catalogue, Detection, Environment, FixedTable, Host, Outcome, Pid, Process, ProcessSource,
    ReadError, Request, SessionId, Source, StartTime, State, Terminal, detect, explain,
};

fuzz_target!(|bytes: &[u8]| {
    // Running out of bytes is no finding.
    let _ = run(bytes);
});

fn run(bytes: &[u8]) -> Result<()> {
    let mut dice = Dice::new(bytes)?;
    let system = system(&mut dice)?;
    let mut variables = Vec::new();
    for _ in 0..dice.up_to(6)? {
        variables.push((dice.variable()?.into(), dice.value()?));
    }
    let own = if dice.seldom(8)? { dice.pid()? } else { system.last };
    let environment = Environment::new(own.0, variables);
    let explicit = if dice.seldom(16)? { Some(dice.value()?) } else { None };
    let request = Request {
        explicit: explicit.as_deref(),
        environment: &environment,
        source: &system,
        catalogue: &CATALOGUES[usize::from(dice.seldom(4)?)],
    };
    check(&request, &detect(&request), &explain(&request));
    Ok(())
}

fn check(request: &Request, quick: &Detection, full: &Detection) {
    for detection in [quick, full] {
        let id = &detection.id;
        assert_eq!(&SessionId::explicit(id.as_str().as_ref()), id, "it means itself");
        let won = detection.trail.iter().filter(|finding| finding.outcome == Outcome::Won);
        assert_eq!(won.count(), 1, "{detection:#?}");
        assert_eq!(id.namespace() == "uuid", detection.source == Source::Random);
        let anchor = detection.anchor.as_ref().map(|anchor| anchor.pid);
        assert_ne!(anchor, Some(request.environment.pid()), "{detection:#?}");
    }
    assert_ne!(full.parent.as_ref(), Some(&full.id));
    if quick.source != Source::Random {
        assert_eq!(quick.id, full.id);
    }
    assert_eq!((quick.source, quick.confidence), (full.source, full.confidence));
    assert_eq!((&quick.agent, &quick.anchor), (&full.agent, &full.anchor));
    assert!(full.trail.starts_with(&quick.trail), "{quick:#?} {full:#?}");
    if let Some(value) = request.explicit
        && !value.as_encoded_bytes().trim_ascii().is_empty()
    {
        assert_eq!((&full.id, full.source), (&SessionId::explicit(value), Source::ExplicitFlag));
    }
    for finding in &full.trail {
        // Whatever a variable holds, a terminal that shows the reason is not misled.
        assert!(!finding.reason.contains(char::is_control), "{finding:?}");
    }
    let mut pids: Vec<Pid> = full.ancestry.iter().map(|ancestor| ancestor.process.pid).collect();
    assert!(pids.first().is_none_or(|first| *first == request.environment.pid()));
    assert!(pids.len() <= MOST_STEPS + 1);
    pids.sort();
    assert!(pids.windows(2).all(|pair| pair[0] != pair[1]), "{pids:?}");
}

/// A table of which some questions are refused, as the real one refuses them.
struct Partly {
    table: FixedTable,
    /// The process that was added last.
    last: Pid,
    /// Which pids show nothing but their row; which not even that.
    closed: u16,
    hidden: u16,
    knows_host: bool,
    inodes: bool,
    named: Option<String>,
}

impl Partly {
    fn open(&self, pid: Pid) -> std::result::Result<(), ReadError> {
        let closed = 1_u16.checked_shl(pid.0).is_some_and(|bit| self.closed & bit != 0);
        if closed { Err(ReadError::Denied) } else { Ok(()) }
    }
}

impl ProcessSource for Partly {
    fn host(&self) -> std::result::Result<Host, ReadError> {
        if self.knows_host { self.table.host() } else { Err(ReadError::Unsupported) }
    }

    fn process(&self, pid: Pid) -> std::result::Result<Process, ReadError> {
        match 1_u16.checked_shl(pid.0) {
            Some(bit) if self.hidden & bit != 0 => Err(ReadError::Absent),
            _ => self.table.process(pid),
        }
    }

    fn arguments(&self, pid: Pid) -> std::result::Result<Vec<OsString>, ReadError> {
        self.open(pid).and_then(|()| self.table.arguments(pid))
    }

    fn executable(&self, pid: Pid) -> std::result::Result<PathBuf, ReadError> {
        self.open(pid).and_then(|()| self.table.executable(pid))
    }

    fn variable(&self, pid: Pid, name: &str) -> std::result::Result<Option<OsString>, ReadError> {
        self.open(pid).and_then(|()| self.table.variable(pid, name))
    }

    fn inode(&self, pid: Pid) -> Option<u64> {
        self.inodes.then_some(u64::from(pid.0) + 4096)
    }

    fn exists(&self, pid: Pid) -> Option<bool> {
        self.table.exists(pid)
    }

    fn named_terminal(&self) -> Option<String> {
        self.named.clone()
    }
}

fn system(dice: &mut Dice) -> Result<Partly> {
    let contained = dice.seldom(2)?;
    let mut table =
        FixedTable::new(Host { boot: "boot".into(), namespace: "pid:[1]".into(), contained });
    let mut last = Pid(0);
    for number in 1..=dice.up_to(12)? {
        let process = process(dice, number)?;
        last = process.pid;
        let mut arguments = Vec::new();
        for _ in 0..dice.up_to(4)? {
            arguments.push(dice.argument()?);
        }
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        table = table.with(process, &arguments);
        if dice.seldom(4)? {
            table = table.with_executable(last, &dice.argument()?);
        }
        for _ in 0..dice.up_to(2)? {
            let (name, value) = (dice.variable()?, dice.value()?);
            table = table.with_variable(last, name, &value.to_string_lossy());
        }
    }
    Ok(Partly {
        table,
        last,
        closed: dice.some_bits()?,
        hidden: dice.some_bits()?,
        knows_host: !dice.seldom(16)?,
        inodes: dice.seldom(2)?,
        named: dice.seldom(16)?.then(|| "msys-1888ae32e00d56aa-pty0".into()),
    })
}

/// A process, most often the child of the one before it.
fn process(dice: &mut Dice, number: u32) -> Result<Process> {
    Ok(Process {
        pid: if dice.seldom(8)? { dice.pid()? } else { Pid(number) },
        parent: if dice.seldom(8)? { dice.pid()? } else { Pid(number - 1) },
        start: StartTime(if dice.seldom(8)? { dice.up_to(15)? } else { number }.into()),
        name: dice.name()?,
        terminal: match dice.up_to(3)? {
            0 => None,
            number => Some(Terminal(u64::from(34816 + number))),
        },
        session: if dice.seldom(2)? { Some(dice.pid()?) } else { None },
        state: State::Active,
    })
}

/// Makes choices out of the input.
struct Dice<'a> {
    input: Unstructured<'a>,
    /// What the table is about, so that a process and its own variables meet.
    subject: &'static Subject,
}

impl<'a> Dice<'a> {
    fn new(bytes: &'a [u8]) -> Result<Self> {
        let mut input = Unstructured::new(bytes);
        let subject = input.choose(&SUBJECTS)?;
        Ok(Self { input, subject })
    }

    fn up_to(&mut self, most: u32) -> Result<u32> {
        self.input.int_in_range(0..=most)
    }

    /// Once in `times`, and never for want of bytes.
    fn seldom(&mut self, times: u32) -> Result<bool> {
        Ok(self.up_to(times - 1)? == times - 1)
    }

    fn some_bits(&mut self) -> Result<u16> {
        if self.seldom(8)? { self.input.arbitrary() } else { Ok(0) }
    }

    /// One of few, so that most belong to a process.
    fn pid(&mut self) -> Result<Pid> {
        self.up_to(15).map(Pid)
    }

    fn name(&mut self) -> Result<String> {
        Ok(match self.up_to(4)? {
            0 => {
                let shell = self.input.choose(SHELLS)?;
                (*self.input.choose(shell.names)?).into()
            }
            1 if !self.subject.names.is_empty() => {
                (*self.input.choose(&self.subject.names)?).into()
            }
            2 => {
                let subject = self.input.choose(&SUBJECTS)?;
                subject.names.first().copied().unwrap_or_default().into()
            }
            3 => (*self.input.choose(&PLAIN)?).into(),
            _ => {
                let free: String = self.input.arbitrary()?;
                free
            }
        })
    }

    fn argument(&mut self) -> Result<String> {
        Ok(match self.up_to(4)? {
            0 => (*self.input.choose(OPTIONS)?).into(),
            1 => format!("/usr/bin/{}", self.name()?),
            2 => format!("/opt/{}/x.js", self.input.choose(&PACKAGES)?),
            3 => self.input.arbitrary()?,
            _ => self.name()?,
        })
    }

    fn variable(&mut self) -> Result<&'static str> {
        if !self.seldom(3)? && !self.subject.variables.is_empty() {
            return self.input.choose(&self.subject.variables).copied();
        }
        let subject = self.input.choose(&SUBJECTS)?;
        let own = osm_identity::VARIABLES.iter().map(|(name, _)| *name);
        let all: Vec<&'static str> = subject.variables.iter().copied().chain(own).collect();
        self.input.choose(&all).copied()
    }

    /// A value as a program's variable might have it, or anything.
    fn value(&mut self) -> Result<OsString> {
        Ok(match self.up_to(6)? {
            0 => "conversation".into(),
            1 => self.pid()?.to_string().into(),
            2 => format!("/tmp/tmux-0/default,{},0", self.pid()?).into(),
            3 => format!("{}.pts-0.host", self.pid()?).into(),
            4 => format!("%{}", self.pid()?).into(),
            5 => "192.0.2.7 50122 192.0.2.1 22".into(),
            _ => {
                let free: Vec<u8> = self.input.arbitrary()?;
                OsString::from_vec(free.into_iter().filter(|byte| *byte != 0).collect())
            }
        })
    }
}

/// A row of the catalogue: the names of its processes and the variables that it sets.
struct Subject {
    names: Vec<&'static str>,
    variables: Vec<&'static str>,
}

static SUBJECTS: LazyLock<Vec<Subject>> = LazyLock::new(|| {
    let agents = AGENTS.iter().map(|row| Subject {
        names: [row.programs, row.hosts, row.impostors].concat(),
        variables: [
            row.session,
            row.owner.as_slice(),
            row.subagent.as_slice(),
            row.marker.as_slice(),
        ]
        .concat(),
    });
    let multiplexers = MULTIPLEXERS.iter().map(|row| Subject {
        names: row.programs.to_vec(),
        variables: row.pane.iter().copied().chain(row.owner.map(|owner| owner.variable)).collect(),
    });
    let terminals = TERMINALS.iter().map(|row| Subject {
        names: row.programs.to_vec(),
        variables: Some(row.tab).into_iter().filter(|tab| !tab.is_empty()).collect(),
    });
    let runners = RUNNERS
        .iter()
        .map(|row| Subject { names: row.programs.to_vec(), variables: row.job.to_vec() });
    let others = [
        Subject { names: REMOTES.to_vec(), variables: vec!["SSH_CONNECTION", "SSH_CLIENT"] },
        Subject {
            names: vec!["myagent", "mywrap", "mysh"],
            variables: vec!["MY_SESSION", "MY_PID"],
        },
    ];
    agents.chain(multiplexers).chain(terminals).chain(runners).chain(others).collect()
});

static PLAIN: LazyLock<Vec<&str>> = LazyLock::new(|| {
    let own: &[&str] = &["make", "vim", "2.1.325", "python3"];
    [WRAPPERS, INTERPRETERS, ROOTS, SUPERVISORS, SANDBOXES, own].concat()
});

static PACKAGES: LazyLock<Vec<&str>> =
    LazyLock::new(|| AGENTS.iter().flat_map(|row| row.packages).copied().collect());

const OPTIONS: &[&str] = &["-c", "-i", "-l", "-m", "-e", "--", "-o", "--rcfile", "run", "/c", "/k"];

static CATALOGUES: LazyLock<[Catalogue; 2]> = LazyLock::new(|| {
    let mut extended = Catalogue::new();
    extended.add_wrapper("mywrap");
    extended.add_shell("mysh");
    extended.add_agent(Agent::defined(
        "mine".into(),
        vec!["myagent".into(), "claude".into()],
        vec!["MY_SESSION".into()],
        Some("MY_PID".into()),
    ));
    [Catalogue::new(), extended]
});
