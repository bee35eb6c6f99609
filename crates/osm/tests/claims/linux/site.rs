//! A repository, its ledger, and owners that are real processes.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use osm_claims::Reason;
use osm_testkit::lab::{Answer, Lab};
use osm_testkit::shell::Shell;
use osm_testkit::terminal::Terminal;
use osm_testkit::tools::{self, Stop};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};
use serde_json::Value;

/// A lab with a git repository in `LAB/repo` and a ledger of its own.
pub(crate) struct Site {
    pub(crate) lab: Lab,
}

/// Somebody who can own something: a shell that does what it is told.
pub(crate) struct Owner<'a> {
    site: &'a Site,
    seat: Seat,
}

enum Seat {
    Piped(Shell),
    Typed(Terminal),
}

/// What `osm … --json` said.
#[derive(Debug)]
pub(crate) struct Said {
    pub(crate) code: i32,
    pub(crate) json: Value,
    pub(crate) errors: String,
}

/// The program under test.
#[expect(clippy::disallowed_methods, reason = "tests are set up through variables")]
pub(crate) fn program() -> PathBuf {
    std::env::var_os("OSM_BIN").map_or_else(|| env!("CARGO_BIN_EXE_osm").into(), PathBuf::from)
}

impl Site {
    pub(crate) fn new() -> Result<Self, Stop> {
        let lab = Lab::new(&program())?;
        let git = tools::program("git")?;
        lab.copy(&tools::program("bash")?, "claude")?;
        // Where a hook finds `osm`.
        fs::create_dir(lab.path().join("bin"))?;
        std::os::unix::fs::symlink(program(), lab.path().join("bin/osm"))?;
        let site = Self { lab };
        site.repository(&git, "repo")?;
        Ok(site)
    }

    /// Another repository.
    pub(crate) fn repository(&self, git: &Path, name: &str) -> Result<(), Stop> {
        let git = git.display().to_string();
        let made = self.lab.command(&git).args(["init", "-q", name]).status()?;
        assert!(made.success(), "git init {name}");
        Ok(())
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.lab.path().join(name)
    }

    /// The ledger's file.
    pub(crate) fn ledger(&self) -> PathBuf {
        self.path(".config/one-shot-man/claims.db")
    }

    /// An agent with no conversation to name.
    pub(crate) fn agent(&self) -> Result<Owner<'_>, Stop> {
        self.shell(&[&self.path("claude").display().to_string()], &[])
    }

    /// An agent in a conversation, as it tells the commands that it runs.
    pub(crate) fn conversation(&self, id: &str) -> Result<Owner<'_>, Stop> {
        let mut agent = self.agent()?;
        agent.converse(id)?;
        Ok(agent)
    }

    /// Somebody who names a session, behind which is no process.
    pub(crate) fn named(&self, session: &str) -> Result<Owner<'_>, Stop> {
        self.shell(&["bash"], &[("OSM_SESSION", session)])
    }

    /// A command that ends in a shell which reads its commands, started in the repository.
    pub(crate) fn shell(
        &self,
        words: &[&str],
        variables: &[(&str, &str)],
    ) -> Result<Owner<'_>, Stop> {
        let words: Vec<String> = words.iter().map(|it| self.lab.spell(it)).collect();
        let mut command = self.lab.command(&words[0]);
        command.args(&words[1..]).envs(variables.iter().copied()).current_dir(self.path("repo"));
        Ok(Owner { site: self, seat: Seat::Piped(Shell::start(command)?) })
    }

    /// An agent that others cannot see as they see each other: below `unshare` and its like.
    pub(crate) fn agent_below(&self, words: &[&str]) -> Result<Owner<'_>, Stop> {
        self.shell(&[words, &["LAB/claude"]].concat(), &[])
    }

    /// A person: a shell on a terminal.
    pub(crate) fn person(&self) -> Result<Owner<'_>, Stop> {
        let mut owner = Owner { site: self, seat: Seat::Typed(self.lab.terminal()?) };
        owner.sh("cd LAB/repo")?.ok()?;
        Ok(owner)
    }
}

