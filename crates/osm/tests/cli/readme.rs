//! README.md, followed by a script: every command in it runs, and prints what the page shows.
//!
//! Commands stand after `$ ` in `console` blocks. A word after `console` names the agent that runs
//! them, which readers do not see: a shell under that agent's name, on a terminal, which is all that osm
//! sees of an agent. Other blocks run in one shell on another terminal. Values that change from run to run (ids,
//! handles, process ids, times) may differ from the page, but one value must be one value there too.
#![expect(clippy::unwrap_used, reason = "a harness that fails is a failed test")]

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

use osm_testkit::lab::{Answer, Lab, Typist as _};
use osm_testkit::terminal::Terminal;
use osm_testkit::{tools, trials};

/// The home folder that the page shows.
const HOME: &str = "/home/ada";

/// What the page's commands work on.
const BEFORE: &str = "fn main() {\n    println!(\"hello\");\n}\n";
const AFTER: &str = "fn main() {\n    let name = std::env::args().nth(1).unwrap();\n    println!(\"hello {name}\");\n}\n";

/// A command of the page, and the output below it.
struct Step {
    line: usize,
    agent: Option<String>,
    command: String,
    shown: Vec<String>,
}

fn page(name: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(name)).unwrap()
}

/// The blocks of a language: the line of the first, the words after the language, the text.
fn blocks<'a>(page: &'a str, language: &str) -> Vec<(usize, Vec<&'a str>, Vec<&'a str>)> {
    let mut blocks = Vec::new();
    let mut lines = page.lines().enumerate();
    while let Some((line, text)) = lines.next() {
        let Some(info) = text.strip_prefix("```") else { continue };
        let body = lines.by_ref().map(|(_, text)| text).take_while(|text| *text != "```").collect();
        let mut words = info.split_whitespace();
        if words.next() == Some(language) {
            blocks.push((line + 2, words.collect(), body));
        }
    }
    blocks
}

fn steps(page: &str) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    for (first, words, body) in blocks(page, "console") {
        let agent = words.first().map(|&name| name.to_owned());
        for (offset, text) in body.into_iter().enumerate() {
            let line = first + offset;
            match (text.strip_prefix("$ "), steps.last_mut()) {
                (Some(command), _) => steps.push(Step {
                    line,
                    agent: agent.clone(),
                    command: command.to_owned(),
                    shown: Vec::new(),
                }),
                (None, Some(step)) if offset > 0 => step.shown.push(text.to_owned()),
                (None, _) => panic!("README.md:{line}: output without a command"),
            }
        }
    }
    steps
}

/// The reader's machine: a home folder, a repository, and terminals with agents by name.
struct Machine {
    lab: Lab,
    terminals: BTreeMap<String, Terminal>,
    handles: BTreeSet<String>,
}

impl Machine {
    fn new() -> Self {
        let lab = Lab::new(Path::new(env!("CARGO_BIN_EXE_osm"))).unwrap();
        let bin = lab.path().join("bin");
        std::fs::create_dir_all(lab.path().join("app/src")).unwrap();
        std::fs::create_dir(&bin).unwrap();
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_osm"), bin.join("osm")).unwrap();
        let git = trials::need(tools::program("git")).display().to_string();
        let git = |arguments: &[&str]| {
            let mut git = lab.command(&git);
            git.args(["-c", "user.name=Ada", "-c", "user.email=ada@example.org"]);
            let done = git.args(arguments).current_dir(lab.path().join("app")).status();
            assert!(done.unwrap().success(), "git {arguments:?}");
        };
        git(&["init", "-q", "-b", "main"]);
        std::fs::write(lab.path().join("app/src/main.rs"), BEFORE).unwrap();
        git(&["add", "."]);
        git(&["commit", "-qm", "Say hello"]);
        std::fs::write(lab.path().join("app/src/main.rs"), AFTER).unwrap();
        Self { lab, terminals: BTreeMap::new(), handles: BTreeSet::new() }
    }

