//! `docs/cli-reference.md`: the help of every command, as the program prints it.

use std::fmt::Write;
use std::path::Path;

use crate::harness::Env;

/// Every command, outermost first, as `--help` lists them.
fn commands(env: &Env, path: &[String]) -> Vec<Vec<String>> {
    let arguments: Vec<&str> = path.iter().map(String::as_str).chain(["--help"]).collect();
    let help = env.run(&arguments).stdout;
    let mut all = vec![path.to_vec()];
    let listed = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    for line in listed.take_while(|line| line.starts_with("  ")) {
        let name = line.split_whitespace().next().unwrap_or_default().to_owned();
        all.extend(commands(env, &[path, &[name]].concat()));
    }
    all
}

#[test]
fn the_page_is_up_to_date() {
    let mut page = String::from(
        "# Command reference\n\nWhat `--help` prints, made and checked by the tests. \
         Exit codes: [exit-codes.md](exit-codes.md).\n",
    );
    let env = Env::new();
    for command in commands(&env, &[]) {
        let arguments: Vec<&str> = command.iter().map(String::as_str).chain(["--help"]).collect();
        let run = env.run(&arguments);
        assert_eq!(run.code, Some(0));
        let name = [&["osm".to_owned()], &command[..]].concat().join(" ");
        write!(page, "\n## `{name}`\n\n```text\n{}```\n", run.stdout).unwrap();
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/cli-reference.md");
    if std::fs::read_to_string(&path).unwrap_or_default() != page {
        std::fs::write(&path, page).unwrap();
        panic!("docs/cli-reference.md was out of date; the test has rewritten it: commit it");
    }
}
