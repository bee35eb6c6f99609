//! Completion in real shells, on terminals that tmux draws: what a person sees after Tab.
#![expect(clippy::unwrap_used, reason = "in a test, the panic is the report")]

use std::path::Path;
use std::time::{Duration, Instant};

use osm_testkit::lab::Lab;
use osm_testkit::tmux::Tmux;
use osm_testkit::{tools, trials};

/// Machines that test are busy.
const PATIENCE: Duration = Duration::from_mins(2);

const PROMPT: &str = "ready>";

/// What another session wrote, and what no terminal may get.
const HOSTILE: &str = "evil\u{1b}]0;pwned\u{7}\u{202e}";

/// A line that is typed, and what the shell offers then.
const OFFERS: [(&str, &str); 10] = [
    ("osm trust ", "revoke"),
    ("osm claim ", "handoff"),
    ("osm goal show ", "commit-message"),
    ("osm config get ", "session.max_count"),
    ("osm config set log.level ", "debug"),
    ("osm session restore ", "ex--alpha_8e--reset--"),
    ("osm session info ex--", "ex--beta_f4"),
    ("osm session delete ", "HANDLE"),
    ("osm release ", "file:src/a.rs"),
    ("osm claims --", "--scope"),
];

/// A line that is typed and completed, and the command that the shell then runs.
const COMPLETED: [(&str, &str); 4] = [
    ("osm whoa", "osm whoami"),
    ("osm claim why file:src/a", "osm claim why file:src/a.rs"),
    ("osm session info --session=ex--be", "osm session info --session=ex--beta_f4"),
    ("osm session import one-fi", "osm session import one-file.json"),
];

/// A home with two sessions, two archives, claims, and names that are meant to do harm.
fn lab() -> Lab {
    trials::need(tools::program("tmux"));
    let program = Path::new(env!("CARGO_BIN_EXE_osm"));
    let lab = Lab::new(program).unwrap();
    std::os::unix::fs::symlink(program, lab.path().join("osm")).unwrap();
    lab.file("one-file.json", "{}").unwrap();
    let run = |session: &str, arguments: &[&str]| {
        let mut command = lab.command(program.to_str().unwrap());
        command.env("OSM_SESSION", session).env("OSM_SCOPE", "tested").args(arguments);
        let output = command.output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    for _ in 0..2 {
        run("alpha", &["code-review", "-c", "note one"]);
        run("alpha", &["session", "reset", "-y"]);
    }
    for session in ["alpha", "beta"] {
        run(session, &["code-review", "-c", "note two"]);
    }
    run("alpha", &["claim", "file:src/a.rs", "--note", HOSTILE]);
    run("alpha", &["claim", "TASK-7"]);
    run("alpha", &["claim", HOSTILE]);
    lab
}

struct Person<'a> {
    tmux: &'a Tmux<'a>,
    pane: String,
}