    /// Runs a command; `None` if it ended the agent.
    fn run(&mut self, agent: Option<&str>, command: &str) -> Option<Answer> {
        let name = agent.unwrap_or_default();
        if !self.terminals.contains_key(name) {
            let terminal = self.start(agent);
            self.terminals.insert(name.to_owned(), terminal);
            self.learn_handle(agent);
        }
        let terminal = self.terminals.get_mut(name).unwrap();
        if command != "kill -9 $$" {
            let both = format!("{{ {command}\n}} 2>&1");
            return Some(self.lab.ask(terminal, &both).unwrap());
        }
        let pid = self.lab.ask(terminal, "echo $$").unwrap().output;
        terminal.type_line(command).unwrap();
        let deadline = Instant::now() + Duration::from_mins(1);
        while Path::new("/proc").join(&pid).exists() {
            assert!(Instant::now() < deadline, "process {pid} is still there");
            std::thread::sleep(Duration::from_millis(5));
        }
        None
    }

    /// A shell on a new terminal, and in it the agent.
    fn start(&self, agent: Option<&str>) -> Terminal {
        let mut terminal = self.lab.terminal().unwrap();
        self.lab.ask(&mut terminal, SETUP).unwrap().ok().unwrap();
        if let Some(name) = agent {
            let bash = trials::need(tools::program("bash"));
            self.lab.copy(&bash, &format!("bin/{name}")).unwrap();
            let (_, conversation) = AGENTS.iter().find(|(it, _)| *it == name).unwrap();
            terminal.type_line(&format!("{name} --norc --noprofile -i")).unwrap();
            let setup = format!("export {conversation}");
            self.lab.ask(&mut terminal, &setup).unwrap().ok().unwrap();
        }
        terminal
    }

    fn learn_handle(&mut self, agent: Option<&str>) {
        let answer = self.run(agent, "osm session id --json").unwrap();
        let report: serde_json::Value = serde_json::from_str(&answer.output).unwrap();
        for key in ["handle", "parent_handle"] {
            self.handles.extend(report[key].as_str().map(str::to_owned));
        }
    }
}

/// Agents that the page shows, and how each tells its commands which conversation they belong to.
const AGENTS: [(&str, &str); 2] = [
    ("claude", "CLAUDE_CODE_SESSION_ID=2fcf0de8-598e-4fba-8e72-5ac046d9f092"),
    ("codex", "CODEX_THREAD_ID=019a8f3c-7b1e-7c52-9d4a-b6f0c2e81a35"),
];

const SETUP: &str = "export PATH=LAB/bin:$PATH OSM_CLIPBOARD='cat >/dev/null'; cd LAB/app";

#[test]
fn every_command_prints_what_the_page_shows() {
    let page = page("README.md");
    trials::need(tools::program("jq"));
    let mut machine = Machine::new();
    let mut values = Values::default();
    let mut problems = String::new();
    for step in steps(&page) {
        let Some(answer) = machine.run(step.agent.as_deref(), &step.command) else { continue };
        let home = machine.lab.path().display().to_string();
        let printed = answer.output.replace(&home, HOME);
        let shown = step.shown.join("\n");
        let may_fail = shown.contains("osm: error:");
        if !values.agree(&shown, &printed, &machine.handles) || (answer.code != 0) != may_fail {
            let code = answer.code;
            let Step { line, command, .. } = step;
            writeln!(problems, "README.md:{line}: $ {command}\n{printed}\n(exit code {code})\n")
                .unwrap();
        }
    }
    assert!(problems.is_empty(), "these commands print something else:\n\n{problems}");
}

/// Values that differ from run to run: what was printed, and what the page shows for it.
#[derive(Default)]
struct Values(BTreeMap<String, String>);

impl Values {
    fn agree(&mut self, shown: &str, printed: &str, handles: &BTreeSet<String>) -> bool {
        let (shown, printed): (Vec<_>, Vec<_>) =
            (shown.lines().collect(), printed.lines().collect());
        shown.len() == printed.len()
            && shown.iter().zip(&printed).all(|(shown, printed)| {
                let shown: Vec<_> = shown.split_whitespace().collect();
                let printed: Vec<_> = printed.split_whitespace().collect();
                let mut rest = shown.iter().zip(&printed).enumerate();
                shown.len() == printed.len()
                    && rest.all(|(at, (one, other))| {
                        let unit = shown.get(at + 1).copied().unwrap_or_default();
                        one == other
                            || is_time(one, other, unit)
                            || self.is_value(one, other, handles)
                    })
            })
    }

    /// Whether two words are the same but for a value, and it is the same value as before.
    fn is_value(&mut self, shown: &str, printed: &str, handles: &BTreeSet<String>) -> bool {
        let is_edge = |c: char| "(),:;`".contains(c);
        let (bare, other) = (shown.trim_matches(is_edge), printed.trim_matches(is_edge));
        if handles.contains(other) {
            return bare.contains('-') && self.bind(bare, other);
        }
        let (shown, printed) = (pieces(shown), pieces(printed));
        shown.len() == printed.len()
            && shown.iter().zip(&printed).all(|(one, other)| {
                one == other || (is_number(one) && is_number(other) && self.bind(one, other))
            })
    }

