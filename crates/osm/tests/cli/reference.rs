//! `docs/cli-reference.md`: the help of every command, as the program prints it.

use std::fmt::Write;
use std::path::Path;

use crate::harness::Env;

const COMMANDS: &[&[&str]] = &[&[], &["whoami"], &["session"], &["session", "id"], &["completion"]];

#[test]
fn the_page_is_up_to_date() {
    let mut page = String::from(
        "# Command reference\n\nWhat `--help` prints, made and checked by the tests. \
         Exit codes: [exit-codes.md](exit-codes.md).\n",
    );
    for command in COMMANDS {
        let arguments: Vec<&str> = command.iter().copied().chain(["--help"]).collect();
        let run = Env::new().run(&arguments);
        assert_eq!(run.code, Some(0));
        let name = [&["osm"], *command].concat().join(" ");
        write!(page, "\n## `{name}`\n\n```text\n{}```\n", run.stdout).unwrap();
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/cli-reference.md");
    if std::fs::read_to_string(&path).unwrap_or_default() != page {
        std::fs::write(&path, page).unwrap();
        panic!("docs/cli-reference.md was out of date; it is written anew: commit it");
    }
}
