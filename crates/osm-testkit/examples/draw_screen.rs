//! Draws `docs/images/repl.svg`: what a real `osm code-review` shows in a real tmux.
//!
//!     cargo build -p osm && cargo run -p osm-testkit --example draw_screen -- target/debug/osm
//!
//! A second argument is another file to write to.

use std::error::Error;
use std::io::{self, Write};
use std::process::ExitCode;

fn main() -> ExitCode {
    match draw() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Nobody is left to tell when standard error is gone too.
            drop(writeln!(io::stderr(), "draw_screen: {error}"));
            ExitCode::FAILURE
        }
    }
}

#[cfg(not(unix))]
fn draw() -> Result<(), Box<dyn Error>> {
    Err("there is no tmux here".into())
}

#[cfg(unix)]
fn draw() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let program = args.next().ok_or("usage: draw_screen PROGRAM [FILE]")?;
    let usual = || concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/images/repl.svg").to_owned();
    let file = args.next().unwrap_or_else(usual);
    let picture = scene::picture(&std::path::absolute(program)?)?;
    std::fs::write(&file, picture)?;
    writeln!(io::stdout(), "{}", std::fs::canonicalize(file)?.display())?;
    Ok(())
}

/// What is shown: a review of a small repository.
#[cfg(unix)]
mod scene {
    use std::error::Error;
    use std::path::Path;
    use std::time::{Duration, Instant};

    use osm_testkit::lab::{Lab, Typist};
    use osm_testkit::picture::{Screen, svg};
    use osm_testkit::tmux::{Pane, Tmux};

    const COLUMNS: usize = 96;
    const LINES: usize = 20;
    const PROMPT: &str = "(code-review) >";
    const TITLE: &str = "osm code-review in a terminal: a diff and a file are added and listed, \
                         and a menu completes what the review shall look at";

    /// The repository.
    const SETUP: &str = r#"mkdir -p shop/src && cd shop && git init -q -b main
git config user.email ada@example.org && git config user.name Ada
printf 'pub fn total(prices: &[u32]) -> u32 {\n    prices.iter().sum()\n}\n' > src/cart.rs
printf 'mod cart;\n\nfn main() {\n    println!("{}", cart::total(&[3, 4]));\n}\n' > src/main.rs
git add . && git commit -qm 'Add up a cart' && git switch -qc rebates
printf 'pub fn total(prices: &[u32], rebate: u32) -> u32 {\n    prices.iter().sum::<u32>() * (100 - rebate) / 100\n}\n' > src/cart.rs
git commit -qam 'Grant rebates'"#;

    /// What is typed, and a part of what is said to it.
    const TYPED: [(&str, &str); 3] =
        [("diff main", "Added diff"), ("add src/main.rs", "Added file"), ("list", "Total:")];

    pub(super) fn picture(program: &Path) -> Result<String, Box<dyn Error>> {
        let lab = Lab::new(program)?;
        let (tmux, first) = Tmux::start(&lab, &[("OSM_SESSION", "picture"), ("PS1", "$ ")])?;
        lab.ask(&mut tmux.pane(first), SETUP)?.ok()?;
        // A pane knows its colours and its size from the start.
        tmux.run(&["set-option", "-g", "default-terminal", "tmux-256color"])?;
        let mut pane = tmux.split()?;
        let (columns, lines) = (COLUMNS.to_string(), LINES.to_string());
        tmux.run(&["resize-window", "-t", &pane.name, "-x", &columns, "-y", &lines])?;

        let folder = lab.path().join("bin");
        std::fs::create_dir(&folder)?;
        std::os::unix::fs::symlink(program, folder.join("osm"))?;
        lab.ask(&mut pane, "PS1='$ ' PATH=LAB/bin:$PATH; cd shop")?.ok()?;
        tmux.run(&["send-keys", "-t", &pane.name, "C-l"])?;
        wait(&tmux, &pane, |screen| screen.trim() == "$")?;
        pane.type_line("osm code-review")?;
        wait(&tmux, &pane, |screen| screen.trim_end().ends_with(PROMPT))?;
        for (line, said) in TYPED {
            pane.type_line(line)?;
            wait(&tmux, &pane, |screen| {
                screen.contains(said) && screen.trim_end().ends_with(PROMPT)
            })?;
        }
        tmux.run(&["send-keys", "-t", &pane.name, "-l", "note goal:"])?;
        wait(&tmux, &pane, |screen| screen.trim_end().ends_with("goal:"))?;
        tmux.run(&["send-keys", "-t", &pane.name, "Tab"])?;
        wait(&tmux, &pane, |screen| screen.contains("goal:security"))?;

        let text = tmux.run(&["capture-pane", "-e", "-p", "-t", &pane.name])?;
        let place =
            tmux.run(&["display-message", "-p", "-t", &pane.name, "#{cursor_x} #{cursor_y}"])?;
        let (column, row) = place.split_once(' ').ok_or("tmux does not say where the cursor is")?;
        let cursor = Some((column.parse()?, row.parse()?));
        Ok(svg(&Screen { text: &text, columns: COLUMNS, cursor, title: TITLE }))
    }

    /// Waits until the pane shows what is expected.
    fn wait(
        tmux: &Tmux,
        pane: &Pane,
        expected: impl Fn(&str) -> bool,
    ) -> Result<(), Box<dyn Error>> {
        let deadline = Instant::now() + Duration::from_mins(1);
        loop {
            let screen = tmux.run(&["capture-pane", "-p", "-t", &pane.name])?;
            if expected(&screen) {
                return Ok(());
            }
            if Instant::now() > deadline {
                return Err(format!("the screen is not what it must be:\n{screen}").into());
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}
