//! The page about the documents that osm was built from: every test that it names exists.

use std::path::Path;

use crate::sources;

const STATES: [&str; 5] = ["works", "differs: ", "partly: ", "planned", "missing"];

#[test]
fn every_statement_has_a_state_and_its_tests() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let files = sources::all();
    let is_module = |name: &str| files.iter().any(|it| it.name.ends_with(&format!("/{name}.rs")));
    let is_function = |name: &str| files.iter().any(|it| it.text.contains(&format!("fn {name}(")));
    let situations = files.iter().filter(|it| it.name.starts_with("osm/tests/conformance/"));
    let situations: Vec<_> = situations.collect();
    let is_situation =
        |name: &str| situations.iter().any(|it| it.text.contains(&format!("\"{name}\"")));
    let page = std::fs::read_to_string(root.join("docs/conformance-documents.md")).unwrap();
    let statements = page.lines().skip_while(|line| !line.starts_with("## "));
    let statements = statements.filter(|line| line.starts_with("| "));
    let mut checked = 0;
    for row in statements.filter(|line| !line.starts_with("| statement")) {
        let cells: Vec<_> = row.trim_matches('|').split(" | ").map(str::trim).collect();
        let [statement, state, tests] = cells[..] else { panic!("three cells: {row}") };
        assert!(!statement.is_empty() && STATES.iter().any(|it| state.starts_with(it)), "{row}");
        let names: Vec<_> = tests.split('`').skip(1).step_by(2).collect();
        let is_done = ["works", "differs", "partly"].iter().any(|it| state.starts_with(it));
        assert!(!is_done || !names.is_empty(), "no test: {row}");
        for name in names {
            let exists = is_module(name) || is_function(name) || is_situation(name);
            assert!(exists, "there is no test {name:?}: {row}");
        }
        checked += 1;
    }
    assert!(checked > 180, "{checked} statements were found");
}