impl Person<'_> {
    fn screen(&self) -> String {
        self.tmux.run(&["capture-pane", "-p", "-J", "-t", &self.pane]).unwrap()
    }

    fn press(&self, keys: &[&str]) {
        self.tmux.run(&[&["send-keys", "-t", &self.pane][..], keys].concat()).unwrap();
    }

    fn types(&self, text: &str) {
        self.tmux.run(&["send-keys", "-t", &self.pane, "-l", text]).unwrap();
    }

    /// Waits until the screen is as expected.
    fn waits_for(&self, seen: impl Fn(&str) -> bool) -> String {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let screen = self.screen();
            if seen(&screen) {
                return screen;
            }
            assert!(Instant::now() < deadline, "not seen:\n{screen}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Starts over on an empty screen. A shell drops what is typed before it has seen Ctrl-C.
    fn starts_over(&self) {
        self.press(&["C-c"]);
        self.waits_for(|screen| screen.lines().last() == Some(PROMPT));
        self.press(&["C-l"]);
        self.waits_for(|screen| screen == PROMPT);
    }
}

/// Loads the script into a shell and presses Tab.
fn completes(shell: &str, arguments: &str, setup: &str) {
    let program = trials::need(tools::program(shell));
    let lab = lab();
    let script = lab.path().join("completion");
    let text = lab.command(env!("CARGO_BIN_EXE_osm")).args(["completion", shell]).output().unwrap();
    std::fs::write(&script, text.stdout).unwrap();
    let variables = format!(
        "PATH={}:/usr/local/bin:/usr/bin:/bin OSM_SESSION=alpha OSM_SCOPE=tested PS1='{PROMPT} '",
        lab.path().display()
    );
    let (tmux, _) = Tmux::start(&lab, &[]).unwrap();
    let line = format!("exec env {variables} {} {arguments}", program.display());
    let pane = tmux.run(&["new-window", "-P", "-F", "#{pane_id}", &line]).unwrap();
    let person = Person { tmux: &tmux, pane };
    person.types(&format!("{setup}. {}; echo loa''ded", script.display()));
    person.press(&["Enter"]);
    person.waits_for(|screen| screen.contains("loaded"));

    let list = lab.command(env!("CARGO_BIN_EXE_osm")).args(["session", "list"]).output().unwrap();
    let list = String::from_utf8(list.stdout).unwrap();
    let handle = list.lines().last().unwrap().split_whitespace().next().unwrap();
    for (typed, offered) in OFFERS {
        person.starts_over();
        person.types(typed);
        let offered = offered.replace("HANDLE", handle);
        person.press(&["Tab"]);
        let screen = person.waits_for(|screen| screen.contains(&offered));
        let is_file_too = typed == "osm trust ";
        assert_eq!(screen.contains("one-file"), is_file_too, "{shell}, {typed}:\n{screen}");
    }
    for (typed, completed) in COMPLETED {
        person.starts_over();
        person.types(typed);
        person.press(&["Tab"]);
        person.waits_for(|screen| screen.contains(completed));
    }
    let title = tmux.run(&["display", "-p", "-t", &person.pane, "#{pane_title}"]).unwrap();
    assert!(!title.contains("pwned"), "{shell}: a name reached the terminal: {title}");
}

/// Loads all that `osm shell-init` prints, sees the session in the prompt, and completes. A second load changes
/// nothing.
fn initialises(shell: &str, program: &Path, arguments: &str, setup: &str, load: &str) {
    let lab = lab();
    let variables = format!(
        "PATH={}:/usr/local/bin:/usr/bin:/bin OSM_SESSION=alpha OSM_SCOPE=tested PS1='{PROMPT} '",
        lab.path().display()
    );
    let script = lab.path().join("init");
    let init = ["shell-init", shell, "--prompt"];
    let text = lab.command(env!("CARGO_BIN_EXE_osm")).args(init).output().unwrap();
    std::fs::write(&script, text.stdout).unwrap();
    let (tmux, _) = Tmux::start(&lab, &[]).unwrap();
    let line = format!("exec env {variables} {} {arguments}", program.display());
    let pane = tmux.run(&["new-window", "-P", "-F", "#{pane_id}", &line]).unwrap();
    let person = Person { tmux: &tmux, pane };
    let load = load.replace("FILE", script.to_str().unwrap());
    person.types(&format!("{setup}{load}; {load}; echo loa''ded"));
    person.press(&["Enter"]);
    let mut short = lab.command(env!("CARGO_BIN_EXE_osm"));
    let short = short.env("OSM_SESSION", "alpha").arg("--short").output().unwrap().stdout;
    let held = format!("[{}] ready>", String::from_utf8(short).unwrap().trim());
    let last = |screen: &str| screen.trim_end().lines().last().unwrap_or_default().to_owned();
    let shows = |screen: &str, what: &str| last(screen).starts_with(what);
    person.waits_for(|screen| shows(screen, &held));
    person.types("osm release TASK-7");
    person.press(&["Enter"]);
    person.waits_for(|screen| shows(screen, &held.replace("3 held", "2 held")));
    person.types("osm whoa");
    person.press(&["Tab"]);
    person.waits_for(|screen| last(screen).contains("osm whoami"));
}

#[test]
fn bash_shows_the_session_in_its_prompt() {
    let program = trials::need(tools::program("bash"));
    initialises("bash", &program, "--norc --noprofile -i", "", "eval \"$(cat FILE)\"");
}

#[test]
fn zsh_shows_the_session_in_its_prompt() {
    let program = trials::need(tools::program("zsh"));
    initialises("zsh", &program, "-f -i", "", "eval \"$(cat FILE)\"");
}

#[test]
fn fish_shows_the_session_in_its_prompt() {
    let program = trials::need(tools::program("fish"));
    let setup = "function fish_prompt; echo 'ready> '; end; ";
    initialises("fish", &program, "--no-config", setup, "source FILE");
}

#[test]
fn nushell_shows_the_session_in_its_prompt() {
    let program = trials::need(tools::nushell());
    let setup = "$env.PROMPT_COMMAND = {|| 'ready'}; $env.PROMPT_COMMAND_RIGHT = ''; ";
    initialises("nu", &program, "--no-config-file --no-history", setup, "source FILE");
}

#[test]
fn bash_offers_what_exists() {
    // Otherwise it lists at the second Tab.
    completes("bash", "--norc --noprofile -i", "bind 'set show-all-if-ambiguous on'; ");
}

#[test]
fn zsh_offers_what_exists() {
    completes("zsh", "-f -i", "autoload -U compinit; compinit -u -D; ");
}

#[test]
fn fish_offers_what_exists() {
    completes("fish", "--no-config", "function fish_prompt; echo 'ready> '; end; ");
}
