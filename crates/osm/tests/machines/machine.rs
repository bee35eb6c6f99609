//! A server and machines around it, as namespaces of this one.

use std::cell::Cell;
use std::ffi::OsString;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use osm_testkit::lab::{Answer, Lab};
use osm_testkit::postgres::{Server, Settings};
use osm_testkit::shell::Shell;
use osm_testkit::tools;
use osm_testkit::trials;
use serde_json::Value;

/// Long: machines that test are busy.
const PATIENCE: Duration = Duration::from_mins(1);

/// A server in a network of its own, and the machines that reach it.
pub(crate) struct World {
    pub(crate) lab: Lab,
    server: Server,
    network: Namespaces,
    machines: Cell<u32>,
    database: String,
}

/// Namespaces that live as long as the process in them, which ends with its standard input.
struct Namespaces {
    process: Child,
    /// The first process in them, as it is numbered here.
    pid: u32,
}

impl Namespaces {
    fn new(options: &[&str], script: &str) -> Self {
        let mut command = Command::new(tool("unshare"));
        command.args(options).args(["--fork", "--kill-child", "sh", "-ec"]);
        command.arg(format!("{script}\necho ready; exec cat >/dev/null"));
        let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert_eq!(line, "ready\n", "{script}");
        let id = process.id();
        let children = fs::read_to_string(format!("/proc/{id}/task/{id}/children")).unwrap();
        Self { process, pid: children.trim().parse().unwrap() }
    }

    /// The words before a command that runs in them.
    fn enter(&self, which: &[&str]) -> Vec<String> {
        let words = [tool("nsenter").display().to_string(), format!("--target={}", self.pid)];
        words.into_iter().chain(which.iter().map(|it| (*it).to_owned())).collect()
    }

    /// Runs a script in their network.
    fn sh(&self, script: &str) {
        let words = self.enter(&["--net"]);
        let mut command = Command::new(&words[0]);
        let done = command.args(&words[1..]).args(["sh", "-ec", script]).status().unwrap();
        assert!(done.success(), "{script}");
    }
}

impl Drop for Namespaces {
    fn drop(&mut self) {
        drop(self.process.stdin.take());
        drop(self.process.wait());
    }
}

fn tool(name: &str) -> PathBuf {
    trials::need(tools::root().and_then(|()| tools::program(name)))
}

impl World {
    /// A server, and a repository in `LAB/repo` that machines clone.
    pub(crate) fn new() -> Self {
        for name in ["unshare", "nsenter", "ip", "git"] {
            tool(name);
        }
        let network = Namespaces::new(&["--net"], "ip link set lo up");
        let launcher = network.enter(&["--net"]).into_iter().map(OsString::from).collect();
        let settings = Settings {
            options: vec!["listen_addresses=*".into()],
            hba: Some("local all all trust\nhost all all 0.0.0.0/0 trust\n".into()),
            launcher,
            ..Settings::default()
        };
        let server = trials::need(Server::start(settings));
        let database = server.database().unwrap();
        let lab = Lab::new(&program()).unwrap();
        lab.copy(&tool("bash"), "claude").unwrap();
        let script = "git init -qb main repo && git -C repo -c user.name=t -c user.email=t@example.org \
             commit -q --allow-empty -m first";
        let made = lab.command("sh").args(["-ec", script]).status().unwrap();
        assert!(made.success());
        Self { lab, server, network, machines: Cell::new(0), database }
    }

    /// A machine with a clone of the repository, whose leases have this term.
    pub(crate) fn machine(&self, name: &str, term: u32) -> Machine<'_> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = self.machines.replace(self.machines.get() + 1);
        let home = self.lab.path().join(name);
        let config = home.join(".config/one-shot-man");
        fs::create_dir_all(&config).unwrap();
        fs::write(config.join("config.toml"), format!("[claims]\nlease_seconds = {term}\n"))
            .unwrap();
        let unique = NUMBER.fetch_add(1, Ordering::Relaxed);
        let id = format!("{unique:032x}\n");
        fs::write(home.join("machine-id"), id).unwrap();
        let clone =
            self.lab.command("git").args(["clone", "-q", "repo"]).arg(home.join("repo")).status();
        assert!(clone.unwrap().success());
        let script = format!(
            "hostname {name}; ip link set lo up; mount --bind {} /etc/machine-id",
            home.join("machine-id").display()
        );
        let options = ["--net", "--uts", "--pid", "--mount", "--mount-proc"];
        let namespaces = Namespaces::new(&options, &script);
        let (here, there) = (format!("s{number}"), format!("10.77.{number}.1"));
        self.network.sh(&format!(
            "ip link add {here} type veth peer name eth0 netns {}; ip addr add {there}/24 dev {here}; ip link set {here} up",
            namespaces.pid
        ));
        namespaces.sh(&format!("ip addr add 10.77.{number}.2/24 dev eth0; ip link set eth0 up"));
        let url = format!(
            "postgres://osm@{there}:{}/{}?sslmode=disable",
            self.server.port(),
            self.database
        );
        Machine { world: self, namespaces, home, cable: here, url }
    }
}