impl Owner<'_> {
    /// Runs a command in the shell itself.
    pub(crate) fn sh(&mut self, command: &str) -> Result<Answer, Stop> {
        let lab = &self.site.lab;
        Ok(match &mut self.seat {
            Seat::Piped(shell) => shell.ask(lab, command)?,
            Seat::Typed(terminal) => {
                let mut answer = lab.ask(terminal, &format!("{command}\necho \"$?\""))?;
                let (rest, code) = match answer.output.rsplit_once('\n') {
                    Some((rest, code)) => (rest.to_owned(), code.to_owned()),
                    None => (String::new(), answer.output.clone()),
                };
                answer.code = code.parse().map_err(std::io::Error::other)?;
                answer.output = rest;
                answer
            }
        })
    }

    /// Runs `osm WORDS --json`.
    pub(crate) fn osm(&mut self, words: &str) -> Result<Said, Stop> {
        self.osm_with("", words)
    }

    /// The same with something before it: variables, wrappers.
    pub(crate) fn osm_with(&mut self, before: &str, words: &str) -> Result<Said, Stop> {
        let answer = self.sh(&json_command(before, words))?;
        Ok(said(answer))
    }

    /// That a command succeeds; what it said.
    #[track_caller]
    pub(crate) fn ok(&mut self, words: &str) -> Result<Value, Stop> {
        let said = self.osm(words)?;
        assert_eq!(said.code, 0, "osm {words}: {said:#?}");
        Ok(said.json)
    }

    /// That a command is refused for this reason, in its exit code and in what it said.
    #[track_caller]
    pub(crate) fn refused(&mut self, words: &str, reason: Reason) -> Result<Value, Stop> {
        let said = self.osm(words)?;
        said.assert_refused(reason);
        Ok(said.json)
    }

    /// Claims something that is free; its epoch.
    #[track_caller]
    pub(crate) fn claim(&mut self, resource: &str) -> Result<u64, Stop> {
        let json = self.ok(&format!("claim {resource}"))?;
        assert_eq!(json["fresh"], true, "{json:#}");
        Ok(epoch(&json["claim"]))
    }

    /// What it is called.
    pub(crate) fn session(&mut self) -> Result<String, Stop> {
        let answer = self.sh("OSM session id")?;
        answer.ok()?;
        Ok(answer.output)
    }

    /// The open claim of a resource, as `osm claims` shows it to this owner.
    pub(crate) fn sees(&mut self, resource: &str) -> Result<Value, Stop> {
        let claims = self.ok("claims")?;
        let found = claims.as_array().into_iter().flatten().find(|it| it["resource"] == resource);
        Ok(found.cloned().unwrap_or_default())
    }

    /// The kinds of all events of a resource, in order.
    pub(crate) fn story(&mut self, resource: &str) -> Result<Vec<String>, Stop> {
        let log = self.ok(&format!("claim log {resource}"))?;
        let kinds = log.as_array().into_iter().flatten();
        Ok(kinds.map(|it| it["kind"].as_str().unwrap_or_default().to_owned()).collect())
    }

    /// The last event of a resource that is of this kind.
    pub(crate) fn event(&mut self, resource: &str, kind: &str) -> Result<Value, Stop> {
        let log = self.ok(&format!("claim log {resource} --kind {kind} --last 1"))?;
        Ok(log[0].clone())
    }

    /// Goes on in another conversation, as when it is cleared or resumed.
    pub(crate) fn converse(&mut self, id: &str) -> Result<(), Stop> {
        let told = format!("export CLAUDE_CODE_SESSION_ID={id} CLAUDE_PID=$$ CLAUDECODE=1");
        Ok(self.sh(&told)?.ok()?)
    }

    pub(crate) fn pid(&self) -> Pid {
        let pid = match &self.seat {
            Seat::Piped(shell) => Some(shell.pid()),
            Seat::Typed(terminal) => terminal.pid(),
        };
        let raw = pid.and_then(|pid| i32::try_from(pid).ok());
        raw.and_then(Pid::from_raw).expect("it was started")
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(self.pid(), signal).expect("it is ours");
    }

    /// Kills it, and leaves it a zombie.
    pub(crate) fn kill_uncollected(&self) {
        self.end_by(Signal::KILL);
    }

    /// Ends it by a signal, and leaves it a zombie.
    pub(crate) fn end_by(&self, signal: Signal) {
        self.signal(signal);
        self.await_state(WaitIdOptions::EXITED);
    }

    /// Kills it, and collects it: its pid is free.
    pub(crate) fn kill(mut self) -> Result<(), Stop> {
        self.kill_uncollected();
        self.collect()
    }

    pub(crate) fn collect(&mut self) -> Result<(), Stop> {
        match &mut self.seat {
            Seat::Piped(shell) => shell.collect()?,
            Seat::Typed(terminal) => terminal.wait()?,
        }
        Ok(())
    }

    pub(crate) fn stop(&self) {
        self.signal(Signal::STOP);
        self.await_state(WaitIdOptions::STOPPED);
    }

    pub(crate) fn go_on(&self) {
        self.signal(Signal::CONT);
        self.await_state(WaitIdOptions::CONTINUED);
    }

    fn await_state(&self, state: WaitIdOptions) {
        waitid(WaitId::Pid(self.pid()), state | WaitIdOptions::NOWAIT).expect("it is our child");
    }

    /// Begins a command, which [`Owner::finish`] waits for.
    pub(crate) fn begin(&mut self, command: &str) -> Result<PathBuf, Stop> {
        match &mut self.seat {
            Seat::Piped(shell) => Ok(shell.begin(&self.site.lab, command)?),
            Seat::Typed(_) => Err(Stop::Failed("a terminal answers at once or never".into())),
        }
    }

    pub(crate) fn finish(&mut self, begun: &Path) -> Result<Answer, Stop> {
        match &mut self.seat {
            Seat::Piped(shell) => Ok(shell.finish(begun)?),
            Seat::Typed(_) => Err(Stop::Failed("nothing was begun".into())),
        }
    }

    /// Waits until the command that was begun watches a process: it was refused once, and waits.
    pub(crate) fn await_watch(&self) -> Result<(), Stop> {
        let shell = self.pid().as_raw_nonzero();
        let is_watching = |child: &str| {
            let files = fs::read_dir(format!("/proc/{child}/fd")).into_iter().flatten().flatten();
            let targets = files.filter_map(|it| fs::read_link(it.path()).ok());
            let (mut changes, mut life) = (false, false);
            for target in targets {
                let target = target.to_string_lossy().into_owned();
                changes |= target.contains("inotify");
                life |= target.contains("pidfd");
            }
            changes && life
        };
        let until = Instant::now() + Duration::from_mins(1);
        while Instant::now() < until {
            let children = fs::read_to_string(format!("/proc/{shell}/task/{shell}/children"))?;
            if children.split_whitespace().any(is_watching) {
                return Ok(());
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        Err(Stop::Failed("nothing waits".into()))
    }

    /// Runs `osm WORDS --json` where nothing tells who it is: its parents are gone, and its
    /// variables too.
    pub(crate) fn orphan(&mut self, words: &str) -> Result<Value, Stop> {
        self.orphan_with("", words)
    }

    /// The same with these variables.
    pub(crate) fn orphan_with(&mut self, variables: &str, words: &str) -> Result<Value, Stop> {
        let osm = json_command("exec", words);
        let answer = self.sh(&format!(
            "rm -f LAB/go LAB/said; mkfifo LAB/go LAB/said\n\
             cat >LAB/orphan.sh <<'END'\nread go <LAB/go; {osm} >LAB/said 2>/dev/null\nEND\n\
             sh -c \"setsid env -i HOME=LAB PATH=/usr/bin:/bin {variables} sh LAB/orphan.sh &\"\n\
             echo go >LAB/go; cat LAB/said"
        ))?;
        Ok(serde_json::from_str(&answer.output).unwrap_or(Value::Null))
    }
}

impl Said {
    #[track_caller]
    pub(crate) fn assert_refused(&self, reason: Reason) {
        assert_eq!(
            self.code,
            i32::from(osm::Exit::Claim(reason).code()),
            "{reason:?} was expected: {self:#?}"
        );
        assert_eq!(self.json["reason"], reason.code(), "{self:#?}");
        assert_eq!(self.json["granted"], false, "{self:#?}");
        assert!(!self.json["remedy"].as_str().unwrap_or_default().is_empty(), "{self:#?}");
    }

    #[track_caller]
    pub(crate) fn assert_granted(&self) -> u64 {
        assert_eq!(self.code, 0, "{self:#?}");
        epoch(&self.json["claim"])
    }
}

/// What an answer says in JSON.
pub(crate) fn said(answer: Answer) -> Said {
    let json = serde_json::from_str(&answer.output).unwrap_or(Value::Null);
    // With --json an error is part of the document.
    let hints = json["hints"].as_array().into_iter().flatten();
    let told = [&json["message"]].into_iter().chain(hints).filter_map(Value::as_str);
    let errors = told.fold(answer.errors, |errors, line| errors + line + "\n");
    Said { code: answer.code, json, errors }
}

/// `osm` with `--json` before whatever `--` separates.
pub(crate) fn json_command(before: &str, words: &str) -> String {
    match words.split_once(" -- ") {
        Some((words, rest)) => format!("{before} OSM {words} --json -- {rest}"),
        None => format!("{before} OSM {words} --json"),
    }
}

#[track_caller]
pub(crate) fn epoch(claim: &Value) -> u64 {
    claim["epoch"].as_u64().unwrap_or_else(|| panic!("no epoch in {claim:#}"))
}

/// What a token is in JSON, for a command line.
pub(crate) fn token(claim: &Value) -> String {
    claim["token"].as_str().unwrap_or_default().to_owned()
}