    fn bind(&mut self, shown: &str, printed: &str) -> bool {
        self.0.entry(printed.to_owned()).or_insert_with(|| shown.to_owned()) == shown
    }
}

/// Letters and digits, and what stands between them.
fn pieces(word: &str) -> Vec<&str> {
    word.split_inclusive(|c: char| !c.is_ascii_alphanumeric())
        .flat_map(|piece| {
            let end = piece.trim_end_matches(|c: char| !c.is_ascii_alphanumeric()).len();
            <[&str; 2]>::from(piece.split_at(end))
        })
        .collect()
}

/// A digest, a seal or a process id. Numbers of one or two digits are part of what a command says.
fn is_number(piece: &str) -> bool {
    let is_hex = piece.chars().all(|c| c.is_ascii_hexdigit());
    let is_decimal = piece.chars().all(|c| c.is_ascii_digit());
    (is_hex && piece.len() >= 8) || (is_decimal && (3..=7).contains(&piece.len()))
}

/// Two points in time, two ages, or two terminals.
fn is_time(shown: &str, printed: &str, unit: &str) -> bool {
    let shape = |text: &str| -> String {
        text.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect()
    };
    let digits = |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_digit());
    let is_terminal = |text: &str| text.strip_prefix("pts/").is_some_and(digits);
    (shape(shown) == shape(printed) && shape(shown).contains("0000-00-00T00:00:00"))
        || (digits(shown) && digits(printed) && ["s", "min"].contains(&unit))
        || (is_terminal(shown) && is_terminal(printed))
}

#[test]
fn a_changed_output_is_noticed() {
    let handles = BTreeSet::from(["calm-fox".to_owned()]);
    let agree = |pairs: &[(&str, &str)]| {
        let mut values = Values::default();
        pairs.iter().all(|(shown, printed)| values.agree(shown, printed, &handles))
    };
    let id = "agent--codex_46df7d7b019972d8";
    let other = "agent--codex_aaaaaaaaaaaaaaaa";
    assert!(agree(&[("TASK-7  3 s (pid 2216)", "TASK-7 11 s (pid 914)")]));
    assert!(agree(&[(id, other), (id, other)]));
    assert!(agree(&[("swift-otter:", "calm-fox:")]));
    assert!(!agree(&[(id, other), ("agent--codex_0000000000000000", other)]));
    assert!(!agree(&[(id, "agent--claude_46df7d7b019972d8")]));
    assert!(!agree(&[("TASK-7 is yours", "TASK-8 is yours")]));
    assert!(!agree(&[("one line", "one line\nand another")]));
    assert!(!agree(&[("swift-otter:", "calm-fox:"), ("other-name", "calm-fox")]));
}

#[test]
fn the_page_is_short_and_has_the_two_commands() {
    let page = page("README.md");
    assert!(page.lines().count() <= 140, "README.md has more than 140 lines");
    let setup: Vec<&str> = blocks(&page, "sh").into_iter().flat_map(|(_, _, body)| body).collect();
    let commands: Vec<&str> =
        setup.iter().map(|line| line.split('#').next().unwrap_or_default().trim()).collect();
    assert_eq!(commands, ["cargo install --path crates/osm && osm", "./scripts/test"]);
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    assert!(root.join("crates/osm/src/main.rs").is_file());
    let test = std::os::unix::fs::PermissionsExt::mode(
        &std::fs::metadata(root.join("scripts/test")).unwrap().permissions(),
    );
    assert_ne!(test & 0o111, 0, "scripts/test cannot be run");
}

/// The example is compiled and checked with the other targets.
#[test]
fn the_rust_code_is_in_the_example() {
    let example = page("crates/osm-identity/examples/whoami.rs");
    let page = page("README.md");
    let mut lines = example.lines().map(str::trim);
    let code: Vec<&str> = blocks(&page, "rust").into_iter().flat_map(|(_, _, body)| body).collect();
    assert!(!code.is_empty());
    for line in code.iter().map(|line| line.trim()).filter(|line| !line.is_empty()) {
        assert!(lines.any(|other| other == line), "the example lacks, or has before: {line}");
    }
}