/// A machine.
pub(crate) struct Machine<'a> {
    world: &'a World,
    namespaces: Namespaces,
    pub(crate) home: PathBuf,
    cable: String,
    url: String,
}

impl Machine<'_> {
    /// An agent on this machine, in the clone.
    pub(crate) fn agent(&self) -> Agent<'_> {
        let words = self.namespaces.enter(&["--net", "--uts", "--pid", "--mount"]);
        let mut command = self.world.lab.command(&words[0]);
        command.args(&words[1..]).arg("env").arg("-C").arg(self.home.join("repo"));
        command.arg(self.world.lab.path().join("claude"));
        command.env("HOME", &self.home).env("OSM_STORE", "postgres");
        command.env("OSM_DATABASE_URL", &self.url);
        Agent { lab: &self.world.lab, shell: Shell::start(command).unwrap() }
    }

    /// Cuts the machine off, or joins it again. What was sent is lost or late, as in any network.
    pub(crate) fn cut(&self, is_cut: bool) {
        let state = if is_cut { "down" } else { "up" };
        self.world.network.sh(&format!("ip link set {} {state}", self.cable));
    }

    /// Waits until no keeper runs on this machine, and none has left a file.
    pub(crate) fn await_no_keeper(&self) {
        let folder = self.home.join(".config/one-shot-man/keepers");
        eventually(&format!("an empty {}", folder.display()), || {
            fs::read_dir(&folder).is_ok_and(|mut files| files.next().is_none())
        });
    }
}

/// A shell called like an agent, in which commands run.
pub(crate) struct Agent<'a> {
    lab: &'a Lab,
    shell: Shell,
}

impl Agent<'_> {
    pub(crate) fn sh(&mut self, command: &str) -> Answer {
        self.shell.ask(self.lab, command).unwrap()
    }

    /// Runs `osm WORDS --json`: the exit code and what it said.
    pub(crate) fn osm(&mut self, words: &str) -> (i32, Value) {
        let answer = self.sh(&format!("OSM {words} --json"));
        let json = serde_json::from_str(&answer.output).unwrap_or(Value::String(answer.errors));
        (answer.code, json)
    }

    /// That a command succeeds; what it said.
    #[track_caller]
    pub(crate) fn ok(&mut self, words: &str) -> Value {
        let (code, json) = self.osm(words);
        assert_eq!(code, 0, "osm {words}: {json:#}");
        json
    }

    /// That a command fails for this reason; what it said.
    #[track_caller]
    pub(crate) fn fails(&mut self, words: &str, reason: &str) -> Value {
        let (code, json) = self.osm(words);
        assert!(code != 0 && json["reason"] == reason, "osm {words}: {code} {json:#}");
        json
    }

    /// Claims something that is free; its epoch.
    #[track_caller]
    pub(crate) fn claim(&mut self, name: &str) -> u64 {
        let json = self.ok(&format!("claim {name}"));
        assert_eq!(json["fresh"], true, "{json:#}");
        json["claim"]["epoch"].as_u64().unwrap()
    }

    /// Begins a command, which [`Agent::finish`] waits for.
    pub(crate) fn begin(&mut self, command: &str) -> PathBuf {
        self.shell.begin(self.lab, command).unwrap()
    }

    pub(crate) fn finish(&mut self, begun: &Path) -> Answer {
        self.shell.finish(begun).unwrap()
    }
}

/// Waits until something is so.
#[track_caller]
pub(crate) fn eventually(what: &str, mut is_so: impl FnMut() -> bool) {
    let until = Instant::now() + PATIENCE;
    while !is_so() {
        assert!(Instant::now() < until, "{what} did not come about");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// The program under test.
#[expect(clippy::disallowed_methods, reason = "tests are set up through variables")]
fn program() -> PathBuf {
    std::env::var_os("OSM_BIN").map_or_else(|| env!("CARGO_BIN_EXE_osm").into(), PathBuf::from)
}
