//! `osm man`: every page is one that man can show without a complaint.

use std::process::Command;

use osm_testkit::{tools, trials};

use crate::harness::Env;

#[test]
fn every_command_has_a_page_that_groff_takes() {
    let groff = trials::need(tools::program("groff"));
    let env = Env::new();
    let folder = env.path().join("new/man1");
    let run = env.run(&["man", "--folder", folder.to_str().unwrap()]);
    assert_eq!(run.code, Some(0), "{}", run.transcript());
    let pages: Vec<_> =
        std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(run.stdout.starts_with(&format!("{} pages", pages.len())), "{}", run.stdout);
    for name in ["osm.1", "osm-claim-take.1", "osm-session-list.1", "osm-doctor.1"] {
        assert!(folder.join(name).is_file(), "{name}");
    }
    for page in &pages {
        let mut command = Command::new(&groff);
        // All warnings; as for a terminal, without its styles.
        command.args(["-man", "-ww", "-Tutf8", "-P-cbou"]).arg(page);
        let output = command.output().unwrap();
        let shown = String::from_utf8_lossy(&output.stdout);
        // Lines are justified.
        let shown: Vec<&str> = shown.split_whitespace().collect();
        let shown = shown.join(" ");
        let name = page.file_stem().unwrap().to_string_lossy();
        assert!(output.status.success() && output.stderr.is_empty(), "{name}: {output:?}");
        let has = |what: &str| shown.contains(what);
        assert!(has(&format!("NAME {name} - ")) && has("SYNOPSIS"), "{name}: {shown}");
    }
}

#[test]
fn one_page_is_printed_and_an_unknown_command_is_refused() {
    let env = Env::new();
    let page = env.run(&["man", "session", "list"]);
    assert!(page.stdout.contains("osm\\-session\\-list"), "{}", page.stdout);
    let unknown = env.run(&["man", "sesion"]);
    insta::assert_snapshot!(unknown.transcript(), @r#"
    --- stderr
    osm: error: no command "sesion"
    osm: hint: list the commands: osm help
    --- exit Some(2)
    "#);
    assert_eq!(env.run(&["man", "claim", "--folder", "x"]).code, Some(2));
    let file = env.path().join("file");
    std::fs::write(&file, "").unwrap();
    let refused = env.run(&["man", "--folder", file.to_str().unwrap()]);
    assert_eq!(refused.code, Some(1));
    assert!(refused.stderr.contains("cannot create"), "{}", refused.stderr);
}
